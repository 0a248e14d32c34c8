#include "sim/core/gradient/reduction.hpp"

#include <doctest/doctest.h>

#include <array>
#include <vector>

#include "sim/core/base/errors.hpp"
#include "sim/core/gradient/numbers.hpp"
#include "sim/core/gradient/stream.hpp"
#include "tests/support/sparse.hpp"

namespace thinwire::inline gradient {

using test::Entries;
using test::entries_of;
using test::Generator;

namespace {

constexpr Seconds kGamma(0.25);

DenseBlock counting_up(const GradientSpace& space, float step) {
  std::vector<float> values;
  for (std::int64_t i = 0; i < space.coordinates(); ++i) {
    values.push_back(step * static_cast<float>(i));
  }
  return {0, std::move(values)};
}

std::vector<float> values_of(const Message& message) {
  const auto block = DenseBlock::from(message.payload);
  return {block.values().begin(), block.values().end()};
}

}  // namespace

TEST_CASE("The pieces of a dense gradient cover it and their words differ by one at the most") {
  for (const std::int64_t granule : {1, 3, 4}) {
    for (const std::int64_t n : {12, 13, 101}) {
      const GradientSpace space{.components = n, .granule = granule};
      SharedWork shared(16);
      const GradientReduction reduction(shared, kGamma, space);
      const DenseBlock whole = counting_up(space, 1.0F);
      for (const int pieces : {1, 2, 3, 5, 8, 16}) {
        CAPTURE(granule);
        CAPTURE(n);
        CAPTURE(pieces);
        std::vector<Message> parts;
        bool even = true;
        for (int piece = 0; piece < pieces; ++piece) {
          parts.push_back(reduction.cut(whole.message(space), {piece, piece + 1}, pieces));
          const std::int64_t words = parts.back().words.value();
          even = even && (words == n / pieces || words == n / pieces + 1);
        }
        CHECK(even);
        const Message joined = reduction.join(parts);
        CHECK(joined.words == Words(n));
        CHECK(values_of(joined) == values_of(whole.message(space)));
      }
    }
  }
}

TEST_CASE("Messages of streams with a marker have it once, and its word costs no sum") {
  const GradientSpace space{.components = 100, .granule = 1};
  SharedWork shared(16);
  const GradientReduction reduction(shared, Seconds(2), space, {.marker = 1});
  Message dense = counting_up(space, 1.0F).message(space);
  dense.words += Words(1);
  const Message left = reduction.cut(dense, {0, 1}, 2);
  const Message right = reduction.cut(dense, {1, 2}, 2);
  CHECK(left.words == Words(51));
  CHECK(reduction.join(std::vector{left, right}).words == Words(101));
  const Summed both = reduction.sum(dense, dense);
  CHECK(both.message.words == Words(101));
  CHECK(both.work == Seconds(200));
  Message sparse = SparseVector::checked({{3, 1.0F}, {70, 1.0F}}).message(space);
  sparse.words += Words(1);
  const Summed few = reduction.sum(sparse, sparse);
  CHECK(few.message.words == Words(5));
  CHECK(few.work == Seconds(8));  // a merge visits both
  CHECK(reduction.sum(dense, sparse).message.words == Words(101));
  CHECK(reduction.cut(sparse, {0, 1}, 2).words == Words(3));
}

TEST_CASE("A sum that becomes dense costs the zeros and the entries that were there") {
  const GradientSpace space{.components = 100, .granule = 1};
  SharedWork shared(16);
  const auto price = [](double seconds) { return Price{.call = {}, .element = Seconds(seconds)}; };
  WorkPrices prices;
  prices.scan = price(5);
  prices.reduce = price(2);
  prices.scatter = price(3);
  prices.merge = price(7);
  const GradientReduction reduction(shared, Gamma(prices), space, {.delta = 0.03});
  const Message three = SparseVector::checked({{3, 1.0F}, {50, 1.0F}, {70, 1.0F}}).message(space);
  const Message one = SparseVector::checked({{4, 1.0F}}).message(space);
  const Summed dense = reduction.sum(three, one);
  REQUIRE(DenseBlock::holds(dense.message.payload));
  CHECK(dense.work == Seconds(100 * 5 + 3 * 3 + 1 * 3));
  CHECK(reduction.sum(one, one).work == Seconds(14));                       // stays sparse
  CHECK(reduction.sum(dense.message, one).work == Seconds(3));              // was dense
  CHECK(reduction.sum(dense.message, dense.message).work == Seconds(200));  // both
}

TEST_CASE("Pieces of pieces of a dense gradient are cut as from the whole") {
  const GradientSpace space{.components = 103, .granule = 4};
  SharedWork shared(16);
  const GradientReduction reduction(shared, kGamma, space);
  const Message whole = counting_up(space, 1.0F).message(space);
  const Message half = reduction.cut(whole, {4, 8}, 8);
  for (int piece = 4; piece < 8; ++piece) {
    const Message direct = reduction.cut(whole, {piece, piece + 1}, 8);
    const Message again = reduction.cut(half, {piece, piece + 1}, 8);
    CHECK(direct.words == again.words);
    CHECK(values_of(direct) == values_of(again));
  }
}

TEST_CASE("A part of a dense gradient is cut within itself and its pieces join to the part") {
  for (const std::int64_t granule : {1, 4}) {
    const GradientSpace space{.components = 101, .granule = granule};
    const DenseBlock whole = counting_up(space, 1.0F);
    for (const ComponentRange part : {ComponentRange{0, 101}, ComponentRange{0, 50},
                                      ComponentRange{50, 101}, ComponentRange{37, 38}}) {
      CAPTURE(granule);
      CAPTURE(part.first);
      SharedWork shared(16);
      const GradientReduction reduction(shared, kGamma, space, part);
      const Message mine = reduction.cut(whole.message(space), {0, 1}, 1);
      CHECK(mine.words == Words(part.length()));
      std::vector<Message> parts;
      for (int piece = 0; piece < 3; ++piece) {
        parts.push_back(reduction.cut(mine, {piece, piece + 1}, 3));
        CHECK(parts.back().words ==
              Words(part_begin(part.length(), 3, piece + 1) - part_begin(part.length(), 3, piece)));
      }
      const Message joined = reduction.join(parts);
      CHECK(joined.words == Words(part.length()));
      CHECK(values_of(joined) == values_of(mine));
      CHECK(mine.payload.first == space.coordinate(part.first));
      CHECK(mine.payload.last == space.coordinate(part.last));
    }
  }
}

TEST_CASE("Sums of dense pieces keep the words of the pieces") {
  const GradientSpace space{.components = 10, .granule = 4};  // pieces end inside granules
  SharedWork shared(16);
  const GradientReduction reduction(shared, kGamma, space);
  const Message a = counting_up(space, 1.0F).message(space);
  const Message b = counting_up(space, 10.0F).message(space);
  for (int piece = 0; piece < 4; ++piece) {
    const Message pa = reduction.cut(a, {piece, piece + 1}, 4);
    const Message pb = reduction.cut(b, {piece, piece + 1}, 4);
    const Summed summed = reduction.sum(pa, pb);
    CHECK(summed.message.words == pa.words);
    CHECK(summed.work.value() == 0.25 * static_cast<double>(pa.words.value()));
  }
}

TEST_CASE("Pieces of a sparse gradient are cut by coordinate and join to the whole") {
  Generator generator(31);
  for (const std::int64_t granule : {1, 4}) {
    const GradientSpace space{.components = 1003, .granule = granule};
    SharedWork shared(16);
    const GradientReduction reduction(shared, kGamma, space);
    const SparseVector vector =
        test::random_vector(generator, 0, static_cast<std::uint32_t>(space.coordinates()), 80);
    for (const int pieces : {1, 2, 3, 7, 16}) {
      std::vector<Message> parts;
      bool inside = true;
      for (int piece = 0; piece < pieces; ++piece) {
        parts.push_back(reduction.cut(vector.message(space), {piece, piece + 1}, pieces));
        const SparseVector part = SparseVector::from(parts.back().payload);
        for (const Entry& entry : part.entries()) {
          const std::int64_t component = space.component(entry.coordinate);
          inside = inside && component >= part_begin(space.components, pieces, piece) &&
                   component < part_begin(space.components, pieces, piece + 1);
        }
      }
      CHECK(inside);
      const Message joined = reduction.join(parts);
      CHECK(entries_of(SparseVector::from(joined.payload)) == entries_of(vector));
      CHECK(joined.words == vector.message(space).words);
    }
    CHECK(reduction.cut(SparseVector().message(space), {0, 1}, 4).words == Words(0));
  }
}

TEST_CASE("Sums of sparse gradients are charged by their values and not their indexes") {
  const GradientSpace space{.components = 100, .granule = 2};
  SharedWork shared(16);
  const GradientReduction reduction(shared, kGamma, space);
  const SparseVector a = SparseVector::checked({{1, 1.0F}, {2, 2.0F}});
  const SparseVector b = SparseVector::checked({{2, 3.0F}, {9, 4.0F}, {10, 5.0F}});
  const Summed summed = reduction.sum(a.message(space), b.message(space));
  CHECK(entries_of(SparseVector::from(summed.message.payload)) ==
        Entries{{1, 1.0F}, {2, 5.0F}, {9, 4.0F}, {10, 5.0F}});
  CHECK(summed.message.words == Words(16));
  CHECK(summed.work.value() == 0.25 * 10);  // three entries of two components
}

TEST_CASE("Sums of sparse gradients become dense above half of the components") {
  const GradientSpace space{.components = 8, .granule = 1};
  SharedWork shared(16);
  const GradientReduction reduction(shared, kGamma, space);
  const SparseVector two = SparseVector::checked({{1, 1.0F}, {2, 2.0F}});
  const SparseVector three = SparseVector::checked({{1, 1.0F}, {2, 2.0F}, {7, 7.0F}});
  CHECK_FALSE(
      DenseBlock::holds(reduction.sum(two.message(space), two.message(space)).message.payload));
  const Message dense = reduction.sum(two.message(space), three.message(space)).message;
  REQUIRE(DenseBlock::holds(dense.payload));
  CHECK(dense.words == Words(8));
  CHECK(values_of(dense) == std::vector{0.0F, 2.0F, 4.0F, 0.0F, 0.0F, 0.0F, 0.0F, 7.0F});
}

TEST_CASE("Dense and sparse parts are joined to a dense one, which is as long as they were") {
  const GradientSpace space{.components = 12, .granule = 1};
  SharedWork shared(16);
  const GradientReduction reduction(shared, kGamma, space);
  // Pieces 1 and 2 of 3: dense at 4 .. 8, sparse at 8 .. 12.
  const std::array parts{DenseBlock(4, {1.0F, 2.0F, 3.0F, 4.0F}).message(space),
                         SparseVector::checked({{9, 5.0F}}).message(space)};
  const Message joined = reduction.join(parts, {{1, 3}, 3});
  const auto block = DenseBlock::from(joined.payload);
  CHECK(block.first() == 4);
  const auto values = block.values();
  CHECK(std::vector<float>(values.begin(), values.end()) ==
        std::vector<float>{1, 2, 3, 4, 0, 5, 0, 0});
  CHECK(joined.words == Words(4 + 2));
}

TEST_CASE("Sparse parts become dense where both lengths exceed half of their part") {
  const GradientSpace space{.components = 40, .granule = 1};
  SharedWork shared(16);
  const GradientReduction reduction(shared, kGamma, space);
  const Message a = SparseVector::checked({{11, 1.0F}, {12, 2.0F}, {13, 1.0F}}).message(space);
  const Message b = SparseVector::checked({{11, 3.0F}, {19, 4.0F}}).message(space);
  const Message c = SparseVector::checked({{11, 3.0F}, {18, 4.0F}, {19, 4.0F}}).message(space);
  const Part part{{1, 2}, 4};  // components 10 .. 20
  CHECK(reduction.sum(a, b, part).message.words == Words(2 * 4));
  const Message dense = reduction.sum(a, c, part).message;
  CHECK(dense.words == Words(10));
  CHECK(DenseBlock::from(dense.payload).first() == 10);
  CHECK(DenseBlock::from(dense.payload).values()[1] == 4.0F);
  CHECK(reduction.sum(dense, b, part).message.words == Words(10));
  CHECK(reduction.sum(a, c).message.words == Words(2 * 5));  // of the whole they are few
}

TEST_CASE("A shared sum is made once and charged to everybody") {
  const GradientSpace space{.components = 100, .granule = 1};
  SharedWork shared(16);
  const GradientReduction reduction(shared, kGamma, space);
  const Message a = SparseVector::checked({{1, 1.0F}, {2, 2.0F}}).message(space);
  const Message b = SparseVector::checked({{2, 3.0F}, {9, 4.0F}, {10, 5.0F}}).message(space);
  const Summed mine = reduction.shared_sum(a, b);
  const Summed theirs = reduction.shared_sum(b, a);
  CHECK(shared.computed() == 1);
  CHECK(mine.message.payload == theirs.message.payload);
  CHECK(mine.work.value() == 0.25 * 5);  // a merge visits both
  CHECK(theirs.work.value() == 0.25 * 5);
}

TEST_CASE("Lists of numbers are cut and added and joined element by element") {
  SharedWork shared(16);
  const NumbersReduction reduction(shared);
  const Message a = Numbers({1, 2, 3, 4, 5, 6, 7}).message();
  const Message b = Numbers({10, 20, 30, 40, 50, 60, 70}).message();
  const Summed summed = reduction.sum(a, b);
  CHECK(summed.message.words == Words(7));
  CHECK(summed.work == Seconds(0));
  const Numbers total = Numbers::from(summed.message.payload);
  CHECK(total[0] == 11);
  CHECK(total[6] == 77);
  CHECK(total.total() == 308);

  for (const int pieces : {1, 2, 3, 7, 10}) {
    std::vector<Message> parts;
    for (int piece = 0; piece < pieces; ++piece) {
      parts.push_back(reduction.cut(a, {piece, piece + 1}, pieces));
    }
    const Message joined = reduction.join(parts);
    CHECK(joined.words == Words(7));
    const auto numbers = Numbers::from(joined.payload).all();
    CHECK(std::vector<std::int64_t>(numbers.begin(), numbers.end()) ==
          std::vector<std::int64_t>{1, 2, 3, 4, 5, 6, 7});
  }
}

TEST_CASE("Pieces of pieces of a list of numbers are cut as from the whole") {
  SharedWork shared(16);
  const NumbersReduction reduction(shared);
  const auto list = [](const Message& message) {
    const auto all = Numbers::from(message.payload).all();
    return std::vector<std::int64_t>(all.begin(), all.end());
  };
  const Message whole = Numbers({1, 2, 3, 4, 5, 6, 7, 8, 9, 10}).message();  // pieces 3, 3, 2, 2
  const Message half = reduction.cut(whole, {2, 4}, 4);
  CHECK(list(half) == std::vector<std::int64_t>{7, 8, 9, 10});
  const Message twice = reduction.sum(half, half).message;
  CHECK(list(reduction.cut(twice, {2, 3}, 4)) == std::vector<std::int64_t>{14, 16});
  CHECK(list(reduction.cut(twice, {3, 4}, 4)) == std::vector<std::int64_t>{18, 20});
  const std::array parts{reduction.cut(twice, {2, 3}, 4), reduction.cut(twice, {3, 4}, 4)};
  CHECK(list(reduction.cut(reduction.join(parts), {3, 4}, 4)) == std::vector<std::int64_t>{18, 20});
}

}  // namespace thinwire::inline gradient
