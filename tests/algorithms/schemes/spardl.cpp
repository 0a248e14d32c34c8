// SparDL's teams, its residuals and its cost.
#include <doctest/doctest.h>

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "algorithms/error_feedback.hpp"
#include "algorithms/registry.hpp"
#include "sim/core/base/errors.hpp"
#include "tests/support/conformance.hpp"
#include "tests/support/networks.hpp"
#include "tests/support/ranks.hpp"
#include "tests/support/schemes.hpp"

namespace thinwire::algorithms {

namespace {

constexpr std::int64_t kSpardlComponents = 400;

test::GivenOptions teams(std::int64_t number) { return {{"teams", number}}; }

/// What the ranks' gradients add up to, less what the sums and the residuals do, over iterations.
double lost(int ranks, std::int64_t number_of_teams, std::int64_t k, const std::string& scheme) {
  const GradientSpace space{.components = kSpardlComponents, .granule = 1};
  test::SchemeRanks all(find_scheme(scheme), ranks, space, k, teams(number_of_teams));
  test::Networks networks;
  std::vector<ErrorFeedback> feedback(static_cast<std::size_t>(ranks));
  std::map<std::uint32_t, double> balance;
  for (int iteration = 1; iteration <= 4; ++iteration) {
    std::vector<Stream> accumulated;
    for (int rank = 0; rank < ranks; ++rank) {
      const SparseVector gradient = test::full_gradient(kSpardlComponents, rank, iteration);
      for (const Entry& entry : gradient.entries()) balance[entry.coordinate] += entry.value;
      accumulated.push_back(feedback[static_cast<std::size_t>(rank)].accumulate(gradient));
    }
    const auto outcome = all.run(networks.counting, iteration, [&](int rank) {
      return accumulated[static_cast<std::size_t>(rank)];
    });
    for (const Entry& entry : std::get<SparseVector>(outcome.results.front().sum).entries()) {
      balance[entry.coordinate] -= entry.value;
    }
    for (std::size_t rank = 0; rank < feedback.size(); ++rank) {
      const Reduced& reduced = outcome.results[rank];
      feedback[rank].update(accumulated[rank], reduced);
    }
  }
  for (const ErrorFeedback& one : feedback) {
    for (const Entry& entry : std::get<SparseVector>(one.residual()).entries()) {
      balance[entry.coordinate] -= entry.value;
    }
  }
  double most = 0;
  double scale = 0;
  for (int rank = 0; rank < ranks; ++rank) {
    const SparseVector gradient = test::full_gradient(kSpardlComponents, rank, 1);
    for (const Entry& entry : gradient.entries()) {
      scale = std::max<double>(scale, std::abs(entry.value));
    }
  }
  for (const auto& [coordinate, rest] : balance) most = std::max(most, std::abs(rest) / scale);
  return most;
}

}  // namespace

TEST_CASE("spardl with teams gives what the serial program gives") {
  struct Division {
    int ranks;
    std::int64_t teams;
  };
  for (const Division division :
       {Division{2, 2}, {6, 2}, {8, 2}, {8, 4}, {8, 8}, {12, 4}, {24, 8}}) {
    for (const test::Shape shape : test::kShapes) {
      for (const std::int64_t k : {0, 1, 24, 400}) {
        const test::Case c{.ranks = division.ranks,
                           .space = {.components = kSpardlComponents, .granule = 1},
                           .k = k,
                           .shape = shape};
        CAPTURE(c.text());
        CAPTURE(division.teams);
        test::Networks networks;
        CHECK(test::sparse_conforms(networks.alphabeta, "spardl", c, teams(division.teams), 3));
      }
    }
  }
}

TEST_CASE("All ranks agree with a number of teams that is no power of two") {
  for (const int ranks : {3, 6, 12, 18}) {
    const test::Case c{
        .ranks = ranks, .space = {.components = 400, .granule = 1}, .k = 24, .full = true};
    test::SchemeRanks all(find_scheme("spardl"), ranks, c.space, c.k, teams(3));
    test::Networks networks;
    for (int iteration = 1; iteration <= 6; ++iteration) {
      const auto outcome = all.run(networks.alphabeta, iteration,
                                   [&](int rank) { return c.gradient(rank, iteration); });
      const SparseVector first = std::get<SparseVector>(outcome.results.front().sum);
      CHECK(first.size() > 0);
      CHECK(first.size() <= 24);
      for (const Reduced& reduced : outcome.results) {
        CHECK(equal(std::get<SparseVector>(reduced.sum), first));
      }
    }
  }
}

TEST_CASE("What the ranks of three teams send follows the size of their sum") {
  constexpr std::int64_t kShare = 3000;
  // The rule of the published code, worked by hand: from a third of the share on, in steps of a
  // hundredth of the rest, which double as long as the sum stays on its side of the share and turn
  // back, halved, where it crosses.
  const auto follows = [&](std::uint32_t apart, const std::vector<std::int64_t>& entries) {
    CAPTURE(apart);
    test::SchemeRanks all(find_scheme("spardl"), 3, {.components = 9000, .granule = 1}, kShare,
                          teams(3));
    test::Networks networks;
    for (std::size_t i = 0; i < entries.size(); ++i) {
      const auto outcome = all.run(networks.counting, static_cast<int>(i) + 1, [&](int rank) {
        std::vector<Entry> own;
        for (std::uint32_t at = 0; at < kShare; ++at) {
          own.push_back(
              {3 * at + apart * static_cast<std::uint32_t>(rank), 1.0F + static_cast<float>(at)});
        }
        return SparseVector::checked(std::move(own));
      });
      CAPTURE(i);
      // Each rank receives the entries of two others, with their indexes.
      CHECK(outcome.report.ranks[0].total().words_received.value() == 2 * 2 * entries[i]);
    }
  };
  follows(0, {1000, 1020, 1060, 1100, 1180, 1260, 1420});        // all select the same
  follows(1, {1000, 1020, 1010, 1000, 1005, 1003, 1001, 1000});  // no two select the same
}

TEST_CASE("Sums and residuals of spardl add up to all gradients: nothing is lost on the way") {
  for (const int ranks : {1, 3, 7, 8, 12, 23}) {
    for (const std::int64_t k : {1, 24, 120}) {
      CAPTURE(ranks);
      CAPTURE(k);
      CHECK(lost(ranks, 1, k, "spardl") == 0);
      CHECK(lost(ranks, 1, k, "spardl+exact_topk") == 0);
    }
  }
  CHECK(lost(8, 4, 24, "spardl") < 1e-6);
  // Three rounds among the teams: what the second one drops is held by four ranks.
  CHECK(lost(16, 8, 48, "spardl") < 1e-6);
  CHECK(lost(12, 3, 24, "spardl") < 1e-6);  // thirds are rounded
}

TEST_CASE("spardl costs its formula where every block holds its share") {
  for (const int ranks : {1, 2, 3, 7, 8, 12, 23}) {
    const std::int64_t k = 10 * ranks;
    const GradientSpace space{.components = 4600, .granule = 1};
    test::SchemeRanks all(find_scheme("spardl"), ranks, space, k);
    test::Networks networks;
    const auto outcome = all.run(networks.alphabeta, 1,
                                 [&](int rank) { return test::full_gradient(4600, rank, 1); });
    const double rounds = 2 * std::ceil(std::log2(static_cast<double>(ranks)));
    const double words = 4.0 * static_cast<double>(k) * (ranks - 1) / ranks;
    CAPTURE(ranks);
    CHECK(outcome.report.makespan().value() == test::exactly(test::formula(rounds, words)));
  }
  // Teams: fewer messages for more words. P = 8, k = 80, d = 4: 2 + 2 messages, 2 blocks of 40.
  test::SchemeRanks all(find_scheme("spardl"), 8, {.components = 4600, .granule = 1}, 80, teams(4));
  test::Networks networks;
  const auto outcome =
      all.run(networks.alphabeta, 1, [](int rank) { return test::full_gradient(4600, rank, 1); });
  CHECK(outcome.report.makespan().value() == test::exactly(test::formula(4, 4 * 40 + 2 * 40 * 2)));
}

TEST_CASE("A number of teams that does not divide the ranks is refused") {
  CHECK_THROWS_WITH_AS(
      test::SchemeRanks(find_scheme("spardl"), 8, {.components = 400, .granule = 1}, 8, teams(3)),
      "option 'teams' must divide the number of ranks: 3 does not divide 8", InputError);
}

}  // namespace thinwire::algorithms
