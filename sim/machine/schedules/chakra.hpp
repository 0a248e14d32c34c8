// Schedules as Chakra execution traces of MLCommons, one file of protobuf messages for each rank.
// ASTRA-sim takes such traces as workloads and as custom collectives.
#pragma once

#include <string>

#include "sim/machine/schedules/replay.hpp"

namespace thinwire::schedules {

/// The trace of one rank: Chakra's metadata, then a node for each operation, each message preceded
/// by its length. Chakra has no order of beginnings, so nodes depend on whatever has to end before
/// them; where this is much, a node without duration stands for it. Durations are whole microseconds;
/// the attribute `duration_s` has the exact one. The metadata's attribute `thinwire.eager_bytes` says
/// up to which size sends are eager.
[[nodiscard]] std::string to_chakra(const Schedule& schedule, std::size_t rank, Bytes eager);

/// Writes FOLDER/NAME.RANK.et for every rank, and makes the folder where there is none. Throws
/// InputError if that cannot be done.
void write_chakra(const Schedule& schedule, Bytes eager, const std::string& folder,
                  const std::string& name);

/// Reads the traces NAME.0.et, NAME.1.et ... of a folder, of one NAME. Nodes send, receive, compute,
/// access memory or are collectives. Computation is on processor 1, work of the CPU on 2, and
/// messages on 0, so that none waits for another; nodes of metadata take no time, and nodes of memory
/// and computation their duration. Sizes are rounded to words of 4 bytes. Sends of any size are eager,
/// as in ASTRA-sim, unless the metadata says otherwise. The ranks of process groups come from
/// `groups_file`, a JSON object as {"1": [0, 1]}, or, if that is empty, from what PyTorch has
/// written into the traces; the group "0", or none, is all ranks. Throws InputError if a rank is
/// missing or there twice, for text that is no trace, for a process group that is not known or whose
/// ranks are not at equal distances, and as check_schedule() does.
[[nodiscard]] ReadSchedule read_chakra(const std::string& folder,
                                       const std::string& groups_file = {});

}  // namespace thinwire::schedules
