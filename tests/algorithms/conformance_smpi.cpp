// The conformance matrix on SMPI: every scheme gives on every shipped platform what a serial
// program gives, and takes the same time twice.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "algorithms/registry.hpp"
#include "tests/support/conformance.hpp"
#include "tests/support/low_rank.hpp"
#include "tests/support/sanitizers.hpp"
#include "tests/support/smpi.hpp"
#include "topologies/loading/shipped.hpp"

namespace thinwire::algorithms {

using test::Case;
using test::Doubles;
using test::Shape;
using test::Timed;

namespace {

constexpr int kMany = 64;  // from here on one case does: others take long, and differ little

std::vector<Case> smpi_cases_at(int ranks) {
  const GradientSpace fine{.components = 400, .granule = 1};
  const GradientSpace coarse{.components = 1602, .granule = 4};
  if (ranks >= kMany) return {{.ranks = ranks, .space = coarse, .k = 96}};
  return {{.ranks = ranks, .space = fine, .k = 24},
          {.ranks = ranks, .space = coarse, .k = 96, .shape = Shape::skewed},
          {.ranks = ranks, .space = fine, .k = 24, .shape = Shape::one_rank},
          {.ranks = ranks, .space = fine, .k = 400, .full = true},
          {.ranks = ranks, .space = fine, .k = 0}};
}

/// 1 where the scheme conforms, for every scheme and case.
Doubles verdicts(Network& network, int ranks) {
  Doubles right;
  for (const SchemeInfo& info : all_schemes()) {
    if (!info.dense || info.approximate || info.in_switches) continue;
    for (const GradientSpace space : {GradientSpace{960, 1}, GradientSpace{997, 4}}) {
      right.push_back(test::dense_conforms(network, info, ranks, space) ? 1 : 0);
    }
  }
  right.push_back(test::low_rank_conforms(network, ranks, 400, 2) ? 1 : 0);
  const bool many = ranks >= kMany;
  for (const Case& c : smpi_cases_at(ranks)) {
    for (const SchemeInfo& info : all_schemes()) {
      if (info.dense) continue;
      const test::GivenOptions options = test::short_periods_of(info);
      const int iterations = many ? 1 : 2;
      right.push_back(test::sparse_conforms(network, info.name, c, options, iterations) ? 1 : 0);
    }
  }
  const Case first = smpi_cases_at(ranks).front();
  const test::GivenOptions naive = test::oktopk_variants().back();
  if (!many) right.push_back(test::sparse_conforms(network, "oktopk", first, naive, 2) ? 1 : 0);
  return right;
}

struct SmpiOutcome {
  Doubles verdicts;
  Doubles times;
};

/// All schemes in one child.
SmpiOutcome outcome_on(const std::string& platform, int ranks) {
  Doubles numbers =
      test::on_smpi({.platform = topologies::kPlatforms.file(platform), .ranks = ranks},
                    [&](networks::SmpiNetwork& network) {
                      Timed timed(network);
                      Doubles all = verdicts(timed, ranks);
                      all.insert(all.begin(), static_cast<double>(all.size()));
                      all.insert(all.end(), timed.times().begin(), timed.times().end());
                      return all;
                    });
  const auto middle = numbers.begin() + 1 + static_cast<std::ptrdiff_t>(numbers.front());
  return {.verdicts = {numbers.begin() + 1, middle}, .times = {middle, numbers.end()}};
}

void check_ranks(const std::string& platform, const std::vector<int>& all) {
  for (const int ranks : all) {
    if (test::kSanitized && ranks > 3) continue;  // a thread a rank
    CAPTURE(platform);
    CAPTURE(ranks);
    const SmpiOutcome once = outcome_on(platform, ranks);
    CHECK(once.verdicts == Doubles(once.verdicts.size(), 1.0));
    CHECK(*std::ranges::max_element(once.times) > 0);
    // The same times to the last digit, tried where it does not take long.
    if (test::kSanitized) continue;
    if (ranks == 3 || ranks == 12) CHECK(outcome_on(platform, ranks).times == once.times);
  }
}

void check_platform(const std::string& platform, int most) {
  check_ranks(platform, {2, 3, 8, 12});
  check_ranks(platform, {most});
}

}  // namespace

TEST_CASE("The SMPI conformance matrix knows every shipped platform") {
  CHECK(topologies::kPlatforms.names() == std::vector<std::string>{"abci_a",
                                                                   "abci_v",
                                                                   "alphabeta",
                                                                   "alps_gh200",
                                                                   "aries_8192",
                                                                   "aries_daint",
                                                                   "dgx_h100",
                                                                   "dgx_h100_nvls",
                                                                   "dragonn_v100",
                                                                   "exdyna_v100",
                                                                   "fat_tree",
                                                                   "fat_tree_4to1",
                                                                   "fat_tree_8192",
                                                                   "gb200_nvl72",
                                                                   "gige_star",
                                                                   "leonardo",
                                                                   "leonardo_two_ports",
                                                                   "lumi",
                                                                   "mare_nostrum5",
                                                                   "mare_nostrum5_one_rail",
                                                                   "nvlink_ib",
                                                                   "p4d",
                                                                   "testbed_one_switch",
                                                                   "testbed_two_switches"});
}

TEST_CASE("Every scheme on alphabeta gives what a serial program gives, in the same time twice") {
  check_platform("alphabeta", 64);
}

TEST_CASE("Every scheme on aries_daint gives what a serial program gives, in the same time twice" *
          doctest::test_suite("large")) {
  check_platform("aries_daint", 64);
}

TEST_CASE("Every scheme on dragonn_v100 gives what a serial program gives, in the same time twice" *
          doctest::test_suite("large")) {
  check_platform("dragonn_v100", 16);
}

TEST_CASE("Every scheme on exdyna_v100 gives what a serial program gives, in the same time twice" *
          doctest::test_suite("large")) {
  check_platform("exdyna_v100", 16);
}

TEST_CASE("Every scheme on fat_tree gives what a serial program gives, in the same time twice" *
          doctest::test_suite("large")) {
  check_platform("fat_tree", 23);
}

// Members of families that are above, with more hosts.
TEST_CASE("Every scheme on the largest platforms gives what a serial program gives" *
          doctest::test_suite("large")) {
  for (const char* platform :
       {"abci_a", "alps_gh200", "aries_8192", "dgx_h100", "fat_tree_4to1", "fat_tree_8192",
        "gb200_nvl72", "leonardo", "lumi", "mare_nostrum5"}) {
    check_ranks(platform, {8});
  }
}

TEST_CASE("Every scheme on gige_star gives what a serial program gives, in the same time twice" *
          doctest::test_suite("large")) {
  check_platform("gige_star", 17);
  check_ranks("testbed_two_switches", {12});
}

TEST_CASE("Every scheme on nvlink_ib gives what a serial program gives, in the same time twice" *
          doctest::test_suite("large")) {
  check_platform("nvlink_ib", 17);
}

}  // namespace thinwire::algorithms
