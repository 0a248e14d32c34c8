// The schemes that are allgathers, reduce-scatters and all-to-alls, and the allreduces of MPI
// libraries: closed formulas, worked examples, options.
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "algorithms/registry.hpp"
#include "tests/support/conformance.hpp"
#include "tests/support/networks.hpp"
#include "tests/support/ranks.hpp"
#include "tests/support/sanitizers.hpp"
#include "tests/support/schemes.hpp"
#include "tests/support/sparse.hpp"

namespace thinwire::algorithms {

using test::below;
using test::exactly;
using test::formula;
using test::Generator;
using test::SchemeRanks;

namespace {

constexpr double kCollectiveGamma = 0.9e-9;

using CollectiveOptions = std::map<std::string, OptionValue>;

struct TimedCollective {
  Cost cost;
  double time;

  [[nodiscard]] bool inside() const {
    const Interval run = cost.run();
    const auto seconds = [](const Terms& terms) {
      return formula(terms.messages, terms.words) + kCollectiveGamma * terms.reduced;
    };
    return time >= seconds(run.low) * (1 - 1e-9) && time <= seconds(run.high) * (1 + 1e-9);
  }
};

TimedCollective timed(const std::string& name, int ranks, std::int64_t n,
                      const CollectiveOptions& options = {}) {
  const GradientSpace space{.components = n, .granule = n};
  test::Networks networks;
  SchemeRanks scheme(find_scheme(name), ranks, space, 0, options, Seconds(kCollectiveGamma));
  const auto zero = [](int) { return DenseBlock(0, std::vector<float>(1)); };
  return {.cost = scheme.cost(1),
          .time = scheme.run(networks.alphabeta, 1, zero).report.makespan().value()};
}

/// α, β and γ terms as a library's documentation has them.
double terms(double messages, double words, double reduced) {
  return formula(messages, words) + kCollectiveGamma * reduced;
}

}  // namespace

TEST_CASE("Schemes are of the collective that they are named after") {
  for (const SchemeInfo& info : all_schemes()) {
    CAPTURE(info.name);
    for (const Collective collective : {Collective::allgather, Collective::reduce_scatter,
                                        Collective::alltoall, Collective::ping_pong}) {
      CHECK((info.collective_kind == collective) == info.name.starts_with(name_of(collective)));
    }
  }
  CHECK(schemes_of(Collective::allgather).size() == 5);
  CHECK(schemes_of(Collective::reduce_scatter).size() == 4);
  CHECK(schemes_of(Collective::alltoall).size() == 3);
  CHECK(schemes_of(Collective::allreduce).size() + 13 == all_schemes().size());
}

TEST_CASE("Collectives cost the textbooks' formulas where P divides n") {
  for (const int ranks : test::kRankCounts) {
    CAPTURE(ranks);
    const std::int64_t n = std::int64_t{1200} * ranks;
    const double p = ranks;
    const double rest = 1200.0 * (p - 1);
    const double log = test::ceil_log2(ranks);
    const auto time = [&](const char* name) { return timed(name, ranks, n).time; };
    CHECK(time("allgather_ring") == exactly(terms(p - 1, rest, 0)));
    CHECK(time("allgather_recursive_doubling") == exactly(terms(log, rest, 0)));
    CHECK(time("allgather_bruck") == exactly(terms(log, rest, 0)));
    CHECK(time("reduce_scatter_ring") == exactly(terms(p - 1, rest, rest)));
    CHECK(time("reduce_scatter_pairwise") == exactly(terms(p - 1, rest, rest)));
    CHECK(time("alltoall_pairwise") == exactly(terms(p - 1, rest, 0)));
    CHECK(time("alltoall_linear") == exactly(terms(p - 1, rest, 0)));
    const double trips = ranks > 1 ? 2 : 0;
    CHECK(time("ping_pong") == exactly(terms(trips, trips * static_cast<double>(n), 0)));
    CHECK(time("allgather_neighbor_exchange") ==
          exactly(terms(ranks % 2 == 0 ? p / 2 : p - 1, rest, 0)));
    if (std::has_single_bit(static_cast<unsigned>(ranks))) {
      const auto all = static_cast<double>(n);
      CHECK(time("reduce_scatter_recursive_halving") == exactly(terms(log, rest, rest)));
      CHECK(time("alltoall_bruck") == exactly(terms(log, all / 2 * log, 0)));
      CHECK(time("dense_nonoverlapping") == exactly(terms(2 * log, 2 * all * log, all * log)));
    }
  }
}

TEST_CASE("A reduce-scatter and an allgather after it cost what the allreduce made of them does") {
  for (const int ranks : test::kRankCounts) {
    CAPTURE(ranks);
    const std::int64_t n = std::int64_t{1200} * ranks;
    const auto time = [&](const char* name) { return timed(name, ranks, n).time; };
    CHECK(time("dense_ring") == exactly(time("reduce_scatter_ring") + time("allgather_ring")));
    CHECK(time("dense_ring_segmented") == exactly(time("dense_ring")));
    if (!std::has_single_bit(static_cast<unsigned>(ranks))) continue;
    CHECK(time("dense_rabenseifner") ==
          exactly(time("reduce_scatter_recursive_halving") + time("allgather_recursive_doubling")));
  }
}

TEST_CASE("Collectives of any length cost what their cost model says, at any P") {
  Generator generator(12);
  for (const char* name :
       {"allgather_ring", "allgather_recursive_doubling", "allgather_bruck",
        "allgather_neighbor_exchange", "reduce_scatter_ring", "reduce_scatter_recursive_halving",
        "reduce_scatter_pairwise", "alltoall_pairwise", "alltoall_linear", "alltoall_bruck",
        "dense_nonoverlapping"}) {
    for (int ranks = 1; ranks < (test::kSanitized ? 10 : 40); ++ranks) {
      for (const std::int64_t n : {std::int64_t{1}, std::int64_t{ranks}, 1 + below(generator, 100),
                                   1 + below(generator, 100'000)}) {
        CAPTURE(std::string(name));
        CAPTURE(ranks);
        CAPTURE(n);
        const TimedCollective outcome = timed(name, ranks, n);
        CHECK(outcome.inside());
        const bool bruck = std::string(name) == "alltoall_bruck";
        const bool trees = std::string(name) == "dense_nonoverlapping";
        if (bruck && n % ranks == 0) CHECK(outcome.cost.exact);
        if (!bruck && !trees) CHECK(outcome.cost.exact);
      }
    }
  }
}

TEST_CASE("A segmented ring costs its interval, and one figure where all pieces are equal") {
  Generator generator(13);
  for (const int ranks : test::kRankCounts) {
    if (test::kSanitized && ranks > 8) continue;
    for (const std::int64_t bytes : {4, 100, 4000, 1 << 20}) {
      const std::int64_t even = std::int64_t{6} * ranks * (bytes / 4);
      for (const std::int64_t n :
           {std::int64_t{1}, even, 1 + below(generator, 30 * ranks * bytes)}) {
        if (n > 4'000'000 || n / bytes > 3000) continue;
        CAPTURE(ranks);
        CAPTURE(bytes);
        CAPTURE(n);
        const TimedCollective outcome =
            timed("dense_ring_segmented", ranks, n, {{"segment_bytes", bytes}});
        CHECK(outcome.inside());
        if (n != even) continue;
        CHECK(outcome.cost.exact);
        const double p = ranks;
        const double words = static_cast<double>(n) * (p - 1) / p;
        CHECK(outcome.time == exactly(terms(7 * (p - 1), 2 * words, words)));
        CHECK(outcome.cost.paper.low.messages == 7 * (p - 1));
      }
    }
  }
}

TEST_CASE("An all-to-all with some requests in flight costs its interval") {
  Generator generator(14);
  for (const int ranks : test::kRankCounts) {
    for (const std::int64_t requests : {0, 1, 3, 100}) {
      for (const std::int64_t n : {std::int64_t{200} * ranks, 1 + below(generator, 20000)}) {
        CAPTURE(ranks);
        CAPTURE(requests);
        CAPTURE(n);
        const TimedCollective outcome =
            timed("alltoall_linear", ranks, n, {{"requests", requests}});
        CHECK(outcome.inside());
        const bool some = requests == 3 && ranks > 4;
        CHECK(outcome.cost.exact == (!some || n % ranks == 0));
      }
    }
  }
}

TEST_CASE("The worked examples of the collectives' comments are right") {
  CHECK(timed("allgather_recursive_doubling", 4, 10).time == exactly(terms(2, 9, 0)));
  CHECK(timed("reduce_scatter_recursive_halving", 3, 12).time == exactly(terms(3, 24, 20)));
  CHECK(timed("alltoall_bruck", 4, 12).time == exactly(terms(2, 12, 0)));
  CHECK(timed("alltoall_pairwise", 4, 12).time == exactly(terms(3, 9, 0)));
}

TEST_CASE("Options of collectives do not change their results") {
  for (const int ranks : {1, 3, 7, 12, 23}) {
    for (const GradientSpace space :
         {GradientSpace{997, 1}, GradientSpace{5, 1}, GradientSpace{997, 4}}) {
      CAPTURE(ranks);
      CAPTURE(space.components);
      test::Networks networks;
      for (const std::int64_t bytes : {4, 16, 100}) {
        CHECK(test::dense_conforms(networks.alphabeta, find_scheme("dense_ring_segmented"), ranks,
                                   space, {{"segment_bytes", bytes}}));
      }
      for (const std::int64_t requests : {1, 2, 5}) {
        CHECK(test::dense_conforms(networks.alphabeta, find_scheme("alltoall_linear"), ranks, space,
                                   {{"requests", requests}}));
      }
    }
  }
}

}  // namespace thinwire::algorithms
