// Records what the programs of a run do, as a schedule.
#pragma once

#include "sim/core/kernel/network.hpp"
#include "sim/core/kernel/schedule.hpp"

namespace thinwire::inline kernel {

/// Returns a program that does what `program` does, and appends to `schedule`, which has an element
/// for each rank, the sends, receives and local work. Both must outlive the run. The order of what a
/// strand posts is recorded, as is what it has waited for before; local work of no length is left
/// out. The second strand is processor 1. `schedule` is complete when the run has ended.
[[nodiscard]] RankProgram recorded(RankProgram program, Schedule& schedule);

/// Gives the messages of second strands tags that main strands do not use, so that all messages of
/// a schedule are matched by sender, receiver and tag alone.
void separate_strands(Schedule& schedule);

}  // namespace thinwire::inline kernel
