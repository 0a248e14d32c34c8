// What crossed the links of a platform, where it is drawn.
#pragma once

#include <string>
#include <vector>

#include "sim/app/experiment/row.hpp"
#include "sim/app/report/charts/figures.hpp"

namespace thinwire::report {

/// All links between two hosts or switches, in both directions, that carried something.
struct LinkBundle {
  std::size_t from = 0;  ///< indexes of vertices
  std::size_t to = 0;
  double utilisation_mean = 0;  ///< of the busiest of them, 0 to 1
  double utilisation_peak = 0;
  double bytes = 0;  ///< of all of them
  std::size_t links = 0;
  std::string busiest;  ///< its name
};

struct LinkVertex {
  std::string name;
  bool host = false;
  double x = 0;  ///< in a square of side 1, y downwards
  double y = 0;
};

/// Of one result.
struct LinkMap {
  std::string title;
  std::string note;  ///< why there is no map, or what was left out of it
  std::vector<LinkVertex> vertices;
  std::vector<LinkBundle> bundles;  ///< the busiest last, so that it is drawn over the others
  std::vector<LinkReport> hottest;  ///< links, the hottest first
};

/// Of each row that recorded its links. Platforms are loaded in child processes; of one that cannot
/// be, the map's note tells why. More than `most` bundles in all maps together are left out, the
/// least busy first, and the notes say so.
[[nodiscard]] std::vector<LinkMap> link_maps(const std::vector<experiment::Row>& rows,
                                             std::size_t most = 40'000);

[[nodiscard]] Json to_json(const LinkMap& map);

}  // namespace thinwire::report
