// Draws maps: the fastest scheme by ranks and density, and the utilisation of a platform's links.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "sim/app/report/charts/figure_panels.hpp"
#include "sim/app/report/charts/palette.hpp"
#include "sim/app/report/charts/rendering.hpp"
#include "sim/core/base/errors.hpp"

namespace thinwire::report {

namespace {

using Densities = std::vector<std::optional<double>>;

Drawing cells_of(const std::vector<const Cell*>& cells, const std::vector<std::string>& labels,
                 double width) {
  constexpr double kRow = 40;
  std::set<int> all_ranks;
  std::set<std::optional<double>> all_densities;
  for (const Cell* cell : cells) {
    all_ranks.insert(cell->ranks);
    all_densities.insert(cell->density);
  }
  const std::vector<int> ranks(all_ranks.begin(), all_ranks.end());
  const Densities densities(all_densities.begin(), all_densities.end());
  std::vector<std::string> columns;
  std::vector<std::string> rows;
  for (const int p : ranks) columns.push_back(fmt::format("{}", p));
  for (const auto& density : densities) {
    rows.push_back(density ? fmt::format("{}", *density) : "dense");
  }
  Drawing drawing;
  Axis x = bands_axis("ranks P", columns);
  Axis y = bands_axis("density", rows);
  const double row = std::max(kRow, text_width(y.label) / static_cast<double>(rows.size()) + 4);
  add_axes(drawing, x, y, width, row * static_cast<double>(rows.size()) + 46);
  const double wide = x(1) - x(0);
  for (const Cell* cell : cells) {
    const Cell::Candidate& best = cell->candidates.front();
    const double left =
        x(static_cast<double>(std::ranges::find(ranks, cell->ranks) - ranks.begin()) - 0.5);
    const double top = y(
        static_cast<double>(std::ranges::find(densities, cell->density) - densities.begin()) + 0.5);
    drawing.body += rect_at(left + 1, top + 1, wide - 2, row - 2,
                            fmt::format(R"(fill="{}")", colour_of(best.label)));
    drawing.body += symbol_in_cell(best.label, left + 7, top + 7);
    const TextLook white{.anchor = Anchor::middle, .fill = "white"};
    const auto add = [&](double below, const std::string& text) {
      const std::string fits = shortened(text, wide - 6);
      constexpr std::size_t kBytes = 3 + sizeof("…") - 1;  // fewer letters say nothing
      if (fits == text || fits.size() >= kBytes)
        drawing.body += text_at(left + wide / 2, top + below, fits, white);
    };
    add(17, labels.at(best.label));
    if (cell->candidates.size() > 1 && best.time_s > 0) {
      add(31, fmt::format("{:.3g}×", cell->candidates[1].time_s / best.time_s));
    }
  }
  return drawing;
}

Drawing map_of(const LinkMap& map, double side) {
  Drawing drawing{.height = side};
  const auto x_of = [&](const LinkVertex& v) { return 6 + v.x * (side - 12); };
  const auto y_of = [&](const LinkVertex& v) { return 6 + v.y * (side - 12); };
  const double width = map.bundles.size() > 800 ? 0.6 : 1.2;
  for (const LinkBundle& bundle : map.bundles) {
    const LinkVertex& a = map.vertices.at(bundle.from);
    const LinkVertex& b = map.vertices.at(bundle.to);
    const double share = bundle.utilisation_mean;
    drawing.body += path_of({{x_of(a), y_of(a)}, {x_of(b), y_of(b)}},
                            fmt::format(R"(stroke="{}" stroke-width="{:.2f}")", heat_of(share),
                                        width * (1 + 1.2 * std::min(1.0, share))));
  }
  const auto hosts = static_cast<double>(
      std::ranges::count_if(map.vertices, [](const LinkVertex& v) { return v.host; }));
  const double radius = std::clamp(200 / std::max(1.0, hosts), 0.9, 3.2);
  for (const LinkVertex& vertex : map.vertices) {
    drawing.body +=
        vertex.host ? circle_at(x_of(vertex), y_of(vertex), radius, R"(fill="#666")")
                    : rect_at(x_of(vertex) - 2.5, y_of(vertex) - 2.5, 5, 5, R"(fill="#1b1b1a")");
  }
  return drawing;
}

}  // namespace

Figure crossover_figure(const Figures& figures) {
  if (figures.cells.empty()) throw InputError("report: no result has a time");
  std::map<PanelKey, std::vector<const Cell*>> panels;
  std::set<std::size_t> winners;
  for (const Cell& cell : figures.cells) {
    panels[{cell.setting, cell.place, std::nullopt}].push_back(&cell);
    winners.insert(cell.candidates.front().label);
  }
  Figure figure{
      .notes = {figures.common, "the fastest scheme and how many times as long the second takes"}};
  for (const std::size_t label : winners) {
    figure.legend.push_back(
        {square_mark(fmt::format(R"(fill="{}")", colour_of(label))) + symbol_in_cell(label, 0, 0),
         figures.labels.at(label)});
  }
  for (const auto& [key, cells] : panels) {
    figure.panels.push_back(
        {title_of(key, figures), [&figures, cells = cells](double width, double) {
           return cells_of(cells, figures.labels, width);
         }});
  }
  name_single_panel(figure);
  return figure;
}

Figure links_figure(const std::vector<LinkMap>& maps) {
  Figure figure{.notes = {"mean utilisation; dots: hosts, squares: switches"}, .panel_width = 560};
  for (const LinkMap& map : maps) {
    if (map.bundles.empty()) continue;
    figure.panels.push_back({map.title + (map.note.empty() ? "" : "; " + map.note),
                             [&map](double width, double) { return map_of(map, width); }});
  }
  if (figure.panels.empty() && !maps.empty()) {
    throw InputError("report: {}: {}", maps.front().title, maps.front().note);
  }
  if (figure.panels.empty()) {
    throw InputError(
        "report: no result recorded its links; simulate with '--network links --links', in a sweep "
        R"("record": {"links": true})");
  }
  for (std::size_t i = 0; i <= kHeatSteps.size(); ++i) {
    const double from = i == 0 ? 0 : kHeatSteps.at(i - 1);
    figure.legend.push_back(
        {path_of({{-6, 0}, {6, 0}}, fmt::format(R"(stroke="{}" stroke-width="4")", heat_of(from))),
         i == 0 ? fmt::format("below {:.0f}%", 100 * kHeatSteps[0])
                : fmt::format("from {:.0f}%", 100 * from)});
  }
  return figure;
}

}  // namespace thinwire::report
