#include "sim/app/report/charts/chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <sstream>
#include <utility>

#include "sim/app/report/charts/palette.hpp"
#include "sim/app/report/charts/rendering.hpp"
#include "sim/core/base/errors.hpp"

namespace thinwire::report {

namespace {

constexpr double kGap = 24;
constexpr double kLine = 18;   // height of a line of text
constexpr double kClose = 15;  // height of a line of the legend or the caption
const TextLook kSoft{.fill = "#555"};

/// The smallest step, 1, 2 or 5 times a power of ten, of which at most `count` fit in `span`.
double step_of(double span, int count) {
  const double least = span / count;
  const double power = std::pow(10, std::floor(std::log10(least)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= least * (1 - 1e-9)) return factor * power;
  }
  return 10 * power;
}

std::vector<double> linear_marks(double low, double high) {
  const double step = step_of(high - low, 6);
  std::vector<double> marks;
  const double first = std::ceil(low / step - 1e-9);
  for (int i = 0; (first + i) * step <= high + 1e-9 * step; ++i) {
    marks.push_back((first + i) * step + 0.0);  // no -0
  }
  return marks;
}

std::vector<double> log_marks(double low, double high) {
  const double span = std::log10(high / low);
  if (span < 0.7) return linear_marks(low, high);
  const std::vector<double> factors =
      span < 3 ? std::vector<double>{1, 2, 5} : std::vector<double>{1};
  const int step = std::max(1, static_cast<int>(std::ceil(span / 8)));
  std::vector<double> marks;
  for (int power = static_cast<int>(std::floor(std::log10(low))); std::pow(10, power) <= high;
       power += step) {
    for (const double factor : factors) {
      const double mark = factor * std::pow(10, power);
      if (mark >= low && mark <= high) marks.push_back(mark);
    }
  }
  return marks;
}

/// Breaks a text into lines of whole words; a word longer than a line is shortened.
std::vector<std::string> wrapped(const std::string& text, double room, bool bold) {
  std::vector<std::string> lines;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const std::string longer = lines.empty() ? word : lines.back() + " " + word;
    if (!lines.empty() && text_width(longer, bold) <= room) {
      lines.back() = longer;
    } else {
      lines.push_back(shortened(word, room, bold));
    }
  }
  return lines;
}

/// Draws lines from y on, and moves y below them.
std::string paragraph(double x, double& y, const std::vector<std::string>& lines,
                      const TextLook& look) {
  std::string svg;
  for (const std::string& line : lines) {
    svg += text_at(x, y + 12, line, look);
    y += kLine;
  }
  return svg;
}

Points placed(const Points& points, const Axis& x, const Axis& y) {
  Points all;
  for (const auto& [at, value] : points) all.emplace_back(x(at), y(value));
  return all;
}

/// A line of one point becomes a short one, so that it is seen.
Points widened(const Points& points) {
  if (points.size() != 1) return points;
  constexpr double kHalf = 9;
  const auto [x, y] = points.front();
  return {{x - kHalf, y}, {x + kHalf, y}};
}

std::string line_look(const Series& series) {
  std::string solid = R"(stroke-width="1.4")";
  if (const std::string dashes = dashes_of(series.index); !dashes.empty()) {
    solid += fmt::format(R"( stroke-dasharray="{}")", dashes);
  }
  return fmt::format(R"(fill="none" stroke="{}" {})", colour_of(series.index),
                     series.look == LineLook::solid ? solid
                     : series.look == LineLook::faint
                         ? R"(stroke-opacity="0.5")"
                         : R"(stroke-opacity="0.6" stroke-dasharray="4 3")");
}

/// The ticks whose texts, of this extent, do not touch: all of them, those at powers of ten, or
/// every second, third and so on of these.
std::vector<double> ticks_with_room(const Axis& axis, double extent) {
  std::vector<double> all = axis.marks;
  const auto touch = [&](const std::vector<double>& marks) {
    return std::ranges::adjacent_find(marks, [&](double a, double b) {
             return std::abs(axis(a) - axis(b)) < extent;
           }) != marks.end();
  };
  if (!touch(all)) return all;
  if (axis.log) {
    std::vector<double> powers;
    std::ranges::copy_if(all, std::back_inserter(powers), [](double mark) {
      const double exponent = std::log10(mark);
      return std::abs(exponent - std::round(exponent)) < 1e-9;
    });
    if (powers.size() > 1) all = powers;
  }
  std::vector<double> kept = all;
  for (std::size_t step = 2; touch(kept); ++step) {
    kept.clear();
    for (std::size_t i = 0; i < all.size(); i += step) kept.push_back(all[i]);
  }
  return kept;
}

}  // namespace

std::string number_words(double value) { return fmt::format("{:.4g}", value); }

double Axis::operator()(double value) const {
  const double share =
      log ? std::log(value / low) / std::log(high / low) : (value - low) / (high - low);
  return from + share * (to - from);
}

Axis linear_axis(std::string label, double low, double high, bool whole) {
  const double least = 1e-6 * std::max(1e-9, std::abs(low));  // span that ticks resolve
  Axis axis{.label = std::move(label), .low = low, .high = high > low + least ? high : low + 1};
  if (whole) {
    const double step = step_of(axis.high - low, 6);
    axis.low = std::floor(low / step + 1e-9) * step;
    axis.high = std::ceil(axis.high / step - 1e-9) * step;
  }
  axis.marks = linear_marks(axis.low, axis.high);
  return axis;
}

Axis log_axis(std::string label, double low, double high) {
  return {.label = std::move(label),
          .low = low,
          .high = high,
          .log = true,
          .marks = log_marks(low, high)};
}

Axis ranks_axis(const std::set<int>& ranks) {
  const double low = *ranks.begin();
  const double high = *ranks.rbegin();
  return {.label = "ranks P",
          .low = low < high ? low : low / 2,
          .high = low < high ? high : high * 2,
          .log = true,
          .marks = {ranks.begin(), ranks.end()},
          .text = [](double value) { return fmt::format("{:.0f}", value); },
          .inset = 10};
}

Axis bands_axis(std::string label, const std::vector<std::string>& texts) {
  Axis axis{.label = std::move(label),
            .low = -0.5,
            .high = static_cast<double>(texts.size()) - 0.5,
            .text = [texts](double value) { return texts.at(static_cast<std::size_t>(value)); }};
  for (std::size_t i = 0; i < texts.size(); ++i) axis.marks.push_back(static_cast<double>(i));
  return axis;
}

Axis rows_axis(const std::vector<std::string>& texts) {
  Axis axis = bands_axis("", texts);
  std::swap(axis.low, axis.high);
  return axis;
}

void add_axes(Drawing& drawing, Axis& x, Axis& y, double width, double height, double right) {
  const double room = 0.47 * width;  // limit for the tick labels of y
  double texts = 0;
  for (const double mark : y.marks) texts = std::max(texts, text_width(y.text(mark)));
  const double left = (y.label.empty() ? 0 : kLine) + std::min(texts, room) + 7;
  const double bottom = height - kLine * (x.label.empty() ? 1 : 2) - 4;
  if (!x.marks.empty() && x.marks.back() > x.high - 0.01 * (x.high - x.low)) {
    right = std::max(right, text_width(x.text(x.marks.back())) / 2 - x.inset);
  }
  x.from = left + x.inset;
  x.to = width - right - x.inset;
  y.from = bottom - y.inset;
  y.to = 6 + y.inset;
  const std::string grid = "stroke=\"#e2e2e2\"";
  const std::string ink = "stroke=\"#444\"";
  for (const double mark : ticks_with_room(y, kFontSize + 2)) {
    if (y.grid) drawing.body += path_of({{left, y(mark)}, {width - right, y(mark)}}, grid);
    drawing.body +=
        text_at(left - 6, y(mark) + 4, shortened(y.text(mark), room), {.anchor = Anchor::end});
  }
  double free_from = -1e9;
  for (const double mark : x.marks) {
    const std::string text = x.text(mark);
    const double half = text_width(text) / 2;
    if (x.grid) drawing.body += path_of({{x(mark), y.to}, {x(mark), bottom}}, grid);
    drawing.body += path_of({{x(mark), bottom}, {x(mark), bottom + 4}}, ink);
    if (x(mark) - half < free_from) continue;
    drawing.body += text_at(x(mark), bottom + 16, text, {.anchor = Anchor::middle});
    free_from = x(mark) + half + 6;
  }
  drawing.body += path_of({{left, bottom}, {width - right, bottom}}, ink);
  if (!x.label.empty()) {
    drawing.body += text_at((x.from + x.to) / 2, height - 5, x.label, {.anchor = Anchor::middle});
  }
  if (!y.label.empty()) {
    drawing.body += text_at(12, (y.from + y.to) / 2, shortened(y.label, y.from - y.to),
                            {.anchor = Anchor::middle, .upwards = true});
  }
  drawing.height = std::max(drawing.height, height);
}

void add_series(Drawing& drawing, std::span<const Series> all, const Axis& x, const Axis& y) {
  const Series& series = all.front();
  Points band = widened(placed(series.high, x, y));
  const Points low = widened(placed(series.low, x, y));
  band.insert(band.end(), low.rbegin(), low.rend());
  drawing.body +=
      path_of(band, fmt::format(R"(fill="{}" fill-opacity="0.16")", colour_of(series.index)), true);
  drawing.body += path_of(widened(placed(series.line, x, y)), line_look(series));
  constexpr double kNear = 2.5;
  constexpr double kRim = 1.4;
  constexpr std::ptrdiff_t kMostRims = 3;
  for (const auto& mark : series.marks) {
    const auto lies_on_it = [&](const auto& other) {
      return other.first == mark.first && std::abs(y(other.second) - y(mark.second)) < kNear;
    };
    const auto above = std::ranges::count_if(all.subspan(1), [&](const Series& other) {
      return std::ranges::any_of(other.marks, lies_on_it);
    });
    drawing.body +=
        symbol_at(series.index, x(mark.first), y(mark.second),
                  kSymbolRadius + kRim * static_cast<double>(std::min(above, kMostRims)));
  }
}

Panel chart_panel(std::string title, Axis x, Axis y, std::vector<Series> series, double height,
                  std::optional<double> rule) {
  y.grid = true;
  const auto chart =
      std::make_shared<const Chart>(Chart{std::move(x), std::move(y), std::move(series), rule});
  const auto draw = [chart](double width, double at_height) {
    Drawing drawing;
    Axis across = chart->x;
    Axis up = chart->y;
    add_axes(drawing, across, up, width, at_height);
    if (chart->rule) {
      const double level = up(*chart->rule);
      drawing.body += path_of({{across.from - across.inset, level}, {width, level}},
                              R"(stroke="#777" stroke-dasharray="3 3")");
    }
    const std::span<const Series> all(chart->series);
    for (std::size_t i = 0; i < all.size(); ++i) add_series(drawing, all.subspan(i), across, up);
    return drawing;
  };
  return {std::move(title), draw, height, chart};
}

LegendEntry legend_of(const Series& series, std::string text) {
  std::string mark;
  if (!series.line.empty()) mark += path_of({{-6, 0}, {6, 0}}, line_look(series));
  if (!series.marks.empty() || mark.empty()) mark += symbol_at(series.index, 0, 0);
  return {mark, std::move(text), series.index};
}

std::string caption_of(const std::vector<std::string>& notes, double room) {
  std::string caption;
  std::string between;
  for (const std::string& note : notes) {
    for (std::size_t from = 0; from < note.size();) {
      const std::size_t end = std::min(note.find_first_of(",;", from), note.size());
      const std::string longer = caption + between + note.substr(from, end - from);
      if (text_width(longer) > room) return caption.empty() ? shortened(longer, room) : caption;
      caption = longer;
      between = end < note.size() ? note.substr(end, 1) + " " : "; ";
      from = end < note.size() ? end + 2 : end;
    }
  }
  return caption;
}

void name_single_panel(Figure& figure) {
  if (figure.panels.size() != 1) return;
  figure.notes.insert(figure.notes.begin(), std::exchange(figure.panels.front().title, {}));
}

namespace {

/// The height of a panel in a column of this width. Charts are drawn at any: lower ones where they
/// are narrow.
double height_of(const Panel& panel, double width) {
  constexpr double kWide = 400;
  return panel.chart ? panel.height * std::clamp(width / kWide, 0.6, 1.0) : panel.height;
}

/// A figure in units of the drawing, of which the font has kFontSize.
struct LaidOut {
  std::string body = {};
  double width = 0;
  double height = 0;
  int rows = 0;
  double panel_width = 0;
};

}  // namespace

std::size_t columns_of(const Figure& figure, const FigureStyle& style) {
  constexpr double kNarrow = 190;
  constexpr std::size_t kMostNarrow = 3;
  const std::size_t panels = std::max<std::size_t>(1, figure.panels.size());
  if (style.columns > 0) return std::min(panels, static_cast<std::size_t>(style.columns));
  if (!(style.width > 0)) return std::min<std::size_t>(2, panels);
  const double own = std::round((style.width - kGap) / (figure.panel_width + kGap));
  const bool narrows =
      std::ranges::all_of(figure.panels, [](const Panel& p) { return p.chart != nullptr; });
  const auto narrow = static_cast<std::size_t>(style.width / kNarrow);
  const std::size_t most = std::max(static_cast<std::size_t>(std::max(1.0, own)),
                                    narrows ? std::min(kMostNarrow, narrow) : 1);
  const std::size_t rows = (panels + most - 1) / most;
  return (panels + rows - 1) / rows;
}

namespace {

/// `higher`: added to the height of every panel.
LaidOut laid_out(const Figure& figure, const FigureStyle& style, double higher) {
  const std::size_t in_row = columns_of(figure, style);
  const auto columns = static_cast<double>(in_row);
  const double width = style.width > 0 ? style.width : columns * (figure.panel_width + kGap) + kGap;
  const double gap = std::clamp(width / 40, kGap / 3, kGap);  // of print, which is narrow
  const double panel_width = (width - gap) / columns - gap;
  const double room = width - 2 * gap;
  double y = gap < kGap / 2 ? 2 : 10;
  std::string body =
      paragraph(gap, y, wrapped(style.title, room, true), {.bold = true, .fill = "#000"});
  double x = gap;
  for (const LegendEntry& entry : figure.legend) {
    const std::string text = shortened(entry.text, room - kLine);
    const double needed = kLine + text_width(text);
    if (x > gap && x + needed > width - gap) {
      x = gap;
      y += kClose;
    }
    body +=
        fmt::format("<g transform=\"translate({:.1f} {:.1f})\">{}</g>\n", x + 6, y + 8, entry.mark);
    body += text_at(x + kLine, y + 12, text);
    x += needed + 14;
  }
  if (!figure.legend.empty()) y += kLine;
  const std::string caption = caption_of(figure.notes, room);
  if (!caption.empty()) {
    body += text_at(gap, y + 12, caption, kSoft);
    y += kLine;
  }
  y += 4;
  for (std::size_t first = 0; first < figure.panels.size(); first += in_row) {
    const std::size_t end = std::min(figure.panels.size(), first + in_row);
    const auto left = [&](std::size_t i) {
      return gap + static_cast<double>(i - first) * (panel_width + gap);
    };
    double below = y;  // the lower end of the row's titles
    for (std::size_t i = first; i < end; ++i) {
      double at = y;
      body += paragraph(left(i), at, wrapped(figure.panels[i].title, panel_width, true),
                        {.bold = true});
      below = std::max(below, at);
    }
    y = below;
    for (std::size_t i = first; i < end; ++i) {
      const Panel& panel = figure.panels[i];
      const Drawing drawing = panel.draw(panel_width, height_of(panel, panel_width) + higher);
      body += fmt::format("<g transform=\"translate({:.1f} {:.1f})\">\n{}</g>\n", left(i), y,
                          drawing.body);
      below = std::max(below, y + drawing.height);
    }
    y = below + gap / 2;
  }
  const int rows = static_cast<int>((figure.panels.size() + in_row - 1) / in_row);
  return {std::move(body), width, y, rows, panel_width};
}

}  // namespace

std::string svg_of(const Figure& figure, const FigureStyle& style) {
  const double scale = style.font_size / kFontSize;
  FigureStyle inner = style;
  inner.width /= scale;
  LaidOut layout = laid_out(figure, inner, 0);
  if (style.height > 0) {
    double least = 0;  // the lowest of the panels
    for (const Panel& panel : figure.panels) {
      if (!panel.chart) {
        throw InputError(
            "--height: the height of this figure follows from what it shows; give "
            "--width alone");
      }
      const double high = height_of(panel, layout.panel_width);
      least = least > 0 ? std::min(least, high) : high;
    }
    constexpr double kLowest = 90;
    const double higher = (style.height / scale - layout.height) / layout.rows;
    if (least + higher < kLowest) {
      const double needed = scale * (layout.height + layout.rows * (kLowest - least));
      throw InputError("--height: this figure needs {:.0f} {} at least",
                       std::ceil(needed / style.unit_pixels), style.unit);
    }
    layout = laid_out(figure, inner, higher);
  }
  std::string all;
  for (const std::string& note : figure.notes) {
    if (!note.empty()) all += (all.empty() ? "" : "; ") + note;
  }
  if (!all.empty()) all = fmt::format("<desc>{}</desc>\n", svg_escaped(all));
  return svg_document(layout.width, layout.height, all + layout.body, scale);
}

}  // namespace thinwire::report
