// The engine of all drawings: axes with ticks, series, and panels under a legend.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "sim/app/report/charts/svg.hpp"

namespace thinwire::report {

[[nodiscard]] std::string number_words(double value);

/// The scale of one side of a panel, and its ticks.
struct Axis {
  std::string label = {};
  double low = 0;
  double high = 1;
  bool log = false;
  std::vector<double> marks = {};
  std::function<std::string(double)> text = number_words;
  bool grid = false;
  double inset = 0;  ///< margin at both ends
  double from = 0;   ///< drawing coordinates of `low` and `high`, set by add_axes()
  double to = 1;

  [[nodiscard]] double operator()(double value) const;
};

/// Has ticks at multiples of 1, 2 or 5 times a power of ten; with `whole`, both ends are ticks.
[[nodiscard]] Axis linear_axis(std::string label, double low, double high, bool whole = false);
/// Has ticks at powers of ten, and between them if those are few.
[[nodiscard]] Axis log_axis(std::string label, double low, double high);
/// An axis of rank counts, with a tick at each where there is room.
[[nodiscard]] Axis ranks_axis(const std::set<int>& ranks);
/// Has a band for each text, centred at 0, 1, 2, ...
[[nodiscard]] Axis bands_axis(std::string label, const std::vector<std::string>& texts);
/// Bands without a label, the first at the top.
[[nodiscard]] Axis rows_axis(const std::vector<std::string>& texts);

enum class LineLook : std::uint8_t { solid, faint, dashed };

/// A curve, which consists of a band, a line and symbols; each may be empty.
struct Series {
  std::size_t index = 0;  ///< determines its colour and its symbol
  Points marks = {};
  Points line = {};
  LineLook look = LineLook::solid;
  Points low = {};
  Points high = {};
};

/// The content of a panel, and its height.
struct Drawing {
  std::string body = {};
  double height = 0;
};

/// Draws the axes of a panel of the given size, and sets the drawing coordinates of their ends.
/// `right`: additional room to leave on the right.
void add_axes(Drawing& drawing, Axis& x, Axis& y, double width, double height, double right = 0);
/// Draws the first of `all`; a symbol on which one of the others lies is larger, so that both are
/// seen.
void add_series(Drawing& drawing, std::span<const Series> all, const Axis& x, const Axis& y);

/// The content of a panel with series between two axes, and a dashed horizontal line at `rule`.
struct Chart {
  Axis x;
  Axis y;
  std::vector<Series> series;
  std::optional<double> rule;
};

/// A part of a figure, in a box whose width the figure determines.
struct Panel {
  std::string title;
  std::function<Drawing(double width, double height)> draw;
  double height = 0;  ///< of a chart, which can be drawn at any; 0: `draw` determines it
  std::shared_ptr<const Chart> chart = {};  ///< what is drawn, if it is a chart
};
/// A panel with a chart.
[[nodiscard]] Panel chart_panel(std::string title, Axis x, Axis y, std::vector<Series> series,
                                double height, std::optional<double> rule = {});

/// An entry of the legend: its mark, drawn around the origin, and its meaning.
struct LegendEntry {
  std::string mark;
  std::string text;
  std::size_t series = 0;  ///< that it explains, if it explains one
};
[[nodiscard]] LegendEntry legend_of(const Series& series, std::string text);

struct Figure {
  std::vector<LegendEntry> legend = {};
  /// The caption, of which one line is drawn: the most important first. The description of the SVG
  /// has all.
  std::vector<std::string> notes = {};
  std::vector<Panel> panels = {};
  double panel_width = 440;  ///< approximate
};

/// The user's settings of a figure.
struct FigureStyle {
  std::string title = {};
  double width = 0;              ///< in pixels; 0: two panels wide at most
  double height = 0;             ///< in pixels; 0: panels have a height of their own
  double font_size = kFontSize;  ///< in pixels; lines and symbols grow with it
  int columns = 0;               ///< of panels; 0: as many as the width allows
  std::string unit = "pixels";   ///< of lengths in messages
  double unit_pixels = 1;
};

/// The notes of a caption that have room in one line: whole parts, which ", " and "; " separate.
[[nodiscard]] std::string caption_of(const std::vector<std::string>& notes, double room);
/// The number of panels beside each other: of their own width, or up to three that are narrow, so
/// that the rows are full.
[[nodiscard]] std::size_t columns_of(const Figure& figure, const FigureStyle& style);
/// The caption names what a single panel shows, instead of a title.
void name_single_panel(Figure& figure);

/// The figure as SVG: title, legend, notes, and as many panels per row as the width allows. Throws
/// InputError if the height is too small, or given for panels that determine theirs.
[[nodiscard]] std::string svg_of(const Figure& figure, const FigureStyle& style = {});
/// A Python program that draws the same with matplotlib. Throws InputError unless all panels are
/// charts.
[[nodiscard]] std::string matplotlib_of(const Figure& figure, const FigureStyle& style = {});

}  // namespace thinwire::report
