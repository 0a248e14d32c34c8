// The tested numbers of ranks: powers of two, their neighbours, others.
#pragma once

#include <array>

namespace thinwire::test {

inline constexpr std::array kRankCounts{1, 2, 3, 4, 5, 7, 8, 12, 16, 17, 32, 64};

[[nodiscard]] inline int ceil_log2(int ranks) {
  int log = 0;
  while ((1 << log) < ranks) ++log;
  return log;
}

[[nodiscard]] inline int floor_log2(int ranks) {
  int log = 0;
  while ((2 << log) <= ranks) ++log;
  return log;
}

}  // namespace thinwire::test
