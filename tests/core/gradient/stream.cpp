#include "sim/core/gradient/stream.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "tests/support/sparse.hpp"

namespace thinwire::inline gradient {

namespace {

/// `count` entries of value `value` from coordinate `first` on.
SparseVector run_of(std::uint32_t first, std::uint32_t count, float value) {
  test::Entries entries;
  for (std::uint32_t i = 0; i < count; ++i) entries.push_back({first + i, value});
  return SparseVector::checked(entries);
}

std::vector<float> dense_values(const Stream& stream) {
  const auto values = std::get<DenseBlock>(stream).values();
  return {values.begin(), values.end()};
}

bool is_sparse(const Stream& stream) { return std::holds_alternative<SparseVector>(stream); }

}  // namespace

TEST_CASE("Streams switch to dense above half of the components and not at it") {
  const GradientSpace space{.components = 10, .granule = 1};
  // The two lengths together decide, not the union.
  const Stream at = sum(Stream(run_of(0, 3, 1.0F)), Stream(run_of(8, 2, 1.0F)), space);
  REQUIRE(is_sparse(at));
  CHECK(std::get<SparseVector>(at).size() == 5);
  const Stream above = sum(Stream(run_of(0, 3, 1.0F)), Stream(run_of(0, 3, 2.0F)), space);
  REQUIRE_FALSE(is_sparse(above));
  CHECK(dense_values(above) ==
        std::vector{3.0F, 3.0F, 3.0F, 0.0F, 0.0F, 0.0F, 0.0F, 0.0F, 0.0F, 0.0F});
}

TEST_CASE("Streams switch at the delta that they are given, a share of the components") {
  const GradientSpace space{.components = 100, .granule = 1};
  const auto total = [&](double delta) {
    return sum(Stream(run_of(0, 5, 1.0F)), Stream(run_of(40, 5, 1.0F)), space, 0, 100, delta);
  };
  CHECK(is_sparse(total(0.1)));
  CHECK_FALSE(is_sparse(total(0.0999)));
  CHECK_FALSE(is_sparse(total(0.0)));
  const Stream never =
      sum(Stream(run_of(0, 100, 1.0F)), Stream(run_of(0, 100, 1.0F)), space, 0, 100, kNeverDense);
  CHECK(is_sparse(never));
}

TEST_CASE("Streams of granules switch by their components") {
  const GradientSpace space{.components = 40, .granule = 4};
  CHECK(is_sparse(sum(Stream(run_of(0, 3, 1.0F)), Stream(run_of(8, 2, 1.0F)), space)));
  const Stream dense = sum(Stream(run_of(0, 3, 1.0F)), Stream(run_of(7, 3, 1.0F)), space);
  REQUIRE_FALSE(is_sparse(dense));
  CHECK(dense_values(dense).size() == 10);
  CHECK(message_of(dense, space).words == Words(40));
}

TEST_CASE("Dense and sparse streams add to a dense one either way round") {
  const GradientSpace space{.components = 4, .granule = 1};
  const Stream dense = DenseBlock(0, {1.0F, 2.0F, 3.0F, 4.0F});
  const Stream sparse = run_of(2, 1, 10.0F);
  const std::vector expected{1.0F, 2.0F, 13.0F, 4.0F};
  CHECK(dense_values(sum(dense, sparse, space)) == expected);
  CHECK(dense_values(sum(sparse, dense, space)) == expected);
  CHECK(dense_values(sum(dense, dense, space)) == std::vector{2.0F, 4.0F, 6.0F, 8.0F});
  CHECK(dense_values(sum(dense, Stream(), space)) == std::vector{1.0F, 2.0F, 3.0F, 4.0F});
}

TEST_CASE("A payload is read back as the stream that it was") {
  const GradientSpace space{.components = 4, .granule = 1};
  CHECK(is_sparse(stream_from(message_of(Stream(run_of(0, 1, 1.0F)), space).payload)));
  CHECK_FALSE(is_sparse(stream_from(message_of(Stream(DenseBlock(0, {1.0F})), space).payload)));
  REQUIRE(is_sparse(stream_from(Payload{})));
  CHECK(std::get<SparseVector>(stream_from(Payload{})).size() == 0);
  CHECK(message_of(Stream(), space).words == Words(0));
}

}  // namespace thinwire::inline gradient
