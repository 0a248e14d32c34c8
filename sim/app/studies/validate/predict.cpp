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

/// One way to a predicted row: a point on its nodes, or three on fewer.
struct Way {
  std::vector<std::size_t> points;  ///< by level
  int doublings = 0;                ///< from the last level to the row's nodes
};

class Planned {
 public:
  explicit Planned(const MachineDescription& machine) : machine_(machine) {}

  /// The ways to a row; nothing where it cannot be simulated, and then why.
  std::vector<Way> ways_to(const MeasuredRow& row, std::string& why) {
    const std::optional<plan::Point> whole = point_of(row, why);
    if (!whole) return {};
    if (run::estimated_wall_s(*whole) <= kLongestPoint) return {{{add(*whole)}, 0}};
    std::vector<Way> ways;
    const bool chosen = row.library == "NCCL" && row.algorithm.starts_with("default_");
    const std::vector<std::string> algorithms =
        chosen ? std::vector<std::string>{"ring", "tree"} : std::vector<std::string>{row.algorithm};
    for (const std::string& algorithm : algorithms) {
      MeasuredRow one = row;
      one.algorithm = algorithm;
      if (std::optional<Way> way = shorter_way(one, why)) ways.push_back(std::move(*way));
    }
    return ways;
  }

  [[nodiscard]] const std::vector<plan::Point>& points() const { return points_; }

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
    Way way;
    const int whole = row.nodes;
    constexpr int kLeast = 1 << (kLevels - 1);
    std::optional<plan::Point> last;
    do {
      if (row.nodes / 2 < kLeast) break;
      row.nodes /= 2;
      ++way.doublings;
      last = point_of(row, why);
    } while (last && run::estimated_wall_s(*last) > kLongestPoint);
    if (!last || way.doublings == 0) return std::nullopt;
    for (std::size_t level = 0; level < kLevels; ++level) {
      row.nodes = whole >> (way.doublings + static_cast<int>(kLevels - 1 - level));
      const std::optional<plan::Point> point = point_of(row, why);
      if (!point) return std::nullopt;
      way.points.push_back(add(*point));
    }
    return way;
  }

  const MachineDescription& machine_;
  std::vector<plan::Point> points_;
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
  std::vector<double> times;
  for (const std::size_t point : way.points) {
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
  predicted.way = longest_phase(*results.at(way.points.back()).outcome);
  predicted.simulated_nodes = way.doublings > 0 ? predicted.row.nodes >> way.doublings : 0;
}

/// The rows of the most nodes, at some of their sizes.
std::vector<MeasuredRow> largest(const std::vector<MeasuredRow>& rows, std::size_t sizes) {
  int most = 0;
  for (const MeasuredRow& row : rows) most = std::max(most, row.nodes);
  std::map<std::tuple<std::string, std::string, std::string>, std::vector<MeasuredRow>> curves;
  for (const MeasuredRow& row : rows) {
    if (row.nodes != most || row.elements == 0 || row.point) continue;
    curves[{row.collective, row.library, row.algorithm}].push_back(row);
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
  const std::vector<results::Row> results = run(planned.points());
  for (std::size_t i = 0; i < predicted.size(); ++i) {
    for (const Way& way : ways[i]) take(predicted[i], way, results);
  }
  return predicted;
}

double interval_factor(double rms, int fitted_nodes, int nodes) {
  constexpr double kOf90Percent = 1.645;
  constexpr double kOfDoubling = 0.1;
  const double doublings = std::max(0.0, std::log2(static_cast<double>(nodes) / fitted_nodes));
  return std::exp(kOf90Percent * std::hypot(rms, kOfDoubling * doublings));
}

}  // namespace thinwire::studies
