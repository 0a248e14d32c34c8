#include "sim/app/run/sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "algorithms/registry.hpp"
#include "sim/app/plan/config.hpp"
#include "sim/app/plan/network_info.hpp"
#include "sim/app/plan/plan.hpp"
#include "sim/app/results/lines_file.hpp"
#include "sim/app/run/estimate.hpp"
#include "sim/app/run/simulate.hpp"
#include "sim/core/base/complaints.hpp"
#include "sim/core/base/errors.hpp"
#include "sim/core/base/json_node.hpp"

namespace thinwire::run {

namespace {

/// Refuses values of the base that every value of the grid replaces.
void check_base(const Json& base, const Json& grid, const std::string& origin) {
  for (const auto& axis : grid.items()) {
    if (plan::find_by_path(base, axis.key()) == nullptr) continue;
    refuse(origin, "/base" + plan::pointer_of(axis.key()),
           "the grid gives it too, so this value is not used; leave it out");
  }
}

/// Refuses exceptions with keys or values that the grid lacks: they would exclude nothing.
void check_exceptions(const Json& exceptions, const Json& grid, const std::string& origin) {
  for (std::size_t i = 0; i < exceptions.size(); ++i) {
    for (const auto& axis : exceptions[i].items()) {
      const std::string at = fmt::format("{}: /except/{}/{}", origin, i, axis.key());
      if (!grid.contains(axis.key())) throw InputError(at + ": is no key of the grid");
      const Json& values = grid.at(axis.key());
      for (const Json& value : axis.value()) {
        if (std::ranges::find(values, value) != values.end()) continue;
        throw InputError("{}: the grid has no {}", at, value.dump());
      }
    }
  }
}

/// Refuses options of schemes that the sweep does not run, and those that it gives elsewhere.
void check_options_of(const Json& options_of, const std::set<std::string>& schemes,
                      const Json& base, const Json& grid, const std::string& origin) {
  for (const auto& options : options_of.items()) {
    const std::string at = "/options_of/" + escaped_key(options.key());
    if (!schemes.contains(options.key())) refuse(origin, at, "is no scheme of the sweep");
    for (const auto& option : options.value().items()) {
      const std::string path = "options." + option.key();
      const bool in_grid = grid.contains(path);
      if (!in_grid && plan::find_by_path(base, path) == nullptr) continue;
      refuse(origin, at + "/" + escaped_key(option.key()),
             fmt::format("the {} gives it too; leave one of them out", in_grid ? "grid" : "base"));
    }
  }
}

/// Refuses given settings that no point of the sweep reads.
void check_usage(const plan::Usage& usage, const std::string& origin) {
  Complaints complaints;
  for (const plan::Given& given : usage.unread()) {
    const bool of_grid = given.origin == plan::Origin::grid;
    const bool of_options = given.origin == plan::Origin::options_of;
    const std::string pointer = of_grid      ? "/grid/" + given.path
                                : of_options ? "/options_of: " + given.path
                                             : "/base" + plan::pointer_of(given.path);
    complaints.add(fmt::format("{}: {}: {}", origin, pointer, given.reason()));
  }
  complaints.check();
}

/// A point of the grid, and the grid values that it consists of.
struct Combination {
  Json point;
  Json chosen = Json::object();  ///< by key of the grid

  /// The chosen values, for error messages: "ranks=4, k=50".
  [[nodiscard]] std::string choice() const {
    std::string text;
    for (const auto& axis : chosen.items()) {
      text += fmt::format("{}{}={}", text.empty() ? "" : ", ", axis.key(), axis.value().dump());
    }
    return text;
  }
  /// What is asked for, with the options of the point's scheme.
  [[nodiscard]] plan::Request request(const Json& base, const Json& options_of,
                                      const std::string& origin) const {
    plan::Request request(base, plan::Origin::config,
                          chosen.empty() ? origin : fmt::format("{}: at {}", origin, choice()));
    for (const auto& axis : chosen.items()) {
      request.give(axis.key(), axis.value(), plan::Origin::grid);
    }
    const auto options = options_of.find(point.value("scheme", plan::Point().scheme->name));
    if (options == options_of.end()) return request;
    for (const auto& option : options->items()) {
      request.give("options." + option.key(), option.value(), plan::Origin::options_of);
    }
    return request;
  }
};

/// Whether an exception matches the combination.
bool is_excepted(const Combination& one, const Json& exceptions) {
  return std::ranges::any_of(exceptions, [&](const Json& exception) {
    return std::ranges::all_of(exception.items(), [&](const auto& axis) {
      return std::ranges::find(axis.value(), one.chosen.at(axis.key())) != axis.value().end();
    });
  });
}

/// The point without the version: a new row replaces the old rows with the same text.
std::string text_of(const plan::Point& point) { return to_json(point).dump(); }

/// The points of a sweep that have to run.
struct MissingPoints {
  std::vector<plan::Point> points;
  std::vector<double> expected_s;  // by point
  std::vector<std::size_t> index;  // in the sweep, by point
};

/// Runs the points and adds the row of each to the file as it ends. A point that cannot run, for
/// example because its platform cannot be loaded, is one failed point.
std::vector<EndedPoint> run_into(results::LinesFile& file, const std::string& sweep,
                                 const MissingPoints& missing, const SweepOptions& options,
                                 SweepProgress now,
                                 const std::function<void(const SweepProgress&)>& progress) {
  const auto ended = [&](std::size_t /*point*/, const EndedPoint& one) {
    file.append(to_json(one.row).dump() + '\n');
    now.failed += one.row.status == results::Status::failed ? 1 : 0;
    now.ended = &one.row;
  };
  const auto tell = [&](const JobProgress& jobs) {
    now.done = now.reused + jobs.ended;
    now.running = jobs.running;
    now.left_s = jobs.left_s;
    progress(now);
    now.ended = nullptr;
  };
  try {
    return run_points(sweep, missing.points,
                      {.processes = {.at_once = options.jobs, .limits = options.limits},
                       .expected_s = missing.expected_s},
                      {.ended = ended, .progress = tell});
  } catch (const InterruptedError&) {
    file.throw_interrupted(now.done, now.total, "points");
  }
}

/// The indices of the points of the shard.
std::set<std::size_t> dealt_to(const Shard& shard, const Sweep& sweep) {
  std::vector<std::pair<double, std::size_t>> order;
  for (std::size_t i = 0; i < sweep.points.size(); ++i) {
    order.emplace_back(-estimated_wall_s(sweep.points[i]), i);
  }
  std::ranges::sort(order);
  std::set<std::size_t> dealt;
  for (auto i = static_cast<std::size_t>(shard.index - 1); i < order.size();
       i += static_cast<std::size_t>(shard.of)) {
    dealt.insert(order[i].second);
  }
  return dealt;
}

}  // namespace

Sweep sweep_from(const Json& config, const std::string& origin) {
  plan::check_sweep(config, origin);
  const Json base = config.value("base", Json::object());
  const Json grid = config.value("grid", Json::object());
  const Json exceptions = config.value("except", Json::array());
  const Json options_of = config.value("options_of", Json::object());
  double size = 1;
  for (const auto& axis : grid.items()) size *= static_cast<double>(axis.value().size());
  constexpr double kMostPoints = 100'000;
  if (size > kMostPoints) {
    refuse(origin, "/grid",
           fmt::format("has {:.0f} points; a sweep takes {:.0f} at most, so make several sweeps",
                       size, kMostPoints));
  }
  check_base(base, grid, origin);
  check_exceptions(exceptions, grid, origin);

  std::vector<Combination> combinations;
  combinations.emplace_back().point = base;
  for (const auto& axis : grid.items()) {
    std::vector<Combination> longer;
    for (const Combination& shorter : combinations) {
      for (const Json& value : axis.value()) {
        longer.push_back(shorter);
        plan::set_by_path(longer.back().point, axis.key(), value);
        longer.back().chosen[axis.key()] = value;
      }
    }
    combinations = std::move(longer);
  }
  Sweep sweep{.name = config.at("name").get<std::string>(),
              .description = config.value("description", ""),
              .points = {}};
  std::set<std::string> known;
  std::erase_if(combinations, [&](const Combination& one) { return is_excepted(one, exceptions); });
  std::set<std::string> schemes;
  for (const Combination& one : combinations) {
    schemes.insert(one.point.value("scheme", plan::Point().scheme->name));
  }
  if (!combinations.empty()) check_options_of(options_of, schemes, base, grid, origin);
  plan::Usage usage;
  for (const Combination& one : combinations) {
    const plan::Plan planned = plan::resolve(one.request(base, options_of, origin));
    usage.add(planned);
    if (known.insert(plan::what_is_read(planned.point())).second) {
      sweep.points.push_back(planned.point());
    } else {
      ++sweep.repeated;
    }
  }
  if (sweep.points.empty()) throw InputError(origin + ": /except: leaves no point of the grid");
  check_usage(usage, origin);
  return sweep;
}

std::vector<PlannedPoint> plan_sweep(const Sweep& sweep, const std::vector<results::Row>& before,
                                     const SweepOptions& options) {
  std::map<std::string, const results::Row*> usable;
  std::map<std::string, double> took;
  for (const results::Row& row : before) {
    took[text_of(row.point)] = row.wall_s;
    if (row.status != results::Status::failed && !options.force) usable[row.key] = &row;
  }
  const std::set<std::size_t> dealt = dealt_to(options.shard, sweep);
  std::vector<PlannedPoint> plan;
  for (const std::size_t index : dealt) {
    const plan::Point& point = sweep.points[index];
    const auto found = usable.find(plan::key_of(point));
    const auto measured = took.find(text_of(point));
    PlannedPoint& planned = plan.emplace_back();
    planned.index = index;
    if (found != usable.end()) planned.known = *found->second;
    planned.took_before = measured != took.end();
    planned.expected_s = planned.took_before ? measured->second : estimated_wall_s(point);
  }
  return plan;
}

void check_is_of(const Sweep& sweep, const std::vector<results::Row>& rows,
                 const std::string& path) {
  for (const results::Row& row : rows) {
    if (row.sweep == sweep.name) continue;
    throw InputError("{}: holds results of the sweep '{}', not of '{}'; give another -o", path,
                     row.sweep, sweep.name);
  }
}

std::vector<results::Row> run_sweep(const Sweep& sweep, const std::string& path,
                                    const SweepOptions& options,
                                    const std::function<void(const SweepProgress&)>& progress) {
  std::vector<results::Row> before;
  results::LinesFile file(
      path, [&](const std::string& text) { before = results::rows_from(text, path).rows; });
  check_is_of(sweep, before, path);
  const std::vector<PlannedPoint> plan = plan_sweep(sweep, before, options);

  std::map<std::size_t, results::Row> rows;  // by point index
  MissingPoints missing;
  for (const PlannedPoint& planned : plan) {
    if (planned.known) {
      rows.emplace(planned.index, *planned.known);
      continue;
    }
    missing.points.push_back(sweep.points[planned.index]);
    missing.expected_s.push_back(planned.expected_s);
    missing.index.push_back(planned.index);
  }
  const SweepProgress begin{.reused = rows.size(), .total = plan.size()};
  std::vector<EndedPoint> ended = run_into(file, sweep.name, missing, options, begin, progress);
  for (std::size_t i = 0; i < ended.size(); ++i) {
    rows.emplace(missing.index[i], std::move(ended[i].row));
  }

  // The sweep is complete: the rows of other grids come first, then these in order; replaced rows
  // are dropped.
  std::set<std::string> points;
  std::vector<results::Row> ours;
  for (const auto& [index, row] : rows) {
    points.insert(text_of(row.point));
    ours.push_back(row);
  }
  std::vector<results::Row> all;
  std::ranges::copy_if(before, std::back_inserter(all), [&](const results::Row& row) {
    return !points.contains(text_of(row.point));
  });
  all.insert(all.end(), ours.begin(), ours.end());
  file.replace(results::lines_of(all));
  return ours;
}

results::UniqueRows merge_rows(const std::vector<std::string>& paths) {
  std::vector<results::Row> all;
  for (const std::string& path : paths) {
    for (results::Row& row : results::read_rows(path).rows) {
      if (!all.empty() && row.sweep != all.front().sweep) {
        throw InputError("{}: holds results of the sweep '{}', and {} of '{}'", path, row.sweep,
                         paths.front(), all.front().sweep);
      }
      all.push_back(std::move(row));
    }
  }
  return results::unique_rows(std::move(all));
}

}  // namespace thinwire::run
