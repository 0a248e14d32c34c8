#include "sim/app/report/charts/trace_chart.hpp"

#include <algorithm>
#include <set>

#include "sim/app/report/charts/chart.hpp"

namespace thinwire::report {

std::string trace_svg(const traces::TraceHeader& header,
                      const traces::TraceStatistics& statistics) {
  constexpr double kHeight = 320;
  Series found{.index = 0};
  Series independent{.index = 1, .look = LineLook::dashed};
  std::set<int> ranks;
  double densest = 0;
  for (const traces::UnionDensity& density : statistics.unions) {
    ranks.insert(density.ranks);
    found.line.emplace_back(density.ranks, density.density);
    independent.line.emplace_back(density.ranks, density.independent);
    densest = std::max({densest, density.density, density.independent});
  }
  found.marks = found.line;

  Series local{.index = 2};
  Series global{.index = 3};
  double most = 0;
  for (const traces::Thresholds& one : statistics.thresholds) {
    const double at = one.iteration;
    local.line.emplace_back(at, one.local.mean);
    local.low.emplace_back(at, one.local.least);
    local.high.emplace_back(at, one.local.most);
    if (one.global) global.line.emplace_back(at, *one.global);
    most = std::max({most, one.local.most, one.global.value_or(0)});
  }
  if (local.line.size() == 1) local.marks = local.line;
  if (global.line.size() == 1) global.marks = global.line;

  Figure figure{
      .legend = {legend_of(found, "recorded"), legend_of(independent, "independent ranks"),
                 legend_of(local, "mean of the ranks; band: least to most")},
      .notes = {header.source}};
  if (!global.line.empty()) figure.legend.push_back(legend_of(global, "global top-k"));
  figure.panels = {
      chart_panel("Share of the components that P ranks select together", ranks_axis(ranks),
                  linear_axis("density of the union", 0, densest, true), {independent, found},
                  kHeight),
      chart_panel(
          "Magnitude from which on ranks select",
          linear_axis("training iteration", local.line.front().first, local.line.back().first),
          linear_axis("threshold", 0, most, true), {local, global}, kHeight)};
  return svg_of(figure);
}

}  // namespace thinwire::report
