#include "sim/app/studies/validate/predict.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "sim/app/run/estimate.hpp"

namespace thinwire::studies {

namespace {

/// The levels that a time is continued from: 1/4, 1/2 and 1 of the most nodes that run.
constexpr std::size_t kLevels = 3;
constexpr double kLongestPoint = 8;  ///< estimated seconds of a point that runs as it is

using Curve = std::tuple<std::string, std::string, std::string>;

Curve curve_of(const MeasuredRow& row) { return {row.collective, row.library, row.algorithm}; }

/// One way to a predicted row: its point, or the last of three on fewer nodes.
struct Way {
  MeasuredRow row;    ///< as it runs
  int doublings = 0;  ///< from its nodes to the predicted ones
  std::size_t point = 0;
  std::vector<std::size_t> before = {};  ///< the points on 1/4 and 1/2 of its nodes
};

class Planned {
 public:
  explicit Planned(const MachineDescription& machine) : machine_(machine) {}

  /// The ways to a row; nothing where it cannot be simulated, and then why.
  std::vector<Way> ways_to(const MeasuredRow& row, std::string& why) {
    const std::optional<plan::Point> whole = point_of(row, why);
    if (!whole) return {};
    if (run::estimated_wall_s(*whole) <= kLongestPoint) {
      return {{.row = row, .point = add(*whole)}};
    }
    std::vector<Way> ways;
    const bool chosen = row.library == "NCCL" && row.algorithm.starts_with("default_");
    const std::vector<std::string> algorithms =
        chosen ? std::vector<std::string>{"ring", "tree"} : std::vector<std::string>{row.algorithm};
    for (const std::string& algorithm : algorithms) {
      MeasuredRow one = row;
      // What Open MPI takes on the predicted nodes, not on the fewer ones that run.
      one.algorithm = algorithm.empty() ? whole->scheme->name : algorithm;
      if (std::optional<Way> way = shorter_way(one, why)) ways.push_back(std::move(*way));
    }
    return ways;
  }

  /// Adds the points on fewer nodes than the last; false where one cannot be simulated.
  bool add_before(Way& way, std::string& why) {
    const int last = way.row.nodes;
    for (std::size_t level = kLevels - 1; level > 0; --level) {
      MeasuredRow row = way.row;
      row.nodes = last >> level;
      const std::optional<plan::Point> point = point_of(row, why);
      if (!point) return false;
      way.before.push_back(add(*point));
    }
    return true;
  }

  /// The points that were added since this was last called.
  std::vector<plan::Point> take_points() {
    const auto first = points_.begin() + static_cast<std::ptrdiff_t>(taken_);
    taken_ = points_.size();
    return {first, points_.end()};
  }

 private:
  std::optional<plan::Point> point_of(const MeasuredRow& row, std::string& why) const {
    const Validation plan = plan_validation({row}, {machine_}, "");
    if (!plan.sweep.points.empty()) return plan.sweep.points.front();
    why = plan.skipped.front().why;
    return std::nullopt;
  }

  std::size_t add(const plan::Point& point) {
    points_.push_back(point);
    return points_.size() - 1;
  }

  std::optional<Way> shorter_way(MeasuredRow row, std::string& why) {
    int doublings = 0;
    constexpr int kLeast = 1 << (kLevels - 1);
    std::optional<plan::Point> last;
    do {
      if (row.nodes / 2 < kLeast) break;
      row.nodes /= 2;
      ++doublings;
      last = point_of(row, why);
    } while (last && run::estimated_wall_s(*last) > kLongestPoint);
    if (!last || doublings == 0) return std::nullopt;
    return Way{.row = std::move(row), .doublings = doublings, .point = add(*last)};
  }

  const MachineDescription& machine_;
  std::vector<plan::Point> points_;
  std::size_t taken_ = 0;
};

/// The time after `doublings` more: what a doubling adds grows as it grew, by 1 (trees) to 2 (rings).
double continued(const std::vector<double>& times, int doublings) {
  double time = times.back();
  if (times.size() < kLevels) return time;
  const double before = times[1] - times[0];
  double added = std::max(0.0, times[2] - times[1]);
  const double growth = before > 0 ? std::clamp(added / before, 1.0, 2.0) : 1;
  for (int i = 0; i < doublings; ++i) {
    added *= growth;
    time += added;
  }
  return time;
}

std::string longest_phase(const results::Outcome& outcome) {
  const auto longest = std::ranges::max_element(outcome.phases, {}, &results::PhaseCost::time);
  return longest == outcome.phases.end() ? std::string() : longest->name;
}

/// Takes a way if it is the first one, or faster than what the row has.
void take(PredictedRow& predicted, const Way& way, const std::vector<results::Row>& results) {
  std::vector<std::size_t> points = way.before;
  points.push_back(way.point);
  std::vector<double> times;
  for (const std::size_t point : points) {
    const results::Row& result = results.at(point);
    if (!result.outcome) {
      predicted.why = result.reason;
      return;
    }
    times.push_back(result.outcome->time().value());
  }
  const double time = continued(times, way.doublings);
  if (predicted.seconds && *predicted.seconds <= time) return;
  predicted.seconds = time;
  predicted.way = longest_phase(*results.at(way.point).outcome);
  predicted.simulated_nodes = way.doublings > 0 ? way.row.nodes : 0;
}

/// Raises what goes on to the time of each shorter vector. A ring's time grows fastest where its
/// messages are so short that their latency counts. A long vector comes to this on more nodes than
/// are simulated, a shorter one before.
void raise_to_shorter(std::vector<PredictedRow>& predicted) {
  std::map<Curve, double> least;
  for (PredictedRow& one : predicted) {  // by size in each curve
    if (!one.seconds) continue;
    double& shorter = least[curve_of(one.row)];
    if (one.simulated_nodes > 0) one.seconds = std::max(*one.seconds, shorter);
    shorter = std::max(shorter, *one.seconds);
  }
}

/// The rows of the most nodes, at some of their sizes.
std::vector<MeasuredRow> largest(const std::vector<MeasuredRow>& rows, std::size_t sizes) {
  int most = 0;
  for (const MeasuredRow& row : rows) most = std::max(most, row.nodes);
  std::map<Curve, std::vector<MeasuredRow>> curves;
  for (const MeasuredRow& row : rows) {
    if (row.nodes != most || row.elements == 0 || row.point) continue;
    curves[curve_of(row)].push_back(row);
  }
  std::vector<MeasuredRow> kept;
  for (auto& [key, curve] : curves) {
    std::ranges::stable_sort(curve, {}, &MeasuredRow::elements);
    const std::vector<MeasuredRow> some = spread_over(curve, sizes);
    kept.insert(kept.end(), some.begin(), some.end());
  }
  return kept;
}

}  // namespace

std::vector<PredictedRow> predict(const std::vector<MeasuredRow>& rows,
                                  const MachineDescription& machine, int nodes, int tasks_per_node,
                                  std::size_t sizes, const RunAll& run) {
  Planned planned(machine);
  std::vector<PredictedRow> predicted;
  std::vector<std::vector<Way>> ways;
  for (const MeasuredRow& row : largest(rows, sizes)) {
    PredictedRow& one = predicted.emplace_back();
    one.row = row;
    one.measured_nodes = row.nodes;
    one.row.nodes = nodes;
    one.row.tasks_per_node = tasks_per_node;
    one.ranks = nodes * tasks_per_node;
    ways.push_back(planned.ways_to(one.row, one.why));
  }
  std::vector<results::Row> results = run(planned.take_points());
  for (std::size_t i = 0; i < predicted.size(); ++i) {
    std::erase_if(ways[i], [&](Way& way) {
      const auto& outcome = results.at(way.point).outcome;
      if (way.doublings == 0 || !outcome) return false;
      // NCCL's tuner may take another protocol on fewer nodes, whose times grow otherwise.
      const std::string protocol = longest_phase(*outcome);
      if (way.row.library == "NCCL" && !protocol.empty()) way.row.algorithm = protocol;
      return !planned.add_before(way, predicted[i].why);
    });
  }
  const std::vector<results::Row> before = run(planned.take_points());
  results.insert(results.end(), before.begin(), before.end());
  for (std::size_t i = 0; i < predicted.size(); ++i) {
    for (const Way& way : ways[i]) take(predicted[i], way, results);
  }
  raise_to_shorter(predicted);
  return predicted;
}

double interval_factor(double rms, int fitted_nodes, int nodes) {
  constexpr double kOf90Percent = 1.645;
  constexpr double kOfDoubling = 0.1;
  const double doublings = std::max(0.0, std::log2(static_cast<double>(nodes) / fitted_nodes));
  return std::exp(kOf90Percent * std::hypot(rms, kOfDoubling * doublings));
}

}  // namespace thinwire::studies
