#include "sim/core/gradient/dense_block.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "tests/support/bodies.hpp"

namespace thinwire::inline gradient {

namespace {

std::vector<float> values_of(const DenseBlock& block) {
  return {block.values().begin(), block.values().end()};
}

}  // namespace

TEST_CASE("Slices of a dense block share its data and keep their coordinates") {
  const DenseBlock block(10, {0.0F, 1.0F, 2.0F, 3.0F, 4.0F});
  CHECK(block.first() == 10);
  CHECK(block.last() == 15);
  const DenseBlock slice = block.slice(11, 14);
  CHECK(values_of(slice) == std::vector{1.0F, 2.0F, 3.0F});
  CHECK(values_of(slice.slice(13, 14)) == std::vector{3.0F});
  CHECK(slice.values().data() == block.values().data() + 1);
  CHECK(slice.slice(12, 12).size() == 0);
  CHECK(values_of(DenseBlock::from(slice.payload())) == values_of(slice));
}

TEST_CASE("A dense block costs one word a component and the last granule only what it has") {
  const DenseBlock block(0, std::vector<float>(5));
  CHECK(block.message({.components = 5, .granule = 1}).words == Words(5));
  CHECK(block.message({.components = 18, .granule = 4}).words == Words(18));
  CHECK(block.slice(1, 3).message({.components = 18, .granule = 4}).words == Words(8));
  CHECK(block.slice(4, 5).message({.components = 18, .granule = 4}).words == Words(2));
}

TEST_CASE("A payload tells whether it is a dense block") {
  test::BodyCount count;
  CHECK(DenseBlock::holds(DenseBlock(0, {1.0F}).payload()));
  CHECK_FALSE(DenseBlock::holds(SparseVector::checked({{0, 1.0F}}).payload()));
  CHECK_FALSE(DenseBlock::holds(Payload{}));
  CHECK_FALSE(DenseBlock::holds(test::counted_message(count, Words(1)).payload));
}

TEST_CASE("Dense blocks add component by component and sparse vectors are added into them") {
  const DenseBlock a(3, {1.0F, 2.0F, 3.0F});
  const DenseBlock b(3, {10.0F, 20.0F, 30.0F});
  const DenseBlock total = sum(a, b);
  CHECK(total.first() == 3);
  CHECK(values_of(total) == std::vector{11.0F, 22.0F, 33.0F});
  const DenseBlock mixed = sum(a, SparseVector::checked({{3, 100.0F}, {5, 200.0F}}));
  CHECK(values_of(mixed) == std::vector{101.0F, 2.0F, 203.0F});
  CHECK(values_of(a) == std::vector{1.0F, 2.0F, 3.0F});
}

TEST_CASE("Dense blocks that follow one another join to one") {
  const DenseBlock block(7, {0.0F, 1.0F, 2.0F, 3.0F});
  const std::vector parts{block.slice(7, 9), block.slice(9, 9), block.slice(9, 11)};
  const DenseBlock joined = concatenate(parts);
  CHECK(joined.first() == 7);
  CHECK(values_of(joined) == values_of(block));
  CHECK(concatenate(std::vector{block}).values().data() == block.values().data());
}

TEST_CASE("A sparse vector becomes dense with zeros elsewhere") {
  const DenseBlock dense = to_dense(SparseVector::checked({{4, 1.0F}, {6, 2.0F}}), 3, 8);
  CHECK(dense.first() == 3);
  CHECK(values_of(dense) == std::vector{0.0F, 1.0F, 0.0F, 2.0F, 0.0F});
  CHECK(values_of(to_dense(SparseVector(), 0, 2)) == std::vector{0.0F, 0.0F});
}

}  // namespace thinwire::inline gradient
