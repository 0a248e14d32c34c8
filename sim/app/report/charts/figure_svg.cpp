#include "sim/app/report/charts/figure_svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

#include "sim/app/report/charts/svg.hpp"
#include "sim/core/base/errors.hpp"
#include "sim/core/base/nearest.hpp"

namespace thinwire::report {

namespace {

constexpr std::array<std::pair<FigureKind, const char*>, 6> kNames{
    {{FigureKind::time, "time"},
     {FigureKind::volume, "volume"},
     {FigureKind::breakdown, "breakdown"},
     {FigureKind::congestion, "congestion"},
     {FigureKind::crossover, "crossover"},
     {FigureKind::links, "links"}}};

// The page's, by light.
constexpr std::array<const char*, 8> kColours{"#2a78d6", "#d9580d", "#008300", "#c0408a",
                                              "#b07800", "#4a3aa7", "#0e8f8f", "#cf2f2f"};
constexpr std::array<double, 5> kHeatSteps{0.05, 0.2, 0.4, 0.6, 0.8};
constexpr std::array<const char*, 6> kHeat{"#b9cbe0", "#8fb3dc", "#e8b04a",
                                           "#e57f2e", "#d1432b", "#8c1028"};

constexpr double kPanelWidth = 440;
constexpr double kGap = 24;
constexpr double kCharacter = 6.3;  // wide, on average, at 11 units

std::string colour_of(std::size_t index) { return kColours.at(index % kColours.size()); }

/// Characters, not bytes.
std::size_t length(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

std::string shortened(const std::string& text, double room) {
  const auto most = static_cast<std::size_t>(std::max(1.0, room / kCharacter));
  if (length(text) <= most) return text;
  std::string kept;
  std::size_t characters = 0;
  for (const char c : text) {
    const bool begins = (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
    if (begins && ++characters >= most) break;
    kept += c;
  }
  return kept + "…";
}

std::string seconds_text(double value) {
  for (const auto& [unit, factor] : {std::pair{"s", 1.0}, {"ms", 1e-3}, {"µs", 1e-6}}) {
    if (value >= factor * 0.9995) return fmt::format("{:.4g} {}", value / factor, unit);
  }
  return value == 0 ? "0 s" : fmt::format("{:.4g} ns", value / 1e-9);
}

std::string words_text(double value) {
  for (const auto& [unit, factor] : {std::pair{"G", 1e9}, {"M", 1e6}, {"k", 1e3}}) {
    if (value >= factor) return fmt::format("{:.3g}{}", value / factor, unit);
  }
  return fmt::format("{:.3g}", value);
}

enum class Anchor : std::uint8_t { start, middle, end };

std::string text_at(double x, double y, const std::string& text, Anchor anchor = Anchor::start,
                    const std::string& more = {}) {
  constexpr std::array kAnchors{"start", "middle", "end"};
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\"{}>{}</text>\n", x, y,
                     kAnchors.at(static_cast<std::size_t>(anchor)), more, svg_escaped(text));
}

/// The page's symbols are more; eight colours by four shapes tell 32 curves apart.
std::string marker(std::size_t label, double x, double y) {
  const std::string fill =
      fmt::format(R"(fill="{}" stroke="white" stroke-width="0.7")", colour_of(label));
  switch ((label + label / kColours.size()) % 4) {
    case 0:
      return fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3.8\" {}/>\n", x, y, fill);
    case 1:
      return fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"7\" height=\"7\" {}/>\n", x - 3.5,
                         y - 3.5, fill);
    case 2:
      return fmt::format("<path d=\"M{:.1f} {:.1f}l4.4 7.6h-8.8z\" {}/>\n", x, y - 4.8, fill);
    default:
      return fmt::format("<path d=\"M{:.1f} {:.1f}l4.8 4.8l-4.8 4.8l-4.8 -4.8z\" {}/>\n", x,
                         y - 4.8, fill);
  }
}

/// A drawing in a box whose upper left corner is the origin.
struct Panel {
  std::string title;
  std::string body;
  double height = 0;
};

/// An entry of the legend: its mark drawn at (x, y), and what it means.
struct LegendEntry {
  std::function<std::string(double x, double y)> mark;
  std::string text;
};

/// Panels two a row under a legend that wraps.
std::string document(const std::vector<LegendEntry>& legend, const std::string& note,
                     const std::vector<Panel>& panels, double panel_width = kPanelWidth) {
  const std::size_t columns = panels.size() > 1 ? 2 : 1;
  const double width = static_cast<double>(columns) * (panel_width + kGap) + kGap;
  std::string body;
  double x = kGap;
  double y = 24;
  for (const LegendEntry& entry : legend) {
    const double needed = 30 + kCharacter * static_cast<double>(length(entry.text));
    if (x > kGap && x + needed > width - kGap) {
      x = kGap;
      y += 18;
    }
    body += entry.mark(x + 5, y - 4) + text_at(x + 15, y, entry.text);
    x += needed;
  }
  if (!legend.empty()) y += 18;
  if (!note.empty()) {
    body += text_at(kGap, y, note, Anchor::start, R"( fill="#555")");
    y += 18;
  }
  for (std::size_t first = 0; first < panels.size(); first += columns) {
    double height = 0;
    for (std::size_t i = first; i < std::min(panels.size(), first + columns); ++i) {
      const double left = kGap + static_cast<double>(i - first) * (panel_width + kGap);
      body += fmt::format("<g transform=\"translate({:.1f} {:.1f})\">\n", left, y);
      if (!panels[i].title.empty()) {
        body += text_at(0, 12, shortened(panels[i].title, panel_width), Anchor::start,
                        R"( font-weight="600")");
      }
      body += panels[i].body + "</g>\n";
      height = std::max(height, panels[i].height);
    }
    y += height + kGap / 2;
  }
  return svg_document(width, y, body);
}

/// What has a panel of its own.
struct PanelKey {
  std::size_t setting = 0;
  std::size_t place = 0;
  std::optional<double> density;

  bool operator<(const PanelKey& other) const {
    return std::tie(setting, place, density) < std::tie(other.setting, other.place, other.density);
  }
};

class Titles {
 public:
  explicit Titles(const Figures& figures) : figures_(figures) {
    std::set<double> densities;
    for (const Curve& curve : figures.curves) {
      if (curve.density) densities.insert(*curve.density);
    }
    several_densities_ = densities.size() > 1;
  }

  [[nodiscard]] std::string of(const PanelKey& key) const {
    std::string title = figures_.places.at(key.place);
    const std::string& setting = figures_.settings.at(key.setting);
    if (!setting.empty()) title += "; " + setting;
    if (several_densities_ && key.density) title += fmt::format("; density {}", *key.density);
    return title;
  }

 private:
  const Figures& figures_;
  bool several_densities_ = false;
};

/// Curves by panel; dense ones are in the panels of all densities of their setting and place.
std::map<PanelKey, std::vector<const Curve*>> by_panel(
    const Figures& figures, const std::function<bool(const CurvePoint&)>& shown) {
  std::map<std::pair<std::size_t, std::size_t>, std::set<double>> densities;
  const auto shows = [&](const Curve& curve) { return std::ranges::any_of(curve.points, shown); };
  for (const Curve& curve : figures.curves) {
    if (curve.density && shows(curve)) {
      densities[{curve.setting, curve.place}].insert(*curve.density);
    }
  }
  std::map<PanelKey, std::vector<const Curve*>> panels;
  for (const Curve& curve : figures.curves) {
    if (!shows(curve)) continue;
    const auto found = densities.find({curve.setting, curve.place});
    if (curve.density || found == densities.end()) {
      panels[{curve.setting, curve.place, curve.density}].push_back(&curve);
      continue;
    }
    for (const double density : found->second) {
      panels[{curve.setting, curve.place, density}].push_back(&curve);
    }
  }
  return panels;
}

std::vector<LegendEntry> label_legend(const Figures& figures,
                                      const std::map<PanelKey, std::vector<const Curve*>>& panels) {
  std::set<std::size_t> labels;
  for (const auto& [key, curves] : panels) {
    for (const Curve* curve : curves) labels.insert(curve->label);
  }
  std::vector<LegendEntry> legend;
  for (const std::size_t label : labels) {
    legend.push_back(
        {[label](double x, double y) { return marker(label, x, y); }, figures.labels.at(label)});
  }
  return legend;
}

/// From values to the drawing, logarithmic or not.
struct AxisScale {
  double low = 1;
  double high = 2;
  double from = 0;
  double to = 1;
  bool log = true;

  [[nodiscard]] double operator()(double value) const {
    const double share =
        log ? std::log(value / low) / std::log(high / low) : (value - low) / (high - low);
    return from + share * (to - from);
  }
};

/// 1, 10, 100 ..; with 2 and 5 between them where there are few.
std::vector<double> decades(double low, double high) {
  const double span = std::log10(high / low);
  std::vector<double> factors{1};
  if (span < 3) factors = {1, 2, 5};
  if (span < 0.7) factors = {1, 1.5, 2, 3, 4, 5, 6, 8};
  const int step = span > 8 ? static_cast<int>(std::ceil(span / 8)) : 1;
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

struct LineFigure {
  const char* y_label;
  std::function<std::optional<double>(const CurvePoint&)> value;
  std::function<std::optional<ValueRange>(const CurvePoint&)> formula;
  std::function<std::string(double)> text;
  std::optional<double> rule;
};

constexpr double kLineHeight = 300;
constexpr double kLeft = 72;

/// What all panels have in common, so that they can be compared.
struct Domain {
  std::set<int> ranks;
  double low = std::numeric_limits<double>::infinity();
  double high = 0;

  void take(double value) {
    if (!(value > 0) || !std::isfinite(value)) return;
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

std::string axes(const AxisScale& x, const AxisScale& y, const Domain& domain,
                 const LineFigure& figure) {
  std::string svg;
  for (const double mark : decades(y.low, y.high)) {
    svg += fmt::format("<path d=\"M{} {:.1f}H{}\" stroke=\"#e2e2e2\"/>\n", kLeft, y(mark),
                       kPanelWidth);
    svg += text_at(kLeft - 6, y(mark) + 4, figure.text(mark), Anchor::end);
  }
  double free_from = -1e9;
  for (const int p : domain.ranks) {
    const std::string label = fmt::format("{}", p);
    svg += fmt::format("<path d=\"M{:.1f} {:.1f}v4\" stroke=\"#444\"/>\n", x(p), y.from);
    const double half = kCharacter * static_cast<double>(label.size()) / 2;
    if (x(p) - half < free_from) continue;
    svg += text_at(x(p), y.from + 17, label, Anchor::middle);
    free_from = x(p) + half + 6;
  }
  svg += fmt::format("<path d=\"M{} {:.1f}H{}\" stroke=\"#444\"/>\n", kLeft, y.from, kPanelWidth);
  svg += text_at((kLeft + kPanelWidth) / 2, y.from + 34, "ranks P", Anchor::middle);
  svg += text_at(13, (y.from + y.to) / 2, figure.y_label, Anchor::middle,
                 fmt::format(R"svg( transform="rotate(-90 13 {:.1f})")svg", (y.from + y.to) / 2));
  return svg;
}

std::string path_of(const std::vector<std::pair<double, double>>& points, const std::string& more) {
  if (points.size() < 2) return {};
  std::string d;
  for (const auto& [x, y] : points)
    d += fmt::format("{}{:.1f} {:.1f}", d.empty() ? 'M' : 'L', x, y);
  return fmt::format("<path d=\"{}\" {}/>\n", d, more);
}

std::string curve_svg(const Curve& curve, const AxisScale& x, const AxisScale& y,
                      const LineFigure& figure) {
  std::vector<std::pair<double, double>> exact;
  std::vector<std::pair<double, double>> low;
  std::vector<std::pair<double, double>> high;
  std::vector<std::pair<double, double>> joined;
  std::string dots;
  for (const CurvePoint& point : curve.points) {
    const auto value = figure.value(point);
    if (!value || !(*value > 0)) continue;
    dots += marker(curve.label, x(point.ranks), y(*value));
    const auto formula = figure.formula(point);
    if (!formula || !(formula->first > 0)) {
      joined.emplace_back(x(point.ranks), y(*value));
    } else if (formula->second > formula->first * (1 + 1e-9)) {
      low.emplace_back(x(point.ranks), y(formula->first));
      high.emplace_back(x(point.ranks), y(formula->second));
    } else {
      exact.emplace_back(x(point.ranks), y(formula->first));
    }
  }
  const std::string colour = colour_of(curve.label);
  std::vector<std::pair<double, double>> band(high);
  band.insert(band.end(), low.rbegin(), low.rend());
  std::string svg = path_of(band, fmt::format(R"(fill="{}" fill-opacity="0.16")", colour));
  svg += path_of(exact, fmt::format(R"(fill="none" stroke="{}" stroke-width="1.4")", colour));
  svg += path_of(joined, fmt::format(R"(fill="none" stroke="{}" stroke-opacity="0.5"{})", colour,
                                     figure.rule ? "" : R"( stroke-dasharray="4 3")"));
  return svg + dots;
}

std::string line_figure(const Figures& figures, const LineFigure& figure, const std::string& note,
                        const std::string& none) {
  const auto shown = [&](const CurvePoint& point) {
    const auto value = figure.value(point);
    return value && *value > 0;
  };
  const auto panels = by_panel(figures, shown);
  if (panels.empty()) throw InputError(none);
  Domain domain;
  if (figure.rule) domain.take(*figure.rule);
  for (const auto& [key, curves] : panels) {
    for (const Curve* curve : curves) {
      for (const CurvePoint& point : curve->points) {
        if (!shown(point)) continue;
        domain.ranks.insert(point.ranks);
        domain.take(*figure.value(point));
        const auto formula = figure.formula(point);
        if (formula) domain.take(formula->first);
        if (formula) domain.take(formula->second);
      }
    }
  }
  const double least = *domain.ranks.begin();
  const double most = *domain.ranks.rbegin();
  const AxisScale x{.low = least < most ? least : least / 2,
                    .high = least < most ? most : most * 2,
                    .from = kLeft + 10,
                    .to = kPanelWidth - 10};
  const AxisScale y{
      .low = domain.low / 1.15, .high = domain.high * 1.15, .from = kLineHeight - 48, .to = 24};
  const Titles titles(figures);
  std::vector<Panel> drawn;
  for (const auto& [key, curves] : panels) {
    Panel& panel = drawn.emplace_back();
    panel.title = titles.of(key);
    panel.height = kLineHeight;
    panel.body = axes(x, y, domain, figure);
    if (figure.rule) {
      panel.body +=
          fmt::format("<path d=\"M{} {:.1f}H{}\" stroke=\"#777\" stroke-dasharray=\"3 3\"/>\n",
                      kLeft, y(*figure.rule), kPanelWidth);
    }
    for (const Curve* curve : curves) panel.body += curve_svg(*curve, x, y, figure);
  }
  return document(label_legend(figures, panels), note, drawn);
}

const char* const kPointsAndLines =
    "points: simulated; line: formula; band: the formula's interval; dashed: no formula";

std::optional<ValueRange> no_formula(const CurvePoint&) { return std::nullopt; }

std::string time_svg(const Figures& figures) {
  return line_figure(figures,
                     {.y_label = "time",
                      .value = [](const CurvePoint& p) { return p.time_s; },
                      .formula = [](const CurvePoint& p) { return p.formula_s; },
                      .text = seconds_text,
                      .rule = {}},
                     kPointsAndLines, "report: no result has a time");
}

std::string volume_svg(const Figures& figures) {
  return line_figure(
      figures,
      {.y_label = "words of 4 bytes a rank",
       .value = [](const CurvePoint& p) { return std::optional<double>(p.words); },
       .formula = [](const CurvePoint& p) { return std::optional<ValueRange>(p.formula_words); },
       .text = words_text,
       .rule = {}},
      kPointsAndLines, "report: no result sent anything");
}

std::string congestion_svg(const Figures& figures) {
  return line_figure(
      figures,
      {.y_label = "congestion factor",
       .value = [](const CurvePoint& p) { return p.congestion_factor; },
       .formula = no_formula,
       .text = [](double value) { return fmt::format("{:.3g}", value); },
       .rule = 1},
      {}, "report: no result has a congestion factor; simulate with '--network links --platform'");
}

// --- Breakdown

double sum_of(const CurvePoint& point) {
  return std::accumulate(point.parts.begin(), point.parts.end(), 0.0,
                         [](double sum, const TimePart& part) { return sum + part.time_s; });
}

struct Bar {
  std::string name;
  const CurvePoint* point;
};

Panel bars_panel(const std::string& title, const std::vector<Bar>& bars, double longest,
                 const std::map<std::string, std::size_t>& parts) {
  constexpr double kRow = 20;
  double names = 0;
  for (const Bar& bar : bars) {
    names = std::max(names, kCharacter * static_cast<double>(length(bar.name)));
  }
  const double left = std::min(170.0, names + 8);
  const double full = kPanelWidth - left - 62;
  const bool shares = longest == 0;
  Panel panel{.title = title, .body = {}, .height = 0};
  double y = 24;
  for (const Bar& bar : bars) {
    panel.body += text_at(left - 6, y + 13, shortened(bar.name, left - 6), Anchor::end);
    const double sum = sum_of(*bar.point);
    const double whole = shares ? sum : longest;
    double x = left;
    for (const TimePart& part : bar.point->parts) {
      const double width = whole > 0 ? part.time_s / whole * full : 0;
      const std::size_t index = parts.at(part.name);
      panel.body += fmt::format(
          "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.2f}\" height=\"{}\" fill=\"{}\"{}/>\n", x,
          y + 2, width, kRow - 4, colour_of(index),
          index < kColours.size() ? "" : R"( fill-opacity="0.55")");
      x += width;
    }
    panel.body += text_at(x + 5, y + 13, seconds_text(bar.point->time_s.value_or(sum)));
    y += kRow;
  }
  panel.height = y + 8;
  return panel;
}

std::string breakdown_svg(const Figures& figures) {
  const auto shown = [](const CurvePoint& point) { return !point.parts.empty(); };
  const auto panels = by_panel(figures, shown);
  if (panels.empty()) throw InputError("report: no result has phases with a time");
  std::map<std::string, std::size_t> parts;
  std::vector<LegendEntry> legend;
  double longest = 0;
  double shortest = std::numeric_limits<double>::infinity();
  for (const auto& [key, curves] : panels) {
    for (const Curve* curve : curves) {
      for (const CurvePoint& point : curve->points) {
        for (const TimePart& part : point.parts) {
          const std::size_t index = parts.size();
          if (!parts.emplace(part.name, index).second) continue;
          legend.push_back(
              {[index](double x, double y) {
                 return fmt::format(
                     R"(<rect x="{:.1f}" y="{:.1f}" width="10" height="10" fill="{}"{}/>)", x - 5,
                     y - 5, colour_of(index),
                     index < kColours.size() ? "" : R"( fill-opacity="0.55")");
               },
               part.name});
        }
        if (!(sum_of(point) > 0)) continue;
        longest = std::max(longest, sum_of(point));
        shortest = std::min(shortest, sum_of(point));
      }
    }
  }
  const bool shares = longest > 30 * shortest;
  const Titles titles(figures);
  std::vector<Panel> drawn;
  for (const auto& [key, curves] : panels) {
    std::map<int, std::vector<Bar>> by_ranks;
    for (const Curve* curve : curves) {
      for (const CurvePoint& point : curve->points) {
        if (shown(point)) by_ranks[point.ranks].push_back({figures.labels[curve->label], &point});
      }
    }
    for (const auto& [ranks, bars] : by_ranks) {
      drawn.push_back(bars_panel(fmt::format("{}; P = {}", titles.of(key), ranks), bars,
                                 shares ? 0 : longest, parts));
    }
  }
  return document(legend,
                  shares ? "shares of the phases' sum; beside each bar its simulated time"
                         : "seconds; beside each bar its simulated time",
                  drawn);
}

// --- Crossover

std::string density_name(const std::optional<double>& density) {
  return density ? fmt::format("{}", *density) : "dense";
}

std::string crossover_svg(const Figures& figures) {
  if (figures.cells.empty()) throw InputError("report: no result has a time");
  std::map<PanelKey, std::vector<const Cell*>> panels;
  std::set<std::size_t> winners;
  for (const Cell& cell : figures.cells) {
    panels[{cell.setting, cell.place, std::nullopt}].push_back(&cell);
    winners.insert(cell.candidates.front().label);
  }
  std::vector<LegendEntry> legend;
  for (const std::size_t label : winners) {
    legend.push_back({[label](double x, double y) {
                        return fmt::format(
                            R"(<rect x="{:.1f}" y="{:.1f}" width="10" height="10" fill="{}"/>)",
                            x - 5, y - 5, colour_of(label));
                      },
                      figures.labels.at(label)});
  }
  const Titles titles(figures);
  std::vector<Panel> drawn;
  for (const auto& [key, cells] : panels) {
    std::set<int> ranks;
    std::set<std::optional<double>> densities;
    for (const Cell* cell : cells) {
      ranks.insert(cell->ranks);
      densities.insert(cell->density);
    }
    constexpr double kRow = 40;
    const double width = (kPanelWidth - kLeft) / static_cast<double>(ranks.size());
    const double bottom = 24 + kRow * static_cast<double>(densities.size());
    const auto column = [&](int p) {
      return kLeft + width * static_cast<double>(std::distance(ranks.begin(), ranks.find(p)));
    };
    const auto row = [&](const std::optional<double>& density) {  // the densest above
      return bottom - kRow * static_cast<double>(
                                 1 + std::distance(densities.begin(), densities.find(density)));
    };
    Panel panel{.title = titles.of(key), .body = {}, .height = bottom + 42};
    for (const Cell* cell : cells) {
      const Cell::Candidate& best = cell->candidates.front();
      const double x = column(cell->ranks);
      const double y = row(cell->density);
      panel.body += fmt::format(
          "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{}\" fill=\"{}\"/>\n", x + 1,
          y + 1, width - 2, kRow - 2, colour_of(best.label));
      const std::string white = R"( fill="white")";
      if (width >= 30) {
        panel.body +=
            text_at(x + width / 2, y + 17, shortened(figures.labels.at(best.label), width - 6),
                    Anchor::middle, white);
      }
      if (width >= 34 && cell->candidates.size() > 1 && best.time_s > 0) {
        panel.body += text_at(x + width / 2, y + 31,
                              fmt::format("{:.3g}×", cell->candidates[1].time_s / best.time_s),
                              Anchor::middle, white);
      }
    }
    for (const int p : ranks) {
      panel.body +=
          text_at(column(p) + width / 2, bottom + 16, fmt::format("{}", p), Anchor::middle);
    }
    for (const auto& density : densities) {
      panel.body +=
          text_at(kLeft - 6, row(density) + kRow / 2 + 4, density_name(density), Anchor::end);
    }
    panel.body += text_at((kLeft + kPanelWidth) / 2, bottom + 33, "ranks P", Anchor::middle);
    panel.body +=
        text_at(13, (24 + bottom) / 2, "density", Anchor::middle,
                fmt::format(R"svg( transform="rotate(-90 13 {:.1f})")svg", (24 + bottom) / 2));
    drawn.push_back(panel);
  }
  return document(legend, "the fastest, and how many times longer the second takes", drawn);
}

// --- Links

Panel links_panel(const LinkMap& map, double side) {
  constexpr double kTop = 30;
  Panel panel{.title = map.title, .body = {}, .height = kTop + side + 8};
  if (!map.note.empty()) {
    panel.body += text_at(0, 26, shortened(map.note, side), Anchor::start, R"( fill="#555")");
  }
  const auto x_of = [&](const LinkVertex& v) { return 6 + v.x * (side - 12); };
  const auto y_of = [&](const LinkVertex& v) { return kTop + 6 + v.y * (side - 12); };
  const double width = map.bundles.size() > 800 ? 0.6 : 1.2;
  for (const LinkBundle& bundle : map.bundles) {
    const LinkVertex& a = map.vertices.at(bundle.from);
    const LinkVertex& b = map.vertices.at(bundle.to);
    const auto heat = std::ranges::count_if(
        kHeatSteps, [&](double step) { return bundle.utilisation_mean >= step; });
    panel.body += fmt::format(
        "<path d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}\" stroke=\"{}\" stroke-width=\"{:.2f}\"/>\n",
        x_of(a), y_of(a), x_of(b), y_of(b), kHeat.at(static_cast<std::size_t>(heat)),
        width * (1 + 1.2 * std::min(1.0, bundle.utilisation_mean)));
  }
  const auto hosts = static_cast<double>(
      std::ranges::count_if(map.vertices, [](const LinkVertex& v) { return v.host; }));
  const double radius = std::clamp(200 / std::max(1.0, hosts), 0.9, 3.2);
  for (const LinkVertex& vertex : map.vertices) {
    if (vertex.host) {
      panel.body +=
          fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\" fill=\"#666\"/>\n",
                      x_of(vertex), y_of(vertex), radius);
    } else {
      panel.body += fmt::format(
          "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"5\" height=\"5\" fill=\"#1b1b1a\"/>\n",
          x_of(vertex) - 2.5, y_of(vertex) - 2.5);
    }
  }
  return panel;
}

std::string links_svg(const std::vector<LinkMap>& maps) {
  std::vector<Panel> drawn;
  constexpr double kSide = 560;
  for (const LinkMap& map : maps) {
    if (!map.bundles.empty()) drawn.push_back(links_panel(map, kSide));
  }
  if (drawn.empty() && !maps.empty()) {
    throw InputError(fmt::format("report: {}: {}", maps.front().title, maps.front().note));
  }
  if (drawn.empty()) {
    throw InputError(
        "report: no result recorded its links; simulate with '--network links --links', in a sweep "
        R"("record": {"links": true})");
  }
  std::vector<LegendEntry> legend;
  for (std::size_t i = 0; i < kHeat.size(); ++i) {
    legend.push_back({[i](double x, double y) {
                        return fmt::format(
                            R"(<path d="M{:.1f} {:.1f}h11" stroke="{}" stroke-width="4"/>)", x - 5,
                            y, kHeat.at(i));
                      },
                      i == 0 ? std::string("below 5%")
                             : fmt::format("from {:.0f}%", 100 * kHeatSteps.at(i - 1))});
  }
  return document(legend, "mean utilisation; dots: hosts, squares: switches", drawn, kSide);
}

}  // namespace

std::vector<std::string> figure_names() {
  std::vector<std::string> names;
  for (const auto& [kind, name] : kNames) names.emplace_back(name);
  return names;
}

FigureKind figure_named(const std::string& name) {
  for (const auto& [kind, known] : kNames) {
    if (name == known) return kind;
  }
  throw InputError(
      fmt::format("--figure: unknown figure '{}'{}; there are time, volume, breakdown, "
                  "congestion, crossover and links",
                  name, did_you_mean(name, figure_names())));
}

std::string figure_svg(FigureKind kind, const Figures& figures, const std::vector<LinkMap>& links) {
  switch (kind) {
    case FigureKind::time:
      return time_svg(figures);
    case FigureKind::volume:
      return volume_svg(figures);
    case FigureKind::breakdown:
      return breakdown_svg(figures);
    case FigureKind::congestion:
      return congestion_svg(figures);
    case FigureKind::crossover:
      return crossover_svg(figures);
    case FigureKind::links:
      break;
  }
  return links_svg(links);
}

}  // namespace thinwire::report
