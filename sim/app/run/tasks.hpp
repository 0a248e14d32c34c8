// What has to be simulated for a point.
//
// tasks_of() is the one function that knows it: the iterations, in turn or each for itself; the
// reported one on the α-β machine too, where flows share links; and all of this for each of the
// shorter gradients from which a time is extrapolated. simulation.hpp runs the tasks, and join.hpp
// makes one outcome of theirs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sim/app/plan/point.hpp"
#include "sim/app/run/extrapolation.hpp"
#include "sim/machine/workloads/iteration.hpp"

namespace thinwire::run {

/// An iteration that is simulated.
struct PlannedIteration {
  workloads::WeightedIteration which;
  bool only_for_kind = false;  ///< after the reported iteration, since none before is of its kind
};

/// A point whose iterations are simulated.
struct Part {
  plan::Point point;
  std::vector<PlannedIteration> iterations;
  std::size_t reported = 0;  ///< the last iteration that is not only for its kind
};

/// The iterations of a point; `kinds`: also those that only Outcome::kinds needs.
[[nodiscard]] Part part_of(const plan::Point& point, bool kinds);

enum class Purpose : std::uint8_t {
  outcome,   ///< of iterations on the network of the point
  companion  ///< of the reported iteration on the α-β machine, to compare its time with
};

/// Iterations of a part that follow one another on one network. The ones before have to be passed.
struct RunTask {
  Purpose purpose = Purpose::outcome;
  std::size_t part = 0;
  std::size_t first = 0;  ///< in Part::iterations
  std::size_t count = 1;
};

/// The tasks of a point.
struct Tasks {
  std::optional<Extrapolation> extrapolation;
  std::vector<Part> parts;    ///< the point itself, or the parts of the extrapolation
  std::vector<RunTask> list;  ///< in the order in which they start

  [[nodiscard]] std::span<const PlannedIteration> iterations_of(const RunTask& task) const {
    return std::span(parts[task.part].iterations).subspan(task.first, task.count);
  }
};

/// What a run is to find out, and how.
struct Wanted {
  bool kinds = true;        ///< also Outcome::kinds
  bool companion = true;    ///< also Outcome::alphabeta_time, if flows share links
  bool one_by_one = false;  ///< each iteration is a task of its own
};

/// The tasks of a point that no restriction forbids. `machine`: as it is known at run time.
[[nodiscard]] Tasks tasks_of(const plan::Point& point, const plan::Machine& machine,
                             const Wanted& wanted);

/// One iteration of each kind of a scheme with periods, for Outcome::kinds. They are among the given
/// iterations where there is one of the kind.
[[nodiscard]] std::vector<workloads::WeightedIteration> kinds_of(const plan::Point& point);

}  // namespace thinwire::run
