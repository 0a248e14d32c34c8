// What every scheme must give, by serial programs, and the inputs on which it must.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "algorithms/scheme.hpp"
#include "sim/core/network.hpp"
#include "tests/support/gradients.hpp"
#include "tests/support/sparse.hpp"

namespace thinwire::test {

using GivenOptions = std::map<std::string, OptionValue>;

/// One rank's result as it should be.
struct Expected {
  Entries sum;  ///< of all ranks
  std::vector<Entries> contributed;
};

/// topka, serially.
[[nodiscard]] Expected serial_topka(const std::vector<SparseVector>& gradients, std::int64_t k);

/// Algorithm 1 of Ok-Topk, serially.
class SerialOkTopk {
 public:
  SerialOkTopk(int ranks, std::int64_t k, int tau_prime)
      : k_(k), tau_prime_(tau_prime), local_(static_cast<std::size_t>(ranks)) {}

  [[nodiscard]] Expected iterate(const std::vector<SparseVector>& gradients, int iteration);

 private:
  std::int64_t k_;
  int tau_prime_;
  std::vector<float> local_;
  float global_ = 0;
};

[[nodiscard]] bool conforms(const std::vector<Reduced>& results, const Expected& expected);

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
[[nodiscard]] bool dense_conforms(Network& network, const SchemeInfo& info, int ranks,
                                  GradientSpace space, const GivenOptions& options = {});
[[nodiscard]] bool topka_conforms(Network& network, const Case& c);
/// Iterations 1 to `iterations` one by one.
[[nodiscard]] bool oktopk_conforms(Network& network, const Case& c, const GivenOptions& options,
                                   int iterations);

/// Of oktopk: iterations 1 (both), 2 (reuse), 3 (exact thresholds), 4 (repartition).
[[nodiscard]] const GivenOptions& short_periods();
/// Of oktopk: its optimisations switched off one by one, and all at once.
[[nodiscard]] std::vector<GivenOptions> oktopk_variants();

}  // namespace thinwire::test
