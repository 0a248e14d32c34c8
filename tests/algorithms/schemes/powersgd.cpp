#include "algorithms/schemes/powersgd.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include "algorithms/error_feedback.hpp"
#include "tests/support/approx.hpp"
#include "tests/support/low_rank.hpp"
#include "tests/support/networks.hpp"

namespace thinwire::algorithms {

using test::low_rank_conforms;
using test::SchemeRanks;

namespace {

using Sizes = std::vector<std::int64_t>;

Reduced summed(SchemeRanks& scheme, int iteration, const std::vector<DenseBlock>& gradients) {
  test::Networks networks;
  const auto gradient = [&](int rank) { return gradients[static_cast<std::size_t>(rank)]; };
  return scheme.run(networks.counting, iteration, gradient).results.front();
}

double distance(const DenseBlock& a, const DenseBlock& b) {
  double squares = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    squares += std::pow(static_cast<double>(a.values()[i]) - b.values()[i], 2);
  }
  return std::sqrt(squares);
}

}  // namespace

TEST_CASE("PowerSGD gives all ranks the projection that a serial program gives") {
  for (const int ranks : {1, 3, 7, 8, 12, 23}) {
    for (const std::int64_t n : {1, 2, 5, 960, 997}) {
      for (const std::int64_t rank : {1, 2, 4}) {
        CAPTURE(ranks);
        CAPTURE(n);
        CAPTURE(rank);
        test::Networks networks;
        CHECK(low_rank_conforms(networks.alphabeta, ranks, n, 3, {{"rank", rank}}));
        CHECK(low_rank_conforms(networks.counting, ranks, n, 3,
                                {{"rank", rank}, {"warm_start", false}}));
      }
    }
  }
}

TEST_CASE("PowerSGD with as many columns as a side gives the dense sum") {
  for (const int ranks : {1, 3, 8}) {
    SchemeRanks scheme(find_scheme("powersgd"), ranks, {.components = 97, .granule = 1}, 0,
                       {{"rank", std::int64_t{100}}});
    std::vector<DenseBlock> gradients;
    for (int rank = 0; rank < ranks; ++rank) gradients.push_back(test::dense_gradient(97, rank));
    const DenseBlock total = sum(gradients);
    CHECK(distance(std::get<DenseBlock>(summed(scheme, 1, gradients).sum), total) <
          1e-4 * distance(total, DenseBlock(0, std::vector<float>(97))));
  }
}

TEST_CASE("PowerSGD finds the best approximation by its warm start") {
  // diag(8, 4, 2, 1): with two columns the best approximation leaves sqrt(2^2 + 1^2).
  std::vector<float> diagonal(16);
  for (std::size_t i = 0; i < 4; ++i) diagonal[5 * i] = 8.0F / static_cast<float>(1U << i);
  const std::vector<DenseBlock> gradients{DenseBlock(0, diagonal)};
  SchemeRanks warm(find_scheme("powersgd"), 1, {.components = 16, .granule = 1}, 0);
  double left = 0;
  double first = 0;
  for (int iteration = 1; iteration <= 20; ++iteration) {
    left = distance(std::get<DenseBlock>(summed(warm, iteration, gradients).sum), gradients[0]);
    if (iteration == 1) first = left;
  }
  CHECK(left == test::approx(std::sqrt(5.0)).epsilon(1e-5));
  CHECK(first > 1.01 * left);
}

TEST_CASE("PowerSGD takes tensors with rows as matrices, and sums vectors as they are") {
  // A matrix of 2 x 3 of rank 1, and a vector of 2.
  const Sizes tensors{6, 2};
  const Sizes rows{2, 1};
  const LowRankLayout layout = low_rank_layout(8, tensors, rows, 4);
  REQUIRE(layout.matrices.size() == 1);
  CHECK(layout.matrices[0].columns == 3);
  CHECK(layout.matrices[0].rank == 2);
  CHECK(layout.p_words == 2 * 2 + 2);
  CHECK(layout.q_words == 3 * 2);
  const std::vector<float> gradient{1, 2, 3, -2, -4, -6, 7, 8};
  const std::vector<float> q = drawn_query(layout, 3);
  const std::vector<float> p = orthonormal(layout, left_factors(layout, gradient, q));
  const std::vector<float> sum =
      product_of_factors(layout, 8, p, right_factors(layout, gradient, p), 1);
  for (std::size_t i = 0; i < sum.size(); ++i) CHECK(sum[i] == test::approx(gradient[i]));
  // The second column depended on the first: zeros, which are drawn anew.
  CHECK(p[1] == 0);
  CHECK(p[3] == 0);
  const std::vector<float> next = reused_query(layout, right_factors(layout, gradient, p), 5);
  CHECK(next[1] != 0);
  CHECK(low_rank_layout(10, {}, {}, 2).matrices[0].rows == 4);  // the side of a square
  CHECK(low_rank_layout(9, {}, {}, 2).matrices[0].rows == 3);
}

TEST_CASE("PowerSGD of nothing but zeros gives zeros, and recovers") {
  SchemeRanks scheme(find_scheme("powersgd"), 2, {.components = 9, .granule = 1}, 0,
                     {{"rank", std::int64_t{3}}});
  const DenseBlock zeros(0, std::vector<float>(9));
  CHECK(distance(std::get<DenseBlock>(summed(scheme, 1, {zeros, zeros}).sum), zeros) == 0);
  const DenseBlock ones = test::dense_gradient(9, 1);
  const auto result = std::get<DenseBlock>(summed(scheme, 2, {ones, zeros}).sum);
  CHECK(distance(result, ones) < 1e-4 * distance(ones, zeros));
}

TEST_CASE("Error feedback brings all of a constant gradient through PowerSGD in the mean") {
  // The residual stays bounded, so the mean of what was applied comes to the gradient.
  constexpr int kIterations = 200;
  const std::vector<DenseBlock> gradients{test::dense_gradient(36, 1), test::dense_gradient(36, 2)};
  const DenseBlock total = sum(gradients);
  SchemeRanks scheme(find_scheme("powersgd"), 2, {.components = 36, .granule = 1}, 0);
  std::vector<ErrorFeedback> feedback(2);
  std::vector<float> applied(36);
  test::Networks networks;
  for (int iteration = 1; iteration <= kIterations; ++iteration) {
    std::vector<Stream> accumulated;
    for (std::size_t i = 0; i < 2; ++i) accumulated.push_back(feedback[i].accumulate(gradients[i]));
    const auto outcome = scheme.run(networks.counting, iteration, [&](int rank) {
      return accumulated[static_cast<std::size_t>(rank)];
    });
    for (std::size_t i = 0; i < 2; ++i) {
      feedback[i].update(accumulated[i], outcome.results[i]);
    }
    const auto values = std::get<DenseBlock>(outcome.results[0].sum).values();
    for (std::size_t i = 0; i < 36; ++i) applied[i] += values[i] / kIterations;
  }
  const DenseBlock zeros(0, std::vector<float>(36));
  CHECK(distance(DenseBlock(0, applied), total) < 0.1 * distance(total, zeros));
}

TEST_CASE("PowerSGD costs what its worked example says, and its prices what the operators read") {
  // n = 10,000 on 4 ranks at rank 2.
  SchemeRanks scheme(find_scheme("powersgd"), 4, {.components = 10'000, .granule = 1}, 0);
  const Cost cost = scheme.cost(1);
  CHECK(cost.run().low.messages == 8);
  CHECK(cost.run().low.words == 600);
  CHECK(cost.paper.low.words == 600);
  WorkPrices prices;
  prices.scan = {Seconds(10), Seconds(1)};
  const LowRankLayout layout = low_rank_layout(10'000, {}, {}, 2);
  CHECK(product_time(layout, prices).value() == 10 + 10'000 + 2 * 200);
  // Two columns of 100: 4 + 4 operators, then 4; 5, 2 + 7 and 5 accesses an element.
  CHECK(orthonormal_time(layout, prices).value() == 12 * 10 + 100 * (5 + 9 + 5));
}

}  // namespace thinwire::algorithms
