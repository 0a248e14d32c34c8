// Line charts as SVG, and what other drawings share with them.
#pragma once

#include <string>
#include <vector>

namespace thinwire::report {

struct ChartLine {
  std::string label;
  std::string colour;
  std::vector<double> x;
  std::vector<double> y;
  std::vector<double> y_low;  ///< with y_high: a band around the line; or empty
  std::vector<double> y_high;
  bool dashed = false;
  bool dots = false;
};

enum class Axis : std::uint8_t { linear, doubling };  // doubling: log2, marked at 1, 2, 4 ..

struct Chart {
  std::string title;
  std::string x_label;
  std::string y_label;
  Axis x_axis = Axis::linear;
  std::vector<ChartLine> lines;
};

/// As a text or an attribute of an SVG; control characters become blanks.
[[nodiscard]] std::string svg_escaped(const std::string& text);
/// A whole document on white, of a width and height in pixels.
[[nodiscard]] std::string svg_document(double width, double height, const std::string& body);

/// The charts below one another.
[[nodiscard]] std::string to_svg(const std::string& title, const std::vector<Chart>& charts);

}  // namespace thinwire::report
