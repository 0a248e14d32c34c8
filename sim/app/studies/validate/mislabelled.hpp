// Finds measured rows that are not what they say: the library ran another algorithm than the one that
// the row names.
#pragma once

#include <vector>

#include "sim/app/studies/validate/measured.hpp"

namespace thinwire::studies {

/// Marks rows that took the time of what the library chose, MeasuredRow::not_as_named. Such are all
/// rows of an algorithm in a test, if two things hold: at three of four sizes, it took the time of a
/// `default_*` or `non_blocking_*` row, up to 2%. And at one size at least, the same scheme by another
/// name takes 1.5 times as long or as short. An algorithm that the library rightly chooses everywhere
/// takes the same time by either name.
void mark_mislabelled(std::vector<MeasuredRow>& rows);

/// Whether the row says that the library chose the algorithm.
[[nodiscard]] bool is_of_the_library(const MeasuredRow& row);

}  // namespace thinwire::studies
