// Whether a large run fits: topka at P = 1024 with n = 4 million and k = 4096, on the alpha-beta
// machine, in 2 GiB. A program of its own, because what counts is the peak of a whole process.
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "algorithms/registry.hpp"
#include "sim/machine/networks/alphabeta/alphabeta.hpp"
#include "tests/support/sanitizers.hpp"
#include "tests/support/schemes.hpp"
#include "traces/synthetic.hpp"

namespace thinwire {

namespace {

constexpr int kSkipped = 77;
constexpr double kLimitMiB = 2048;

double peak_mib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

int run() {
  if (test::kSanitized) {
    std::puts("skipped: sanitizers take memory of their own");
    return kSkipped;
  }
  constexpr int kRanks = 1024;
  constexpr std::int64_t kSelected = 4096;
  const GradientSpace space{.components = std::int64_t{4} << 20, .granule = 1};
  const traces::SyntheticSource source({.ranks = kRanks, .space = space, .k = kSelected});
  networks::AlphaBetaNetwork network(networks::alpha_beta(Seconds(1e-6), Seconds(1e-9)));
  test::SchemeRanks scheme(algorithms::find_scheme("topka"), kRanks, space, kSelected);
  const test::Iteration outcome =
      scheme.run(network, 1, [&](int rank) { return source.sparse(Rank(rank), 1); });

  const auto& first = std::get<SparseVector>(outcome.results[0].sum);
  const bool shared = std::all_of(
      outcome.results.begin(), outcome.results.end(), [&](const algorithms::Reduced& result) {
        return std::get<SparseVector>(result.sum).payload() == first.payload();
      });
  const double peak = peak_mib();
  std::printf("%zu entries of the sum, %s by all ranks, peak %.0f MiB\n", first.size(),
              shared ? "shared" : "NOT shared", peak);
  const bool fits = peak < kLimitMiB;
  return shared && fits && first.size() > kSelected ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace

}  // namespace thinwire

int main() { return thinwire::run(); }
