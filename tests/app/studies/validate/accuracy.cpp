#include "sim/app/studies/validate/accuracy.hpp"
#include "tests/support/approx.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

namespace {

using thinwire::studies::choice_figures;
using thinwire::studies::ChoiceFigures;
using thinwire::studies::Contender;
using thinwire::studies::error_figures;
using thinwire::studies::ErrorFigures;
using thinwire::studies::signed_error;

}  // namespace

TEST_CASE("Over and under count alike in an error") {
  CHECK(signed_error(2, 4) == thinwire::test::approx(1));
  CHECK(signed_error(4, 2) == thinwire::test::approx(-1));
  CHECK(signed_error(3, 3) == 0);
  CHECK(signed_error(1, 1.25) == thinwire::test::approx(0.25));
  CHECK(signed_error(1.25, 1) == thinwire::test::approx(-0.25));
}

TEST_CASE("Errors of three predictions, by hand") {
  // Ratios 2, 1/2 and 4: |errors| 1, 1 and 3; the mean of the logs is log(4)/3.
  const ErrorFigures figures = error_figures({{1, 2}, {2, 1}, {1, 4}});
  CHECK(figures.rows == 3);
  CHECK(figures.median == thinwire::test::approx(1));
  CHECK(figures.p90 == thinwire::test::approx(2.6));
  CHECK(figures.bias == thinwire::test::approx(std::cbrt(4.0) - 1));
  CHECK(error_figures({}).rows == 0);
}

TEST_CASE("Pairs and regret of two choices, by hand") {
  const std::vector<Contender> contenders{
      // The prediction takes `tree`, which takes 3 s where `ring` takes 2. `ring` and `halving`
      // differ by 5%, which is no order; of the other pairs one is right.
      {"small", "ring", {.measured = 2.0, .predicted = 5}},
      {"small", "halving", {.measured = 2.1, .predicted = 7}},
      {"small", "tree", {.measured = 3.0, .predicted = 4}},
      {"small", "slow", {.measured = 9.0, .predicted = 6}},
      // Two implementations of the scheme that the prediction takes: 4 and 6 s, 5 in the mean.
      {"large", "ring", {.measured = 4.0, .predicted = 1}},
      {"large", "ring", {.measured = 6.0, .predicted = 1}},
      {"large", "tree", {.measured = 8.0, .predicted = 2}},
      // One scheme alone is no choice.
      {"alone", "ring", {.measured = 1.0, .predicted = 2}},
      {"alone", "ring", {.measured = 2.0, .predicted = 2}}};
  const ChoiceFigures figures = choice_figures(contenders);
  // small: ring-tree wrong, halving-tree wrong, ring-slow right, halving-slow wrong, tree-slow
  // right. large: both right.
  CHECK(figures.pairs == 7);
  CHECK(figures.right == 4);
  CHECK(figures.choices == 2);
  CHECK(figures.worst_regret == thinwire::test::approx(0.5));
  CHECK(figures.mean_regret == thinwire::test::approx((0.5 + 0.25) / 2));
}

TEST_CASE("A pair that the prediction cannot order is not right") {
  const ChoiceFigures figures = choice_figures(
      {{"c", "a", {.measured = 1, .predicted = 1}}, {"c", "b", {.measured = 2, .predicted = 1}}});
  CHECK(figures.pairs == 1);
  CHECK(figures.right == 0);
  CHECK(figures.mean_regret == thinwire::test::approx(0.5));
}
