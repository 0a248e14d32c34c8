#include "algorithms/schemes/dense_ovlp.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "algorithms/registry.hpp"
#include "sim/core/base/errors.hpp"
#include "tests/support/approx.hpp"
#include "tests/support/conformance.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/networks.hpp"
#include "tests/support/ranks.hpp"
#include "tests/support/sanitizers.hpp"
#include "tests/support/schemes.hpp"

namespace thinwire::algorithms {

using test::below;
using test::exactly;
using test::formula;
using test::Generator;
using test::GivenOptions;
using test::SchemeRanks;

namespace {

GivenOptions buckets_of(std::int64_t words) { return {{"bucket_words", words}}; }

DenseBlock zero_buckets(const GradientSpace& space) {
  return {0, std::vector<float>(static_cast<std::size_t>(space.coordinates()))};
}

RunReport run_once(Network& network, SchemeRanks& scheme) {
  const DenseBlock gradient = zero_buckets(scheme.setup().space);
  return scheme.run(network, 1, [&](int) { return gradient; }).report;
}

struct Bounds {
  Terms low;
  Terms high;
};

Bounds bounds_of(const Cost& cost) {
  return {cost.counted.low + cost.added.low, cost.counted.high + cost.added.high};
}

/// A backward pass in as many equal parts as there are buckets, each started when its part is done.
Task<void> backward(Communicator& comm, const DenseBuckets& buckets, const SchemeSetup& setup,
                    Message gradient, double part, double& end) {
  const BucketAllreduce allreduce = dense_ovlp_allreduce(setup.options);
  std::vector<Request> started;
  for (std::int64_t bucket = 0; bucket < buckets.count(); ++bucket) {
    co_await comm.compute(Seconds(part));
    started.push_back(buckets.start(comm, setup, gradient, bucket, allreduce));
  }
  std::vector<Message> sums = co_await comm.wait_all(started);
  const Message sum = DenseBuckets::join(setup, std::move(sums));
  if (sum.words != gradient.words) throw SimulationError("the sum has another length");
  end = comm.now().value();
}

}  // namespace

TEST_CASE("Buckets cover the gradient from its end to its beginning") {
  for (const std::int64_t n : {1, 7, 8, 9, 64, 1000}) {
    for (const std::int64_t words : {1, 3, 8, 64, 2000}) {
      CAPTURE(n);
      CAPTURE(words);
      const DenseBuckets buckets(n, words);
      CHECK(buckets.count() == (n + words - 1) / words);
      std::int64_t last = n;
      for (std::int64_t i = 0; i < buckets.count(); ++i) {
        CHECK(buckets.components(i).last == last);
        CHECK(buckets.components(i).length() == (i + 1 < buckets.count() ? words : last));
        last = buckets.components(i).first;
      }
      CHECK(last == 0);
    }
  }
}

TEST_CASE("dense_ovlp gives what a serial program gives, whatever its buckets") {
  const SchemeInfo& info = find_scheme("dense_ovlp");
  for (const int ranks : test::kRankCounts) {
    if (test::kSanitized && ranks > 8) continue;
    for (const GradientSpace space : {GradientSpace{960, 1}, GradientSpace{997, 4}}) {
      for (const std::int64_t words : {1, 50, 100, 996, 5000}) {
        if (words == 1 && ranks > 12) continue;  // a thousand buckets
        CAPTURE(ranks);
        CAPTURE(space.granule);
        CAPTURE(words);
        test::Networks networks;
        const GivenOptions options = buckets_of(words);
        CHECK(test::dense_conforms(networks.alphabeta, info, ranks, space, options));
        CHECK(test::dense_conforms(networks.counting, info, ranks, space, options));
      }
    }
  }
}

TEST_CASE("dense_ovlp costs its formula where P is a power of two that divides every bucket") {
  const SchemeInfo& info = find_scheme("dense_ovlp");
  for (const int ranks : {1, 2, 4, 8, 16, 32, 64}) {
    for (const std::int64_t granule : {1, 64}) {
      for (const std::int64_t count : {1, 2, 7}) {
        for (const std::int64_t rest : {0, 3}) {
          CAPTURE(ranks);
          CAPTURE(granule);
          CAPTURE(count);
          CAPTURE(rest);
          const std::int64_t words = 640;
          const std::int64_t n = count * words + rest * 64;
          const auto buckets = static_cast<double>(count + (rest > 0 ? 1 : 0));
          test::Networks networks;
          SchemeRanks scheme(info, ranks, {n, granule}, 0, buckets_of(words));
          const Cost cost = scheme.cost(1);
          CHECK(cost.exact);
          const Bounds bounds = bounds_of(cost);
          const double p = ranks;
          CHECK(bounds.low.messages == 2 * buckets * std::log2(p));
          CHECK(bounds.low.words == test::approx(2 * static_cast<double>(n) * (p - 1) / p));
          CHECK(bounds.high.messages == bounds.low.messages);
          CHECK(bounds.high.words == bounds.low.words);
          CHECK(cost.paper.low.messages == bounds.low.messages);
          CHECK(run_once(networks.alphabeta, scheme).makespan().value() ==
                exactly(formula(bounds.low.messages, bounds.low.words)));
          CHECK(static_cast<double>(run_once(networks.counting, scheme).steps()) ==
                bounds.low.messages);
        }
      }
    }
  }
}

TEST_CASE("One bucket costs what dense_rabenseifner costs") {
  for (const int ranks : test::kRankCounts) {
    for (const std::int64_t n : {1, 63, 1000, 100'000}) {
      CAPTURE(ranks);
      CAPTURE(n);
      test::Networks networks;
      SchemeRanks one(find_scheme("dense_ovlp"), ranks, {n, 1}, 0);
      SchemeRanks longest(find_scheme("dense_ovlp"), ranks, {n, 1}, 0, buckets_of(INT64_MAX));
      SchemeRanks plain(find_scheme("dense_rabenseifner"), ranks, {n, 1}, 0);
      const double whole = run_once(networks.alphabeta, plain).makespan().value();
      CHECK(run_once(networks.alphabeta, one).makespan().value() == whole);
      CHECK(run_once(networks.alphabeta, longest).makespan().value() == whole);
      CHECK(bounds_of(one.cost(1)).low.words == bounds_of(plain.cost(1)).low.words);
    }
  }
}

TEST_CASE("dense_ovlp around rings costs rings of all buckets, at any P and n") {
  const SchemeInfo& info = find_scheme("dense_ovlp");
  for (const int ranks : {1, 2, 3, 7, 12, 16, 23}) {
    for (const std::int64_t n : {1, 300, 640, 997}) {
      CAPTURE(ranks);
      CAPTURE(n);
      GivenOptions options = buckets_of(300);
      options["ring"] = true;
      double messages = 0;
      double least = 0;
      double most = 0;
      bool even = n <= 300;
      for (std::int64_t left = n; left > 0; left -= 300) {
        const std::int64_t bucket = std::min<std::int64_t>(left, 300);
        messages += 2 * (ranks - 1);
        least += 2.0 * (ranks - 1) * static_cast<double>(bucket / ranks);
        most += 2.0 * (ranks - 1) * static_cast<double>((bucket + ranks - 1) / ranks);
      }
      even = even || least == most;
      test::Networks networks;
      SchemeRanks scheme(info, ranks, {n, 1}, 0, options);
      CHECK(scheme.cost(1).exact == even);
      const double time = run_once(networks.alphabeta, scheme).makespan().value();
      CHECK(time <= formula(messages, most) * (1 + 1e-9));
      CHECK(time >= formula(messages, even ? most : least) * (1 - 1e-9));
      CHECK(test::dense_conforms(networks.alphabeta, info, ranks, {n, 1}, options));
    }
  }
}

TEST_CASE("dense_ovlp costs what its interval allows at any n, bucket, P, α and β") {
  const SchemeInfo& info = find_scheme("dense_ovlp");
  Generator generator(11);
  constexpr std::array kAlphas{1.3e-6, 1e-7, 1e-9, 1e-12};
  constexpr std::array kMost{50, 3000, 30'000};
  for (const int ranks : test::kRankCounts) {
    for (int i = 0; i < 60; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const std::int64_t n = 1 + below(generator, kMost[at % kMost.size()]);
      const std::int64_t words = std::max(1 + below(generator, n), n / 20 + 1);
      const double alpha = kAlphas[at / 3 % kAlphas.size()];
      CAPTURE(ranks);
      CAPTURE(n);
      CAPTURE(words);
      CAPTURE(alpha);
      networks::AlphaBetaNetwork network(networks::alpha_beta(Seconds(alpha), test::kBeta));
      SchemeRanks scheme(info, ranks, {n, 1}, 0, buckets_of(words));
      const Cost cost = scheme.cost(1);
      const Bounds bounds = bounds_of(cost);
      const auto seconds = [&](const Terms& terms) {
        return alpha * terms.messages + test::kBeta.value() * terms.words;
      };
      const double time = run_once(network, scheme).makespan().value();
      CHECK(time >= seconds(bounds.low) * (1 - 1e-9));
      CHECK(time <= seconds(bounds.high) * (1 + 1e-9));
      if (cost.exact) CHECK(time == exactly(seconds(bounds.low)));
    }
  }
}

TEST_CASE("The worked example of dense_ovlp's comment is right") {
  test::Networks networks;
  SchemeRanks scheme(find_scheme("dense_ovlp"), 4, {20, 1}, 0, buckets_of(8));
  CHECK(run_once(networks.alphabeta, scheme).makespan().value() == exactly(formula(12, 30)));
  CHECK(scheme.cost(1).exact);
}

TEST_CASE("Buckets that are started as the backward pass goes hide behind it") {
  const GradientSpace space{.components = 64'000, .granule = 1};
  const DenseBuckets buckets(space.components, 16'000);
  const double one = formula(2 * 3, 2 * 16'000 * 7.0 / 8);  // of a bucket, P = 8
  for (const double part : {0.25 * one, one, 3 * one}) {
    CAPTURE(part);
    SharedWork shared(4096);
    const SchemeSetup setup{.ranks = 8,
                            .space = space,
                            .gamma = Seconds(0),
                            .options = Options(dense_ovlp_scheme().options, {}),
                            .shared = &shared};
    std::vector<double> ends(8);
    test::Networks networks;
    networks.alphabeta.run(8, [&](Communicator& comm) {
      return backward(comm, buckets, setup, message_of(Stream(zero_buckets(space)), space), part,
                      ends[static_cast<std::size_t>(comm.rank().value())]);
    });
    // Either the backward pass, and then its last bucket, or its first part and then all buckets.
    for (const double end : ends) {
      CHECK(end == exactly(std::max(4 * part + one, part + 4 * one)));
    }
  }
}

TEST_CASE("What the buckets take is booked on the second strand, and the waiting on the first") {
  test::Networks networks;
  SchemeRanks scheme(find_scheme("dense_ovlp"), 8, {6400, 1}, 0, buckets_of(1600));
  const RunReport report = run_once(networks.alphabeta, scheme);
  const auto phase = [&](const RankReport& rank, const char* name) {
    const auto found = std::ranges::find(report.phases, name);
    REQUIRE(found != report.phases.end());
    return rank.by_phase[static_cast<std::size_t>(found - report.phases.begin())];
  };
  for (const RankReport& rank : report.ranks) {
    CHECK(phase(rank, "wait").time.value() == exactly(report.makespan().value()));
    CHECK(phase(rank, "allreduce").time.value() == exactly(report.makespan().value()));
    CHECK(phase(rank, "wait").messages_sent == 0);
    CHECK(phase(rank, "allreduce").messages_sent == 4 * 6);
    CHECK(phase(rank, "allreduce").words_received == Words(11'200));
  }
}

TEST_CASE("Buckets of no words are refused") {
  CHECK(test::contains(test::error_of<InputError>([] {
                         static_cast<void>(
                             Options(find_scheme("dense_ovlp").options, buckets_of(0)));
                       }),
                       "option 'bucket_words' must be at least 1"));
}

}  // namespace thinwire::algorithms
