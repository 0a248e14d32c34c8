#include "sim/app/report/charts/svg.hpp"

#include <fmt/format.h>

#include <array>
#include <map>

#include "sim/app/report/charts/rendering.hpp"

namespace thinwire::report {

std::string svg_escaped(const std::string& text) {
  static const std::map<char, const char*> kNames{
      {'<', "&lt;"}, {'>', "&gt;"}, {'&', "&amp;"}, {'"', "&quot;"}};
  std::string safe;
  for (const char c : text) {
    const auto name = kNames.find(c);
    if (name != kNames.end()) {
      safe += name->second;
    } else {
      safe += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
  }
  return safe;
}

std::string text_at(double x, double y, const std::string& text, const TextLook& look) {
  constexpr std::array kAnchors{"start", "middle", "end"};
  return fmt::format(
      R"(<text x="{:.1f}" y="{:.1f}" text-anchor="{}" fill="{}"{}{}>{}</text>)"
      "\n",
      x, y, kAnchors.at(static_cast<std::size_t>(look.anchor)), look.fill,
      look.bold ? R"( font-weight="bold")" : "",
      look.upwards ? fmt::format(R"svg( transform="rotate(-90 {:.1f} {:.1f})")svg", x, y) : "",
      svg_escaped(text));
}

std::string circle_at(double x, double y, double radius, const std::string& look) {
  return fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\" {}/>\n", x, y, radius, look);
}

std::string rect_at(double x, double y, double width, double height, const std::string& look) {
  return fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.2f}\" height=\"{:.2f}\" {}/>\n", x,
                     y, width, height, look);
}

std::string path_of(const Points& points, const std::string& look, bool closed) {
  if (points.size() < 2) return {};
  std::string d;
  for (const auto& [x, y] : points) {
    d += fmt::format("{}{:.1f} {:.1f}", d.empty() ? 'M' : 'L', x, y);
  }
  return fmt::format("<path d=\"{}{}\" {}/>\n", d, closed ? "Z" : "", look);
}

std::string svg_document(double width, double height, const std::string& body, double scale) {
  return fmt::format(
      R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {0:.6g} {1:.6g}" width="{2:.6g}" height="{3:.6g}" font-family="{4}, sans-serif" font-size="{5}">)"
      "\n"
      R"(<rect width="100%" height="100%" fill="white"/>)"
      "\n{6}</svg>\n",
      width, height, width * scale, height * scale, svg_escaped(font_family()), kFontSize, body);
}

}  // namespace thinwire::report
