// What the outputs print: a flat record a row, under stable names with units.
#pragma once

#include <vector>

#include "sim/app/experiment/compare.hpp"
#include "sim/app/experiment/row.hpp"

namespace thinwire::report {

/// All that is known of a result and its formula; missing values are null. The names are those of
/// docs/output-format.md.
[[nodiscard]] Json record_of(const experiment::Row& row, const experiment::Comparison& comparison);

}  // namespace thinwire::report
