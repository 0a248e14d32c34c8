// What every scheme must give, by serial programs, and the inputs on which it must.
#pragma once

#include <cstdint>
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

/// One rank's result as it should be.
struct Expected {
  Entries sum;  ///< of all ranks
  std::vector<Entries> contributed;
};

/// A scheme as a serial program, through the iterations.
class SerialScheme {
 public:
  SerialScheme() = default;
  SerialScheme(const SerialScheme&) = delete;
  SerialScheme& operator=(const SerialScheme&) = delete;
  SerialScheme(SerialScheme&&) = delete;
  SerialScheme& operator=(SerialScheme&&) = delete;
  virtual ~SerialScheme() = default;
  [[nodiscard]] virtual Expected iterate(const std::vector<SparseVector>& gradients,
                                         int iteration) = 0;
};

/// Of any sparse scheme of the registry, by its name; nothing where there is no oracle yet. The
/// sparsifiers, which are tested by themselves, are those of the scheme, one a rank.
[[nodiscard]] std::unique_ptr<SerialScheme> serial_scheme(const algorithms::SchemeInfo& info,
                                                          const algorithms::SchemeSetup& setup);

[[nodiscard]] bool conforms(const std::vector<algorithms::Reduced>& results,
                            const Expected& expected);

/// One column of the matrix: what is fed, at what k.
struct Case {
  int ranks;
  GradientSpace space;
  std::int64_t k;
  Shape shape = Shape::random;
  int wanted = 60;    ///< entries of a rank's gradient
  bool full = false;  ///< every coordinate instead

  [[nodiscard]] SparseVector gradient(int rank, int iteration) const;
  [[nodiscard]] std::vector<SparseVector> gradients(int iteration) const;
  [[nodiscard]] std::int64_t carried_k() const { return k / space.granule; }
  [[nodiscard]] std::string text() const;
};

/// Every rank gets the sum within rounding, and the same to the last bit.
[[nodiscard]] bool dense_conforms(Network& network, const algorithms::SchemeInfo& info, int ranks,
                                  GradientSpace space, const GivenOptions& options = {});
/// Iterations 1 to `iterations` one by one.
[[nodiscard]] bool sparse_conforms(Network& network, const std::string& scheme, const Case& c,
                                   const GivenOptions& options, int iterations);

/// Options with which a scheme goes through all of its parts in a few iterations: short periods,
/// and small tensors compressed too.
[[nodiscard]] GivenOptions short_periods_of(const algorithms::SchemeInfo& info);
/// Of oktopk: iterations 1 (both), 2 (reuse), 3 (exact thresholds), 4 (repartition).
[[nodiscard]] const GivenOptions& short_periods();
/// Of oktopk: its optimisations switched off one by one, and all at once.
[[nodiscard]] std::vector<GivenOptions> oktopk_variants();

}  // namespace thinwire::test
