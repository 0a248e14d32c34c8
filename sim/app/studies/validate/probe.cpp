#include "sim/app/studies/validate/probe.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>

#include "sim/app/plan/config.hpp"

namespace thinwire::studies {

namespace {

using Rows = std::vector<MeasuredRow>;

/// Of each collective and algorithm of a run, the rows of the least size, if there are longer ones.
Rows shortest_of(const Rows& run) {
  std::map<std::string, Rows> alike;
  for (const MeasuredRow& row : run) {
    alike[fmt::format("{} {} {} {} {}", row.collective, row.algorithm, row.segment, row.nodes,
                      row.tasks_per_node)]
        .push_back(row);
  }
  Rows shortest;
  for (const auto& [name, rows] : alike) {
    const auto [least, most] = std::ranges::minmax_element(rows, {}, &MeasuredRow::elements);
    if (least->elements == most->elements) continue;
    const std::int64_t elements = least->elements;
    std::ranges::copy_if(rows, std::back_inserter(shortest),
                         [elements](const MeasuredRow& row) { return row.elements == elements; });
  }
  return shortest;
}

/// The simulated seconds of the rows, 0 where they cannot be simulated, for each of several values.
std::vector<std::vector<double>> simulated_with(const std::vector<double>& values, const Rows& rows,
                                                const MachineDescription& machine,
                                                const std::string& placements, const RunAll& run) {
  std::vector<plan::Point> points;
  std::vector<Validation> plans;
  for (const double value : values) {
    MachineDescription tried = machine;
    tried.settings[Json::json_pointer(plan::pointer_of(machine.probed))] = value;
    plans.push_back(plan_validation(rows, {std::move(tried)}, placements));
    const std::vector<plan::Point>& own = plans.back().sweep.points;
    points.insert(points.end(), own.begin(), own.end());
  }
  const std::vector<results::Row> results = run(points);
  auto next = results.begin();
  std::vector<std::vector<double>> times;
  for (const Validation& plan : plans) {
    std::vector<double>& of_rows = times.emplace_back();
    for (const ValidatedRow& row : plan.rows) {
      const auto& outcome = (next + static_cast<std::ptrdiff_t>(row.point))->outcome;
      of_rows.push_back(outcome ? outcome->time().value() : 0);
    }
    next += static_cast<std::ptrdiff_t>(plan.sweep.points.size());
  }
  return times;
}

/// The times of rows at two values of a setting, of which they are about linear.
struct Line {
  double from = 0;
  double to = 0;
  std::vector<double> at_from;
  std::vector<double> at_to;

  /// The mean square of log(time / measured) at a value.
  [[nodiscard]] double mean_square(double value, const Rows& rows) const {
    double sum = 0;
    std::size_t count = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (!(at_from[i] > 0) || !(at_to[i] > 0)) continue;
      const double slope = (at_to[i] - at_from[i]) / (to - from);
      constexpr double kLeastShare = 0.01;  // keeps the logarithm of a line that falls below 0
      const double time = std::max(at_from[i] + slope * (value - from), kLeastShare * at_from[i]);
      const double log = std::log(time / rows[i].seconds);
      sum += log * log;
      ++count;
    }
    return count > 0 ? sum / static_cast<double>(count) : 0;
  }
};

/// Where the mean square is least, between a hundredth and a hundred times the description's value.
double least_of(const Line& line, const Rows& rows, double described) {
  constexpr double kRange = 100;
  constexpr double kStep = 1.01;
  double best = described;
  double least = line.mean_square(best, rows);
  for (double value = described / kRange; value <= described * kRange; value *= kStep) {
    const double here = line.mean_square(value, rows);
    if (here >= least) continue;
    least = here;
    best = value;
  }
  return best;
}

ProbedRun probe(const Rows& rows, const MachineDescription& machine, const std::string& placements,
                const RunAll& run) {
  const double described =
      machine.settings.at(Json::json_pointer(plan::pointer_of(machine.probed))).get<double>();
  const auto times = simulated_with({described, 2 * described}, rows, machine, placements, run);
  Line line{.from = described, .to = 2 * described, .at_from = times[0], .at_to = times[1]};
  double value = least_of(line, rows, described);
  if (value != described) {  // once more, with a line that ends near the result
    line.to = value;
    line.at_to = simulated_with({value}, rows, machine, placements, run).front();
    value = least_of(line, rows, described);
  }
  ProbedRun result{.value = value, .rms = std::sqrt(line.mean_square(value, rows)), .places = {}};
  for (const MeasuredRow& row : rows) result.places.insert(row.place);
  return result;
}

}  // namespace

std::vector<MachineDescription> probed(const Validation& validation, const std::string& placements,
                                       const RunAll& run) {
  std::vector<MachineDescription> machines = validation.machines;
  for (std::size_t i = 0; i < machines.size(); ++i) {
    MachineDescription& machine = machines[i];
    if (machine.probed.empty()) continue;
    std::map<std::string, Rows> runs;
    for (const ValidatedRow& row : validation.rows) {
      if (row.machine == i) runs[row.measured.run].push_back(row.measured);
    }
    for (const auto& [name, rows] : runs) {
      const bool calibrated = std::ranges::any_of(
          machine.calibrated_on,
          [&name = name](const RowFilter& filter) { return filter.run == name; });
      if (calibrated) continue;
      const Rows shortest = shortest_of(rows);
      if (shortest.empty()) continue;
      machine.of_runs[name] = probe(shortest, machine, placements, run);
    }
  }
  return machines;
}

}  // namespace thinwire::studies
