// The records that the outputs print: one flat record per row, with stable names and units.
#pragma once

#include <vector>

#include "sim/app/results/compare.hpp"
#include "sim/app/results/row.hpp"

namespace thinwire::report {

/// All data of a result and its formula; missing values are null. docs/reference/columns.md lists
/// the names.
[[nodiscard]] Json record_of(const results::Row& row, const results::Comparison& comparison);
/// Whether the verdict of a record is that the ranks select far from k: its time wins nothing. Of a
/// group of records (groups.hpp): whether that is so for all that have a result.
[[nodiscard]] bool selects_far_from_k(const Json& record);
/// The factor by which nccl-tests multiply the bandwidth of a collective to compare it with the
/// links.
[[nodiscard]] double bus_factor(algorithms::Collective collective, int ranks);

}  // namespace thinwire::report
