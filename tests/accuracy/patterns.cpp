#include "tools/accuracy/patterns.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <vector>

#include "tests/support/approx.hpp"
#include "tests/support/bodies.hpp"
#include "tests/support/networks.hpp"

namespace thinwire::accuracy {

namespace {

using test::exactly;
using test::Networks;

RunReport counted(const char* name, int ranks, const PatternMessages& messages = {}) {
  return networks::CountingNetwork().run(ranks, pattern_named(name)->program(ranks, messages));
}

std::int64_t sent_in(const RunReport& report) {
  std::int64_t sent = 0;
  for (const RankReport& rank : report.ranks) sent += rank.total().messages_sent;
  return sent;
}

}  // namespace

TEST_CASE("Every pattern runs on any number of ranks and sends no more than it says") {
  for (const Pattern& pattern : all_patterns()) {
    for (const int ranks : {1, 2, 3, 4, 7, 12, 16, 33}) {
      CAPTURE(pattern.name);
      CAPTURE(ranks);
      const RunReport report = counted(pattern.name.c_str(), ranks);
      std::int64_t received = 0;
      for (const RankReport& rank : report.ranks) received += rank.total().messages_received;
      CHECK(sent_in(report) == received);
      CHECK(sent_in(report) <= pattern.messages(ranks));
      CHECK((sent_in(report) > 0) == (ranks > 1));
    }
  }
  CHECK(pattern_named("rings") == nullptr);
}

TEST_CASE("A ring takes P-1 rounds, all-to-all sends to every other rank, incast to rank 0") {
  for (const int ranks : {2, 3, 7, 12}) {
    CAPTURE(ranks);
    CHECK(counted("ring", ranks).steps() == ranks - 1);
    for (const char* name : {"ring", "rotated_1", "rotated_4", "rotated_16"}) {
      for (const RankReport& rank : counted(name, ranks).ranks) {
        CHECK(rank.total().messages_sent == ranks - 1);
        CHECK(rank.total().messages_received == ranks - 1);
      }
    }
    const RunReport incast = counted("incast", ranks);
    CHECK(incast.ranks[0].total().messages_sent == 0);
    CHECK(incast.ranks[0].total().messages_received == ranks - 1);
  }
}

TEST_CASE("Recursive doubling folds into a power of two and unfolds, as MPICH does") {
  for (const int ranks : {2, 3, 4, 5, 7, 12, 16}) {
    CAPTURE(ranks);
    const auto core = static_cast<int>(std::bit_floor(static_cast<unsigned>(ranks)));
    const int rounds = std::countr_zero(static_cast<unsigned>(core));
    const RunReport report = counted("recursive_doubling", ranks);
    CHECK(sent_in(report) == core * rounds + 2 * (ranks - core));
    CHECK(report.steps() == rounds + (ranks > core ? 2 : 0));
    // The even ranks of those that fold send to their neighbour, and hear from it in the end.
    for (int rank = 0; rank < 2 * (ranks - core); ++rank) {
      const bool waits = rank % 2 == 0;
      CHECK(report.ranks[static_cast<std::size_t>(rank)].total().messages_sent ==
            (waits ? 1 : rounds + 1));
    }
  }
}

TEST_CASE("In each round of a random permutation a rank sends and receives at most once") {
  const RunReport report = counted("random_permutation", 16);
  std::vector<std::int64_t> counts;
  for (const RankReport& rank : report.ranks) {
    CHECK(rank.total().messages_sent == rank.total().messages_received);
    CHECK(rank.total().messages_sent <= 8);
    counts.push_back(rank.total().messages_sent);
  }
  CHECK(sent_in(report) > 100);  // of 128; the rest are ranks that would send to themselves
  PatternMessages other;
  other.seed = 2;
  std::vector<std::int64_t> others;
  for (const RankReport& rank : counted("random_permutation", 16, other).ranks) {
    others.push_back(rank.total().messages_sent);
  }
  CHECK(counts != others);
}

TEST_CASE("More steps under way do not wait for one another") {
  PatternMessages messages;
  messages.lengths = MessageLengths::between(Words(250), Words(1'000'000), 1);
  Networks networks;
  const auto time = [&](const char* name) {
    return networks.alphabeta.run(16, pattern_named(name)->program(16, messages)).makespan();
  };
  CHECK(time("rotated_4") < time("rotated_1"));
  CHECK(time("rotated_16") <= time("rotated_4"));
}

TEST_CASE("Rounds of equal messages cost their formula on the alpha-beta machine") {
  PatternMessages messages;
  messages.lengths = MessageLengths::equal(Words(1000));
  Networks networks;
  const auto time = [&](const char* name, int ranks) {
    return networks.alphabeta.run(ranks, pattern_named(name)->program(ranks, messages))
        .makespan()
        .value();
  };
  CHECK(time("ring", 7) == exactly(test::formula(6, 6000)));
  CHECK(time("recursive_doubling", 16) == exactly(test::formula(4, 4000)));
  CHECK(time("recursive_doubling", 12) == exactly(test::formula(5, 5000)));
  CHECK(time("rotated_1", 7) == exactly(test::formula(6, 6000)));
  CHECK(time("incast", 7) == exactly(test::formula(6, 6000)));
  for (const Pattern& pattern : all_patterns()) CHECK(time(pattern.name.c_str(), 1) == 0);
}

TEST_CASE("Unequal lengths are uniform in the logarithm and belong to sender and receiver") {
  const auto lengths = MessageLengths::between(Words(250), Words(1'000'000), 1);
  CHECK(lengths(Rank(3), Rank(5)) == lengths(Rank(3), Rank(5)));
  CHECK(lengths(Rank(3), Rank(5)) != lengths(Rank(5), Rank(3)));
  CHECK(lengths(Rank(3), Rank(5)) !=
        MessageLengths::between(Words(250), Words(1'000'000), 2)(Rank(3), Rank(5)));
  double sum = 0;
  constexpr int kRanks = 64;
  for (int from = 0; from < kRanks; ++from) {
    for (int to = 0; to < kRanks; ++to) {
      const std::int64_t words = lengths(Rank(from), Rank(to)).value();
      CHECK(words >= 250);
      CHECK(words <= 1'000'000);
      sum += std::log(static_cast<double>(words) / 250) / std::log(4000.0);
    }
  }
  CHECK(sum / (kRanks * kRanks) == test::approx(0.5).epsilon(0.03));
}

TEST_CASE("Messages carry the payload that they are given, and let it go") {
  test::BodyCount count;
  {
    PatternMessages messages;
    messages.payload = test::counted_message(count, Words(1)).payload;
    for (const Pattern& pattern : all_patterns()) {
      static_cast<void>(counted(pattern.name.c_str(), 7, messages));
    }
    CHECK(count.living == 1);
  }
  CHECK(count.living == 0);
}

}  // namespace thinwire::accuracy
