// The two networks on which schedules are tested, and the prediction of the α-β formula.
#pragma once

#include <doctest/doctest.h>

#include "sim/machine/networks/alphabeta/alphabeta.hpp"
#include "sim/machine/networks/counting/counting.hpp"
#include "tests/support/switches.hpp"

namespace thinwire::test {

inline constexpr Seconds kAlpha(1.3e-6);
inline constexpr Seconds kBeta(0.7e-9);

struct Networks {
  networks::AlphaBetaNetwork alphabeta{networks::alpha_beta(kAlpha, kBeta), {}, kSwitches};
  networks::CountingNetwork counting;
};

[[nodiscard]] inline double formula(double messages, double words) {
  return kAlpha.value() * messages + kBeta.value() * words;
}

/// Compares with a relative tolerance of 1e-9, the meaning of "exact" here.
[[nodiscard]] inline doctest::Approx exactly(double value) {
  return doctest::Approx(value).epsilon(1e-9).scale(1e-290);  // 0 equals only 0
}

}  // namespace thinwire::test
