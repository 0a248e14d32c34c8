// Points with a workload, as a user gives them.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <utility>

#include "sim/app/report/tables/comparison.hpp"
#include "sim/app/results/compare.hpp"
#include "sim/app/results/outcome_json.hpp"
#include "sim/app/run/simulate.hpp"
#include "sim/core/base/errors.hpp"
#include "tests/support/approx.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/sanitizers.hpp"
#include "traces/synthetic.hpp"

namespace thinwire::run {

namespace {

using test::contains;
using test::error_of;

results::Row run(const Json& point) {
  results::Row row = simulate_point("test", plan::point_from(point, "test"));
  CAPTURE(row.reason);
  REQUIRE(row.outcome);
  return row;
}

/// f(t) of Equation 5.
double padding_of(const results::Row& row) {
  const results::SelectionSummary& selection = *row.outcome->selection;
  return static_cast<double>(row.point.ranks * selection.most) /
         static_cast<double>(selection.total);
}

Json bert(const std::string& scheme, int ranks) {
  return {{"scheme", scheme}, {"ranks", ranks}, {"workload", {{"model", "bert"}}}};
}

std::string complaint(const Json& point) {
  return error_of<InputError>([&] { static_cast<void>(plan::point_from(point, "test")); });
}

}  // namespace

TEST_CASE("A model brings the size, the density, the profile and the device") {
  const plan::Point point = plan::point_from(bert("oktopk", 64), "test");
  CHECK(point.space.components == 133'547'324);
  CHECK(point.k == 1'335'473);
  CHECK(point.input.profile == "bert");
  CHECK(point.input.statistical);
  CHECK(point.workload.device == "p100");
  CHECK(point.iterations == 0);
  // It comes back as it went.
  const plan::Point again = plan::point_from(to_json(point), "test");
  CHECK(to_json(again) == to_json(point));
  CHECK(plan::key_of(again) == plan::key_of(point));
  Json other = bert("oktopk", 64);
  other["workload"]["device"] = "h100";
  CHECK(plan::key_of(plan::point_from(other, "test")) != plan::key_of(point));
}

TEST_CASE("A model's options hold for schemes that have them, and a point overrides them") {
  const auto tau_prime = [](const Json& point) {
    return std::get<std::int64_t>(plan::point_from(point, "test").options.at("tau_prime"));
  };
  CHECK(tau_prime(bert("oktopk", 64)) == 128);
  CHECK(tau_prime(bert("gaussiank+threshold_reuse", 64)) == 128);
  CHECK(!plan::point_from(bert("topka", 64), "test").options.contains("tau_prime"));
  Json own = bert("oktopk", 64);
  own["options"] = {{"tau_prime", 32}};
  CHECK(tau_prime(own) == 32);
  CHECK(tau_prime({{"scheme", "oktopk"}, {"workload", {{"model", "vgg16"}}}}) == 32);
}

TEST_CASE("exdyna is measured once its partitions have settled, and the row says when") {
  const Json input = {{"profile", "vgg16"}, {"statistical", true}};
  const auto traffic = [&](const Json& options) {
    double mean = 0;
    for (const int iterations : {1, 2, 3, 4}) {
      const results::Row row = run({{"scheme", "exdyna"},
                                    {"ranks", 16},
                                    {"iterations", iterations},
                                    {"input", input},
                                    {"options", options}});
      mean += padding_of(row) / 4;
    }
    return mean;
  };
  CHECK(traffic({{"settled", false}}) > 3.5);
  CHECK(traffic({{"settled", true}}) < 2.2);  // 1.9 after 3,000 iterations, run one by one
  const results::Row settled = run({{"scheme", "exdyna"}, {"ranks", 16}, {"input", input}});
  REQUIRE(settled.outcome->settling_iterations);
  const std::string origin = "test";
  CHECK(*settled.outcome->settling_iterations > 1000);
  const Json json = to_json(*settled.outcome, true);
  CHECK(results::outcome_from(JsonNode(origin, json), settled.point.machine).settling_iterations ==
        settled.outcome->settling_iterations);
  CHECK_FALSE(settled.outcome->settling_cut_short);
  results::Outcome cut_short = *settled.outcome;
  cut_short.settling_cut_short = true;
  const Json told = to_json(cut_short, true);
  CHECK(results::outcome_from(JsonNode(origin, told), settled.point.machine).settling_cut_short);
  // A start-up has not settled, and other schemes have nothing to settle.
  const Json first = {{"profile", "vgg16"}, {"statistical", true}, {"start_up", true}};
  CHECK_FALSE(
      run({{"scheme", "exdyna"}, {"ranks", 4}, {"input", first}}).outcome->settling_iterations);
  CHECK_FALSE(run({{"scheme", "topka"}, {"ranks", 4}}).outcome->settling_iterations);
}

TEST_CASE("The global error is the mean norm of what the ranks have not sent") {
  constexpr int kRanks = 3;
  constexpr std::int64_t kSelected = 20;
  const results::Row row = run({{"scheme", "topka"},
                                {"ranks", kRanks},
                                {"components", 1000},
                                {"k", kSelected},
                                {"iterations", 4},
                                {"error_feedback", true}});
  const plan::Point& point = row.point;
  const traces::SyntheticSource source({.ranks = kRanks,
                                        .space = point.space,
                                        .k = point.k,
                                        .seed = point.seed,
                                        .overlap = point.input.overlap,
                                        .skew = point.input.skew,
                                        .drift = point.input.drift,
                                        .tail = point.input.tail,
                                        .scale_drift = point.input.scale_drift});
  std::vector<double> errors(4);
  for (int rank = 0; rank < kRanks; ++rank) {
    std::map<std::uint32_t, double> residual;
    for (int iteration = 1; iteration <= 4; ++iteration) {
      const SparseVector gradient = source.sparse(Rank(rank), iteration);
      for (const Entry& entry : gradient.entries()) {
        residual[entry.coordinate] += entry.value;
      }
      for (std::int64_t i = 0; i < kSelected; ++i) {
        residual.erase(std::ranges::max_element(
            residual, {}, [](const auto& one) { return std::abs(one.second); }));
      }
      double squares = 0;
      for (const auto& [coordinate, value] : residual) squares += value * value;
      errors[static_cast<std::size_t>(iteration - 1)] += std::sqrt(squares) / kRanks;
    }
  }
  REQUIRE(row.outcome->global_errors.size() == 4);
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(row.outcome->global_errors[i] == test::approx(errors[i]).epsilon(1e-5));
  }
  CHECK(row.outcome->global_errors.back() > 0);
  CHECK(run({{"scheme", "topka"}, {"ranks", 2}}).outcome->global_errors.empty());
  const results::Row dense =
      run({{"scheme", "dense_ring"}, {"ranks", 2}, {"components", 1000}, {"error_feedback", true}});
  CHECK(dense.outcome->global_errors == std::vector<double>{0, 0});  // all is sent
}

TEST_CASE("The published threshold is refused where gradients have no scale of their own") {
  const auto run_it = [](const Json& point) {
    return error_of<InputError>(
        [&] { static_cast<void>(simulate_point("test", plan::point_from(point, "test"))); });
  };
  CHECK(contains(run_it({{"scheme", "hard_threshold"}, {"options", {{"published", true}}}}),
                 "/options/published"));
}

TEST_CASE("A row with a workload comes back from JSON as it was") {
  const results::Row row = run(bert("oktopk", 8));
  const results::Row again = results::row_from(to_json(row), "test");
  CHECK(to_json(again) == to_json(row));
  REQUIRE(again.outcome->training);
  CHECK(again.outcome->training->kinds.size() == 3);
}

TEST_CASE("The weighted kinds of iterations cost what running a whole period costs" *
          doctest::test_suite("large")) {
  Json point = {{"scheme", "oktopk"},
                {"ranks", 8},
                {"options", {{"tau", 8}, {"tau_prime", 16}}},
                {"workload", {{"model", "vgg16"}}}};
  const double kinds = run(point).outcome->training->mean.total().value();
  point["iterations"] = 16;
  const double period = run(point).outcome->training->mean.total().value();
  CHECK(kinds == test::approx(period).epsilon(0.01));
  // Whatever the periods have in common, and where they have little.
  for (const auto& [tau, tau_prime] : {std::pair{6, 4}, {3, 8}, {12, 4}, {4, 10}}) {
    CAPTURE(tau);
    Json other = point;
    other["options"] = {{"tau", tau}, {"tau_prime", tau_prime}};
    other["iterations"] = 0;
    const double weighted = run(other).outcome->training->mean.total().value();
    other["iterations"] = std::lcm(tau, tau_prime);
    CHECK(weighted ==
          test::approx(run(other).outcome->training->mean.total().value()).epsilon(0.01));
  }
  // One iteration alone is no mean: exact thresholds take many times as long as other selections.
  point["iterations"] = 1;
  CHECK(run(point).outcome->training->mean.sparsification.value() >
        3 * run({{"scheme", "oktopk"},
                 {"ranks", 8},
                 {"options", {{"tau", 8}, {"tau_prime", 16}}},
                 {"workload", {{"model", "vgg16"}}}})
                .outcome->training->mean.sparsification.value());
}

TEST_CASE("A training on SMPI takes what it takes on the machine that it is alike" *
          doctest::test_suite("large")) {
  for (const char* scheme : {"dense_rabenseifner", "dense_ovlp", "topka"}) {
    CAPTURE(scheme);
    Json point = bert(scheme, 8);
    point["platform"] = "alphabeta";
    const double machine = run(point).outcome->training->mean.total().value();
    point["network"] = "smpi";
    CHECK(run(point).outcome->training->mean.total().value() ==
          test::approx(machine).epsilon(1e-4));
  }
}

TEST_CASE("Samples a second and efficiency follow from the iteration") {
  const std::vector<results::Row> rows{run(bert("topka", 8)), run(bert("topka", 32))};
  const std::vector<Json> records = report::comparison_records(rows, 1e-9);
  REQUIRE(records.size() == 2);
  const double small = records[0].at("training.time_s").get<double>();
  const double large = records[1].at("training.time_s").get<double>();
  CHECK(records[0].at("training.efficiency") == 1);
  CHECK(records[1].at("training.efficiency").get<double>() == test::approx(small / large));
  CHECK(records[1].at("training.samples_per_s").get<double>() == test::approx(8 * 32 / large));
  CHECK(records[1].at("training.hours_per_100k_iterations").get<double>() ==
        test::approx(large * 1e5 / 3600));
  // No formula describes the whole iteration, so none judges it.
  CHECK(!compare(rows[0], 1e-9).comparable());
}

/// The cost of BERT's error feedback on a P100: passes over 4 bytes per component at 499 GB/s, and
/// buffers whose sent entries are set to zero in 0.45 ns each; 4.5 us for each call.
double kept(int passes, int scans, int buffers, int layers) {
  return 4.0 * passes * 133'547'324 / 499e9 + buffers * 1'335'473 * 0.45e-9 +
         layers * (scans + buffers) * 4.5e-6;
}

TEST_CASE("What a sparse scheme keeps is priced, by default as a residual") {
  Json point = bert("topka", 8);
  const auto selecting = [&](const char* feedback) {
    point["workload"]["feedback"] = feedback;
    return run(point).outcome->training->mean.sparsification.value();
  };
  const double by_default = run(point).outcome->training->mean.sparsification.value();
  CHECK(selecting("residual") == by_default);
  CHECK(by_default - selecting("none") == test::approx(kept(5, 2, 1, 1)).epsilon(0.001));
  CHECK(selecting("momentum") - selecting("none") == test::approx(kept(8, 3, 2, 1)).epsilon(0.001));
  point["workload"]["feedback"] = "velocity";
  CHECK(contains(complaint(point), "/workload/feedback: "));
  point = bert("topka", 8);
  point["workload"]["feedback"] = "momentum";
  point["error_feedback"] = true;
  point["iterations"] = 2;
  CHECK(contains(complaint(point), "/workload/feedback: error_feedback carries the residual"));
}

TEST_CASE("Layer by layer a rank keeps as much, and pays for it") {
  Json point = bert("topka", 8);
  point["workload"]["by_layer"] = true;
  const auto selecting = [&](const char* feedback) {
    point["workload"]["feedback"] = feedback;
    return run(point).outcome->training->mean.sparsification.value();
  };
  constexpr int kLayers = 77;
  const double free = selecting("none");
  CHECK(selecting("residual") - free == test::approx(kept(5, 2, 1, kLayers)).epsilon(0.002));
  CHECK(selecting("momentum") - free == test::approx(kept(8, 3, 2, kLayers)).epsilon(0.002));
}

TEST_CASE("A workload that does not go together is refused with what to do") {
  Json point = bert("oktopk", 8);
  point["workload"]["model"] = "brt";
  CHECK(contains(complaint(point), "/workload/model: unknown model 'brt'; did you mean 'bert'?"));
  point = bert("oktopk", 8);
  point["workload"]["device"] = "v100";
  CHECK(contains(complaint(point),
                 "/workload/device: the model bert has no computing time on "
                 "'v100', only on p100, h100"));
  point = bert("oktopk", 8);
  point["components"] = 1000;
  CHECK(contains(complaint(point), "/components: the model bert has 133547324"));
  point = bert("oktopk", 8);
  point["network"] = "counting";
  CHECK(contains(complaint(point), "/network: counting has no clock"));
  point = bert("oktopk", 8);
  point["workload"].erase("model");
  point["workload"]["batch"] = 4;
  CHECK(contains(complaint(point), "is for runs with a model; give workload.model (--model) too"));
  point = bert("oktopk", 8);
  point["machine"]["gamma_s_per_word"] = 1e-9;
  CHECK(contains(complaint(point), "/machine/gamma_s_per_word: in a training the device says"));
  point = bert("oktopk", 8);
  point["error_feedback"] = true;
  point["input"]["overlap"] = 0.2;
  CHECK(contains(complaint(point), "/error_feedback: kinds of iterations do not follow"));
  point = bert("oktopk", 8);
  point["input"]["trace"] = "cnn_all";
  CHECK(contains(complaint(point), "/components: 133547324, but the trace cnn_all has 105994"));
  CHECK(contains(complaint({{"iterations", 0}}), "/iterations: 0 is for a workload"));
  point = bert("oktopk", 8);
  point["options"] = {{"tau", 100'003}, {"tau_prime", 99'991}};
  CHECK(contains(error_of<InputError>([&] {
                   static_cast<void>(simulate_point("test", plan::point_from(point, "test")));
                 }),
                 "/options: oktopk goes through more than 1000000 kinds"));
}

TEST_CASE("A model's profile is taken where the input says only how to draw from it") {
  Json point = bert("topka", 4);
  point["input"] = {{"statistical", false}, {"reach", 4}};
  CHECK(plan::point_from(point, "test").input.profile == "bert");
}

}  // namespace thinwire::run
