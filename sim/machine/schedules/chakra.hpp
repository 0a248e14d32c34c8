// Schedules as Chakra execution traces of MLCommons, one file of protobuf messages for each rank.
// ASTRA-sim takes such traces as workloads and as custom collectives.
#pragma once

#include <string>

#include "sim/core/kernel/schedule.hpp"

namespace thinwire::schedules {

/// The trace of one rank: Chakra's metadata, then a node for each operation, each message preceded
/// by its length. Chakra has no order of beginnings, so nodes depend on whatever has to end before
/// them; where this is much, a node without duration stands for it. Durations are whole microseconds;
/// the attribute `duration_s` has the exact one.
[[nodiscard]] std::string to_chakra(const Schedule& schedule, std::size_t rank);

/// Writes FOLDER/NAME.RANK.et for every rank, and makes the folder where there is none. Throws
/// InputError if that cannot be done.
void write_chakra(const Schedule& schedule, const std::string& folder, const std::string& name);

/// Reads the traces NAME.0.et, NAME.1.et ... of a folder, of one NAME. Nodes send, receive or
/// compute. Computation is on processor 1 and messages on processor 0, so that neither waits for the
/// other; nodes of metadata take no time. Sizes are rounded to words of 4 bytes. Throws InputError
/// if a rank is missing, for text that is no trace, for nodes of collectives or of memory, and as
/// check_schedule() does.
[[nodiscard]] Schedule read_chakra(const std::string& folder);

}  // namespace thinwire::schedules
