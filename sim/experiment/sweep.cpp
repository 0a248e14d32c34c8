#include "sim/experiment/sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>

#include "sim/core/errors.hpp"
#include "sim/core/version.hpp"

namespace thinwire {

namespace {

namespace fs = std::filesystem;

/// Checks each value of the grid alone, so that a complaint can point at it.
void check_grid(const Json& grid, const Json& base, const std::string& origin) {
  for (const auto& axis : grid.items()) {
    for (std::size_t i = 0; i < axis.value().size(); ++i) {
      Json point = base;
      set_by_path(point, axis.key(), axis.value()[i]);
      check_point(point, fmt::format("{}: /grid/{}/{}", origin, axis.key(), i));
    }
  }
}

/// The rows of `path` that this sweep can use, by key.
std::map<std::string, Row> reusable_rows(const Sweep& sweep, const std::string& path, bool force) {
  std::map<std::string, Row> usable;
  if (!fs::exists(path)) return usable;
  if (!fs::is_regular_file(path)) {
    throw InputError(fmt::format("{}: is no regular file; name one for the results", path));
  }
  for (Row& row : read_rows(path).rows) {
    if (row.sweep != sweep.name) {
      throw InputError(
          fmt::format("{}: holds results of the sweep '{}', not of '{}'; give another -o", path,
                      row.sweep, sweep.name));
    }
    const bool finished = row.status != Status::failed;
    if (finished && !force && !version_is_uncertain()) usable.emplace(row.key, std::move(row));
  }
  return usable;
}

/// Opens the results for appending, with just the rows that are kept in it.
std::ofstream open_results(const std::string& path, const std::map<std::string, Row>& kept) {
  const fs::path target(path);
  std::error_code error;
  if (target.has_parent_path()) fs::create_directories(target.parent_path(), error);
  const fs::path fresh(path + ".new");
  std::ofstream file(fresh);
  for (const auto& [key, row] : kept) file << to_json(row).dump() << '\n';
  file.close();
  if (file) fs::rename(fresh, target, error);
  std::ofstream results(path, std::ios::app);
  if (!file || error || !results) {
    throw InputError(fmt::format("{}: cannot be written; give another place with -o", path));
  }
  return results;
}

}  // namespace

Sweep sweep_from(const Json& config, const std::string& origin) {
  check_sweep(config, origin);
  const Json base = config.value("base", Json::object());
  const Json grid = config.value("grid", Json::object());
  check_grid(grid, base, origin);

  std::vector<Json> points{base};
  for (const auto& axis : grid.items()) {
    std::vector<Json> longer;
    for (const Json& point : points) {
      for (const Json& value : axis.value()) {
        longer.push_back(point);
        set_by_path(longer.back(), axis.key(), value);
      }
    }
    points = std::move(longer);
  }
  Sweep sweep{.name = config.at("name").get<std::string>(),
              .description = config.value("description", ""),
              .points = {}};
  for (const Json& point : points) sweep.points.push_back(point_from(point, origin));
  return sweep;
}

std::vector<Row> run_sweep(const Sweep& sweep, const std::string& path, bool force,
                           const std::function<void(const SweepProgress&)>& progress) {
  std::map<std::string, Row> kept = reusable_rows(sweep, path, force);
  std::erase_if(kept, [&](const auto& entry) {
    return std::ranges::none_of(sweep.points,
                                [&](const Point& point) { return key_of(point) == entry.first; });
  });
  std::ofstream results = open_results(path, kept);

  std::vector<Row> rows;
  for (const Point& point : sweep.points) {
    const auto found = kept.find(key_of(point));
    const bool reused = found != kept.end();
    rows.push_back(reused ? found->second : make_row(sweep.name, point));
    if (!reused) {
      results << to_json(rows.back()).dump() + '\n' << std::flush;
      if (!results) throw SimulationError(fmt::format("{}: cannot be written to any more", path));
    }
    progress({rows.size(), sweep.points.size(), rows.back(), reused});
  }
  return rows;
}

}  // namespace thinwire
