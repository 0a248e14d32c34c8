// What the single figures share: which curves are in which panel.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "sim/app/report/charts/chart.hpp"
#include "sim/app/report/charts/figures.hpp"
#include "sim/app/report/charts/link_map.hpp"

namespace thinwire::report {

/// What has a panel of its own.
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

[[nodiscard]] std::string title_of(const PanelKey& key, const Figures& figures);
/// Curves by panel; dense ones are in the panels of all densities of their setting and place.
[[nodiscard]] Panels by_panel(const Figures& figures, const PointFilter& shown);
/// The points of all panels that are shown.
[[nodiscard]] std::vector<const CurvePoint*> points_of(const Panels& panels,
                                                       const PointFilter& shown);
/// In the largest unit of which it is one at least.
[[nodiscard]] std::string seconds_text(double value);
/// Of a legend.
[[nodiscard]] std::string square_mark(const std::string& look);

// The figures. They throw InputError where nothing of the results is in them.
[[nodiscard]] Figure time_figure(const Figures& figures);
[[nodiscard]] Figure volume_figure(const Figures& figures);
[[nodiscard]] Figure congestion_figure(const Figures& figures);
[[nodiscard]] Figure breakdown_figure(const Figures& figures);
[[nodiscard]] Figure crossover_figure(const Figures& figures);
[[nodiscard]] Figure links_figure(const std::vector<LinkMap>& maps);

}  // namespace thinwire::report
