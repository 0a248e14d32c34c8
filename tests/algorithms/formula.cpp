#include "algorithms/formula.hpp"

#include <doctest/doctest.h>

#include <string>

#include "algorithms/registry.hpp"
#include "sim/core/base/errors.hpp"
#include "tests/support/approx.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/ranks.hpp"

namespace thinwire::algorithms {

namespace {

double at(const std::string& formula) {
  return evaluate(formula, {{"P", 8}, {"n", 1000}, {"k", 10}, {"bucket_words", 300}});
}

std::string refusal(const std::string& formula) {
  return test::error_of<InputError>([&] { static_cast<void>(at(formula)); });
}

}  // namespace

TEST_CASE("Formulas are evaluated as papers print them") {
  CHECK(at("2n (P-1)/P") == 2 * 1000 * 7.0 / 8);
  CHECK(at("2 log P") == 6);
  CHECK(at("P-1 + log P") == 10);
  CHECK(at("4k log P") == 120);
  CHECK(at("(2k + n) (P-1)/P") == 1020 * 7.0 / 8);
  CHECK(at("2 ceil(n/bucket_words) log P") == 24);
  CHECK(at("sqrt(2 P + 9)") == 5);
  CHECK(at("floor(n/bucket_words)") == 3);
  CHECK(at("min(k P, n) + max(k, P)") == 90);
  CHECK(at("n/2/5*3 - 1") == 299);
  CHECK(at("0.5 n") == 500);
  CHECK(at("k(P - 1)k") == 700);
  CHECK(at(" 7 ") == 7);
}

TEST_CASE("A formula that is wrong is refused with the place") {
  CHECK(refusal("2 (P-1") == "formula '2 (P-1': expected ')' at position 7");
  CHECK(refusal("2 q") == "formula '2 q': expected a known symbol instead of 'q' at position 3");
  CHECK(refusal("2 +") == "formula '2 +': expected a number, a symbol or '(' at position 4");
  CHECK(refusal("P) k") == "formula 'P) k': expected an operator or the end at position 2");
  CHECK(refusal("min(P)") == "formula 'min(P)': expected ',' at position 6");
  CHECK(refusal("") == "formula '': expected a number, a symbol or '(' at position 1");
}

TEST_CASE("Where a scheme's formula is exact its terms are the cost model's") {
  // Words and messages: counted differs from the paper by rounding messages alone.
  for (const SchemeInfo& info : all_schemes()) {
    const Options options(info.options, {});
    for (const int ranks : {2, 8, 64}) {
      const Cost cost = info.cost({.ranks = ranks,
                                   .n = 64'000'000,
                                   .k = 640'000,
                                   .iteration = 2,
                                   .options = &options,
                                   .alpha = Seconds(1e-6),
                                   .beta_per_word = Seconds(1e-9)});
      CAPTURE(info.name);
      CAPTURE(ranks);
      if (!cost.exact) continue;
      CHECK(cost.counted.low.words == test::approx(cost.paper.low.words).epsilon(1e-4));
      CHECK(cost.counted.low.messages <= cost.paper.low.messages);
      CHECK(cost.counted.low.words == cost.counted.high.words);
    }
  }
}

}  // namespace thinwire::algorithms
