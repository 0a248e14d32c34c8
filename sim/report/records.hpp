// What the outputs print: a flat record a row, under stable names with units.
#pragma once

#include <vector>

#include "sim/experiment/compare.hpp"
#include "sim/experiment/row.hpp"

namespace thinwire {

/// All that is known of a result and its formula; missing values are null. The names are those of
/// docs/output-format.md.
[[nodiscard]] Json record_of(const Row& row, const Comparison& comparison);

}  // namespace thinwire
