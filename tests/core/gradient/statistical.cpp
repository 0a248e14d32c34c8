#include "sim/core/gradient/statistical.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "sim/core/base/errors.hpp"
#include "sim/core/gradient/dense_block.hpp"
#include "sim/core/gradient/hash_parts.hpp"
#include "sim/core/gradient/sparse_vector.hpp"
#include "tests/support/approx.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/profiles.hpp"
#include "tests/support/sanitizers.hpp"
#include "traces/profile_source.hpp"

namespace thinwire::inline gradient {

namespace {

using test::contains;
using test::error_of;

/// Three classes in two regions, of which the first is denser; the last cell is narrower.
constexpr std::uint32_t kEnd = 50'003;
constexpr std::uint32_t kWidth = 64;
constexpr std::uint32_t kBorder = 20'032;  // of the regions
constexpr double kProbabilities[2][3] = {{0.6, 0.1, 0.004}, {0.3, 0.03, 0.001}};

/// How the coordinates of a cell are spread over the classes.
std::array<double, 3> spread(std::uint32_t cell) {
  const double popular = cell % 3 == 0 ? 0.06 : 0.01;
  return {popular, 0.1, 0.9 - popular};
}

/// Expected entries of a union of whole cells.
double expected(std::uint32_t first_cell, std::uint32_t last_cell, double ranks) {
  double sum = 0;
  for (std::uint32_t cell = first_cell; cell < last_cell; ++cell) {
    const double width = std::min(kWidth, kEnd - cell * kWidth);
    const auto& probabilities = kProbabilities[cell * kWidth < kBorder ? 0 : 1];
    for (std::size_t c = 0; c < 3; ++c) {
      sum += width * spread(cell)[c] * (1 - std::pow(1 - probabilities[c], ranks));
    }
  }
  return sum;
}

constexpr std::uint32_t kCells = (kEnd + kWidth - 1) / kWidth;

Ref<const Population> two_regions() {
  Population::Settings settings{
      .coordinates = kEnd,
      .cell_width = kWidth,
      .pieces = {},
      .rates = {{}, {}},
      .magnitudes = {
          .shape = 0.9, .scale = 0.25, .below = 4, .most = kEnd / expected(0, kCells, 1)}};
  for (int region = 0; region < 2; ++region) {
    for (const double p : kProbabilities[region]) {
      settings.rates[static_cast<std::size_t>(region)].push_back(-std::log1p(-p));
    }
  }
  for (std::uint32_t cell = 0; cell * kWidth < kEnd; ++cell) {
    const std::uint32_t first = cell * kWidth;
    const double width = std::min(kWidth, kEnd - first);
    PopulationPiece piece{cell, first < kBorder ? 0U : 1U, {}};
    for (const double share : spread(cell)) {
      piece.counts.push_back(static_cast<float>(share * width));
    }
    settings.pieces.push_back(piece);
  }
  return make_ref<const Population>(std::move(settings));
}

SparseVector accumulator(const Ref<const Population>& population, std::uint64_t key,
                         float scale = 1) {
  return SparseVector::from(statistical_accumulator(population, scale, key));
}

/// What a rank with such a key selects at its threshold.
SparseVector selection(const Ref<const Population>& population, std::uint64_t key,
                       float scale = 1) {
  return select_at_least(accumulator(population, key, scale), scale);
}

std::vector<SparseVector> selections(const Ref<const Population>& population, int ranks) {
  std::vector<SparseVector> all;
  for (int rank = 0; rank < ranks; ++rank) {
    all.push_back(selection(population, 1000 + static_cast<std::uint64_t>(rank)));
  }
  return all;
}

SparseVector part(const SparseVector& vector, std::uint32_t first, std::uint32_t last) {
  return vector.slice(vector.position_of(first), vector.position_of(last));
}

/// Sums that a shuffled tree of pairs adds.
template <class Add>
SparseVector shuffled_sum(std::vector<SparseVector> vectors, std::uint64_t seed, Add add) {
  std::mt19937_64 random(seed);
  while (vectors.size() > 1) {
    std::ranges::shuffle(vectors, random);
    const SparseVector last = vectors.back();
    vectors.pop_back();
    vectors.back() = add(last, vectors.back());
  }
  return vectors.front();
}

}  // namespace

TEST_CASE("Statistical positions of any number of cuts are those that each cut finds alone") {
  // Halving this space comes to parts of 65 coordinates, which are halved again, and to cells.
  constexpr std::uint32_t kSpace = 512 * kWidth + 100;
  Population::Settings settings{.coordinates = kSpace,
                                .cell_width = kWidth,
                                .pieces = {},
                                .rates = {{0.05}},
                                .magnitudes = {.most = 20}};
  for (std::uint32_t cell = 0; cell * kWidth < kSpace; ++cell) {
    const float count =
        cell % 5 == 0 ? 0 : static_cast<float>(std::min(kWidth, kSpace - cell * kWidth));
    settings.pieces.push_back({cell, 0, {count}});
  }
  const auto population = make_ref<const Population>(std::move(settings));
  const SparseVector vector = selection(population, 3);
  REQUIRE(vector.size() > 500);
  for (const std::int64_t parts : {1, 3, 7, 12, 23, 31, 32, 100, 511, 512, 513, 5000, 40'000}) {
    CAPTURE(parts);
    std::vector<std::int64_t> cuts;
    for (std::int64_t part = 0; part <= parts; ++part) cuts.push_back(part * kSpace / parts);
    bool same = true;
    for (const SparseVector& one : {vector, vector.slice(20, 300), vector.slice(7, 7)}) {
      const std::vector<std::uint32_t> positions = one.positions_of(cuts);
      REQUIRE(positions.size() == cuts.size());
      for (std::size_t i = 0; i < cuts.size(); ++i) {
        same = same && one.position_of(static_cast<std::uint32_t>(cuts[i])) == positions[i];
      }
    }
    CHECK(same);
  }
}

TEST_CASE("Statistical positions increase with the coordinate and are the same in a batch") {
  const Ref<const Population> population = two_regions();
  const std::vector<SparseVector> all = selections(population, 4);
  for (const SparseVector& vector :
       {all[0], sum(all), accumulator(population, 5), all[1].slice(100, 700),
        SparseVector::from(statistical_draw(777, kEnd, 9, false))}) {
    std::vector<std::int64_t> cuts;
    for (std::uint32_t cut = 0; cut <= kEnd; cut += 1 + cut % 5) cuts.push_back(cut);
    cuts.push_back(kEnd);
    const std::vector<std::uint32_t> positions = vector.positions_of(cuts);
    REQUIRE(positions.size() == cuts.size());
    CHECK(std::ranges::is_sorted(positions));
    CHECK(positions.front() == 0);
    CHECK(positions.back() == vector.size());
    bool same = true;
    for (std::size_t i = 0; i < cuts.size(); ++i) {
      same = same && vector.position_of(static_cast<std::uint32_t>(cuts[i])) == positions[i];
    }
    CHECK(same);
  }
}

TEST_CASE(
    "Statistical positions of cuts that repeat, lie on borders or lie outside are as for each "
    "alone") {
  const Ref<const Population> population = two_regions();
  const std::vector<SparseVector> all = selections(population, 6);
  SparseAccumulator region(7000, 21'000);
  for (const SparseVector& vector : all) region.add(part(vector, 7000, 21'000));
  const SparseVector vectors[] = {all[0],
                                  region.finish(),
                                  moved(all[1], 300),
                                  moved(part(all[2], 9000, 30'000), -9000),
                                  select_at_least(sum(all), 2),
                                  select_largest(accumulator(population, 4), kEnd)};
  for (const SparseVector& vector : vectors) {
    CAPTURE(vector.size());
    std::vector<std::int64_t> cuts;
    for (std::int64_t cut = 0; cut < kEnd + 1000; cut += cut < 3000 ? 7 : 997) {
      cuts.push_back(cut);
      if (cut % 2 == 0) cuts.push_back(cut);
    }
    for (const std::int64_t border : {kEnd / 2, kEnd / 4, kEnd / 2 + kEnd / 4 + 1}) {
      cuts.insert(std::ranges::lower_bound(cuts, border), border);
    }
    bool same = true;
    for (int twice = 0; twice < 2; ++twice) {
      const std::vector<std::uint32_t> positions = vector.positions_of(cuts);
      for (std::size_t i = 0; i < cuts.size(); ++i) {
        same = same && vector.position_of(static_cast<std::uint32_t>(cuts[i])) == positions[i];
      }
    }
    CHECK(same);
  }
}

TEST_CASE("The coordinates of many statistical entries are as for each alone") {
  const Ref<const Population> population = two_regions();
  const std::vector<SparseVector> all = selections(population, 6);
  for (const SparseVector& vector : {all[0], sum(all), moved(all[1], 300), all[2].slice(90, 900)}) {
    CAPTURE(vector.size());
    std::vector<std::size_t> positions;
    for (std::size_t i = 0; i < vector.size() + 3; i += 1 + i % 3) positions.push_back(i);
    const std::vector<std::int64_t> coordinates = vector.coordinates_at(positions);
    bool same = true;
    for (std::size_t i = 0; i < positions.size(); ++i) {
      // A single coordinate is found by halving down to it.
      const std::vector<std::int64_t> alone = vector.coordinates_at(std::array{positions[i]});
      same = same && coordinates[i] == alone.front();
    }
    CHECK(same);
  }
}

TEST_CASE("A statistical vector has at most one entry a coordinate") {
  const Ref<const Population> population = two_regions();
  for (const SparseVector& vector :
       {selection(population, 3), sum(selections(population, 40)), accumulator(population, 3)}) {
    std::size_t before = 0;
    bool right = true;
    for (std::uint32_t coordinate = 1; coordinate <= kEnd; ++coordinate) {
      const std::size_t position = vector.position_of(coordinate);
      right = right && position - before <= 1;
      before = position;
    }
    CHECK(right);
  }
}

TEST_CASE("Coordinates of statistical entries are the inverse of their positions") {
  const Ref<const Population> population = two_regions();
  const std::vector<SparseVector> all = selections(population, 8);
  for (const SparseVector& vector :
       {all[0], sum(all), all[1].slice(50, 800), accumulator(population, 5), moved(all[2], 1000),
        SparseVector::from(statistical_draw(777, kEnd, 9, false))}) {
    std::vector<std::size_t> positions;
    for (std::size_t i = 0; i < vector.size(); ++i) positions.push_back(i);
    const std::vector<std::int64_t> coordinates = vector.coordinates_at(positions);
    bool inverse = true;
    bool increase = true;
    for (std::size_t i = 0; i < positions.size(); ++i) {
      inverse = inverse && vector.position_of(static_cast<std::uint32_t>(coordinates[i])) == i;
      increase = increase && (i == 0 || coordinates[i - 1] < coordinates[i]);
    }
    CHECK(inverse);
    CHECK(increase);
  }
}

TEST_CASE("Slices of a statistical vector add up, and lie where they were cut") {
  const Ref<const Population> population = two_regions();
  const SparseVector vector = selection(population, 42);
  for (const std::uint32_t parts : {1U, 3U, 64U, 1000U}) {
    CAPTURE(parts);
    std::size_t total = 0;
    bool inside = true;
    for (std::uint32_t i = 0; i < parts; ++i) {
      const auto first = static_cast<std::uint32_t>(part_begin(kEnd, parts, i));
      const auto last = static_cast<std::uint32_t>(part_begin(kEnd, parts, i + 1));
      const SparseVector slice = part(vector, first, last);
      total += slice.size();
      inside = inside && slice.position_of(first) == 0 && slice.position_of(last) == slice.size();
    }
    CHECK(total == vector.size());
    CHECK(inside);
  }
}

TEST_CASE("Entries lie where the population has them, on average") {
  const Ref<const Population> population = two_regions();
  constexpr int kRanks = 400;
  constexpr std::uint32_t kParts = 11;
  std::array<double, kParts> mean{};
  for (int rank = 0; rank < kRanks; ++rank) {
    const SparseVector vector = selection(population, 77 + static_cast<std::uint64_t>(rank));
    for (std::uint32_t i = 0; i < kParts; ++i) {
      const std::uint32_t first = kCells * i / kParts * kWidth;
      const std::uint32_t last = std::min(kEnd, kCells * (i + 1) / kParts * kWidth);
      mean[i] += static_cast<double>(part(vector, first, last).size()) / kRanks;
    }
  }
  for (std::uint32_t i = 0; i < kParts; ++i) {
    CAPTURE(i);
    const double wanted = expected(kCells * i / kParts, kCells * (i + 1) / kParts, 1);
    CHECK(std::abs(mean[i] - wanted) < 0.5 + 5 * std::sqrt(wanted / kRanks));
  }
}

TEST_CASE("A union does not depend on the order in which statistical vectors are added") {
  const Ref<const Population> population = two_regions();
  const std::vector<SparseVector> all = selections(population, 13);
  const SparseVector at_once = sum(all);
  std::vector<SparseVector> parts;
  for (const SparseVector& vector : all) parts.push_back(part(vector, 7000, 21'000));
  SparseAccumulator one_by_one(7000, 21'000);
  for (const SparseVector& one : parts) one_by_one.add(one);
  const SparseVector in_part = one_by_one.finish();
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    const SparseVector whole = shuffled_sum(
        all, seed, [](const SparseVector& a, const SparseVector& b) { return sum(a, b); });
    CHECK(equal(whole, at_once));
    CHECK(whole.position_of(12'345) == at_once.position_of(12'345));
    const SparseVector again =
        shuffled_sum(parts, seed, [](const SparseVector& a, const SparseVector& b) {
          return sum_within(a, b, 7000, 21'000);
        });
    CHECK(equal(again, in_part));
    CHECK(again.position_of(12'345) == in_part.position_of(12'345));
  }
  CHECK_FALSE(equal(at_once, sum(selections(population, 12))));
}

TEST_CASE("A union has as many entries as independent draws are expected to hold") {
  const Ref<const Population> population = two_regions();
  for (const int ranks : {1, 2, 4, 16, 64, 512}) {
    CAPTURE(ranks);
    const auto size = static_cast<double>(sum(selections(population, ranks)).size());
    CHECK(size == test::approx(expected(0, kCells, ranks)).epsilon(ranks == 1 ? 0.1 : 0.03));
  }
}

TEST_CASE("Unions of regions add up to the union of the whole") {
  const Ref<const Population> population = two_regions();
  for (const int ranks : {2, 8, 64}) {
    CAPTURE(ranks);
    const std::vector<SparseVector> all = selections(population, ranks);
    const auto whole = static_cast<double>(sum(all).size());
    std::vector<SparseVector> regions;
    double total = 0;
    for (int region = 0; region < ranks; ++region) {
      const auto first = static_cast<std::uint32_t>(part_begin(kEnd, ranks, region));
      const auto last = static_cast<std::uint32_t>(part_begin(kEnd, ranks, region + 1));
      SparseAccumulator here(first, last);
      for (const SparseVector& vector : all) here.add(part(vector, first, last));
      regions.push_back(here.finish());
      total += static_cast<double>(regions.back().size());
    }
    CHECK(total == test::approx(whole).epsilon(0.01));
    const SparseVector joined = concatenate(regions);
    CHECK(static_cast<double>(joined.size()) == total);
    CHECK(joined.position_of(kEnd) == joined.size());
  }
}

TEST_CASE("Neighbouring slices of a statistical vector are the vector again when they are joined") {
  const SparseVector vector = selection(two_regions(), 8);
  const std::array parts{part(vector, 0, 9000), part(vector, 9000, 30'000),
                         part(vector, 30'000, kEnd)};
  CHECK(concatenate(parts).size() == vector.size());
  CHECK(sum(std::array{parts[2], parts[0], parts[1]}).size() == vector.size());
  CHECK(sum(parts[0], parts[1]).size() == parts[0].size() + parts[1].size());
}

TEST_CASE("What reaches the k-th magnitude are k entries, or one or two more or less") {
  const Ref<const Population> population = two_regions();
  for (const float scale : {1.0F, 0.037F}) {
    for (std::uint64_t key = 0; key < 50; ++key) {
      const SparseVector vector = accumulator(population, key, scale);
      for (const std::int64_t k : {1, 2, 10, 100, 1500, 10'000, 40'000}) {
        CAPTURE(key);
        CAPTURE(k);
        const auto selected =
            static_cast<std::int64_t>(select_at_least(vector, kth_magnitude(vector, k)).size());
        CHECK(std::abs(selected - k) <= 2);
      }
    }
  }
}

TEST_CASE(
    "Magnitudes of a statistical accumulator fall with k and are in proportion to its scale") {
  const Ref<const Population> population = two_regions();
  float last = std::numeric_limits<float>::infinity();
  for (const std::int64_t k : {0, 1, 10, 100, 1500, 10'000, 40'000, 50'003}) {
    CAPTURE(k);
    const float magnitude = kth_magnitude(accumulator(population, 1), k);
    CHECK(magnitude <= last);
    if (k > 0) {
      CHECK(kth_magnitude(accumulator(population, 1, 8), k) == test::approx(8 * magnitude));
    }
    last = magnitude;
  }
  CHECK(std::isinf(kth_magnitude(accumulator(population, 1), 0)));
  CHECK(kth_magnitude(accumulator(population, 1), 50'004) == 0);
}

TEST_CASE("What a threshold selects of a sum of selections is about what its k-th magnitude says") {
  const Ref<const Population> population = two_regions();
  const auto scale = [](int rank) { return 0.5F + 0.1F * static_cast<float>(rank % 3); };
  for (const int ranks : {2, 16}) {
    std::vector<SparseVector> all;
    for (int rank = 0; rank < ranks; ++rank) {
      all.push_back(selection(population, static_cast<std::uint64_t>(rank), scale(rank)));
    }
    const SparseVector united = sum(all);
    for (const std::int64_t k : {300, 1000, 1500}) {
      CAPTURE(ranks);
      CAPTURE(k);
      const SparseVector kept = select_at_least(united, kth_magnitude(united, k));
      const auto wanted = static_cast<double>(k);
      CHECK(std::abs(static_cast<double>(kept.size()) - wanted) <
            0.02 * wanted + 5 * std::sqrt(wanted));
      CHECK(kept.size() <= united.size());
      CHECK(select_largest(united, k).size() == static_cast<std::size_t>(k));
    }
  }
}

TEST_CASE("The k largest statistical entries are min(k, size)") {
  const Ref<const Population> population = two_regions();
  const SparseVector vector = accumulator(population, 2);
  const SparseVector selected = selection(population, 2);
  for (const std::int64_t k : {0, 1, 17, 1000, 50'003, 60'000}) {
    CAPTURE(k);
    const auto wanted = static_cast<std::size_t>(k);
    CHECK(select_largest(vector, k).size() == std::min<std::size_t>(wanted, kEnd));
    CHECK(select_largest(selected, k).size() == std::min(wanted, selected.size()));
  }
  CHECK(sum(select_largest(vector, 0), selected).size() == selected.size());
}

TEST_CASE("Unions of k largest ones are unions of selections with k entries") {
  const Ref<const Population> population = two_regions();
  const double k = expected(0, kCells, 1);
  std::vector<SparseVector> largest;
  for (std::uint64_t rank = 0; rank < 16; ++rank) {
    largest.push_back(select_largest(accumulator(population, rank), std::llround(k)));
  }
  CHECK(static_cast<double>(sum(largest).size()) ==
        test::approx(expected(0, kCells, 16)).epsilon(0.005));
}

TEST_CASE("A rank may select everything, or a space have one coordinate") {
  const Ref<const Population> population = two_regions();
  const SparseVector vector = accumulator(population, 2);
  CHECK(select_at_least(vector, kth_magnitude(vector, kEnd)).size() == kEnd);
  CHECK(select_at_least(vector, 0).size() == kEnd);
  CHECK(select_at_least(vector, std::numeric_limits<float>::infinity()).size() == 0);
  const SparseVector everything = select_largest(vector, kEnd);
  CHECK(sum(everything, select_largest(accumulator(population, 3), kEnd)).size() == kEnd);
  CHECK(everything.position_of(30'000) == 30'000);

  Population::Settings settings{.coordinates = 1,
                                .cell_width = 1,
                                .pieces = {{0, 0, {1}}},
                                .rates = {{-std::log(0.5)}},
                                .magnitudes = {.most = 2}};
  const Ref<const Population> single = make_ref<const Population>(std::move(settings));
  const SparseVector one = accumulator(single, 1);
  CHECK(one.size() == 1);
  CHECK(select_largest(one, 1).size() == 1);
  CHECK(select_at_least(one, kth_magnitude(one, 1)).size() == 1);
  CHECK(one.position_of(0) == 0);
  CHECK(one.position_of(1) == 1);
  CHECK(sum(select_largest(one, 1), select_largest(accumulator(single, 2), 1)).size() == 1);
  CHECK(sum(std::array{select_largest(one, 1)}).size() == 1);
}

TEST_CASE("A moved statistical vector has its entries at coordinates that are greater") {
  const SparseVector vector = selection(two_regions(), 4);
  const SparseVector there = moved(vector, 12'000);
  CHECK(there.size() == vector.size());
  bool same = true;
  for (std::uint32_t at = 0; at < kEnd; at += 97) {
    same = same && there.position_of(at + 12'000) == vector.position_of(at);
  }
  CHECK(same);
  CHECK(there.position_of(12'000) == 0);
  const SparseVector back = moved(there, -12'000);
  CHECK(equal(back, vector));
  CHECK(back.position_of(30'000) == vector.position_of(30'000));
  CHECK(moved(vector, 0).payload() == vector.payload());
}

TEST_CASE("What two statistical vectors have in common and what they have not add up") {
  const Ref<const Population> population = two_regions();
  const std::vector<SparseVector> all = selections(population, 8);
  const SparseVector united = sum(all);
  const SparseVector kept = select_at_least(united, kth_magnitude(united, 900));
  for (const SparseVector& own : all) {
    const std::size_t common = intersect(own, united).size();
    // All of a rank's selection is in the union; ranks are taken for alike.
    CHECK(static_cast<double>(common) ==
          test::approx(static_cast<double>(own.size())).epsilon(0.1));
    CHECK(common + without(own, united).size() == own.size());
    CHECK(intersect(own, kept).size() < own.size());
    CHECK(intersect(own, kept).size() + without(own, kept).size() == own.size());
    const SparseVector accumulated = accumulator(population, 3);
    CHECK(intersect(accumulated, own).size() == own.size());
    CHECK(intersect(own, accumulated).size() == own.size());
    CHECK(without(accumulated, own).size() == kEnd - own.size());
    CHECK(intersect(own, SparseVector()).size() == 0);
    CHECK(without(own, SparseVector()).size() == own.size());
  }
}

TEST_CASE("A statistical gradient has no entries and no values to look at") {
  const SparseVector vector = selection(two_regions(), 4);
  CHECK(vector.is_statistical());
  CHECK_FALSE(SparseVector().is_statistical());
  CHECK(contains(error_of<SimulationError>([&] { static_cast<void>(vector.entries()); }),
                 "no entries"));
  CHECK(contains(
      error_of<SimulationError>([&] { static_cast<void>(DenseBlock::valueless(0, 4).values()); }),
      "no values"));
}

TEST_CASE("A statistical gradient and one with entries cannot be added") {
  const SparseVector statistical = selection(two_regions(), 4);
  const SparseVector exact = SparseVector::checked({{3, 1.0F}});
  for (const auto& [a, b] : {std::pair(statistical, exact), std::pair(exact, statistical)}) {
    CHECK_THROWS_AS(static_cast<void>(sum(a, b)), SimulationError);
    CHECK_THROWS_AS(static_cast<void>(sum(std::array{a, b})), SimulationError);
    CHECK_THROWS_AS(static_cast<void>(intersect(a, b)), SimulationError);
    CHECK_FALSE(equal(a, b));
  }
}

TEST_CASE("Dense blocks without values stay so, and cover what they would with values") {
  const DenseBlock block = DenseBlock::valueless(10, 30);
  const auto check = [](const DenseBlock& made, std::uint32_t first, std::uint32_t last) {
    CHECK(made.is_valueless());
    CHECK(DenseBlock::holds(made.payload()));
    CHECK(made.first() == first);
    CHECK(made.last() == last);
  };
  check(block, 10, 30);
  check(block.slice(12, 20), 12, 20);
  check(sum(block, DenseBlock::valueless(10, 30)), 10, 30);
  check(difference(block.slice(15, 30), DenseBlock::valueless(15, 30)), 15, 30);
  check(concatenate(std::array{block.slice(10, 13), block.slice(13, 20), block.slice(20, 30)}), 10,
        30);
  check(sum(block, SparseVector::from(statistical_draw(3, 30, 1, false))), 10, 30);
  check(to_dense(SparseVector::from(statistical_draw(3, 40, 1, false)), 0, 40), 0, 40);
  CHECK(equal(block, DenseBlock::valueless(10, 30)));
  CHECK_FALSE(equal(block, DenseBlock::valueless(10, 31)));
  CHECK_FALSE(equal(block, DenseBlock(10, std::vector<float>(20))));
  CHECK_FALSE(DenseBlock(10, {1, 2}).is_valueless());
  const SparseVector entries = entries_of(block);
  CHECK(entries.size() == 20);
  CHECK(entries.position_of(17) == 7);
  const SparseVector vector = selection(two_regions(), 4);
  check(values_at(vector, vector), 0, static_cast<std::uint32_t>(vector.size()));
  CHECK(placed(vector, values_at(vector, vector)).size() == vector.size());
}

TEST_CASE("Even draws unite as draws at random do, and common ones are one") {
  constexpr std::uint32_t kOf = 100'000;
  constexpr std::uint32_t kCount = 1234;
  std::vector<SparseVector> draws;
  for (int sources = 1; sources <= 64; ++sources) {
    draws.push_back(SparseVector::from(
        statistical_draw(kCount, kOf, static_cast<std::uint64_t>(sources), false)));
    CAPTURE(sources);
    const double wanted = kOf * (1 - std::pow(1 - double{kCount} / kOf, sources));
    CHECK(std::abs(static_cast<double>(sum(draws).size()) - wanted) <= 1);
  }
  const SparseVector common = SparseVector::from(statistical_draw(kCount, kOf, 5, true));
  const SparseVector same = SparseVector::from(statistical_draw(kCount, kOf, 5, true));
  CHECK(sum(common, same).size() == kCount);
  CHECK(sum(std::array{common, same, common, same}).size() == kCount);
}

TEST_CASE("Parts that ranks draw at random of their selections unite as the formula says") {
  const auto population = two_regions();
  const auto selected = static_cast<std::int64_t>(expected(0, kCells, 1));
  for (const double share : {0.9, 0.5, 0.125}) {
    const auto size = static_cast<std::uint32_t>(share * static_cast<double>(selected));
    std::vector<SparseVector> all;
    for (int ranks = 1; ranks <= 64; ++ranks) {
      const SparseVector whole =
          select_largest(accumulator(population, static_cast<std::uint64_t>(ranks)), selected);
      all.push_back(SparseVector::from(statistical_thinned(whole.payload(), size)));
      CHECK(all.back().size() == size);
      double wanted = 0;
      for (std::uint32_t cell = 0; cell < kCells; ++cell) {
        const double width = std::min(kWidth, kEnd - cell * kWidth);
        for (std::size_t c = 0; c < 3; ++c) {
          const double p = kProbabilities[cell * kWidth < kBorder ? 0 : 1][c];
          wanted += width * spread(cell)[c] * (1 - std::pow(1 - share * p, ranks));
        }
      }
      CAPTURE(share);
      CAPTURE(ranks);
      CHECK(static_cast<double>(sum(all).size()) == test::approx(wanted).epsilon(0.01));
    }
  }
  const SparseVector whole = select_largest(accumulator(population, 1), selected);
  const auto most = static_cast<std::uint32_t>(selected);
  CHECK(equal(SparseVector::from(statistical_thinned(whole.payload(), most)), whole));
  CHECK(SparseVector::from(statistical_thinned(whole.payload(), 0)).size() == 0);
}

TEST_CASE("The magnitudes of a thinned selection are those of the accumulator that it is from") {
  const auto population = two_regions();
  const SparseVector accumulated = accumulator(population, 1);
  const auto selected = static_cast<std::int64_t>(2 * expected(0, kCells, 1));
  const Payload whole = select_largest(accumulated, selected).payload();
  const auto half = static_cast<std::uint32_t>(selected / 2);
  const SparseVector thinned = SparseVector::from(statistical_thinned(whole, half));
  for (const double part : {0.9, 0.5, 0.25}) {
    CAPTURE(part);
    const auto of_all = static_cast<std::int64_t>(part * static_cast<double>(selected));
    CHECK(kth_magnitude(thinned, static_cast<std::int64_t>(part * half)) ==
          test::approx(kth_magnitude(accumulated, of_all)).epsilon(0.03));
  }
}

TEST_CASE("A rank's statistical selection is as uneven over regions as a selection of entries") {
  const traces::Profile profile = test::small_profile(test::kSanitized ? 50'000 : 200'000);
  const int ranks = test::kSanitized ? 60 : 200;
  const auto n = static_cast<std::uint32_t>(profile.components);
  const traces::ProfileSettings settings{.space = {.components = profile.components, .granule = 1},
                                         .k = profile.components / 50,
                                         .seed = 3};
  const traces::ExactProfileSource exact(profile, settings);
  const traces::StatisticalProfileSource statistical(profile, settings);
  constexpr std::uint32_t kParts = 64;
  const auto moments = [&](const traces::GradientSource& source) {
    std::array<double, kParts> sums{};
    std::array<double, kParts> squares{};
    for (int rank = 0; rank < ranks; ++rank) {
      const SparseVector selected = select_largest(source.sparse(Rank(rank), 1), settings.k);
      for (std::uint32_t i = 0; i < kParts; ++i) {
        const auto count =
            static_cast<double>(part(selected, n / kParts * i, n / kParts * (i + 1)).size());
        sums[i] += count / ranks;
        squares[i] += count * count / ranks;
      }
    }
    double variance = 0;
    for (std::uint32_t i = 0; i < kParts; ++i) variance += squares[i] - sums[i] * sums[i];
    return std::pair(variance, sums);
  };
  const auto [exact_variance, exact_means] = moments(exact);
  const auto [variance, means] = moments(statistical);
  CHECK(variance == test::approx(exact_variance).epsilon(0.25));
  // Which coordinates of a block are popular is drawn in the one, expected in the other.
  for (std::uint32_t i = 0; i < kParts; ++i) {
    CAPTURE(i);
    CHECK(std::abs(means[i] - exact_means[i]) <
          0.1 * exact_means[i] + 5 * std::sqrt(exact_means[i]) / 4);
  }
}

TEST_CASE("Squares of statistical magnitudes are where popular coordinates are") {
  const Ref<const Population> population = two_regions();
  // What a coordinate with such a rate of being selected adds: the integral of squared magnitudes.
  const auto square_of = [&](double rate) {
    constexpr int kSteps = 4000;
    constexpr double kFirst = 0x1p-40;
    const double factor = std::pow(1 / kFirst, 1.0 / kSteps);
    double sum = 0;
    for (int step = 0; step < kSteps; ++step) {
      const double from = kFirst * std::pow(factor, step);
      const double ratio = population->ratio_of_level(from * std::sqrt(factor));
      sum += (std::exp(-rate * from) - std::exp(-rate * from * factor)) * ratio * ratio;
    }
    return sum;
  };
  constexpr std::uint32_t kSome = 600;  // cells, of both regions
  std::vector<std::int64_t> cuts{0};
  std::vector<double> wanted;
  double all = 0;
  for (std::uint32_t cell = 0; cell < kSome; ++cell) {
    const auto& probabilities = kProbabilities[cell * kWidth < kBorder ? 0 : 1];
    double sum = 0;
    for (std::size_t c = 0; c < 3; ++c) {
      sum += kWidth * spread(cell)[c] * square_of(-std::log1p(-probabilities[c]));
    }
    cuts.push_back(std::int64_t{cell + 1} * kWidth);
    wanted.push_back(sum);
    all += sum;
  }
  const SparseVector selected = selection(population, 5);
  const std::vector<double> squares = statistical_squares_before(selected.payload(), cuts);
  const std::vector<double> entries = statistical_expected_before(selected.payload(), cuts);
  CHECK(squares.front() == 0);
  for (std::size_t cell = 0; cell < kSome; ++cell) {
    CAPTURE(cell);
    const double share = wanted[cell] / all;
    const double of_squares = (squares[cell + 1] - squares[cell]) / squares.back();
    const double of_entries = (entries[cell + 1] - entries[cell]) / entries.back();
    CHECK(std::abs(of_squares / share - 1) < 0.005);
    if (cell % 3 == 0) CHECK(std::abs(of_entries / share - 1) > 0.02);
  }
}

TEST_CASE("Statistical parts by hash have an equal share of a vector, and of a union") {
  constexpr int kParts = 16;
  const auto population = two_regions();
  const std::vector<SparseVector> all = selections(population, 8);
  const SparseVector whole = sum(all);
  std::vector<std::vector<SparseVector>> received(kParts);
  for (const SparseVector& vector : all) {
    const std::vector<SparseVector> parts = parts_by_hash(vector, kParts);
    std::size_t size = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const double share = static_cast<double>(vector.size()) / kParts;
      CHECK(std::abs(static_cast<double>(parts[i].size()) - share) < 6 * std::sqrt(share));
      received[i].push_back(parts[i]);
      size += parts[i].size();
    }
    CHECK(size == vector.size());
    CHECK(joined_by_hash(parts).size() == vector.size());
  }
  std::vector<SparseVector> sums;
  for (const auto& parts : received) {
    sums.push_back(sum(parts));
    const double share = static_cast<double>(whole.size()) / kParts;
    CHECK(std::abs(static_cast<double>(sums.back().size()) - share) < 6 * std::sqrt(share));
  }
  const SparseVector joined = joined_by_hash(sums);
  CHECK(std::abs(static_cast<double>(joined.size()) / static_cast<double>(whole.size()) - 1) <
        0.02);
  // A vector of all coordinates has parts of all of theirs, whoever unites them.
  const auto full = SparseVector::from(statistical_all(0, kEnd));
  for (const SparseVector& part : parts_by_hash(full, kParts)) {
    CHECK(std::abs(static_cast<double>(part.size()) - kEnd / 16.0) <= 2);
    CHECK(std::abs(static_cast<double>(sum(part, part).size()) - kEnd / 16.0) <= 2);
  }
}

}  // namespace thinwire::inline gradient
