// What the schemes' work on a device costs: each price times the elements and calls it is paid for.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "algorithms/registry.hpp"
#include "algorithms/sparsifiers/deft.hpp"
#include "sim/machine/workloads/iteration.hpp"
#include "tests/machine/workloads/trained.hpp"
#include "tests/support/approx.hpp"
#include "tests/support/gradients.hpp"

namespace thinwire::workloads {

TEST_CASE("PowerSGD pays for three products, the orthogonalisation and its residual") {
  Trained trained{.ranks = 8, .n = 10'000};
  const double free = trained.seconds("powersgd");
  trained.prices.scan = {.call = Seconds(1e-6), .element = Seconds(1e-10)};
  const double products = 3 * (1e-6 + 1e-10 * (10'000 + 400));
  const double orthogonal = 12 * 1e-6 + 1e-10 * 100 * (5 + 9 + 5);
  CHECK(trained.seconds("powersgd") == test::approx(free + products + orthogonal));
  const double kept = trained.seconds("powersgd");
  trained.feedback = algorithms::Feedback::residual;
  CHECK(trained.seconds("powersgd") == test::approx(kept + 2 * 1e-6 + 5 * 1e-10 * 10'000));
}

TEST_CASE("A dense allreduce costs what its formula says, after the computation and the copies") {
  Trained trained{.n = 8 * 1024};
  trained.prices.reduce.element = Seconds(3e-10);
  trained.prices.to_host = {.call = Seconds(1e-6), .element = Seconds(5e-10)};
  trained.prices.to_device = {.call = Seconds(2e-6), .element = Seconds(4e-10)};
  const double n = 8 * 1024;
  const double share = n * 7 / 8;
  const double formula = 6 * kAlpha + 2 * share * kBeta + share * 3e-10;
  const double copies = 3e-6 + n * 9e-10;
  CHECK(trained.seconds("dense_rabenseifner") ==
        test::approx(3e-4 + formula + copies).epsilon(1e-9));
}

TEST_CASE("A sparse one pays for the selection, for what it gathers and for its copies") {
  Trained trained;
  trained.prices.topk = {.call = Seconds(1e-5), .element = Seconds(1e-9)};
  trained.prices.scatter.element = Seconds(7e-10);
  trained.prices.to_host.element = Seconds(5e-10);
  trained.prices.to_device.element = Seconds(4e-10);
  const double selecting = 1e-5 + 8000 * 1e-9;
  const double words = 2.0 * 80 * 7;
  const double formula = 3 * kAlpha + words * kBeta + words / 2 * 7e-10;
  const double copies = 160 * 5e-10 + 2.0 * 80 * 8 * 4e-10;  // own ones out, all ranks' back
  const RunReport report = trained.run("topka");
  CHECK(report.makespan().value() ==
        test::approx(3e-4 + selecting + formula + copies).epsilon(1e-9));
  CHECK(parts_of(report).sparsification.value() == test::approx(selecting).epsilon(1e-9));
}

TEST_CASE("Decoding sets vectors to zero and scatters: one a sender, or one for all") {
  Trained trained;
  trained.prices.scan = {.call = Seconds(1e-6), .element = Seconds(3e-10)};
  trained.prices.scatter = {.call = Seconds(2e-6), .element = Seconds(7e-10)};
  trained.prices.reduce = {.call = Seconds(4e-6), .element = Seconds(5e-10)};
  const double gathering = 7 * kAlpha + 2.0 * 80 * 7 * kBeta;
  const double each = 8000 * (3e-10 + 5e-10) + 80 * 7e-10;  // 6.456 us, less than three launches
  CHECK(each < 7e-6);
  CHECK(trained.seconds("topk_exact") == test::approx(3e-4 + gathering + 8 * 7e-6).epsilon(1e-9));
  trained.prices.reduce.call = Seconds(0);
  CHECK(trained.seconds("topk_exact") == test::approx(3e-4 + gathering + 8 * each).epsilon(1e-9));
  trained.options = {{"sparse_decoding", true}};
  CHECK(trained.seconds("topk_exact") ==
        test::approx(3e-4 + gathering + 3e-6 + 8000 * 3e-10 + 7 * 80 * 7e-10).epsilon(1e-9));
}

TEST_CASE("Error feedback reads and writes its buffers, and clears what contributed") {
  for (const algorithms::SchemeInfo& scheme : allreduces()) {
    CAPTURE(scheme.name);
    Trained trained{.options = {}};
    if (scheme.name == "dragonn") trained.options["tensor_selection"] = false;
    const double without = trained.seconds(scheme.name);
    trained.prices.scan = {.call = Seconds(1e-6), .element = Seconds(1e-10)};
    // What else a scheme scans it also scans without feedback.
    const double scanned = trained.seconds(scheme.name) - without;
    trained.feedback = algorithms::Feedback::residual;
    const double residual = trained.seconds(scheme.name) - without - scanned;
    trained.feedback = algorithms::Feedback::momentum;
    const double momentum = trained.seconds(scheme.name) - without - scanned;
    // On all ranks, and before any message: ranks that did not select have the same to do.
    const bool keeps_nothing =
        scheme.dense && scheme.name != "powersgd" && scheme.name != "signsgd";
    CHECK(residual == test::approx(keeps_nothing ? 0 : 2e-6 + 5 * 8000 * 1e-10).epsilon(1e-6));
    CHECK(momentum == test::approx(keeps_nothing ? 0 : 3e-6 + 8 * 8000 * 1e-10).epsilon(1e-6));
  }
  Trained trained{.feedback = algorithms::Feedback::momentum};
  const double without = trained.seconds("topka");
  trained.prices.scan.element = Seconds(1e-10);
  const RunReport report = trained.run("topka");
  CHECK(parts_of(report).sparsification.value() == test::approx(8 * 8000 * 1e-10).epsilon(1e-9));
  // Velocity and accumulator are cleared at the 80 that were sent.
  trained.prices.scan.element = Seconds(0);
  trained.prices.scatter = {.call = Seconds(3e-6), .element = Seconds(1e-9)};
  CHECK(trained.seconds("topka") - without ==
        test::approx(2 * (3e-6 + 80 * 1e-9) + 3e-6 + 7 * 80 * 1e-9).epsilon(1e-9));
}

TEST_CASE("A tensor that is sent dense keeps nothing, and one that is compressed does") {
  Trained trained{.options = {{"compress_s", 0.0}, {"compress_s_per_component", 0.0}},
                  .tensors = {4000, 4000},
                  .feedback = algorithms::Feedback::momentum};
  trained.prices.scan.element = Seconds(1e-9);
  const auto spent = [&] {
    const RunReport report = trained.run("dragonn");
    const auto at = std::ranges::find(report.phases, algorithms::kErrorFeedback);
    if (at == report.phases.end()) return 0.0;
    return report.ranks[0]
        .by_phase[static_cast<std::size_t>(at - report.phases.begin())]
        .time.value();
  };
  CHECK(spent() == test::approx(8 * 8000 * 1e-9).epsilon(1e-9));
  trained.options["compress_s"] = 1.0;  // honoured with a device, too
  CHECK(spent() == 0);
}

TEST_CASE("Equation 1 weighs a tensor by the device's prices of encoding and of decoding") {
  // Saved, P = 8, d = 8000 and s = 160: 7 alpha + (2 7/8 8000 - 7 160) beta.
  const double saved = 7 * kAlpha + (14000 - 1120) * kBeta;
  Trained trained;
  const auto compresses = [&] {
    const RunReport report = trained.run("dragonn");
    return std::ranges::find(report.phases, "dense_tensors") == report.phases.end();
  };
  const auto set_to = [&](Price& price, double share) {
    trained.prices = {};
    price.call = Seconds(share * saved);
  };
  for (const double share : {0.99, 1.01}) {
    CAPTURE(share);
    const bool pays = share < 1;
    set_to(trained.prices.compare, share);  // encoding
    CHECK(compresses() == pays);
    set_to(trained.prices.scatter, share);  // decoding
    CHECK(compresses() == pays);
    trained.prices = {};
    trained.prices.scatter.element = Seconds(share * saved / (8 * 80));  // the entries of all ranks
    CHECK(compresses() == pays);
    trained.prices = {};
    trained.prices.scan.element = Seconds(share * saved / 8000);  // zeros to decode into
    CHECK(compresses() == pays);
    trained.options = {{"sparse_decoding", false}};
    trained.prices = {};
    trained.prices.reduce.element = Seconds(share * saved / (8 * 8000));  // a sum for each sender
    CHECK(compresses() == pays);
    trained.options.clear();
  }
}

TEST_CASE("gtopk sorts what it merges, on each level of its tree") {
  Trained trained;
  const double free = trained.seconds("gtopk");
  trained.prices.sort = {.call = Seconds(1e-5), .element = Seconds(1e-8)};
  CHECK(trained.seconds("gtopk") - free == test::approx(3 * (1e-5 + 160 * 1e-8)).epsilon(1e-9));
}

TEST_CASE("Schemes that share indexes unite them, and read and write values there") {
  // 80 indexes of each of 8 ranks are united; K of them remain, and n components are set to 0.
  Trained trained;
  const double free = trained.seconds("topk_allreduce");
  trained.prices.unite = {.call = Seconds(1e-5), .element = Seconds(1e-8)};
  CHECK(trained.seconds("topk_allreduce") - free == test::approx(1e-5 + 640 * 1e-8).epsilon(1e-9));
  trained.prices.unite = {};
  trained.prices.scan = {.call = Seconds(1e-6), .element = Seconds(1e-9)};
  CHECK(trained.seconds("cltk") - Trained().seconds("cltk") ==
        test::approx(1e-6 + 8000 * 1e-9).epsilon(1e-9));
  trained.prices.scan = {};
  trained.prices.scatter.call = Seconds(1e-6);  // once to read, once to write
  CHECK(trained.seconds("cltk") - Trained().seconds("cltk") == test::approx(2e-6).epsilon(1e-9));
  // exdyna's parts have no index in common: nothing is sorted.
  Trained parts;
  const double copied = parts.seconds("exdyna");
  parts.prices.unite.call = Seconds(1);
  CHECK(parts.seconds("exdyna") == copied);
}

TEST_CASE("With cltk one rank selects and the others wait for it") {
  Trained trained;
  trained.prices.topk.element = Seconds(1e-8);
  const RunReport report = trained.run("cltk");
  int selecting = 0;
  const auto phase =
      std::ranges::find(report.phases, algorithms::kSparsification) - report.phases.begin();
  for (const RankReport& rank : report.ranks) {
    const auto at = static_cast<std::size_t>(phase);
    if (at < rank.by_phase.size() && rank.by_phase[at].time > Seconds(0)) ++selecting;
    CHECK(rank.finished.value() > 3e-4 + 8e-5);
  }
  CHECK(selecting == 1);
}

TEST_CASE("A region that becomes dense costs the device its zeros and its entries") {
  Trained trained{};
  const Price price{.call = Seconds(1e-6), .element = Seconds(3e-10)};
  // Selecting scans and sums scatter, too, so the difference to regions that stay sparse counts.
  // There the whole sum is decoded at the end.
  const auto added = [&](Price WorkPrices::*of) {
    const auto with = [&](const std::string& scheme) {
      trained.prices.*of = {};
      const double free = trained.seconds(scheme);
      trained.prices.*of = price;
      const double priced = trained.seconds(scheme);
      trained.prices.*of = {};
      return priced - free;
    };
    return with("dsar_split_allgather") - with("ssar_split_allgather");
  };
  CHECK(added(&WorkPrices::scan) == test::approx((8000 / 8 - 8000) * 3e-10).epsilon(1e-9));
  // As many entries, on each rank the entries of its own region.
  CHECK(added(&WorkPrices::scatter) < 0);
}

TEST_CASE(
    "Every sparse sum is written into a dense vector, at the price of its zeros and entries") {
  int schemes = 0;
  for (const algorithms::SchemeInfo& scheme : allreduces()) {
    // Blocks are received where they belong.
    if (scheme.dense || scheme.name == "omnireduce") continue;
    // An exact top-k neither scans nor scatters.
    const std::string exact = scheme.name + "+exact_topk";
    const bool composes = test::error_of<InputError>([&] {
                            static_cast<void>(algorithms::find_scheme(exact));
                          }) == "(nothing was thrown)";
    const std::string name = composes ? exact : scheme.name;
    CAPTURE(name);
    Trained trained;
    if (scheme.name == "dragonn") trained.options = {{"tensor_selection", false}};
    const double free = trained.seconds(name);
    trained.prices.scan.element = Seconds(1e-3);
    const double zeros = (trained.seconds(name) - free) / 1e-3;
    // dsar receives regions that are dense, but its own; zen looks up each component in a mask.
    const bool written_once = scheme.name == "dsar_split_allgather" || scheme.name == "zen";
    CHECK(zeros >= static_cast<double>(trained.n) / (written_once ? 8 : 1) * (1 - 1e-9));
    trained.prices.scan.element = {};
    trained.prices.scatter.element = Seconds(1e-3);
    trained.prices.reduce.element = Seconds(1e-3);  // for those that gather dense vectors
    const double entries = (trained.seconds(name) - free) / 1e-3;
    CHECK(entries >= static_cast<double>(trained.k) / 2);
    ++schemes;
  }
  CHECK(schemes > 20);
}

TEST_CASE("Finding what a selection and a sum have in common takes a mask and look-ups") {
  for (const char* name : {"gtopk", "oktopk", "spardl"}) {
    CAPTURE(std::string(name));
    const std::string exact = std::string(name) + "+exact_topk";
    Trained trained;
    const double free = trained.seconds(exact);
    trained.prices.scan.element = Seconds(1e-3);
    // n zeros of 4 bytes to decode into, and n of one byte.
    CHECK(trained.seconds(exact) - free == test::approx((8000 + 8000 / 4) * 1e-3).epsilon(1e-6));
  }
}

TEST_CASE("Each price of a scheme counts the elements or the calls that it names") {
  constexpr double kPrice = 1e-3;
  const auto added = [](const Trained& trained, const std::string& name, Price WorkPrices::*of,
                        Price price) {
    Trained priced = trained;
    priced.prices.*of = price;
    return (priced.seconds(name) - trained.seconds(name)) / kPrice;
  };
  const auto elements = [&](const std::string& name, Price WorkPrices::*of,
                            const Trained& trained = {}) {
    return added(trained, name, of, {.call = Seconds(0), .element = Seconds(kPrice)});
  };
  const auto calls = [&](const std::string& name, Price WorkPrices::*of, const Trained& trained) {
    return added(trained, name, of, {.call = Seconds(kPrice), .element = Seconds(0)});
  };
  const auto is = [](double count) { return test::approx(count).epsilon(1e-6); };
  const double n = 8000;
  const double k = 80;
  // Each aggregator adds its eighth of seven ranks, and each rank sends seven eighths in blocks of
  // 250 with two words each, in four rounds.
  const Trained full{.k = 4000,
                     .options = {{"block", std::int64_t{250}}, {"streams", std::int64_t{1}}}};
  CHECK(elements("omnireduce+exact_topk", &WorkPrices::reduce, full) == is(7 * n / 8));
  CHECK(elements("omnireduce+exact_topk", &WorkPrices::to_host, full) == is(28 * (250 + 2)));
  // Layer by layer, values of few bits are copied as they are, too: 40 of each of two layers, and
  // what eight ranks sent back.
  const Trained by_layer{.layers = {4000, 4000}};
  for (Price WorkPrices::*const copy : {&WorkPrices::to_host, &WorkPrices::to_device}) {
    const double whole = elements("sparseloco", copy);
    CHECK(whole > 0);
    CHECK(elements("sparseloco", copy, by_layer) == test::approx(whole).epsilon(0.25));
  }
  // A rank adds what seven others push to it, about an eighth of each, and decodes the sum.
  const double scattered = elements("zen+exact_topk", &WorkPrices::scatter);
  const double united = 8 * k * (1 - 3.5 * k / n);  // of 8 ranks, less what two of them select
  CHECK(scattered > 0.95 * (united + 7 * k / 8));
  CHECK(scattered < 1.08 * (united + 7 * k / 8));
  CHECK(elements("zen+exact_topk", &WorkPrices::compare) == is(n));           // a mask, decoded
  CHECK(elements("zen+exact_topk", &WorkPrices::prefix_sum) == is(2.2 * k));  // of the hash memory
  const double encoded = elements("zen+exact_topk", &WorkPrices::scan);  // the entries of its hash
  CHECK(encoded > 0.8 * n / 8);
  CHECK(encoded < 1.2 * n / 8);
  CHECK(elements("omnireduce+exact_topk", &WorkPrices::scan) == is(n));  // blocks that are not 0
  // A merge in each of three rounds; decoding; the mask of the result, and looking up one's own.
  CHECK(elements("gtopk+exact_topk", &WorkPrices::scatter) == is(3 * k + k + 2 * k));
  CHECK(elements("spardl", &WorkPrices::sort) == is(2 * k * 7 / 8));  // two vectors in each round
  // Dense tensors come back from the host.
  const Trained dense{.options = {{"compress_s", 1.0}}, .tensors = {4000, 4000}};
  CHECK(elements("dragonn", &WorkPrices::to_device, dense) == is(n));
  // Decoding scans twice.
  const Trained layered{.tensors = {4000, 4000}};
  const std::vector<std::int64_t> begins = algorithms::deft_layers(8000, layered.tensors, 8);
  const auto layers = static_cast<double>(begins.size() - 1);
  CHECK(calls("deft", &WorkPrices::scan, layered) == is(layers + 2));
  CHECK(calls("deft", &WorkPrices::topk, layered) == is(std::ceil(layers / 8)));
}

TEST_CASE("Ok-Topk's exact global threshold is found among all entries that any rank selected") {
  const Trained trained;
  std::set<std::uint32_t> selected;
  for (int rank = 0; rank < trained.ranks; ++rank) {
    const SparseVector gradient =
        test::shaped_gradient(test::Shape::random, static_cast<std::uint32_t>(trained.n),
                              trained.ranks, rank, 1, static_cast<int>(2 * trained.k));
    test::Entries entries(gradient.entries().begin(), gradient.entries().end());
    std::ranges::sort(entries, std::greater<>(), [](const Entry& e) { return std::abs(e.value); });
    for (std::int64_t i = 0; i < trained.k; ++i) {
      selected.insert(entries[static_cast<std::size_t>(i)].coordinate);
    }
  }
  const auto all = static_cast<double>(selected.size());
  Trained priced;
  priced.prices.topk.element = Seconds(1e-3);
  const double sorted =
      (priced.seconds("oktopk+exact_topk") - trained.seconds("oktopk+exact_topk"));
  CHECK(sorted == test::approx((8000 + all) * 1e-3).epsilon(1e-6));
  // What a region keeps of its sum is compacted: the fullest one waits for none.
  priced.prices = {};
  priced.prices.prefix_sum.element = Seconds(1e-3);
  const double kept = priced.seconds("oktopk+exact_topk") - trained.seconds("oktopk+exact_topk");
  CHECK(kept >= all / 8 * 1e-3);
  CHECK(kept <= all / 4 * 1e-3);
}

TEST_CASE("Equation 1 weighs a sparsifier by what it takes") {
  Trained trained{.n = 8'000, .beta = 1e-7};
  const double dense = trained.seconds("dense_ring");
  const double cheap = trained.seconds("dragonn+exact_topk");
  CHECK(cheap < 0.8 * dense);
  trained.prices.topk.element = Seconds(1e-5);  // 80 ms, more than the messages take
  CHECK(trained.seconds("dragonn+exact_topk") == test::approx(dense).epsilon(0.02));
  CHECK(trained.seconds("dragonn+random_k") < 0.8 * dense);
}

TEST_CASE("Quantising and restoring cost the device their price") {
  Trained trained{.options = {{"bits", std::int64_t{4}}}};
  const Price price{.call = Seconds(1e-6), .element = Seconds(3e-10)};
  const auto added = [&](const std::string& name) {
    trained.prices.quantise = {};
    const double free = trained.seconds(name);
    trained.prices.quantise = price;
    return trained.seconds(name) - free;
  };
  const auto about = [](double seconds) { return test::approx(seconds).epsilon(1e-9); };
  const double n = 8000;
  // Each rank its own region, and all regions back.
  CHECK(added("dsar_split_allgather") == about(2e-6 + (n / 8 + n) * 3e-10));
  CHECK(added("qsgd") == about(9e-6 + 9 * n * 3e-10));
  trained.options = {{"bits", std::int64_t{32}}};
  CHECK(added("dsar_split_allgather") == test::approx(0).scale(1e-12));
  trained.options = {};
  CHECK(added("signsgd") == about(9e-6 + 9 * n * 3e-10));
  // The mean magnitude takes a pass of its own.
  const double without_scan = trained.seconds("signsgd");
  trained.prices.scan = {.call = Seconds(2e-6), .element = Seconds(1e-10)};
  CHECK(trained.seconds("signsgd") - without_scan == about(2e-6 + n * 1e-10));
}

TEST_CASE("Ok-Topk pays for boundaries, the global comparison and the intersection") {
  Trained trained;
  const double free = trained.seconds("oktopk");
  trained.prices.sample = {.call = Seconds(5e-6), .element = Seconds(1e-6)};
  // Iteration 1 reads entries at 8 positions.
  CHECK(trained.seconds("oktopk") - free == test::approx(5e-6 + 8e-6).epsilon(1e-6));
  Trained equal{.options = {{"balanced_split", false}}};
  const double equal_free = equal.seconds("oktopk");
  equal.prices.sample = trained.prices.sample;
  CHECK(equal.seconds("oktopk") == test::approx(equal_free).epsilon(1e-12));

  // Selecting compares all n. What is left is one region of the sum, which all ranks' selections
  // bound.
  trained.prices = {};
  trained.prices.compare.element = Seconds(1e-6);
  const double compared =
      (trained.seconds("oktopk") - free) / 1e-6 - static_cast<double>(trained.n);
  CHECK(compared > 0);
  CHECK(compared <= static_cast<double>(trained.k * trained.ranks));
}

}  // namespace thinwire::workloads
