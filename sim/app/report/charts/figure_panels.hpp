// Shared parts of the single figures: the assignment of curves to panels.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "sim/app/report/charts/chart.hpp"
#include "sim/app/report/charts/figure_svg.hpp"
#include "sim/app/report/charts/figures.hpp"
#include "sim/app/report/charts/link_map.hpp"
#include "sim/app/report/tables/formats.hpp"

namespace thinwire::report {

/// The key of a panel: a setting, a place and a density.
struct PanelKey {
  std::size_t setting = 0;
  std::size_t place = 0;
  std::optional<double> density;

  bool operator<(const PanelKey& other) const {
    return std::tie(setting, place, density) < std::tie(other.setting, other.place, other.density);
  }
};

using Panels = std::map<PanelKey, std::vector<const Curve*>>;
using PointFilter = std::function<bool(const CurvePoint&)>;

/// The curves of the leading schemes; all if none lead.
[[nodiscard]] Figures leading_alone(Figures figures);
[[nodiscard]] std::string title_of(const PanelKey& key, const Figures& figures);
/// The curves by panel; dense ones are in the panels of all densities of their setting and place.
[[nodiscard]] Panels by_panel(const Figures& figures, const PointFilter& shown);
/// All points of the panels that `shown` selects.
[[nodiscard]] std::vector<const CurvePoint*> points_of(const Panels& panels,
                                                       const PointFilter& shown);
/// A square as the mark of a legend entry.
[[nodiscard]] std::string square_mark(const std::string& look);

// The figures. They throw InputError if the results contain nothing to show in them.
[[nodiscard]] Figure time_figure(const Figures& figures);
[[nodiscard]] Figure volume_figure(const Figures& figures);
[[nodiscard]] Figure congestion_figure(const Figures& figures);
[[nodiscard]] Figure breakdown_figure(const Figures& figures);
[[nodiscard]] Figure crossover_figure(const Figures& figures);
[[nodiscard]] Figure links_figure(const std::vector<LinkMap>& maps);
/// Shows the records of `validate`: measured times as points, simulated ones as lines.
[[nodiscard]] Figure measured_figure(const std::vector<Json>& validation);
/// Shows the curves of trainings.
[[nodiscard]] Figure accuracy_figure(const std::vector<Json>& records);
/// Shows the lines of `claims`: the papers' numbers as open marks, the simulated ones filled.
[[nodiscard]] Figure claims_figure(const std::vector<Json>& claims);

}  // namespace thinwire::report
