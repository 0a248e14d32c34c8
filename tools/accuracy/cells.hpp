// The cells of the accuracy table: what is simulated on both networks.
//
//   patterns    those of patterns.hpp, with messages of the cell's size, and every scheme of
//               Thinwire with its defaults, with a gradient of that size
//   platforms   aries_daint and nvlink_ib as shipped; fat_tree_1to1 and fat_tree_4to1, the shipped
//               fat tree with that oversubscription above its leaves, and gige_star, the shipped
//               one, all three of 512 hosts
//   ranks       16, 64, 256, 512
//   sizes       1kB, 64kB, 4MB (decimal); unequal: each message between 1 kB and 4 MB, uniform in
//               the logarithm and drawn by sender and receiver; for schemes 64 kB whose entries
//               crowd at the beginning of the gradient
//
// A dense scheme's size is that of the gradient, a sparse one's that of what a rank selects: 8
// bytes an entry, at a density of 1%.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "sim/app/experiment/config.hpp"
#include "sim/app/experiment/point.hpp"
#include "tools/accuracy/patterns.hpp"

namespace thinwire::accuracy {

/// What is simulated, whatever the network.
struct Cell {
  std::string pattern;  ///< of patterns.hpp, or a scheme
  std::string platform;
  int ranks = 1;
  std::string size;
  std::string placement = "block";

  friend auto operator<=>(const Cell&, const Cell&) = default;  // NOLINT(modernize-use-nullptr)
};

/// "rotated_4 on aries_daint, 64 ranks, 1kB".
[[nodiscard]] std::string name_of(const Cell& cell);
[[nodiscard]] Json to_json(const Cell& cell);
/// Throws what Json throws where a key is missing.
[[nodiscard]] Cell cell_from(const Json& json);

/// A network that is compared, with the keys of a point that set it up.
struct Side {
  std::string network = "smpi";
  Json settings = Json::object();

  friend bool operator==(const Side&, const Side&) = default;
};

/// What of the table is wanted.
struct Axes {
  std::vector<std::string> patterns;
  std::vector<std::string> platforms;
  std::vector<int> ranks;
  std::vector<std::string> sizes;
  std::string placement = "block";
};

/// The whole table.
[[nodiscard]] Axes all_axes();
/// Throws InputError with the nearest name for a pattern, scheme or size that there is not, and for
/// a placement that nobody knows.
void check_axes(const Axes& axes);
/// Every combination, in the order of the axes, the last one fastest.
[[nodiscard]] std::vector<Cell> cells_of(const Axes& axes);

/// Why the cell is not in the table, or nothing: the scheme cannot run there, or a dense gradient
/// has nothing to be unequal.
[[nodiscard]] std::optional<std::string> restriction_of(const Cell& cell);

/// Where the table's platforms are: shipped ones, and files that this writes into `folder`.
[[nodiscard]] std::map<std::string, std::string> write_platforms(const std::string& folder);

/// The cell on a network; of a pattern only network, platform, placement and ranks count. Throws as
/// point_from does.
[[nodiscard]] experiment::Point point_of(const Cell& cell, const Side& side,
                                         const std::string& platform_file);
/// The messages of a pattern's cell.
[[nodiscard]] PatternMessages messages_of(const Cell& cell);
/// Wall-clock seconds that the cell takes there, roughly: it orders cells.
[[nodiscard]] double expected_s(const Cell& cell, const experiment::Point& point);

}  // namespace thinwire::accuracy
