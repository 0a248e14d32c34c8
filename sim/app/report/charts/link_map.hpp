// Maps of the traffic on a platform's links.
#pragma once

#include <string>
#include <vector>

#include "sim/app/report/charts/figures.hpp"
#include "sim/app/results/row.hpp"

namespace thinwire::report {

/// All links that carried data between two hosts or switches, in both directions.
struct LinkBundle {
  std::size_t from = 0;  ///< vertex indices
  std::size_t to = 0;
  double utilisation_mean = 0;  ///< of the busiest link, 0 to 1
  double utilisation_peak = 0;
  double bytes = 0;  ///< of all links
  std::size_t links = 0;
  std::string busiest;  ///< name of the busiest link
};

struct LinkVertex {
  std::string name;
  bool host = false;
  double x = 0;  ///< in a square of side 1, y downwards
  double y = 0;
};

/// The map of one result.
struct LinkMap {
  std::string title;
  std::string note;  ///< why there is no map, or what it omits
  std::vector<LinkVertex> vertices;
  std::vector<LinkBundle> bundles;  ///< the busiest last, so that it is drawn over the others
  std::vector<LinkReport> hottest;  ///< the busiest links, descending
};

/// The maps of all rows that recorded their links. Platforms are loaded in child processes; if one
/// cannot be loaded, the map's note says why. If all maps together have more than `most` bundles,
/// the least busy ones are omitted, and the notes say so.
[[nodiscard]] std::vector<LinkMap> link_maps(const std::vector<results::Row>& rows,
                                             std::size_t most = 40'000);

[[nodiscard]] Json to_json(const LinkMap& map);

}  // namespace thinwire::report
