#include "sim/app/experiment/sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "algorithms/registry.hpp"
#include "sim/app/experiment/config.hpp"
#include "sim/app/experiment/estimate.hpp"
#include "sim/app/experiment/networks.hpp"
#include "sim/app/experiment/results_file.hpp"
#include "sim/core/base/errors.hpp"
#include "sim/core/base/interrupt.hpp"
#include "sim/core/base/shipped_files.hpp"

namespace thinwire::experiment {

namespace {

/// Checks each value of the grid alone, so that a complaint can point at it.
void check_grid(const Json& grid, const Json& base, const std::string& origin) {
  for (const auto& axis : grid.items()) {
    for (std::size_t i = 0; i < axis.value().size(); ++i) {
      const std::string at = fmt::format("{}: /grid/{}/{}", origin, axis.key(), i);
      Json point = base;
      set_by_path(point, axis.key(), axis.value()[i]);
      check_point(point, at);
      try {
        if (axis.key() == "scheme")
          (void)algorithms::find_scheme(axis.value()[i].get<std::string>());
        if (axis.key() == "network") (void)find_network(axis.value()[i].get<std::string>());
      } catch (const InputError& error) {
        throw InputError(fmt::format("{}: {}", at, error.what()));
      }
    }
  }
}

/// An exception that names what the grid does not have would leave out nothing, unnoticed.
void check_exceptions(const Json& exceptions, const Json& grid, const std::string& origin) {
  for (std::size_t i = 0; i < exceptions.size(); ++i) {
    for (const auto& axis : exceptions[i].items()) {
      const std::string at = fmt::format("{}: /except/{}/{}", origin, i, axis.key());
      if (!grid.contains(axis.key())) throw InputError(at + ": is no key of the grid");
      const Json& values = grid.at(axis.key());
      for (const Json& value : axis.value()) {
        if (std::ranges::find(values, value) != values.end()) continue;
        throw InputError(fmt::format("{}: the grid has no {}", at, value.dump()));
      }
    }
  }
}

/// A point of the grid, and the values that it has of it.
struct Combination {
  Json point;
  Json chosen = Json::object();  ///< by key of the grid

  /// For complaints: "ranks=4, k=50".
  [[nodiscard]] std::string choice() const {
    std::string text;
    for (const auto& axis : chosen.items()) {
      text += fmt::format("{}{}={}", text.empty() ? "" : ", ", axis.key(), axis.value().dump());
    }
    return text;
  }
};

/// Whether one of the exceptions has the values of a combination.
bool is_excepted(const Combination& one, const Json& exceptions) {
  return std::ranges::any_of(exceptions, [&](const Json& exception) {
    return std::ranges::all_of(exception.items(), [&](const auto& axis) {
      return std::ranges::find(axis.value(), one.chosen.at(axis.key())) != axis.value().end();
    });
  });
}

/// Without the version: what a new row of it supersedes.
std::string text_of(const Point& point) { return to_json(point).dump(); }

void check_is_of(const Sweep& sweep, const std::vector<Row>& rows, const std::string& path) {
  for (const Row& row : rows) {
    if (row.sweep == sweep.name) continue;
    throw InputError(
        fmt::format("{}: holds results of the sweep '{}', not of '{}'; give another -o", path,
                    row.sweep, sweep.name));
  }
}

/// What became of a point. Of a sweep, a point whose platform cannot be used is one point that
/// failed; one whose platform is too small for its ranks is skipped.
Row row_of(const RowRun& run, const std::string& sweep) {
  try {
    return run.finish();
  } catch (const TooFewHostsError& error) {
    Row row = failed_row(sweep, run.point(), error.what());
    row.status = Status::skipped;
    return row;
  } catch (const InputError& error) {
    return failed_row(sweep, run.point(), error.what());
  }
}

/// The points of a sweep that are to run, and those that do.
class Runs {
 public:
  Runs(const Sweep& sweep, const SweepOptions& options, std::vector<const PlannedPoint*> missing)
      : sweep_(sweep), options_(options), waiting_(std::move(missing)) {
    std::ranges::stable_sort(waiting_, std::greater<>(), &PlannedPoint::expected_s);
    std::ranges::reverse(waiting_);  // taken from the end
  }

  [[nodiscard]] bool done() const { return waiting_.empty() && running_.empty(); }
  [[nodiscard]] std::size_t running() const { return running_.size(); }

  /// Wall-clock seconds until all have ended, judged by how long those took that have.
  [[nodiscard]] double left_s() const {
    double expected = 0;
    for (const PlannedPoint* point : waiting_) expected += point->expected_s;
    const auto now = std::chrono::steady_clock::now();
    for (const Running& one : running_) {
      const std::chrono::duration<double> taken = now - one.begin;
      expected += std::max(0.0, one.planned->expected_s - taken.count() / pace());
    }
    return expected * pace() / options_.jobs;
  }

  /// Starts what there is room for, waits a moment, and hands what has ended to `ended`.
  template <class Ended>
  void advance(const Ended& ended) {
    while (!waiting_.empty() && running_.size() < static_cast<std::size_t>(options_.jobs)) {
      const PlannedPoint* const next = waiting_.back();
      waiting_.pop_back();
      running_.push_back(
          {next, std::chrono::steady_clock::now(),
           std::make_unique<RowRun>(sweep_.name, sweep_.points[next->index], options_.limits)});
    }
    std::vector<const ChildProcess*> children;
    for (const Running& one : running_) {
      if (one.run->child() != nullptr) children.push_back(one.run->child());
    }
    constexpr std::chrono::milliseconds kTick{100};
    if (children.size() == running_.size()) ChildProcess::wait_for_news(children, kTick);
    for (std::size_t i = 0; i < running_.size();) {
      if (!running_[i].run->advance()) {
        ++i;
        continue;
      }
      const Running one = std::move(running_[i]);
      running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(i));
      const Row row = row_of(*one.run, sweep_.name);
      taken_s_ += row.wall_s;
      expected_s_ += one.planned->expected_s;
      ended(*one.planned, row);
    }
  }

 private:
  struct Running {
    const PlannedPoint* planned;
    std::chrono::steady_clock::time_point begin;
    std::unique_ptr<RowRun> run;
  };

  /// How many times longer than expected points have taken.
  [[nodiscard]] double pace() const { return expected_s_ > 0 ? taken_s_ / expected_s_ : 1; }

  const Sweep& sweep_;
  const SweepOptions& options_;
  std::vector<const PlannedPoint*> waiting_;
  std::vector<Running> running_;
  double taken_s_ = 0;
  double expected_s_ = 0;
};

/// The indexes of the points that are the shard's.
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
  const Json exceptions = config.value("except", Json::array());
  check_grid(grid, base, origin);
  check_exceptions(exceptions, grid, origin);

  std::vector<Combination> combinations;
  combinations.emplace_back().point = base;
  for (const auto& axis : grid.items()) {
    std::vector<Combination> longer;
    for (const Combination& shorter : combinations) {
      for (const Json& value : axis.value()) {
        longer.push_back(shorter);
        set_by_path(longer.back().point, axis.key(), value);
        longer.back().chosen[axis.key()] = value;
      }
    }
    combinations = std::move(longer);
  }
  Sweep sweep{.name = config.at("name").get<std::string>(),
              .description = config.value("description", ""),
              .points = {}};
  for (const Combination& one : combinations) {
    if (is_excepted(one, exceptions)) continue;
    const std::string at =
        one.chosen.empty() ? origin : fmt::format("{}: at {}", origin, one.choice());
    sweep.points.push_back(point_from(one.point, at));
  }
  if (sweep.points.empty()) throw InputError(origin + ": /except: leaves no point of the grid");
  return sweep;
}

std::vector<PlannedPoint> plan_sweep(const Sweep& sweep, const std::vector<Row>& before,
                                     const SweepOptions& options) {
  std::map<std::string, const Row*> usable;
  std::map<std::string, double> took;
  for (const Row& row : before) {
    took[text_of(row.point)] = row.wall_s;
    if (row.status != Status::failed && !options.force) usable[row.key] = &row;
  }
  const std::set<std::size_t> dealt = dealt_to(options.shard, sweep);
  std::vector<PlannedPoint> plan;
  for (const std::size_t index : dealt) {
    const Point& point = sweep.points[index];
    const auto found = usable.find(key_of(point));
    const auto measured = took.find(text_of(point));
    PlannedPoint& planned = plan.emplace_back();
    planned.index = index;
    if (found != usable.end()) planned.known = *found->second;
    planned.took_before = measured != took.end();
    planned.expected_s = planned.took_before ? measured->second : estimated_wall_s(point);
  }
  return plan;
}

std::vector<Row> run_sweep(const Sweep& sweep, const std::string& path, const SweepOptions& options,
                           const std::function<void(const SweepProgress&)>& progress) {
  ResultsFile results(path);
  check_is_of(sweep, results.rows_before(), path);
  const std::vector<PlannedPoint> plan = plan_sweep(sweep, results.rows_before(), options);

  std::map<std::size_t, Row> rows;  // by the index of their points
  std::vector<const PlannedPoint*> missing;
  for (const PlannedPoint& planned : plan) {
    if (planned.known) {
      rows.emplace(planned.index, *planned.known);
    } else {
      missing.push_back(&planned);
    }
  }
  const std::size_t reused = rows.size();
  std::size_t failed = 0;
  const InterruptGuard guard;
  Runs runs(sweep, options, std::move(missing));
  const auto tell = [&](const Row* ended) {
    progress({rows.size(), runs.running(), failed, reused, plan.size(), runs.left_s(), ended});
  };
  tell(nullptr);
  while (!runs.done()) {
    runs.advance([&](const PlannedPoint& planned, const Row& row) {
      results.append(row);
      failed += row.status == Status::failed ? 1 : 0;
      tell(&rows.emplace(planned.index, row).first->second);
    });
    if (InterruptGuard::signal() != 0) {
      throw InterruptedError(
          fmt::format("interrupted; {} of {} points are in {}, and the same command goes on",
                      rows.size(), plan.size(), path));
    }
    tell(nullptr);
  }

  // All done: now the rows of other grids come first, then these in order, and what they supersede
  // goes.
  std::set<std::string> points;
  std::vector<Row> ours;
  for (const auto& [index, row] : rows) {
    points.insert(text_of(row.point));
    ours.push_back(row);
  }
  std::vector<Row> all;
  std::ranges::copy_if(results.rows_before(), std::back_inserter(all),
                       [&](const Row& row) { return !points.contains(text_of(row.point)); });
  all.insert(all.end(), ours.begin(), ours.end());
  results.replace(all);
  return ours;
}

std::vector<Row> merge_rows(const std::vector<std::string>& paths) {
  std::vector<Row> merged;
  std::map<std::string, std::size_t> places;  // by key
  for (const std::string& path : paths) {
    for (Row& row : read_rows(path).rows) {
      if (!merged.empty() && row.sweep != merged.front().sweep) {
        throw InputError(fmt::format("{}: holds results of the sweep '{}', and {} of '{}'", path,
                                     row.sweep, paths.front(), merged.front().sweep));
      }
      const auto [place, is_new] = places.emplace(row.key, merged.size());
      if (is_new) {
        merged.push_back(std::move(row));
      } else if (merged[place->second].status != Status::ok && row.status == Status::ok) {
        merged[place->second] = std::move(row);
      }
    }
  }
  return merged;
}

}  // namespace thinwire::experiment
