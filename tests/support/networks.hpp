// The two networks on which schedules are tested, and what the α-β formula says.
#pragma once

#include <doctest/doctest.h>

#include "sim/networks/alphabeta/alphabeta.hpp"
#include "sim/networks/counting/counting.hpp"

namespace thinwire::test {

inline constexpr Seconds kAlpha(1.3e-6);
inline constexpr Seconds kBeta(0.7e-9);

struct Networks {
  AlphaBetaNetwork alphabeta{alpha_beta(kAlpha, kBeta)};
  CountingNetwork counting;
};

[[nodiscard]] inline double formula(double messages, double words) {
  return kAlpha.value() * messages + kBeta.value() * words;
}

/// Equal to 1e-9 relative, which is what "exact" means here.
[[nodiscard]] inline doctest::Approx exactly(double value) {
  return doctest::Approx(value).epsilon(1e-9).scale(1e-290);  // 0 equals 0, and only that
}

}  // namespace thinwire::test
