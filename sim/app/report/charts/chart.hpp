// The engine of all drawings: axes with their marks, series, and panels under a legend.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sim/app/report/charts/svg.hpp"

namespace thinwire::report {

[[nodiscard]] std::string number_words(double value);

/// Where the values are along one side of a panel, and what is marked there.
struct Axis {
  std::string label = {};
  double low = 0;
  double high = 1;
  bool log = false;
  std::vector<double> marks = {};
  std::function<std::string(double)> text = number_words;
  bool grid = false;
  double inset = 0;  ///< room at both ends
  double from = 0;   ///< where `low` and `high` are in the drawing, as add_axes() finds out
  double to = 1;

  [[nodiscard]] double operator()(double value) const;
};

/// Marked at multiples of 1, 2 or 5 times a power of ten; with `whole`, both ends are marks.
[[nodiscard]] Axis linear_axis(std::string label, double low, double high, bool whole = false);
/// Marked at powers of ten, with others between where those are few.
[[nodiscard]] Axis log_axis(std::string label, double low, double high);
/// Numbers of ranks, each of which is marked where there is room.
[[nodiscard]] Axis ranks_axis(const std::set<int>& ranks);
/// A band for each text, about 0, 1, 2 ..
[[nodiscard]] Axis bands_axis(std::string label, const std::vector<std::string>& texts);

enum class LineLook : std::uint8_t { solid, faint, dashed };

/// A curve: a band, a line and symbols, each of which may be empty.
struct Series {
  std::size_t index = 0;  ///< which says its colour and its symbol
  Points marks = {};
  Points line = {};
  LineLook look = LineLook::solid;
  Points low = {};
  Points high = {};
};

/// What stands in a panel, and how high it came out.
struct Drawing {
  std::string body = {};
  double height = 0;
};

/// Draws the axes of a panel so wide and so high, and says where their values are. `right`: what
/// else has to have room at the right.
void add_axes(Drawing& drawing, Axis& x, Axis& y, double width, double height, double right = 0);
void add_series(Drawing& drawing, const Series& series, const Axis& x, const Axis& y);

/// A part of a figure, in a box of a width that the figure finds out.
struct Panel {
  std::string title;
  std::function<Drawing(double width)> draw;
};
/// Series between two axes, and a dashed line across at `rule`.
[[nodiscard]] Panel chart_panel(std::string title, Axis x, Axis y, std::vector<Series> series,
                                double height, std::optional<double> rule = {});

/// An entry of the legend: its mark, drawn about the origin, and what it means.
struct LegendEntry {
  std::string mark;
  std::string text;
};
[[nodiscard]] LegendEntry legend_of(const Series& series, std::string text);

struct Figure {
  std::vector<LegendEntry> legend = {};
  std::vector<std::string> notes = {};
  std::vector<Panel> panels = {};
  double panel_width = 440;  ///< about
};

/// What the user says of a figure.
struct FigureStyle {
  std::string title = {};
  double width = 0;  ///< in pixels; 0: as wide as two panels, at most
};

/// Title, legend, notes, and panels side by side as far as the width goes.
[[nodiscard]] std::string svg_of(const Figure& figure, const FigureStyle& style = {});

}  // namespace thinwire::report
