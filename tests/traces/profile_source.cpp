#include "traces/profile_source.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>
#include <vector>

#include "sim/core/base/errors.hpp"
#include "tests/support/approx.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/profiles.hpp"
#include "tests/support/sanitizers.hpp"
#include "traces/shipped.hpp"

namespace thinwire::traces {

namespace {

using test::contains;
using test::error_of;
using test::small_profile;

ProfileSettings settings_of(std::int64_t n, std::int64_t k, std::uint64_t seed = 1,
                            PopularityFamily family = PopularityFamily::copula) {
  return {.family = family,
          .space = {.components = n, .granule = 1},
          .k = k,
          .seed = seed,
          .start_up = false,
          .reach = 8};
}

std::set<std::uint32_t> coordinates_of(const SparseVector& vector) {
  std::set<std::uint32_t> all;
  for (const Entry& entry : vector.entries()) all.insert(entry.coordinate);
  return all;
}

}  // namespace

TEST_CASE("Ranks' exact top-k of a profile unite as its fill-in says") {
  const Profile profile = read_profile(kProfiles.file("vgg16"));
  const std::int64_t n = test::kSanitized ? 50'000 : 200'000;
  const std::int64_t k = n / 100;
  const int seeds = test::kSanitized ? 4 : 8;
  for (const PopularityFamily family : {PopularityFamily::copula, PopularityFamily::beta}) {
    std::vector<double> mean(17, 0.0);
    for (int seed = 1; seed <= seeds; ++seed) {
      const ExactProfileSource source(profile,
                                      settings_of(n, k, static_cast<std::uint64_t>(seed), family));
      std::vector<bool> in(static_cast<std::size_t>(n));
      double united = 0;
      for (int rank = 0; rank < 16; ++rank) {
        const SparseVector drawn = select_largest(source.sparse(Rank(rank), 3), k);
        for (const Entry& entry : drawn.entries()) {
          if (!in[entry.coordinate]) ++united;
          in[entry.coordinate] = true;
        }
        mean[static_cast<std::size_t>(rank) + 1] += united / static_cast<double>(n) / seeds;
      }
    }
    for (const int ranks : {1, 2, 4, 8, 16}) {
      CAPTURE(ranks);
      CAPTURE((family == PopularityFamily::beta));
      CHECK(mean[static_cast<std::size_t>(ranks)] ==
            test::approx(union_density(profile, family, 0.01, ranks)).epsilon(0.03));
    }
  }
}

TEST_CASE("Statistical selections of a profile unite as its fill-in says") {
  const Profile profile = read_profile(kProfiles.file("vgg16"));
  const StatisticalProfileSource source(profile, settings_of(2'000'000, 20'000));
  std::vector<SparseVector> all;
  for (int rank = 0; rank < 256; ++rank) {
    all.push_back(select_largest(source.sparse(Rank(rank), 1), 20'000));
    const auto ranks = static_cast<double>(all.size());
    if (ranks != 2 && ranks != 16 && ranks != 256) continue;
    CAPTURE(ranks);
    CHECK(
        static_cast<double>(sum(all).size()) / 2e6 ==
        test::approx(union_density(profile, PopularityFamily::copula, 0.01, ranks)).epsilon(0.03));
  }
}

TEST_CASE("Magnitudes of a profile's gradients follow its law, in thresholds") {
  // So large that it does not matter which of the blocks are popular.
  const std::int64_t n = test::kSanitized ? 200'000 : 800'000;
  const Profile profile = small_profile(n);
  const std::int64_t k = n / 50;
  const ExactProfileSource exact(profile, settings_of(n, k));
  const StatisticalProfileSource statistical(profile, settings_of(n, k));
  const auto law = [](double x) {  // small_profile's
    return x >= 1 ? std::exp(-std::pow(std::log(x) / 0.2, 0.9)) : std::pow(x, -4);
  };
  constexpr int kRanks = 4;
  for (const double x : {0.65, 0.8, 1.0, 1.1, 1.3, 1.7}) {
    CAPTURE(x);
    double entries = 0;
    double counted = 0;
    for (int rank = 0; rank < kRanks; ++rank) {
      const auto at = static_cast<float>(x * exact.threshold(Rank(rank), 2));
      entries += static_cast<double>(select_at_least(exact.sparse(Rank(rank), 2), at).size());
      counted += static_cast<double>(select_at_least(statistical.sparse(Rank(rank), 2), at).size());
    }
    const double wanted = kRanks * static_cast<double>(k) * law(x);
    CHECK(entries == test::approx(wanted).epsilon(0.05));
    CHECK(counted == test::approx(wanted).epsilon(0.05));
  }
}

TEST_CASE("Both models of a profile have the same thresholds, which move as it says") {
  Profile profile = small_profile();
  profile.thresholds.start = 0.2;
  profile.thresholds.filling = 50;
  ProfileSettings settings = settings_of(profile.components, 800);
  const ExactProfileSource exact(profile, settings);
  const StatisticalProfileSource statistical(profile, settings);
  settings.start_up = true;
  const StatisticalProfileSource starting(profile, settings);
  for (const int iteration : {1, 2, 30, 400}) {
    CAPTURE(iteration);
    const float threshold = exact.threshold(Rank(3), iteration);
    CHECK(statistical.threshold(Rank(3), iteration) == threshold);
    CHECK(starting.threshold(Rank(3), iteration) / threshold ==
          test::approx(1 - 0.8 * std::exp(-iteration / 50.0)).epsilon(1e-4));
  }
  constexpr int kDraws = 400;
  double sum = 0;
  double squares = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double log = std::log(exact.threshold(Rank(i), 1000 * i));
    sum += log / kDraws;
    squares += log * log / kDraws;
  }
  CHECK(std::abs(sum) < 0.01);
  CHECK(std::sqrt(squares) ==
        test::approx(std::sqrt(0.03 * 0.03 + 0.01 * 0.01 + 0.04 * 0.04)).epsilon(0.15));
}

TEST_CASE("A profile's gradients are a function of seed, rank and iteration") {
  const Profile profile = small_profile();
  const ProfileSettings settings = settings_of(profile.components, 800);
  const ExactProfileSource one(profile, settings);
  const ExactProfileSource other(profile, settings);
  static_cast<void>(other.sparse(Rank(7), 9));
  CHECK(equal(one.sparse(Rank(2), 5), other.sparse(Rank(2), 5)));
  CHECK_FALSE(equal(one.sparse(Rank(2), 5), one.sparse(Rank(3), 5)));
  CHECK_FALSE(equal(one.sparse(Rank(2), 5), one.sparse(Rank(2), 6)));
  const ExactProfileSource another(profile, settings_of(profile.components, 800, 2));
  CHECK_FALSE(equal(one.sparse(Rank(2), 5), another.sparse(Rank(2), 5)));
  CHECK(equal(one.dense(Rank(2), 5), other.dense(Rank(2), 5)));

  const StatisticalProfileSource counts(profile, settings);
  const StatisticalProfileSource same(profile, settings);
  CHECK(select_at_least(counts.sparse(Rank(2), 5), 1).size() ==
        select_at_least(same.sparse(Rank(2), 5), 1).size());
  CHECK(counts.dense(Rank(2), 5).is_valueless());
  CHECK(counts.dense(Rank(2), 5).size() == 40'000);
}

TEST_CASE("Signs of a profile's gradients are even") {
  const Profile profile = small_profile();
  const ExactProfileSource source(profile, settings_of(profile.components, 800));
  double negative = 0;
  double all = 0;
  for (int rank = 0; rank < 10; ++rank) {
    const SparseVector drawn = source.sparse(Rank(rank), 1);
    for (const Entry& entry : drawn.entries()) {
      negative += entry.value < 0 ? 1 : 0;
      ++all;
    }
  }
  CHECK(std::abs(negative / all - 0.5) < 5 * 0.5 / std::sqrt(all));
}

TEST_CASE("Coordinates of the share that is never selected are in no accumulator") {
  Profile profile = small_profile();
  profile.popularity.never = 0.4;
  ProfileSettings settings = settings_of(profile.components, 800);
  settings.reach = 0;
  const ExactProfileSource source(profile, settings);
  const std::set<std::uint32_t> held = coordinates_of(source.sparse(Rank(0), 1));
  const double share = static_cast<double>(held.size()) / 40'000;
  CHECK(share > 0.58);
  CHECK(share < 0.72);  // the interval of z in which the share ends counts as there
  for (int rank = 1; rank < 6; ++rank) {
    const SparseVector drawn = select_largest(source.sparse(Rank(rank), rank), 800);
    for (const Entry& entry : drawn.entries()) {
      REQUIRE(held.contains(entry.coordinate));
    }
  }
  std::vector<bool> in(40'000);
  double united = 0;
  for (int rank = 0; rank < 16; ++rank) {
    const SparseVector drawn = select_largest(source.sparse(Rank(rank), 2), 800);
    for (const Entry& entry : drawn.entries()) {
      if (!in[entry.coordinate]) ++united;
      in[entry.coordinate] = true;
    }
  }
  CHECK(united / 40'000 ==
        test::approx(union_density(profile, PopularityFamily::copula, 0.02, 16)).epsilon(0.06));
}

TEST_CASE("An exact accumulator holds about as many times k as it is to reach, or everything") {
  const Profile profile = small_profile();
  ProfileSettings settings = settings_of(profile.components, 800);
  for (const double reach : {1.0, 4.0, 16.0}) {
    settings.reach = reach;
    const ExactProfileSource source(profile, settings);
    CAPTURE(reach);
    CHECK(static_cast<double>(source.sparse(Rank(1), 1).size()) ==
          test::approx(800 * reach).epsilon(0.15));
  }
  settings.reach = 0;
  const ExactProfileSource all(profile, settings);
  const SparseVector everything = all.sparse(Rank(1), 1);
  CHECK(everything.size() == 40'000);
  CHECK(coordinates_of(everything).size() == 40'000);
  const DenseBlock dense = all.dense(Rank(1), 1);
  CHECK(dense.size() == 40'000);
  CHECK(std::ranges::count(dense.values(), 0.0F) == 0);
}

TEST_CASE("Granules stand for components of a profile, exact or statistical") {
  const Profile profile = small_profile();
  ProfileSettings settings = settings_of(profile.components, 800);
  settings.space.granule = 8;
  const ExactProfileSource source(profile, settings);
  CHECK(source.space().coordinates() == 5000);
  double selected = 0;
  constexpr int kRanks = 50;
  for (int rank = 0; rank < kRanks; ++rank) {
    const SparseVector vector = source.sparse(Rank(rank), 1);
    CHECK(vector.entries().back().coordinate < 5000);
    selected +=
        static_cast<double>(select_at_least(vector, source.threshold(Rank(rank), 1)).size());
  }
  // Blocks of 32 coordinates: which of them are popular makes some noise.
  CHECK(selected / kRanks == test::approx(100).epsilon(0.2));
  const StatisticalProfileSource counted(profile, settings);
  double counts = 0;
  for (int rank = 0; rank < kRanks; ++rank) {
    const SparseVector vector = counted.sparse(Rank(rank), 1);
    CHECK(vector.size() == 5000);
    counts += static_cast<double>(select_at_least(vector, counted.threshold(Rank(rank), 1)).size());
  }
  CHECK(counts / kRanks == test::approx(100).epsilon(0.2));
}

TEST_CASE("A profile may be laid over a space of any size, down to one coordinate") {
  const Profile profile = small_profile();
  for (const std::int64_t n : {1, 3, 65, 1000}) {
    CAPTURE(n);
    ProfileSettings settings = settings_of(n, n);
    settings.reach = 0;
    const ExactProfileSource exact(profile, settings);
    CHECK(exact.sparse(Rank(0), 1).size() == static_cast<std::size_t>(n));
    const StatisticalProfileSource statistical(profile, settings);
    const SparseVector counted = statistical.sparse(Rank(0), 1);
    CHECK(counted.size() == static_cast<std::size_t>(n));
    CHECK(select_at_least(counted, kth_magnitude(counted, n)).size() ==
          static_cast<std::size_t>(n));
  }
}

}  // namespace thinwire::traces
