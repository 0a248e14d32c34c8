#include "sim/experiment/sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>

#include "algorithms/registry.hpp"
#include "sim/core/errors.hpp"
#include "sim/core/shipped_files.hpp"
#include "sim/core/version.hpp"
#include "sim/experiment/networks.hpp"

namespace thinwire {

namespace {

namespace fs = std::filesystem;

/// Checks each value of the grid alone, so that a complaint can point at it.
void check_grid(const Json& grid, const Json& base, const std::string& origin) {
  for (const auto& axis : grid.items()) {
    for (std::size_t i = 0; i < axis.value().size(); ++i) {
      const std::string at = fmt::format("{}: /grid/{}/{}", origin, axis.key(), i);
      Json point = base;
      set_by_path(point, axis.key(), axis.value()[i]);
      check_point(point, at);
      try {
        if (axis.key() == "scheme") (void)find_scheme(axis.value()[i].get<std::string>());
        if (axis.key() == "network") (void)find_network(axis.value()[i].get<std::string>());
      } catch (const InputError& error) {
        throw InputError(fmt::format("{}: {}", at, error.what()));
      }
    }
  }
}

/// A point of the grid, and how it was chosen, for complaints: "ranks=4, k=50".
struct Combination {
  Json point;
  std::string choice;
};

std::string lines_of(const std::vector<Row>& rows) {
  std::string lines;
  for (const Row& row : rows) lines += to_json(row).dump() + '\n';
  return lines;
}

/// Puts `rows` in the place of what the file holds, at once.
void replace_rows(const fs::path& path, const std::vector<Row>& rows) {
  const fs::path fresh = path.string() + ".new";
  std::error_code error;
  std::ofstream file(fresh);
  file << lines_of(rows);
  file.close();
  if (file) fs::rename(fresh, path, error);
  if (!file || error) {
    throw InputError(
        fmt::format("{}: cannot be written; give another place with -o", path.string()));
  }
}

/// The rows that the file holds already, all of the same sweep; none where there is no file.
std::vector<Row> rows_before(const Sweep& sweep, const fs::path& path) {
  if (!fs::exists(path)) return {};
  if (!fs::is_regular_file(path)) {
    throw InputError(
        fmt::format("{}: is no regular file; name one for the results", path.string()));
  }
  RowsFile file = read_rows(path.string());
  for (const Row& row : file.rows) {
    if (row.sweep == sweep.name) continue;
    throw InputError(
        fmt::format("{}: holds results of the sweep '{}', not of '{}'; give another -o",
                    path.string(), row.sweep, sweep.name));
  }
  if (file.truncated) replace_rows(path, file.rows);
  return std::move(file.rows);
}

/// The file that a link leads to, also where it does not exist yet: links stay links.
fs::path linked_file(fs::path path) {
  constexpr int kMostLinks = 40;
  for (int i = 0; i < kMostLinks && fs::is_symlink(path); ++i) {
    path = path.parent_path() / fs::read_symlink(path);
  }
  return path;
}

std::ofstream open_for_appending(const fs::path& path) {
  std::error_code ignored;
  if (path.has_parent_path()) fs::create_directories(path.parent_path(), ignored);
  std::ofstream results(path, std::ios::app);
  if (!results) {
    throw InputError(
        fmt::format("{}: cannot be written; give another place with -o", path.string()));
  }
  return results;
}

/// Of a sweep, a point whose platform cannot be used is one point that failed; one whose platform
/// is too small for its ranks is skipped.
Row row_of(const std::string& sweep, const Point& point) {
  try {
    return make_row(sweep, point);
  } catch (const TooFewHostsError& error) {
    Row row = failed_row(sweep, point, error.what());
    row.status = Status::skipped;
    return row;
  } catch (const InputError& error) {
    return failed_row(sweep, point, error.what());
  }
}

ShippedFiles shipped() {
  return {.what = "sweep", .extension = ".json", .folders = shipped_folders("sweeps", "sweeps")};
}

}  // namespace

std::vector<std::string> shipped_sweeps() { return shipped().names(); }

std::string sweep_file(const std::string& name_or_path) { return shipped().file(name_or_path); }

Sweep sweep_from(const Json& config, const std::string& origin) {
  check_sweep(config, origin);
  const Json base = config.value("base", Json::object());
  const Json grid = config.value("grid", Json::object());
  check_grid(grid, base, origin);

  std::vector<Combination> combinations{{base, ""}};
  for (const auto& axis : grid.items()) {
    std::vector<Combination> longer;
    for (const Combination& shorter : combinations) {
      for (const Json& value : axis.value()) {
        longer.push_back(shorter);
        set_by_path(longer.back().point, axis.key(), value);
        longer.back().choice +=
            fmt::format("{}{}={}", shorter.choice.empty() ? "" : ", ", axis.key(), value.dump());
      }
    }
    combinations = std::move(longer);
  }
  Sweep sweep{.name = config.at("name").get<std::string>(),
              .description = config.value("description", ""),
              .points = {}};
  for (const Combination& one : combinations) {
    const std::string at =
        one.choice.empty() ? origin : fmt::format("{}: at {}", origin, one.choice);
    sweep.points.push_back(point_from(one.point, at));
  }
  return sweep;
}

std::vector<Row> run_sweep(const Sweep& sweep, const std::string& path, bool force,
                           const std::function<void(const SweepProgress&)>& progress) {
  const fs::path target = linked_file(path);
  const std::vector<Row> before = rows_before(sweep, target);
  std::ofstream results = open_for_appending(target);

  std::map<std::string, const Row*> usable;
  for (const Row& row : before) {
    const bool finished = row.status != Status::failed;
    if (finished && !force && !version_is_uncertain()) usable[row.key] = &row;
  }
  std::vector<Row> rows;
  std::set<std::string> points;  // without the version: what a new row supersedes
  for (const Point& point : sweep.points) {
    points.insert(to_json(point).dump());
    const auto found = usable.find(key_of(point));
    const bool reused = found != usable.end();
    rows.push_back(reused ? *found->second : row_of(sweep.name, point));
    if (!reused) {
      results << lines_of({rows.back()}) << std::flush;
      if (!results) throw SimulationError(fmt::format("{}: cannot be written to any more", path));
    }
    progress({rows.size(), sweep.points.size(), rows.back(), reused});
  }

  // All done: now the rows of other grids come first, then these in order, and what they supersede
  // goes.
  std::vector<Row> all;
  std::ranges::copy_if(before, std::back_inserter(all),
                       [&](const Row& row) { return !points.contains(to_json(row.point).dump()); });
  all.insert(all.end(), rows.begin(), rows.end());
  results.close();
  replace_rows(target, all);
  return rows;
}

}  // namespace thinwire
