// The cells of the accuracy table: the points that both networks simulate.
//
//   patterns    patterns of patterns.hpp, with messages of the cell's size, and every scheme of
//               Thinwire with its defaults, with a gradient of that size
//   platforms   aries_daint and nvlink_ib as shipped; with 512 hosts each, fat_tree_1to1 and
//               fat_tree_4to1, the shipped fat tree with that oversubscription above its leaves,
//               and the shipped gige_star
//   ranks       16, 64, 256, 512
//   sizes       1kB, 64kB, 4MB (decimal); unequal: each message between 1 kB and 4 MB, uniform in
//               the logarithm and drawn per sender and receiver; for schemes 64 kB whose entries
//               are concentrated at the beginning of the gradient
//
// The size of a dense scheme is the size of the gradient, and the size of a sparse one the size of
// a rank's selection: 8 bytes per entry, at a density of 1%.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "sim/app/plan/config.hpp"
#include "sim/app/plan/point.hpp"
#include "tools/accuracy/patterns.hpp"

namespace thinwire::accuracy {

/// The point to simulate, independent of the network.
struct Cell {
  std::string pattern;  ///< a pattern of patterns.hpp, or a scheme
  std::string platform;
  int ranks = 1;
  std::string size;
  std::string placement = "block";

  friend auto operator<=>(const Cell&, const Cell&) = default;  // NOLINT(modernize-use-nullptr)
};

/// "rotated_4 on aries_daint, 64 ranks, 1kB".
[[nodiscard]] std::string name_of(const Cell& cell);
[[nodiscard]] Json to_json(const Cell& cell);
/// Throws what Json throws if a key is missing.
[[nodiscard]] Cell cell_from(const Json& json);

/// A network to compare, with the keys of a point that configure it.
struct Side {
  std::string network = "smpi";
  Json settings = Json::object();

  friend bool operator==(const Side&, const Side&) = default;
};

/// The part of the table to fill.
struct Axes {
  std::vector<std::string> patterns;
  std::vector<std::string> platforms;
  std::vector<int> ranks;
  std::vector<std::string> sizes;
  std::string placement = "block";
};

/// The whole table.
[[nodiscard]] Axes all_axes();
/// Throws InputError with the nearest name for a pattern, scheme or size that does not exist, and
/// for an unknown placement.
void check_axes(const Axes& axes);
/// All combinations, in the order of the axes; the last axis varies fastest.
[[nodiscard]] std::vector<Cell> cells_of(const Axes& axes);

/// Why the cell is not in the table, or nothing: the scheme cannot run there, or a dense gradient
/// has nothing that could be unequal.
[[nodiscard]] std::optional<std::string> restriction_of(const Cell& cell);

/// The files of the table's platforms: shipped ones, and those that this function writes into
/// `folder`.
[[nodiscard]] std::map<std::string, std::string> write_platforms(const std::string& folder);

/// The point of a cell on a network; for a pattern only network, platform, placement and ranks
/// matter. Throws as point_from does.
[[nodiscard]] plan::Point point_of(const Cell& cell, const Side& side,
                                   const std::string& platform_file);
/// The messages of a pattern's cell.
[[nodiscard]] PatternMessages messages_of(const Cell& cell);
/// A rough estimate of the cell's wall-clock seconds on that network; it orders cells.
[[nodiscard]] double expected_s(const Cell& cell, const plan::Point& point);

}  // namespace thinwire::accuracy
