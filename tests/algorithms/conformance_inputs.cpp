// The conformance matrix on gradients of trainings: every sparse scheme gives what a serial program
// gives with entries drawn from the shipped profiles and with the recorded traces.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/registry.hpp"
#include "tests/support/conformance.hpp"
#include "tests/support/networks.hpp"
#include "traces/profile_source.hpp"
#include "traces/shipped.hpp"
#include "traces/trace_source.hpp"

namespace thinwire::algorithms {

namespace {

/// The same entries with integer values below 2^16, whose sums over 256 ranks are exact in floats
/// in any order. The largest becomes 2^16 - 1, and none becomes 0.
SparseVector in_integers(const SparseVector& gradient) {
  float largest = 0;
  for (const Entry& entry : gradient.entries()) largest = std::max(largest, std::abs(entry.value));
  std::vector<Entry> entries;
  for (const Entry& entry : gradient.entries()) {
    if (entry.value == 0) continue;
    const float magnitude = std::max(1.0F, std::round(std::abs(entry.value) / largest * 65535));
    entries.push_back({entry.coordinate, std::copysign(magnitude, entry.value)});
  }
  return SparseVector::checked(std::move(entries));
}

/// Compares every sparse scheme with its serial program for a few numbers of ranks and iterations.
void check_input(const std::string& input, const traces::GradientSource& source, std::int64_t k,
                 const std::vector<int>& rank_counts) {
  CAPTURE(input);
  std::map<std::pair<int, int>, SparseVector> known;  // reading a trace takes longer than a scheme
  const auto drawn = [&](int rank, int iteration) {
    const auto [at, fresh] = known.try_emplace({rank, iteration});
    if (fresh) at->second = in_integers(source.sparse(Rank(rank), iteration));
    return at->second;
  };
  for (const SchemeInfo& info : all_schemes()) {
    if (info.dense) continue;
    CAPTURE(info.name);
    for (const int ranks : rank_counts) {
      CAPTURE(ranks);
      const test::Case inputs{.ranks = ranks, .space = source.space(), .k = k, .drawn = drawn};
      test::Networks networks;
      CHECK(test::sparse_conforms(networks.alphabeta, info.name, inputs,
                                  test::short_periods_of(info), 3));
    }
  }
}

}  // namespace

TEST_CASE("Every sparse scheme gives what a serial program gives on the shipped profiles" *
          doctest::test_suite("large")) {
  constexpr std::int64_t kComponents = 10'000;
  constexpr std::int64_t kSelected = 100;
  for (const std::string& name : traces::kProfiles.names()) {
    const traces::ExactProfileSource source(
        traces::read_profile(traces::kProfiles.file(name)),
        {.space = {.components = kComponents, .granule = 1}, .k = kSelected});
    check_input(name, source, kSelected, {3, 8});
  }
}

TEST_CASE("Every sparse scheme gives what a serial program gives on the recorded traces" *
          doctest::test_suite("large")) {
  for (const std::string& name : traces::kTraces.names()) {
    traces::TraceReader reader(traces::kTraces.file(name));
    const std::int64_t k = reader.header().k();
    const int most = reader.header().ranks;
    const traces::TraceSource source(std::move(reader));
    check_input(name, source, k, {std::min(7, most)});
  }
}

}  // namespace thinwire::algorithms
