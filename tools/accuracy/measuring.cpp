#include "tools/accuracy/measuring.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <tuple>
#include <utility>

#include "sim/app/experiment/lines_file.hpp"
#include "sim/core/base/errors.hpp"
#include "sim/core/base/interrupt.hpp"

namespace thinwire::accuracy {

namespace {

/// What a later measurement of the same supersedes.
using Place = std::tuple<Cell, std::string, std::string>;

Place place_of(const Cell& cell, const Side& side) {
  return {cell, side.network, side.settings.dump()};
}

std::string line_of(const Measurement& measurement) { return to_json(measurement).dump() + '\n'; }

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw InputError(fmt::format("{}: cannot be read; is there such a file?", path));
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// What has been measured, in the output and elsewhere.
class Results {
 public:
  explicit Results(const Measuring& measuring)
      : file_(measuring.output,
              [&](const std::string& text) { ours_ = measurements_from(text, measuring.output); }) {
    for (const std::string& path : measuring.also) {
      for (const Measurement& m : measurements_from(text_of(path), path)) know(m);
    }
    for (const Measurement& m : ours_) know(m);
    for (const auto& [name, file] : measuring.platforms) platforms_[name] = hash_of_file(file);
    for (const Side* side : {&measuring.reference, &measuring.judged}) {
      programs_[side->network] = program_of(side->network);
    }
  }

  /// What a measurement to come says of itself.
  [[nodiscard]] Measurement blank(const Cell& cell, const Side& side) const {
    Measurement m;
    m.cell = cell;
    m.side = side;
    m.platform_hash = platforms_.at(cell.platform);
    m.program = programs_.at(side.network);
    return m;
  }
  /// Nullptr where there is none, of whatever version.
  [[nodiscard]] const Measurement* before(const Cell& cell, const Side& side) const {
    const auto found = known_.find(place_of(cell, side));
    return found == known_.end() ? nullptr : &found->second;
  }
  /// Nullptr where there is none that still holds. It may have failed.
  [[nodiscard]] const Measurement* valid(const Cell& cell, const Side& side) const {
    const Measurement* const found = before(cell, side);
    const bool holds = found != nullptr && found->platform_hash == platforms_.at(cell.platform) &&
                       found->program == programs_.at(side.network);
    return holds ? found : nullptr;
  }

  void add(const Measurement& measurement) {
    file_.append(line_of(measurement));
    ours_.push_back(measurement);
    know(measurement);
  }
  /// Leaves the last measurement of each place in the output, in the order in which they were made.
  void remove_superseded() {
    std::map<Place, std::size_t> last;
    for (std::size_t i = 0; i < ours_.size(); ++i) last[place_of(ours_[i].cell, ours_[i].side)] = i;
    std::string lines;
    for (std::size_t i = 0; i < ours_.size(); ++i) {
      if (last.at(place_of(ours_[i].cell, ours_[i].side)) == i) lines += line_of(ours_[i]);
    }
    file_.replace(lines);
  }

 private:
  void know(const Measurement& m) { known_.insert_or_assign(place_of(m.cell, m.side), m); }

  std::vector<Measurement> ours_;  // filled by file_
  experiment::LinesFile file_;
  std::map<Place, Measurement> known_;
  std::map<std::string, std::string> platforms_;  // label to hash
  std::map<std::string, std::string> programs_;   // by network
};

struct PlannedCell {
  Measurement wanted;
  double expected_s = 0;
};

/// Nothing more is to be learnt from it.
bool is_done(const Measurement* found, const Measuring& measuring) {
  if (found == nullptr || measuring.force || found->status == CellStatus::failed) return false;
  return found->status == CellStatus::ok || found->limit_s >= measuring.limit_s;
}

void plan(std::vector<PlannedCell>& waiting, const Side& side, const Measuring& measuring,
          const Results& results) {
  const bool only_with_reference = !measuring.run_reference;
  for (const Cell& cell : measuring.cells) {
    if (restriction_of(cell) || is_done(results.valid(cell, side), measuring)) continue;
    if (only_with_reference) {
      const Measurement* const reference = results.valid(cell, measuring.reference);
      if (reference == nullptr || reference->status != CellStatus::ok) continue;
    }
    PlannedCell& planned = waiting.emplace_back();
    planned.wanted = results.blank(cell, side);
    planned.wanted.limit_s = measuring.limit_s;
    const Measurement* const before = results.before(cell, side);
    planned.expected_s =
        before != nullptr
            ? before->wall_s
            : expected_s(cell, point_of(cell, side, measuring.platforms.at(cell.platform)));
  }
}

/// The cheapest last, since they are taken from the end.
std::vector<PlannedCell> plan(const Measuring& measuring, const Results& results) {
  std::vector<PlannedCell> waiting;
  if (measuring.run_reference) plan(waiting, measuring.reference, measuring, results);
  if (measuring.run_judged) plan(waiting, measuring.judged, measuring, results);
  std::ranges::stable_sort(waiting, std::ranges::greater(), &PlannedCell::expected_s);
  return waiting;
}

void run(std::vector<PlannedCell> waiting, const Measuring& measuring, Results& results) {
  const std::size_t total = waiting.size();
  std::size_t done = 0;
  const InterruptGuard guard;
  std::vector<std::unique_ptr<CellRun>> running;
  while (!waiting.empty() || !running.empty()) {
    while (!waiting.empty() && running.size() < static_cast<std::size_t>(measuring.jobs)) {
      const Measurement& next = waiting.back().wanted;
      running.push_back(
          std::make_unique<CellRun>(next, measuring.platforms.at(next.cell.platform)));
      waiting.pop_back();
    }
    std::vector<const ChildProcess*> children;
    for (const auto& one : running) children.push_back(one->child());
    ChildProcess::wait_for_news(children, std::chrono::milliseconds(100));
    for (std::size_t i = 0; i < running.size();) {
      if (!running[i]->advance()) {
        ++i;
        continue;
      }
      const Measurement m = running[i]->finish();
      running.erase(running.begin() + static_cast<std::ptrdiff_t>(i));
      results.add(m);
      ++done;
      fmt::print(stderr, "{}/{} {}: {} ({:.1f} s){}\n", done, total, m.side.network,
                 name_of(m.cell), m.wall_s, m.reason.empty() ? "" : ": " + m.reason);
    }
    if (InterruptGuard::signal() != 0) {
      throw InterruptedError(
          fmt::format("interrupted; {} of {} measurements are in {}, and the same command goes on",
                      done, total, measuring.output));
    }
  }
}

}  // namespace

std::vector<CellComparison> measure(const Measuring& measuring) {
  Results results(measuring);
  run(plan(measuring, results), measuring, results);
  results.remove_superseded();

  const auto found = [&](const Cell& cell, const Side& side) {
    const Measurement* const m = results.valid(cell, side);
    return m == nullptr ? std::nullopt : std::optional(*m);
  };
  std::vector<CellComparison> comparisons;
  for (const Cell& cell : measuring.cells) {
    comparisons.push_back(
        compare(cell, found(cell, measuring.reference), found(cell, measuring.judged)));
  }
  return comparisons;
}

}  // namespace thinwire::accuracy
