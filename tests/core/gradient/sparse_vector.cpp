#include "sim/core/gradient/sparse_vector.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <vector>

#include "sim/core/base/errors.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/sanitizers.hpp"
#include "tests/support/sparse.hpp"

namespace thinwire::inline gradient {

using test::below;
using test::contains;
using test::Entries;
using test::entries_of;
using test::error_of;
using test::Generator;
using test::Oracle;
using test::random_vector;

namespace {

std::string refusal(Entries entries) {
  return error_of<InputError>(
      [&] { static_cast<void>(SparseVector::checked(std::move(entries))); });
}

/// The sum of vectors by the library, in both forms, and by the oracle.
void check_sum(const std::vector<SparseVector>& vectors) {
  Oracle oracle;
  for (const SparseVector& vector : vectors) test::add_to(oracle, vector);
  const Entries expected = entries_of(oracle);
  const SparseVector at_once = sum(vectors);
  CHECK(entries_of(at_once) == expected);
  SparseVector one_by_one;
  for (const SparseVector& vector : vectors) one_by_one = sum(one_by_one, vector);
  CHECK(entries_of(one_by_one) == expected);
}

}  // namespace

TEST_CASE("A checked sparse vector keeps entries that are in order and finite") {
  const Entries entries{{0, 1.5F}, {3, -2.0F}, {4, 0.0F}, {UINT32_MAX - 1, 3e38F}};
  CHECK(entries_of(SparseVector::checked(entries)) == entries);
  CHECK(SparseVector::checked({}).size() == 0);
  CHECK_FALSE(SparseVector::checked({}).payload().body);
}

TEST_CASE("A checked sparse vector names the first coordinate that is out of order") {
  CHECK(contains(refusal({{5, 1.0F}, {4, 1.0F}}), "4 follows 5"));
  CHECK(contains(refusal({{1, 1.0F}, {7, 1.0F}, {7, 2.0F}, {3, 1.0F}}), "7 follows 7"));
}

TEST_CASE("A checked sparse vector names the first value that is not finite") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  CHECK(contains(refusal({{1, 1.0F}, {17, nan}, {18, infinity}}), "coordinate 17 is nan"));
  CHECK(contains(refusal({{9, infinity}}), "coordinate 9 is inf"));
  CHECK(contains(refusal({{9, -infinity}}), "coordinate 9 is -inf"));
}

TEST_CASE("Slices of a sparse vector share its data and nest") {
  const SparseVector vector =
      SparseVector::checked({{1, 1.0F}, {2, 2.0F}, {5, 5.0F}, {8, 8.0F}, {9, 9.0F}});
  const SparseVector middle = vector.slice(1, 4);
  CHECK(entries_of(middle) == Entries{{2, 2.0F}, {5, 5.0F}, {8, 8.0F}});
  CHECK(entries_of(middle.slice(1, 3)) == Entries{{5, 5.0F}, {8, 8.0F}});
  CHECK(middle.entries().data() == vector.entries().data() + 1);
  CHECK(vector.slice(2, 2).size() == 0);
  CHECK_FALSE(vector.slice(5, 5).payload().body);
  CHECK(entries_of(vector.slice(0, 5)) == entries_of(vector));
  CHECK(entries_of(SparseVector::from(middle.payload())) == entries_of(middle));
}

TEST_CASE("A sparse vector costs two words a component on the wire") {
  const SparseVector vector = SparseVector::checked({{1, 1.0F}, {2, 2.0F}, {5, 5.0F}});
  CHECK(vector.message({.components = 10, .granule = 1}).words == Words(6));
  CHECK(vector.message({.components = 100, .granule = 8}).words == Words(48));
  CHECK(SparseVector().message({.components = 10, .granule = 1}).words == Words(0));
}

TEST_CASE("The position of a coordinate is found from any position before it") {
  Generator generator(7);
  bool right = SparseVector().position_of(3) == 0;
  for (const int wanted : {1, 2, 3, 10, 100, 1000}) {
    const SparseVector vector = random_vector(generator, 10, 2010, wanted);
    const auto entries = vector.entries();
    for (int draw = 0; draw < 500; ++draw) {
      const auto coordinate = static_cast<std::uint32_t>(below(generator, 2100));
      const auto from =
          static_cast<std::size_t>(below(generator, static_cast<std::int64_t>(vector.size()) + 1));
      std::size_t expected = from;
      while (expected < entries.size() && entries[expected].coordinate < coordinate) ++expected;
      right = right && vector.position_of(coordinate, from) == expected;
    }
  }
  CHECK(right);
}

TEST_CASE("The sum of two sparse vectors is the union with shared values added") {
  const SparseVector a = SparseVector::checked({{1, 1.0F}, {4, 2.0F}, {6, 3.0F}});
  const SparseVector b = SparseVector::checked({{0, 8.0F}, {4, 16.0F}, {9, 32.0F}});
  const Entries expected{{0, 8.0F}, {1, 1.0F}, {4, 18.0F}, {6, 3.0F}, {9, 32.0F}};
  CHECK(entries_of(sum(a, b)) == expected);
  CHECK(entries_of(sum(b, a)) == expected);
  CHECK(entries_of(sum(a, SparseVector())) == entries_of(a));
  CHECK(entries_of(sum(SparseVector(), b)) == entries_of(b));
  CHECK(sum(SparseVector(), SparseVector()).size() == 0);
}

TEST_CASE("An entry stays where values cancel") {
  const SparseVector a = SparseVector::checked({{3, 1.0F}, {4, 2.0F}});
  const SparseVector b = SparseVector::checked({{3, -1.0F}, {4, -2.0F}});
  const Entries zeros{{3, 0.0F}, {4, 0.0F}};
  CHECK(entries_of(sum(a, b)) == zeros);
  CHECK(entries_of(sum(std::vector{a, b})) == zeros);
  SparseAccumulator accumulator(0, 10);
  accumulator.add(a);
  accumulator.add(b);
  CHECK(entries_of(accumulator.finish()) == zeros);
}

TEST_CASE("Sums of many sparse vectors agree with a map, whatever their overlap") {
  Generator generator(11);
  for (const std::size_t count : {1U, 2U, 3U, 5U, 8U, 17U, 64U}) {
    CAPTURE(count);
    std::vector<SparseVector> random;
    std::vector<SparseVector> disjoint;
    std::vector<SparseVector> one_has_all(count);
    for (std::size_t v = 0; v < count; ++v) {
      random.push_back(random_vector(generator, 0, 3000, 400));
      Entries own;
      for (std::uint32_t i = 0; i < 100; ++i) {
        own.push_back({static_cast<std::uint32_t>(i * count + v), static_cast<float>(i)});
      }
      disjoint.push_back(SparseVector::checked(own));
    }
    one_has_all[count / 2] = random_vector(generator, 5, 5000, 1000);
    check_sum(random);
    check_sum(disjoint);
    check_sum(one_has_all);
    check_sum(std::vector<SparseVector>(count, random.front()));
    check_sum(std::vector<SparseVector>(count));
    // Slices that begin in the middle of their data.
    for (SparseVector& vector : random) vector = vector.slice(vector.size() / 3, vector.size() / 2);
    check_sum(random);
  }
  check_sum({});
}

TEST_CASE("Sums over several windows and sums too thin for windows agree with a map") {
  Generator generator(13);
  constexpr std::uint32_t kWindow = 1U << 16U;
  for (const std::size_t count : {1U, 2U, 3U, 7U, 33U}) {
    CAPTURE(count);
    // Many entries over several windows: windows are summed one by one.
    std::vector<SparseVector> thick;
    // A few entries over a wide range: halved and merged.
    std::vector<SparseVector> thin;
    for (std::size_t v = 0; v < count; ++v) {
      thick.push_back(random_vector(generator, 1000, 1000 + 5 * kWindow, 200));
      thin.push_back(random_vector(generator, 0, UINT32_MAX, 3));
    }
    check_sum(thick);
    check_sum(thin);
    // At the very edges of windows.
    std::vector<SparseVector> edges(count, SparseVector::checked({{17, 1.0F},
                                                                  {17 + kWindow - 1, 2.0F},
                                                                  {17 + kWindow, 3.0F},
                                                                  {17 + 2 * kWindow - 1, 4.0F},
                                                                  {17 + 2 * kWindow, 5.0F}}));
    edges.push_back(random_vector(generator, 17, 17 + 2 * kWindow, 5000));
    check_sum(edges);
  }
}

TEST_CASE("Sums are added in the order of the vectors") {
  // 2^24 + 1 - 2^24 is 0 in floats from left to right, and 1 in any order that meets the big ones.
  const SparseVector big = SparseVector::checked({{0, 16777216.0F}});
  const SparseVector one = SparseVector::checked({{0, 1.0F}});
  const SparseVector minus = SparseVector::checked({{0, -16777216.0F}});
  CHECK(entries_of(sum(std::vector{big, one, minus})) == Entries{{0, 0.0F}});
  SparseAccumulator accumulator(0, 1);
  accumulator.add(big);
  accumulator.add(one);
  accumulator.add(minus);
  CHECK(entries_of(accumulator.finish()) == Entries{{0, 0.0F}});
}

TEST_CASE("Concatenation puts parts one after another") {
  const SparseVector a = SparseVector::checked({{1, 1.0F}, {2, 2.0F}});
  const SparseVector b = SparseVector::checked({{5, 5.0F}});
  CHECK(entries_of(concatenate(std::vector{a, SparseVector(), b})) ==
        Entries{{1, 1.0F}, {2, 2.0F}, {5, 5.0F}});
  CHECK(concatenate(std::vector{a}).entries().data() == a.entries().data());
  CHECK(concatenate(std::vector<SparseVector>{}).size() == 0);
}

TEST_CASE("The k-th magnitude agrees with sorting and has its two extremes") {
  Generator generator(17);
  for (const int wanted : {0, 1, 2, 10, 300}) {
    const SparseVector vector = random_vector(generator, 0, 5000, wanted);
    const Entries entries = entries_of(vector);
    const auto size = static_cast<std::int64_t>(vector.size());
    bool right = true;
    for (std::int64_t k = 0; k <= size + 2; ++k) {
      right = right && kth_magnitude(vector, k) == test::kth(entries, k);
    }
    CHECK(right);
  }
  const SparseVector some = SparseVector::checked({{1, -5.0F}, {2, 3.0F}});
  CHECK(kth_magnitude(some, 0) == std::numeric_limits<float>::infinity());
  CHECK(kth_magnitude(some, 1) == 5.0F);
  CHECK(kth_magnitude(some, 2) == 3.0F);
  CHECK(kth_magnitude(some, 3) == 0.0F);
}

TEST_CASE("The largest entries are exactly k and ties go to the lower coordinates") {
  const SparseVector ties =
      SparseVector::checked({{1, 2.0F}, {2, -2.0F}, {3, 7.0F}, {4, 2.0F}, {5, 1.0F}, {6, 0.0F}});
  CHECK(select_largest(ties, 0).size() == 0);
  CHECK(entries_of(select_largest(ties, 1)) == Entries{{3, 7.0F}});
  CHECK(entries_of(select_largest(ties, 2)) == Entries{{1, 2.0F}, {3, 7.0F}});
  CHECK(entries_of(select_largest(ties, 3)) == Entries{{1, 2.0F}, {2, -2.0F}, {3, 7.0F}});
  CHECK(entries_of(select_largest(ties, 6)) == entries_of(ties));
  CHECK(entries_of(select_largest(ties, 100)) == entries_of(ties));
  CHECK(select_largest(SparseVector(), 3).size() == 0);

  Generator generator(19);
  bool right = true;
  for (int draw = 0; draw < 200; ++draw) {
    Oracle values;  // few distinct magnitudes, so most are ties
    for (int i = 0; i < 60; ++i) {
      values[static_cast<std::uint32_t>(below(generator, 200))] =
          static_cast<double>(below(generator, 9) - 4);
    }
    const SparseVector vector = SparseVector::checked(entries_of(values));
    const Entries entries = entries_of(vector);
    const std::int64_t k = below(generator, 70);
    right = right && entries_of(select_largest(vector, k)) == test::top(entries, k);
    const auto threshold = static_cast<float>(below(generator, 6));
    right = right &&
            entries_of(select_at_least(vector, threshold)) == test::at_least(entries, threshold);
  }
  CHECK(right);
}

TEST_CASE("A selection that keeps everything shares the data of the vector") {
  const SparseVector vector = SparseVector::checked({{1, 2.0F}, {2, -2.0F}});
  CHECK(select_largest(vector, 2).entries().data() == vector.entries().data());
  CHECK(select_at_least(vector, 0).entries().data() == vector.entries().data());
}

TEST_CASE("A threshold of infinity selects nothing and of zero everything") {
  const SparseVector vector = SparseVector::checked({{1, 3e38F}, {2, 0.0F}});
  CHECK(select_at_least(vector, std::numeric_limits<float>::infinity()).size() == 0);
  CHECK(select_at_least(vector, 0.0F).size() == 2);
}

TEST_CASE("Intersection and difference look at coordinates only") {
  Generator generator(23);
  bool right = true;
  for (int draw = 0; draw < 100; ++draw) {
    const SparseVector a = random_vector(generator, 0, 200, static_cast<int>(draw));
    const SparseVector b = random_vector(generator, 0, 200, static_cast<int>(100 - draw));
    const Entries ea = entries_of(a);
    const Entries eb = entries_of(b);
    right = right && entries_of(intersect(a, b)) == test::with_coordinates_in(ea, eb, true);
    right = right && entries_of(without(a, b)) == test::with_coordinates_in(ea, eb, false);
  }
  CHECK(right);
  const SparseVector some = SparseVector::checked({{1, 1.0F}});
  CHECK(intersect(some, SparseVector()).size() == 0);
  CHECK(entries_of(without(some, SparseVector())) == entries_of(some));
  CHECK(without(SparseVector(), some).size() == 0);
}

TEST_CASE("An accumulator agrees with a map whatever its vectors and its width") {
  Generator generator(29);
  for (const std::uint32_t width : {1U, 63U, 64U, 65U, 1000U, 100000U, 50000000U}) {
    for (const int vectors : {0, 1, 63, 64, 65, 200}) {
      if (test::kSanitized && vectors > 65) continue;
      for (const int longest : {4, 200}) {  // 64 entries and more may be added at once
        CAPTURE(width);
        CAPTURE(vectors);
        CAPTURE(longest);
        const std::uint32_t first = 12345;
        SparseAccumulator accumulator(first, first + width);
        for (const int again : {1, 2}) {  // empty after finish, and as good as new
          CAPTURE(again);
          Oracle oracle;
          for (int v = 0; v < vectors; ++v) {
            const int wanted = v % 7 == 3 ? longest : v % 5;
            const SparseVector vector = random_vector(generator, first, first + width, wanted);
            test::add_to(oracle, vector);
            accumulator.add(vector);
          }
          CHECK(entries_of(accumulator.finish()) == entries_of(oracle));
        }
      }
    }
  }
  SparseAccumulator nothing(5, 5);
  nothing.add(SparseVector());
  CHECK(nothing.finish().size() == 0);
}

}  // namespace thinwire::inline gradient
