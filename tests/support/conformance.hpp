// The required results of every scheme, computed by serial programs, and the inputs of these tests.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "algorithms/scheme.hpp"
#include "sim/core/kernel/network.hpp"
#include "tests/support/gradients.hpp"
#include "tests/support/sparse.hpp"

namespace thinwire::test {

using GivenOptions = std::map<std::string, algorithms::OptionValue>;

/// The expected result of one iteration.
struct Expected {
  Entries sum;  ///< over all ranks
  std::vector<Entries> contributed;
  double tolerance = 0;  ///< of a value of the sum: 0 where all values are whole numbers
};

/// A scheme as a serial program that keeps its state between iterations.
class SerialScheme {
 public:
  SerialScheme() = default;
  SerialScheme(const SerialScheme&) = delete;
  SerialScheme& operator=(const SerialScheme&) = delete;
  virtual ~SerialScheme() = default;
  [[nodiscard]] virtual Expected iterate(const std::vector<SparseVector>& gradients,
                                         int iteration) = 0;
};

/// The oracle of a sparse scheme of the registry, or null if there is none yet. It uses the
/// scheme's own sparsifiers, one per rank, which have tests of their own.
[[nodiscard]] std::unique_ptr<SerialScheme> serial_scheme(const algorithms::SchemeInfo& info,
                                                          const algorithms::SchemeSetup& setup);

[[nodiscard]] bool conforms(const std::vector<algorithms::Reduced>& results,
                            const Expected& expected);

/// One column of the test matrix: the gradients and k.
struct Case {
  int ranks;
  GradientSpace space;
  std::int64_t k;
  Shape shape = Shape::random;
  int wanted = 60;    ///< entries of a rank's gradient
  bool full = false;  ///< the gradient holds every coordinate
  /// If set, the gradients, instead of a shape's. Their values must have exact sums.
  std::function<SparseVector(int rank, int iteration)> drawn = {};

  [[nodiscard]] SparseVector gradient(int rank, int iteration) const;
  [[nodiscard]] std::vector<SparseVector> gradients(int iteration) const;
  [[nodiscard]] std::int64_t carried_k() const { return k / space.granule; }
  [[nodiscard]] std::string text() const;
};

/// Whether every rank gets the result of the scheme's collective: sums within rounding, values that
/// are only moved to the last bit. What is the same on all ranks must be so to the last bit.
[[nodiscard]] bool dense_conforms(Network& network, const algorithms::SchemeInfo& info, int ranks,
                                  GradientSpace space, const GivenOptions& options = {});
/// Runs iterations 1 to `iterations` one by one.
[[nodiscard]] bool sparse_conforms(Network& network, const std::string& scheme, const Case& c,
                                   const GivenOptions& options, int iterations);

/// Options that exercise all parts of a scheme within a few iterations: short periods, and
/// compression of small tensors too.
[[nodiscard]] GivenOptions short_periods_of(const algorithms::SchemeInfo& info);
/// For oktopk: iterations 1 (both), 2 (reuse), 3 (exact thresholds), 4 (repartition).
[[nodiscard]] const GivenOptions& short_periods();
/// For oktopk: its optimisations switched off one by one, and all at once.
[[nodiscard]] std::vector<GivenOptions> oktopk_variants();

}  // namespace thinwire::test
