#include "sim/machine/workloads/iteration.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "algorithms/registry.hpp"
#include "tests/machine/workloads/trained.hpp"
#include "tests/support/approx.hpp"

namespace thinwire::workloads {

namespace {

WorkPrices some_prices() {
  const Price price{.call = Seconds(3e-6), .element = Seconds(2e-10)};
  return {.scan = price,
          .compare = price,
          .prefix_sum = price,
          .topk = price,
          .sample = price,
          .hash = price,
          .reduce = price,
          .scatter = price,
          .merge = price,
          .unite = price,
          .sort = price,
          .quantise = price,
          .to_host = price,
          .to_device = price};
}

bool is_hierarchical(const std::string& name) { return name.starts_with("hierarchical"); }

}  // namespace

TEST_CASE("An iteration of one rank is computation alone, whatever the scheme and the prices") {
  for (const algorithms::SchemeInfo& scheme : allreduces()) {
    CAPTURE(scheme.name);
    const Trained alone{.ranks = 1, .prices = some_prices()};
    const RunReport report = alone.run(scheme.name);
    CHECK(report.makespan().value() == test::approx(3e-4).epsilon(1e-12));
    const IterationParts parts = parts_of(report);
    CHECK(parts.computation.value() == test::approx(3e-4).epsilon(1e-12));
    CHECK(parts.sparsification == Seconds(0));
    CHECK(parts.communication.value() < 1e-15);
  }
}

TEST_CASE("The parts of an iteration add up to it, on every scheme") {
  for (const algorithms::SchemeInfo& scheme : allreduces()) {
    for (const int ranks : {2, 3, 8, 12}) {
      CAPTURE(scheme.name);
      CAPTURE(ranks);
      const Trained trained{.ranks = ranks, .prices = some_prices()};
      const RunReport report = trained.run(scheme.name);
      const IterationParts parts = parts_of(report);
      CHECK(parts.total().value() == test::approx(report.makespan().value()).epsilon(1e-12));
      CHECK(parts.computation.value() == test::approx(3e-4).epsilon(1e-12));
      // Of cltk one rank selects; dragonn finds these tensors too small.
      if (scheme.name == "cltk" || scheme.name == "dragonn") continue;
      CHECK((parts.sparsification > Seconds(0)) == !scheme.dense);
    }
  }
}

TEST_CASE("Local steps before an exchange add their computation, and nothing else") {
  for (const char* scheme : {"dense_ring", "dense_ovlp", "topka", "powersgd", "sparseloco"}) {
    CAPTURE(scheme);
    const Trained once{.prices = some_prices()};
    Trained more = once;
    more.local_steps = 5;
    const RunReport exchange = once.run(scheme);
    const RunReport all = more.run(scheme);
    CHECK(all.makespan().value() ==
          test::approx(exchange.makespan().value() + 4 * 3e-4).epsilon(1e-12));
    CHECK(parts_of(all).computation.value() == test::approx(5 * 3e-4).epsilon(1e-12));
    CHECK(all.ranks[0].total().words_sent == exchange.ranks[0].total().words_sent);
  }
}

TEST_CASE("Overlap is never slower than none") {
  for (const double beta : {1e-10, 1e-9, 2e-8}) {
    for (const int ranks : {2, 3, 7, 8, 12}) {
      for (const std::int64_t bucket : {500, 2000, 8000}) {
        CAPTURE(beta);
        CAPTURE(ranks);
        CAPTURE(bucket);
        Trained trained{.ranks = ranks, .beta = beta, .options = {{"bucket_words", bucket}}};
        const double with = trained.seconds("dense_ovlp");
        trained.overlap = false;
        const double without = trained.seconds("dense_ovlp");
        CHECK(with <= without * (1 + 1e-12));
        // Nor can it hide more than the backward pass, which has to run in any case.
        CHECK(with >= without - trained.backward - 1e-12);
        CHECK(with >= 3e-4);
      }
      Trained tensors{.ranks = ranks,
                      .beta = beta,
                      .options = {{"tensor_selection", false}},
                      .tensors = {1000, 2000, 1000, 4000}};
      const double with = tensors.seconds("dragonn");
      tensors.overlap = false;
      CHECK(with <= tensors.seconds("dragonn") * (1 + 1e-12));
    }
  }
}

TEST_CASE("A bucket starts when the last of its gradients is ready") {
  // Two buckets of half the gradient; the first is ready after half of the backward pass.
  Trained trained{.n = 8 * 1024, .options = {{"bucket_words", std::int64_t{4096}}}};
  const double one = 6 * kAlpha + 2 * 4096.0 * 7 / 8 * kBeta;
  CHECK(trained.seconds("dense_ovlp") ==
        test::approx(1e-4 + std::max(2e-4 + one, 1e-4 + 2 * one)).epsilon(1e-9));
  trained.backward = 2e-6;  // hardly any time to hide behind
  CHECK(trained.seconds("dense_ovlp") == test::approx(1e-4 + 1e-6 + 2 * one).epsilon(1e-9));
}

TEST_CASE("Layer by layer, a layer is selected when it is ready and sent while others are made") {
  // Two layers; the last is ready after half of the backward pass.
  const double backward = 2e-4;
  for (const double beta : {1e-10, 1e-9, 2e-7}) {
    CAPTURE(beta);
    Trained trained{.beta = beta, .backward = backward, .layers = {4000, 4000}};
    trained.prices.topk = {.call = Seconds(1e-5), .element = Seconds(1e-9)};
    trained.prices.scatter.element = Seconds(7e-10);
    trained.prices.to_host.element = Seconds(5e-10);
    trained.prices.to_device.element = Seconds(4e-10);
    const double selecting = 1e-5 + 4000 * 1e-9;
    const double words = 2.0 * 40 * 7;
    const double sending = 3 * kAlpha + words * beta + words / 2 * 7e-10;
    const double copies = 80 * 5e-10 + 2.0 * 40 * 8 * 4e-10;
    const double layer = sending + copies;
    const double first = 1e-4 + backward / 2 + selecting;
    const double second = 1e-4 + backward + 2 * selecting;
    const RunReport report = trained.run("topka");
    CHECK(report.makespan().value() ==
          test::approx(std::max(first + layer, second) + layer).epsilon(1e-9));
    CHECK(parts_of(report).sparsification.value() == test::approx(2 * selecting).epsilon(1e-9));
    CHECK(parts_of(report).computation.value() == test::approx(3e-4).epsilon(1e-9));
  }
}

TEST_CASE("Layer by layer is never slower than the same without overlap") {
  for (const char* name : {"ssar_recursive_double", "ssar_split_allgather", "dsar_split_allgather",
                           "topka", "oktopk"}) {
    for (const double beta : {1e-10, 1e-9, 2e-8}) {
      for (const int ranks : {2, 3, 8, 12}) {
        CAPTURE(std::string(name));
        CAPTURE(beta);
        CAPTURE(ranks);
        Trained trained{.ranks = ranks, .beta = beta, .layers = {1000, 3000, 4000}};
        const double with = trained.seconds(name);
        trained.overlap = false;
        const double without = trained.seconds(name);
        CHECK(with <= without * (1 + 1e-12));
        CHECK(with >= without - trained.backward - 1e-12);
      }
    }
  }
}

TEST_CASE("Compressing a tensor delays the backward pass that runs on the same device") {
  Trained trained{.options = {{"tensor_selection", false}}, .tensors = {4000, 4000}};
  const double free = trained.seconds("dragonn");
  trained.prices.compare.element = Seconds(1e-8);
  // Both tensors are compared on the way: 8000 components.
  CHECK(trained.seconds("dragonn") - free == test::approx(8e-5).epsilon(1e-6));
}

TEST_CASE("Decoding a tensor waits for the backward pass that runs on the same device") {
  Trained trained{.options = {{"tensor_selection", false}, {"sparse_decoding", false}},
                  .tensors = {4000, 4000}};
  trained.prices.reduce.element = Seconds(1e-8);
  // The first tensor's decoding hides the messages of the second, but nothing hides decoding.
  CHECK(trained.seconds("dragonn") == test::approx(3e-4 + 2 * 8 * 4000 * 1e-8).epsilon(1e-9));
}

TEST_CASE("More bandwidth and less latency are never slower") {
  for (const algorithms::SchemeInfo& scheme : allreduces()) {
    if (is_hierarchical(scheme.name)) continue;
    CAPTURE(scheme.name);
    for (const int ranks : {4, 8, 16}) {
      CAPTURE(ranks);
      double last = 0;
      for (const double beta : {1e-10, 1e-9, 1e-8}) {
        Trained trained{.ranks = ranks, .beta = beta, .prices = some_prices()};
        // Equation 1 knows nothing of decoding, nor of what hides behind the backward pass.
        if (scheme.name == "dragonn") trained.options = {{"tensor_selection", false}};
        const double time = trained.seconds(scheme.name);
        CHECK(time >= last);
        last = time;
      }
    }
  }
}

TEST_CASE("The kinds of oktopk's iterations have the shares that its periods give them") {
  const algorithms::SchemeInfo& oktopk = algorithms::find_scheme("oktopk");
  const auto kinds = kinds_of_iterations(
      oktopk, algorithms::Options(oktopk.options,
                                  {{"tau", std::int64_t{64}}, {"tau_prime", std::int64_t{32}}}));
  REQUIRE(kinds.size() == 3);
  CHECK(kinds[0].iteration == 1);
  CHECK(kinds[0].weight == test::approx(1.0 / 64));
  double sum = 0;
  for (const WeightedIteration& kind : kinds) {
    sum += kind.weight;
    if (kind.iteration == 33) CHECK(kind.weight == test::approx(1.0 / 64));
    // The ordinary ones are 1 to 31 iterations old, each twice: the one in the middle is 16.
    if (!kind.periodic) CHECK((kind.iteration - 1) % 32 == 16);
  }
  CHECK(std::ranges::count(kinds, false, &WeightedIteration::periodic) == 1);
  CHECK(sum == test::approx(1));
  // Nothing periodic: one iteration stands for all.
  const algorithms::SchemeInfo& topka = algorithms::find_scheme("topka");
  CHECK(kinds_of_iterations(topka, algorithms::Options(topka.options, {})).size() == 1);
  // Boundaries every 64, thresholds every 128 iterations.
  const auto bert = kinds_of_iterations(
      oktopk, algorithms::Options(oktopk.options, {{"tau_prime", std::int64_t{128}}}));
  REQUIRE(bert.size() == 3);
  CHECK(bert[0].weight == test::approx(1.0 / 128));
  // What is controlled by counts is measured over four iterations.
  const algorithms::SchemeInfo& exdyna = algorithms::find_scheme("exdyna");
  const auto settled = kinds_of_iterations(exdyna, algorithms::Options(exdyna.options, {}));
  CHECK(settled.size() == 4);
  CHECK(settled.front().weight == 0.25);
  CHECK(settled.back().weight == 0.25);
}

TEST_CASE("A run is completed by the kinds of iterations that it has not seen") {
  const algorithms::SchemeInfo& oktopk = algorithms::find_scheme("oktopk");
  const auto kinds_of = [&](std::int64_t tau, std::int64_t tau_prime, int last) {
    return kinds_from_run(
        oktopk, algorithms::Options(oktopk.options, {{"tau", tau}, {"tau_prime", tau_prime}}),
        last);
  };
  const auto both = kinds_of(64, 32, 2);
  REQUIRE(both.size() == 3);
  CHECK(both[0].iteration == 1);
  CHECK(both[0].periodic);
  CHECK(both[0].weight == test::approx(1.0 / 64));
  CHECK(both[1].iteration == 2);
  CHECK(!both[1].periodic);
  CHECK(both[1].weight == test::approx(62.0 / 64));
  CHECK(both[2].iteration == 33);
  CHECK(both[2].periodic);
  // The last one that ran represents its kind, also if that one is periodic.
  CHECK(kinds_of(64, 32, 40)[2].iteration == 40);
  CHECK(kinds_of(64, 32, 1)[1].iteration == 2);
  // A period of 1 is no periodic work: every iteration does it.
  const auto always = kinds_of(1, 1, 2);
  REQUIRE(always.size() == 1);
  CHECK(!always[0].periodic);
  CHECK(always[0].iteration == 2);
  // Neither the schemes without periods nor those with endless ones have kinds.
  const algorithms::SchemeInfo& topka = algorithms::find_scheme("topka");
  CHECK(kinds_from_run(topka, algorithms::Options(topka.options, {}), 2).empty());
  CHECK(kinds_of(1'000'003, 32, 2).empty());
}

}  // namespace thinwire::workloads
