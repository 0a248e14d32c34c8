#include "tools/accuracy/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <tuple>
#include <utility>

#include "sim/app/results/lines_file.hpp"
#include "sim/app/run/executor.hpp"
#include "sim/core/base/errors.hpp"
#include "sim/core/base/files.hpp"
#include "sim/core/base/hash.hpp"

namespace thinwire::accuracy {

namespace {

/// The identity of a measurement; a later one with the same identity supersedes it.
using Place = std::tuple<Cell, std::string, std::string>;

Place place_of(const Cell& cell, const Side& side) {
  return {cell, side.network, side.settings.dump()};
}

/// The measurements in the output and in the further results files.
class Results {
 public:
  explicit Results(const TableSettings& settings)
      : file_(settings.output,
              [&](const std::string& text) { ours_ = measurements_from(text, settings.output); }) {
    for (const std::string& path : settings.also) {
      for (const Measurement& m : measurements_from(read_text(path), path)) know(m);
    }
    for (const Measurement& m : ours_) know(m);
    for (const auto& [name, file] : settings.platforms) platforms_[name] = hash_of_file(file);
    for (const Side* side : {&settings.reference, &settings.judged}) {
      programs_[side->network] = program_of(side->network);
    }
  }

  /// The known part of a measurement that has not been made yet.
  [[nodiscard]] Measurement blank(const Cell& cell, const Side& side) const {
    return {.cell = cell,
            .side = side,
            .platform_hash = platforms_.at(cell.platform),
            .program = programs_.at(side.network)};
  }
  /// The measurement by any version; nullptr if there is none.
  [[nodiscard]] const Measurement* before(const Cell& cell, const Side& side) const {
    const auto found = known_.find(place_of(cell, side));
    return found == known_.end() ? nullptr : &found->second;
  }
  /// The measurement if it is still valid, which may have failed; nullptr otherwise.
  [[nodiscard]] const Measurement* valid(const Cell& cell, const Side& side) const {
    const Measurement* const found = before(cell, side);
    const bool holds = found != nullptr && found->platform_hash == platforms_.at(cell.platform) &&
                       found->program == programs_.at(side.network);
    return holds ? found : nullptr;
  }

  [[nodiscard]] results::LinesFile& file() { return file_; }
  /// Adds a measurement and returns its line of the file.
  [[nodiscard]] std::string add(const Measurement& measurement) {
    ours_.push_back(measurement);
    know(measurement);
    return to_json(measurement).dump();
  }
  /// Keeps only the last measurement of each place in the output, in chronological order.
  void remove_superseded() {
    std::map<Place, std::size_t> last;
    for (std::size_t i = 0; i < ours_.size(); ++i) last[place_of(ours_[i].cell, ours_[i].side)] = i;
    std::string lines;
    for (std::size_t i = 0; i < ours_.size(); ++i) {
      if (last.at(place_of(ours_[i].cell, ours_[i].side)) == i)
        lines += to_json(ours_[i]).dump() + '\n';
    }
    file_.replace(lines);
  }

 private:
  void know(const Measurement& m) { known_.insert_or_assign(place_of(m.cell, m.side), m); }

  std::vector<Measurement> ours_;  // filled by the constructor of file_
  results::LinesFile file_;
  std::map<Place, Measurement> known_;
  std::map<std::string, std::string> platforms_;  // hash by label
  std::map<std::string, std::string> programs_;   // by network
};

struct PlannedCell {
  Measurement measurement;  ///< the part that is known in advance
  plan::Point point;
  double expected_s = 0;
};

/// Whether another run could not improve the result.
bool is_done(const Measurement* found, const TableSettings& settings) {
  if (found == nullptr || settings.force || found->status == CellStatus::failed) return false;
  return found->status == CellStatus::ok || found->limit_s >= settings.limit_s;
}

void plan(std::vector<PlannedCell>& planned, const Side& side, const TableSettings& settings,
          const Results& results) {
  const bool only_with_reference = !settings.run_reference;
  for (const Cell& cell : settings.cells) {
    if (restriction_of(cell) || is_done(results.valid(cell, side), settings)) continue;
    if (only_with_reference) {
      const Measurement* const reference = results.valid(cell, settings.reference);
      if (reference == nullptr || reference->status != CellStatus::ok) continue;
    }
    PlannedCell& one = planned.emplace_back();
    one.measurement = results.blank(cell, side);
    one.measurement.limit_s = settings.limit_s;
    one.point = point_of(cell, side, settings.platforms.at(cell.platform));
    const Measurement* const before = results.before(cell, side);
    one.expected_s = before != nullptr ? before->wall_s : expected_s(cell, one.point);
  }
}

/// The cells to measure.
std::vector<PlannedCell> plan(const TableSettings& settings, const Results& results) {
  std::vector<PlannedCell> planned;
  if (settings.run_reference) plan(planned, settings.reference, settings, results);
  if (settings.run_judged) plan(planned, settings.judged, settings, results);
  return planned;
}

void run(std::vector<PlannedCell> planned, const TableSettings& settings, Results& results) {
  std::vector<run::Job> jobs;
  for (const PlannedCell& one : planned) {
    jobs.push_back({work_of(one.measurement.cell, one.point), one.expected_s});
  }
  std::size_t done = 0;
  const auto ended = [&](std::size_t job, const ChildProcess& process) {
    Measurement& m = planned[job].measurement;
    m = measured(m, planned[job].point, process);
    results.file().append(results.add(m) + '\n');
    fmt::print(stderr, "{}/{} {}: {} ({:.1f} s){}\n", ++done, planned.size(), m.side.network,
               name_of(m.cell), m.wall_s, m.reason.empty() ? "" : ": " + m.reason);
  };
  try {
    run_jobs(jobs, {.at_once = settings.jobs, .limits = {.seconds = settings.limit_s}},
             {.ended = ended});
  } catch (const InterruptedError&) {
    results.file().throw_interrupted(done, planned.size(), "measurements");
  }
}

}  // namespace

std::vector<CellComparison> fill_table(const TableSettings& settings) {
  Results results(settings);
  run(plan(settings, results), settings, results);
  results.remove_superseded();

  const auto found = [&](const Cell& cell, const Side& side) {
    const Measurement* const m = results.valid(cell, side);
    return m == nullptr ? std::nullopt : std::optional(*m);
  };
  std::vector<CellComparison> comparisons;
  for (const Cell& cell : settings.cells) {
    comparisons.push_back(
        compare(cell, found(cell, settings.reference), found(cell, settings.judged)));
  }
  return comparisons;
}

}  // namespace thinwire::accuracy
