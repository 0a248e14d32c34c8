#include "sim/app/report/charts/svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace thinwire::report {

namespace {

constexpr double kWidth = 760;
constexpr double kHeight = 320;  // of a chart
constexpr double kTop = 44;      // for the title of all
constexpr double kLeft = 78;
constexpr double kRight = 24;
constexpr double kAbove = 52;
constexpr double kBelow = 56;

/// 1, 2 or 5 times a power of ten: about `count` steps in `span`.
double step_of(double span, int count) {
  const double least = span / count;
  const double power = std::pow(10, std::floor(std::log10(least)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= least) return factor * power;
  }
  return 10 * power;
}

struct Scale {
  double low = 0;
  double high = 1;
  double from = 0;  // in the drawing
  double to = 1;
  Axis axis = Axis::linear;
  std::vector<double> marks;

  [[nodiscard]] double operator()(double value) const {
    const double at = axis == Axis::doubling ? std::log2(value) : value;
    return from + (at - low) / (high - low) * (to - from);
  }
};

Scale scale_of(double least, double most, Axis axis, double from, double to, bool from_zero) {
  Scale scale{.from = from, .to = to, .axis = axis, .marks = {}};
  if (axis == Axis::doubling) {
    scale.low = std::log2(least);
    scale.high = std::max(scale.low + 1, std::log2(most));
    for (double mark = 1; mark <= most; mark *= 2) scale.marks.push_back(mark);
    if (most > 1.3 * scale.marks.back()) scale.marks.push_back(most);
    return scale;
  }
  scale.low = from_zero ? 0 : least;
  scale.high = most > scale.low ? most : scale.low + std::max(1e-9, std::abs(scale.low));
  const double step = step_of(scale.high - scale.low, 6);
  if (from_zero) scale.high = std::ceil(scale.high / step - 1e-9) * step;
  const double first = std::ceil(scale.low / step - 1e-9);
  for (int i = 0; (first + i) * step <= scale.high * (1 + 1e-9); ++i) {
    scale.marks.push_back((first + i) * step + 0.0);  // no -0
  }
  return scale;
}

class Drawing {
 public:
  Drawing(const Chart& chart, double top) : chart_(chart), top_(top) {
    double x_least = std::numeric_limits<double>::infinity();
    double x_most = -x_least;
    double y_most = 0;
    for (const ChartLine& line : chart.lines) {
      for (const double x : line.x) x_least = std::min(x_least, x);
      for (const double x : line.x) x_most = std::max(x_most, x);
      for (const double y : line.y) y_most = std::max(y_most, y);
      for (const double y : line.y_high) y_most = std::max(y_most, y);
    }
    if (!(x_least <= x_most)) x_least = x_most = 1;
    x_ = scale_of(x_least, x_most, chart.x_axis, kLeft, kWidth - kRight, false);
    y_ = scale_of(0, y_most, Axis::linear, top + kHeight - kBelow, top + kAbove, true);
  }

  [[nodiscard]] std::string text() const {
    std::string svg =
        fmt::format(R"(<text x="{}" y="{}" font-size="14" font-weight="600">{}</text>)"
                    "\n",
                    kLeft, top_ + 20, svg_escaped(chart_.title));
    svg += axes() + legend();
    for (const ChartLine& line : chart_.lines) svg += band(line) + curve(line);
    return svg;
  }

 private:
  [[nodiscard]] std::string axes() const {
    std::string svg;
    for (const double mark : y_.marks) {
      svg += fmt::format(
          R"(<path d="M{} {:.1f}H{}" stroke="#ddd"/><text x="{}" y="{:.1f}" text-anchor="end">{:.4g}</text>)"
          "\n",
          kLeft, y_(mark), kWidth - kRight, kLeft - 8, y_(mark) + 4, mark);
    }
    for (const double mark : x_.marks) {
      svg += fmt::format(
          R"(<path d="M{0:.1f} {1}v5" stroke="#444"/><text x="{0:.1f}" y="{2}" text-anchor="middle">{3:.7g}</text>)"
          "\n",
          x_(mark), y_.from, y_.from + 19, mark);
    }
    svg += fmt::format(R"(<path d="M{} {}H{}" stroke="#444"/>)", kLeft, y_.from, kWidth - kRight);
    svg += fmt::format(R"(<text x="{:.1f}" y="{}" text-anchor="middle">{}</text>)",
                       (x_.from + x_.to) / 2, y_.from + 40, svg_escaped(chart_.x_label));
    const double middle = (y_.from + y_.to) / 2;
    svg += fmt::format(
        R"svg(<text x="20" y="{0:.1f}" text-anchor="middle" transform="rotate(-90 20 {0:.1f})">{1}</text>)svg"
        "\n",
        middle, svg_escaped(chart_.y_label));
    return svg;
  }

  [[nodiscard]] std::string legend() const {
    std::string svg;
    double x = kLeft;
    for (const ChartLine& line : chart_.lines) {
      svg += fmt::format(
          R"(<path d="M{} {}h24" stroke="{}" stroke-width="2"{}/><text x="{}" y="{}">{}</text>)"
          "\n",
          x, top_ + 36, line.colour, dashes(line), x + 30, top_ + 40, svg_escaped(line.label));
      x += 52 + 7.2 * static_cast<double>(line.label.size());
    }
    return svg;
  }

  [[nodiscard]] std::string band(const ChartLine& line) const {
    if (line.y_low.empty()) return {};
    std::string points;
    for (std::size_t i = 0; i < line.x.size(); ++i) points += point(line.x[i], line.y_high[i]);
    for (std::size_t i = line.x.size(); i-- > 0;) points += point(line.x[i], line.y_low[i]);
    return fmt::format(R"(<polygon points="{}" fill="{}" fill-opacity="0.18"/>)"
                       "\n",
                       points, line.colour);
  }

  [[nodiscard]] std::string curve(const ChartLine& line) const {
    std::string points;
    std::string dots;
    const bool lone = line.x.size() == 1;
    for (std::size_t i = 0; i < line.x.size(); ++i) {
      points += point(line.x[i], line.y[i]);
      if (!line.dots && !lone) continue;
      dots += fmt::format(R"(<circle cx="{:.1f}" cy="{:.1f}" r="3" fill="{}"/>)", x_(line.x[i]),
                          y_(line.y[i]), line.colour);
    }
    return fmt::format(R"(<polyline points="{}" fill="none" stroke="{}" stroke-width="2"{}/>{})"
                       "\n",
                       points, line.colour, dashes(line), dots);
  }

  [[nodiscard]] static std::string dashes(const ChartLine& line) {
    return line.dashed ? R"( stroke-dasharray="6 4")" : "";
  }

  [[nodiscard]] std::string point(double x, double y) const {
    return fmt::format("{:.1f},{:.1f} ", x_(x), y_(y));
  }

  const Chart& chart_;
  double top_;
  Scale x_;
  Scale y_;
};

}  // namespace

std::string svg_escaped(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    switch (c) {
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '&':
        safe += "&amp;";
        break;
      case '"':
        safe += "&quot;";
        break;
      default:
        safe += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
  }
  return safe;
}

std::string svg_document(double width, double height, const std::string& body) {
  return fmt::format(
      R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {0:.6g} {1:.6g}" width="{0:.6g}" height="{1:.6g}" font-family="DejaVu Sans, sans-serif" font-size="11" fill="#222">)"
      "\n"
      R"(<rect width="100%" height="100%" fill="white"/>)"
      "\n{2}</svg>\n",
      width, height, body);
}

std::string to_svg(const std::string& title, const std::vector<Chart>& charts) {
  const double height = kTop + kHeight * static_cast<double>(charts.size());
  std::string svg = fmt::format(
      R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {0} {1}" width="{0}" height="{1}" font-family="sans-serif" font-size="12" fill="#222">)"
      "\n"
      R"(<rect width="100%" height="100%" fill="white"/>)"
      "\n"
      R"(<text x="{2}" y="28" font-size="13">{3}</text>)"
      "\n",
      kWidth, height, kLeft, svg_escaped(title));
  for (std::size_t i = 0; i < charts.size(); ++i) {
    svg += Drawing(charts[i], kTop + kHeight * static_cast<double>(i)).text();
  }
  return svg + "</svg>\n";
}

}  // namespace thinwire::report
