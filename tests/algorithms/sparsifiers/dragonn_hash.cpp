#include "algorithms/sparsifiers/dragonn_hash.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <map>

#include "algorithms/sparsifiers/dgc.hpp"
#include "tests/support/approx.hpp"
#include "tests/support/sparsifiers.hpp"

namespace thinwire::algorithms {

using test::Entries;
using test::entries_of;
using test::size_of;
using test::SparsifierRanks;

namespace {

/// Coordinates as a gradient's selection has them: in runs and apart.
SparseVector selection_of(std::int64_t count, std::uint64_t seed) {
  Entries entries;
  std::uint32_t at = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    at += 1 + static_cast<std::uint32_t>(200 * std::pow(test::unit(seed, i), 4));
    entries.push_back({at, static_cast<float>(i + 1)});
  }
  return SparseVector::checked(std::move(entries));
}

}  // namespace

TEST_CASE("Two indexes meet in a slot with the probability 1/m that a universal family has") {
  constexpr int kFunctions = 200000;
  for (const std::int64_t slots : {10, 64, 1000}) {
    for (const auto& pair :
         {std::pair{0U, 1U}, std::pair{5U, 5U + 64000U}, std::pair{123456U, 4294967295U}}) {
      int met = 0;
      for (std::uint64_t key = 0; key < kFunctions; ++key) {
        const UniversalHash hash(random_bits(21, key), slots);
        if (hash(pair.first) == hash(pair.second)) ++met;
      }
      CAPTURE(slots);
      CAPTURE(pair.first);
      const double expected = static_cast<double>(kFunctions) / static_cast<double>(slots);
      CHECK(std::abs(met - expected) < 4 * std::sqrt(expected));
    }
  }
}

TEST_CASE("A hash is ((a i + b) mod p) mod m without overflow") {
  // Affine modulo p: steps of the index step the hash by a constant, which shows where m is p.
  constexpr std::int64_t kPrime = 4'294'967'311;
  for (std::uint64_t key = 0; key < 100; ++key) {
    const UniversalHash hash(key, kPrime);
    const auto step = [&](std::uint32_t from) {
      return (hash(from + 1) + kPrime - hash(from)) % kPrime;
    };
    for (const std::uint32_t from : {1U, 77777U, 2147483648U, 4294967294U}) {
      CHECK(step(from) == step(0));
      CHECK(hash(from) < kPrime);
    }
    CHECK(step(0) != 0);
  }
}

TEST_CASE("Of the indexes that meet in a slot the last one survives") {
  const SparseVector selected = selection_of(500, 1);
  for (const std::int64_t slots : {1, 7, 100, 500, 5000}) {
    const UniversalHash hash(99, slots);
    std::map<std::uint64_t, Entry> table;
    for (const Entry& entry : selected.entries()) {
      table.insert_or_assign(hash(entry.coordinate), entry);
    }
    test::Oracle survivors;
    for (const auto& [slot, entry] : table) survivors[entry.coordinate] = entry.value;
    const SparseVector result = hash_survivors(selected, hash);
    CHECK(entries_of(result) == entries_of(survivors));
    CHECK(std::cmp_less_equal(result.size(), slots));
    CHECK(result.entries().back() == selected.entries().back());
  }
  CHECK(hash_survivors(SparseVector(), UniversalHash(1, 4)).size() == 0);
}

TEST_CASE("A share (1 - 1/m)^n of the slots stays empty: 0.368 at n = m and 0.135 at n = 2m") {
  constexpr std::int64_t kSlots = 1024;
  constexpr int kFunctions = 1000;
  for (const auto& given :
       {std::pair{1024, 0.3677}, std::pair{2048, 0.1352}, std::pair{512, 0.6064}}) {
    const int count = given.first;
    const double expected = given.second;
    double sum = 0;
    for (int function = 0; function < kFunctions; ++function) {
      const SparseVector selected = selection_of(count, random_bits(3, function));
      const UniversalHash hash(random_bits(4, function), kSlots);
      sum += 1 - static_cast<double>(hash_survivors(selected, hash).size()) / kSlots;
    }
    CAPTURE(count);
    CHECK(std::pow(1 - 1.0 / kSlots, count) == test::approx(expected).epsilon(1e-3));
    // A single table deviates by less than 0.02, so the mean of a thousand by less than 0.001; the
    // family is only pairwise independent, so some more.
    CHECK(sum / kFunctions == test::approx(expected).epsilon(0.03));
  }
}

TEST_CASE("dragonn_hash sends dgc's selection less what was overwritten, in m slots") {
  const GradientSpace space{.components = 40000, .granule = 2};
  const SparseVector accumulated =
      test::filled(20000, [](std::int64_t i) { return test::stretched_value(31, i, 1); });
  for (const double slots : {0.5, 1.0, 2.0}) {
    const SparsifierRanks::Settings settings{.space = space, .k = 2000, .ranks = 2, .seed = 5};
    SparsifierRanks::Settings hashed = settings;
    hashed.options = {{"slots", slots}};
    SparsifierRanks dgc(dgc_sparsifier(), settings);
    SparsifierRanks dragonn(dragonn_hash_sparsifier(), hashed);
    const Selection above = dgc.select(accumulated, 3, 1);
    const Selection sent = dragonn.select(accumulated, 3, 1);
    CHECK(sent.slots == static_cast<std::int64_t>(1000 * slots));
    CHECK(size_of(sent) <= sent.slots);
    CHECK(size_of(sent) < size_of(above));
    CHECK(entries_of(intersect(sent.selected, above.selected)) == entries_of(sent.selected));
    SelectionWork work = above.work;
    work.hashed = 2 * size_of(above);
    work.prefix_summed = 0;  // what the hash table is for
    CHECK(test::operator==(sent.work, work));
    CHECK(work.compared == 40000);
  }
}

TEST_CASE("dragonn_hash hashes anew in each iteration, and all ranks alike") {
  const SparseVector accumulated =
      test::filled(100, [](std::int64_t i) { return static_cast<double>(i) + 1; });
  SparsifierRanks ranks(dragonn_hash_sparsifier(), {.space = {.components = 100, .granule = 1},
                                                    .k = 100,
                                                    .ranks = 2,
                                                    .options = {{"sample", 1.0}}});
  const Entries first = entries_of(ranks.select(accumulated, 1, 0).selected);
  CHECK(first == entries_of(ranks.select(accumulated, 1, 1).selected));
  CHECK(first != entries_of(ranks.select(accumulated, 2, 0).selected));
}

}  // namespace thinwire::algorithms
