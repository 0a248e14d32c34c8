// Comparison of numbers of any magnitude.
#pragma once

#include <doctest/doctest.h>

namespace thinwire::test {

/// A number with a tolerance that is relative to it, 1.2e-5 unless epsilon() says another. Only 0
/// equals 0. (doctest::Approx adds 1 to the number that its tolerance is relative to, so two times of
/// some milliseconds are equal to it within an epsilon of 1%, whatever they are.)
[[nodiscard]] inline doctest::Approx approx(double value) {
  return doctest::Approx(value).scale(1e-290);
}

}  // namespace thinwire::test
