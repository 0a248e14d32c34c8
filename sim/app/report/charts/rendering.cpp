#include "sim/app/report/charts/rendering.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <iterator>
#include <map>
#include <sstream>

#include "sim/app/report/charts/drawing.hpp"
#include "sim/app/report/charts/svg.hpp"
#include "sim/core/base/child_process.hpp"
#include "sim/core/base/errors.hpp"

namespace thinwire::report {

namespace {

/// To be called before a child process is started, which then need not load the module.
const DrawingFunctions& drawing_functions() {
  static const auto& kFunctions = kDrawing.table<DrawingFunctions>("thinwire_drawing");
  return kFunctions;
}

std::string& chosen_family() {
  static std::string family = "DejaVu Sans";
  return family;
}

}  // namespace

const std::string& font_family() { return chosen_family(); }

void set_font_family(const std::string& family) {
  const DrawingFunctions& drawing = drawing_functions();
  const auto installed = [&] { return std::string(drawing.is_installed(family) ? "yes" : "no"); };
  if (in_child_process({.run = installed}).text != "yes") {
    throw InputError("--font: no font '{}' is installed; 'fc-list : family' lists them", family);
  }
  chosen_family() = family;
}

double text_width(const std::string& text, bool bold) {
  // The memory that fontconfig and others never release is freed with the child.
  static std::map<std::string, std::vector<double>> of_families;
  std::vector<double>& widths = of_families[font_family()];
  if (widths.empty()) {
    const DrawingFunctions& drawing = drawing_functions();
    std::istringstream numbers(
        in_child_process({.run = [&] { return drawing.advances(font_family()); }}).text);
    widths.assign(std::istream_iterator<double>(numbers), {});
  }
  double width = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte & 0xC0U) == 0x80U) continue;  // continuation byte of a character
    unsigned character = byte < 0x80U ? byte : kMeasuredCharacters;
    if ((byte & 0xE0U) == 0xC0U && i + 1 < text.size()) {
      character = (byte & 0x1FU) << 6U | (static_cast<unsigned char>(text[i + 1]) & 0x3FU);
    }
    width += character < kMeasuredCharacters
                 ? widths.at(character + (bold ? kMeasuredCharacters : 0))
                 : kFontSize;
  }
  return width;
}

std::string shortened(const std::string& text, double room, bool bold) {
  std::string kept(text);
  while (!kept.empty() && text_width(kept == text ? text : kept + "…", bold) > room) {
    while ((static_cast<unsigned char>(kept.back()) & 0xC0U) == 0x80U) kept.pop_back();
    kept.pop_back();
  }
  return kept == text ? text : kept + "…";
}

const std::vector<std::string>& image_formats() {
  static const std::vector<std::string> kFormats{"svg", "png", "pdf"};
  return kFormats;
}

std::string image_of(const std::string& svg, const std::string& format, double scale) {
  if (format == "svg") return svg;
  constexpr double kPoint = 0.75;  // points per pixel of 1/96 inch
  const bool pdf = format == "pdf";
  const DrawingFunctions& drawing = drawing_functions();
  const auto draw = [&] { return drawing.drawn(svg, pdf, pdf ? kPoint : scale); };
  return in_child_process({.run = draw}).text;
}

std::string format_of_name(const std::string& name, const std::vector<std::string>& formats) {
  const std::string extension = std::filesystem::path(name).extension().string();
  if (extension.empty()) return {};
  std::string format = extension.substr(1);
  for (char& c : format) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (format == "htm") format = "html";
  if (std::ranges::find(formats, format) != formats.end()) return format;
  throw InputError("{}: nothing is drawn as '{}'; expected a name that ends in .{}", name,
                   extension, fmt::join(formats, ", ."));
}

}  // namespace thinwire::report
