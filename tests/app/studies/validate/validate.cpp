#include "sim/app/studies/validate/validate.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "sim/app/report/tables/validation_report.hpp"
#include "sim/app/run/simulate.hpp"
#include "sim/core/base/errors.hpp"
#include "tests/support/approx.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/temporary_folder.hpp"

namespace {

using thinwire::InputError;
using thinwire::results::Row;
using thinwire::studies::MachineDescription;
using thinwire::studies::MeasuredRow;
using thinwire::studies::plan_validation;
using thinwire::studies::read_machine;
using thinwire::studies::RowBasis;
using thinwire::studies::Validation;
using thinwire::test::error_of;
using thinwire::test::TemporaryFolder;

constexpr const char* kMine = R"({
  "name": "mine",
  "settings": {"network": "alphabeta", "machine": {"alpha_s": 1e-6, "beta_s_per_word": 1e-9}},
  "calibrated_on": [{"run": "a", "nodes": 4, "collective": "allreduce"}]
})";

constexpr const char* kOnStar =
    R"({"name": "mine", "settings": {"network": "links", "platform": "gige_star"}})";

MachineDescription machine_in(const std::string& text) {
  const TemporaryFolder folder;
  return read_machine(folder.write("mine.json", text));
}

std::string refusal_of_machine(const std::string& text) {
  return error_of<InputError>([&] { static_cast<void>(machine_in(text)); });
}

MeasuredRow measured_row(const std::string& run, const std::string& algorithm, int nodes,
                         std::int64_t elements, double seconds) {
  return {.machine = "mine",
          .run = run,
          .test = "0",
          .nodes = nodes,
          .collective = "allreduce",
          .library = "OMPI",
          .algorithm = algorithm,
          .elements = elements,
          .seconds = seconds,
          .place = "m.csv:2"};
}

/// Results in which every point takes one second.
std::vector<Row> results_of(const Validation& validation) {
  std::vector<Row> results;
  for (const auto& point : validation.sweep.points) {
    Row row;
    row.point = point;
    row.outcome.emplace().iteration_times = {thinwire::Seconds(1)};
    results.push_back(row);
  }
  return results;
}

}  // namespace

TEST_CASE("Each distinct point of the measured rows is simulated once, without its iterations") {
  const std::vector<MeasuredRow> rows{
      measured_row("a", "ring_ompi", 4, 1000, 2e-5), measured_row("a", "ring_over", 4, 1000, 3e-5),
      measured_row("b", "ring_ompi", 8, 1000, 4e-5), measured_row("b", "default_ompi", 8, 1000, 1)};
  Validation validation = plan_validation(rows, {machine_in(kMine)}, "");
  REQUIRE(validation.rows.size() == 3);
  REQUIRE(validation.sweep.points.size() == 2);
  CHECK(validation.rows[0].point == validation.rows[1].point);
  CHECK(validation.rows[0].basis == RowBasis::calibrated);
  CHECK(validation.rows[2].basis == RowBasis::predicted);
  CHECK(validation.sweep.points[0].iterations == 1);
  CHECK(validation.sweep.points[1].ranks == 8);
  CHECK(validation.sweep.points[1].space.components == 1000);
  CHECK(validation.skipped.size() == 1);
  std::vector<Row> results = results_of(validation);
  results[1].outcome.reset();
  results[1].reason = "too large";
  take_results(validation, results);
  CHECK(validation.rows.size() == 2);
  CHECK(*validation.rows[0].simulated == 1);
  CHECK(validation.skipped.back().why == "too large");
  // The formula is fitted to the two calibrated rows alone: the geometric mean of their times.
  REQUIRE(validation.formulas[0]);
  CHECK(validation.formulas[0]->rows == 2);
  CHECK(*validation.rows[0].plain == thinwire::test::approx(std::sqrt(6.0) * 1e-5));
}

TEST_CASE("The options of a machine are for the schemes that have them, unless the row says more") {
  std::vector<MeasuredRow> rows{measured_row("a", "ring", 4, 1000, 2e-5),
                                measured_row("a", "ring_ll128", 4, 1000, 2e-5),
                                measured_row("a", "dense_rabenseifner", 4, 1000, 2e-5)};
  for (MeasuredRow& row : rows) row.library = "NCCL";
  const Validation validation = plan_validation(rows, {machine_in(R"({
    "name": "mine",
    "settings": {"network": "alphabeta", "options": {"gpu": 8, "ll128": false, "protocol": 0}}
  })")},
                                                "");
  REQUIRE(validation.sweep.points.size() == 3);
  const auto& own = validation.sweep.points[0].options;
  CHECK(std::get<std::int64_t>(own.at("gpu")) == 8);
  CHECK_FALSE(std::get<bool>(own.at("ll128")));
  CHECK(std::get<std::int64_t>(own.at("protocol")) == 3);
  CHECK(std::get<std::int64_t>(validation.sweep.points[1].options.at("protocol")) == 1);
  CHECK_FALSE(validation.sweep.points[2].options.contains("gpu"));
}

TEST_CASE("The plain formula is fitted to rows that were simulated") {
  Validation validation = plan_validation(
      {measured_row("a", "ring_ompi", 4, 1000, 2e-5), measured_row("a", "ring_ompi", 4, 2000, 1)},
      {machine_in(kMine)}, "");
  std::vector<Row> results = results_of(validation);
  results[1].outcome.reset();
  take_results(validation, results);
  REQUIRE(validation.formulas[0]);
  CHECK(validation.formulas[0]->rows == 1);
  CHECK(*validation.rows[0].plain == thinwire::test::approx(2e-5));
}

TEST_CASE("Algorithms are compared with algorithms of the same ranks and the same size") {
  const auto slow_and_fast = [](int nodes, std::int64_t elements, const char* fast,
                                const char* slow) {
    return std::vector<MeasuredRow>{measured_row("b", fast, nodes, elements, 1),
                                    measured_row("b", slow, nodes, elements, 3)};
  };
  std::vector<MeasuredRow> rows = slow_and_fast(4, 1000, "ring_ompi", "rabenseifner_ompi");
  for (const MeasuredRow& row : slow_and_fast(8, 1000, "rabenseifner_ompi", "ring_ompi")) {
    rows.push_back(row);
  }
  for (const MeasuredRow& row : slow_and_fast(8, 2000, "ring_ompi", "rabenseifner_ompi")) {
    rows.push_back(row);
  }
  Validation validation = plan_validation(rows, {machine_in(kMine)}, "");
  std::vector<Row> results = results_of(validation);
  for (std::size_t i = 0; i < results.size(); ++i) {
    // The simulation takes the ring for the faster one, everywhere.
    const double time = results[i].point.scheme == "dense_ring" ? 1 : 2;
    results[i].outcome->iteration_times = {thinwire::Seconds(time)};
  }
  take_results(validation, results);
  for (const auto& summary : thinwire::studies::summaries_of(validation)) {
    if (summary.basis == RowBasis::calibrated ||
        summary.predictor == thinwire::studies::Predictor::formula) {
      continue;
    }
    CHECK(summary.choices.choices == 3);
    CHECK(summary.choices.pairs == 3);
    CHECK(summary.choices.right == 2);
    CHECK(summary.choices.worst_regret == thinwire::test::approx(2));
    CHECK(summary.choices.mean_regret == thinwire::test::approx(2.0 / 3));
  }
}

TEST_CASE("A row of which the plain formula keeps no term has no formula") {
  std::vector<MeasuredRow> rows{measured_row("a", "rabenseifner_ompi", 4, 1000, 2e-5),
                                measured_row("b", "ring_ompi", 4, 1000, 3e-5)};
  rows[1].collective = "allgather";
  Validation validation = plan_validation(rows, {machine_in(kMine)}, "");
  REQUIRE(validation.rows.size() == 2);
  validation.rows[0].terms = {.messages = 0, .words = 0, .reduced = 750};
  take_results(validation, results_of(validation));
  CHECK(*validation.rows[0].plain == thinwire::test::approx(2e-5));
  CHECK_FALSE(validation.rows[1].plain);
  const std::vector<thinwire::Json> records = thinwire::report::validation_records(validation);
  CHECK(records[1].at("formula_s").is_null());
  CHECK(records[1].at("formula_error").is_null());
  CHECK_FALSE(thinwire::test::contains(thinwire::report::validation_text(records), "inf"));
}

TEST_CASE("Rows are skipped that no description, no size or no block can be simulated of") {
  MeasuredRow gpu = measured_row("a", "ring_ompi", 4, 8, 1);
  gpu.gpu = true;
  MeasuredRow other = measured_row("a", "ring_ompi", 4, 8, 1);
  other.machine = "other";
  const Validation validation =
      plan_validation({gpu, other, measured_row("a", "ring_ompi", 4, 0, 1),
                       measured_row("a", "ring_ompi", 1, 8, 1)},
                      {machine_in(kMine)}, "");
  REQUIRE(validation.skipped.size() == 4);
  CHECK(validation.skipped[0].why ==
        "no description of the machine with GPU buffers; give --machine FILE");
  CHECK(validation.skipped[1].why == "no description of the machine; give --machine FILE");
  CHECK(validation.skipped[2].why == "the size is no whole number of words of 4 bytes");
  CHECK(validation.skipped[3].why == "one rank exchanges nothing");
  CHECK_FALSE(validation.formulas[0]);
  CHECK(validation.sweep.points.empty());
}

TEST_CASE("Rows that are not what they say are skipped, with the reason") {
  MeasuredRow other = measured_row("a", "ring_over", 4, 8, 1);
  other.not_as_named = "ran the tree";
  Validation validation = plan_validation(
      {other, measured_row("a", "ring_ompi", 4, 8, 1), measured_row("b", "ring_over", 4, 8, 1)},
      {machine_in(kMine)}, "");
  CHECK(validation.rows.size() == 2);
  REQUIRE(validation.skipped.size() == 1);
  CHECK(validation.skipped[0].why == "ran the tree");
  take_results(validation, results_of(validation));
  CHECK(validation.formulas[0]->rows == 1);
}

TEST_CASE("Of the shipped rows, 27 of LUMI took the times of the library's choice") {
  const auto rows = thinwire::studies::read_all_measured(
      {std::string(THINWIRE_SOURCE_DIR) + "/results/measured/data/collectives.csv"});
  std::size_t of_march = 0;
  std::size_t of_april = 0;
  for (const MeasuredRow& row : rows) {
    if (row.not_as_named.empty()) continue;
    CAPTURE(row.place);
    CHECK(row.machine == "lumi");
    ++(row.run.starts_with("2025_03_16") ? of_march : of_april);
  }
  CHECK(of_march == 9);
  CHECK(of_april == 18);
}

TEST_CASE("Rows that other jobs slowed down are predicted, where the description says so") {
  std::string text = kMine;
  text.replace(text.find(R"("collective": "allreduce")"), 25,
               R"("collective": "allreduce", "min_over_median": 0.6)");
  const MachineDescription machine = machine_in(text);
  MeasuredRow row = measured_row("a", "ring_ompi", 4, 8, 1);
  CHECK(machine.calibrated(row));  // nothing is known
  row.seconds_min = 0.6;
  CHECK(machine.calibrated(row));
  row.seconds_min = 0.59;
  CHECK_FALSE(machine.calibrated(row));
  row.seconds_min = 0;
  CHECK(plan_validation({row}, {machine}, "").notes ==
        std::vector<std::string>{machine.path +
                                 ": calibrated_on: rows of run 'a' have no "
                                 "seconds_min, so min_over_median takes them as matching"});
  row.seconds_min = 0.6;
  CHECK(plan_validation({row}, {machine}, "").notes.empty());
  row.run = "b";
  CHECK(plan_validation({row}, {machine}, "").notes ==
        std::vector<std::string>{machine.path +
                                 ": calibrated_on: no row is of run 'a' as described"});
  row.machine = "yours";
  CHECK(plan_validation({row}, {machine}, "").notes.empty());
  row.machine = "mine";
  const std::vector<std::string> notes = plan_validation({row}, {machine_in(kOnStar)}, "").notes;
  REQUIRE(notes.size() == 1);
  CHECK(notes[0].find(": calibrated_on: is empty, so all rows count as predicted") !=
        std::string::npos);
  CHECK(refusal_of_machine(R"({"name": "m", "settings": {},
                               "calibrated_on": [{"run": "a", "min_over_median": 2}]})")
            .find("/calibrated_on/0/min_over_median") != std::string::npos);
}

TEST_CASE("A run is where its placement says, else its ranks fill one node after another") {
  const TemporaryFolder folder;
  const std::string placement = folder.write(
      "mine_a.csv", "rank,node,group\n0,node-0,x\n1,node-0,x\n2,node-1,x\n3,node-1,x\n");
  std::vector<MeasuredRow> rows{measured_row("a", "ring_ompi", 2, 1000, 1),
                                measured_row("b", "ring_ompi", 2, 1000, 1)};
  for (MeasuredRow& row : rows) row.tasks_per_node = 2;
  const std::string folder_path = folder.path("");
  const Validation without = plan_validation(rows, {machine_in(kMine)}, folder_path);
  CHECK(without.rows[0].ranks == 4);
  CHECK(without.rows[1].ranks == 4);
  CHECK(without.sweep.points[0].placement == "block");  // there is no platform
  const MachineDescription star = machine_in(kOnStar);
  const Validation placed = plan_validation(rows, {star}, folder_path);
  CHECK(placed.sweep.points[0].placement == placement);
  CHECK(placed.sweep.points[1].placement == "per_node:2");
  MachineDescription described = star;
  described.settings["placement"] = "round_robin";
  const Validation by_description = plan_validation(rows, {described}, folder.path(""));
  CHECK(by_description.sweep.points[0].placement == placement);
  CHECK(by_description.sweep.points[1].placement == "round_robin");

  // A test with fewer ranks on each node has the first ones of the node.
  rows[0].tasks_per_node = 1;
  CHECK(plan_validation(rows, {star}, folder_path).sweep.points[0].placement ==
        "per_node:1@" + placement);
  // Only the tables of IMB may be of fewer nodes than the run had, the first ones. Other rows are
  // skipped, and the rest stays.
  const auto disagreement = [&] {
    const Validation validation = plan_validation(rows, {star}, folder_path);
    REQUIRE(validation.skipped.size() == 1);
    CHECK(validation.rows.size() == 1);
    return validation.skipped[0].why;
  };
  rows[0].nodes = 1;
  CHECK(
      disagreement().ends_with("mine_a.csv:5: ends a list of 4 ranks, and m.csv:2 was measured "
                               "with 1; mend one of them, or give the "
                               "row another run"));
  rows[0].nodes = 2;
  rows[0].of_first_ranks = true;
  CHECK(plan_validation(rows, {star}, folder_path).sweep.points[0].ranks == 2);
  rows[0].of_first_ranks = false;
  rows[0].nodes = 4;
  CHECK(thinwire::test::contains(disagreement(),
                                 "ends a list of 2 nodes, and m.csv:2 was measured on 4"));
  rows[0].of_first_ranks = true;
  rows[0].nodes = 8;
  CHECK(thinwire::test::contains(disagreement(),
                                 "ends a list of 4 ranks, and m.csv:2 was measured with 8"));
  rows[0].nodes = 4;

  const auto refusal = [&](const char* text) {
    static_cast<void>(folder.write("mine_a.csv", text));
    return error_of<InputError>(
        [&] { static_cast<void>(plan_validation(rows, {machine_in(kMine)}, folder_path)); });
  };
  CHECK(refusal("rank,host\n0,a\n").find(":1:1: there is no column 'node'") != std::string::npos);
  CHECK(refusal("rank,node\n0,a\n2,b\n")
            .find(":3:1: rank: '2' is not valid; expected a whole "
                  "number from 0 to 1") != std::string::npos);
  CHECK(refusal("rank,node\n0,a\n0,b\n")
            .find(":3:1: rank: '0' is not valid; expected a rank "
                  "that no line before has") != std::string::npos);
  CHECK(refusal("rank,node\n").find("names no rank") != std::string::npos);
  CHECK(error_of<InputError>([&] {
          static_cast<void>(plan_validation(rows, {machine_in(kMine)}, folder.path("none")));
        }).ends_with("none: is no folder"));
}

TEST_CASE("The same ranks on fewer nodes take another time") {
  std::vector<MeasuredRow> rows{measured_row("a", "recursive_doubling_ompi", 8, 100'000, 1),
                                measured_row("a", "recursive_doubling_ompi", 1, 100'000, 1),
                                measured_row("a", "recursive_doubling_ompi", 2, 100'000, 1)};
  rows[1].tasks_per_node = 8;
  rows[2].tasks_per_node = 4;
  const Validation validation = plan_validation(rows, {machine_in(kOnStar)}, "");
  REQUIRE(validation.sweep.points.size() == 3);
  std::set<double> times;
  for (const auto& point : validation.sweep.points) {
    times.insert(thinwire::run::simulate_point("test", point).outcome->time().value());
  }
  CHECK(times.size() == 3);
}

TEST_CASE("Rows in places that the platform does not have are skipped before anything runs") {
  const TemporaryFolder folder;
  const std::vector<MeasuredRow> rows{measured_row("a", "ring_ompi", 2, 1000, 1)};
  const auto refusal = [&](const std::string& machine) {
    return error_of<InputError>([&] {
      Validation validation = plan_validation(rows, {machine_in(machine)}, folder.path(""));
      check_places(validation);
    });
  };
  CHECK(refusal(kOnStar) == "(nothing was thrown)");
  std::string other = kOnStar;
  other.replace(other.find("gige_star"), 9, "gige_sta");
  CHECK(thinwire::test::contains(refusal(other), "did you mean 'gige_star'?"));
  other.replace(other.find("gige_sta"), 8, "./none.xml");
  CHECK(thinwire::test::contains(refusal(other), "none.xml"));
  other = kOnStar;
  other.replace(other.find("links"), 5, "linkz");
  CHECK(thinwire::test::contains(refusal(other), "did you mean 'links'?"));
  static_cast<void>(folder.write("mine_a.csv", "rank,node\n0,host-0\n1,nowhere\n"));
  // The rows of the other runs stay, and their points move up.
  Validation validation = plan_validation({rows[0], measured_row("b", "ring_ompi", 4, 1000, 1),
                                           measured_row("b", "ring_ompi", 4096, 10'000, 1)},
                                          {machine_in(kOnStar)}, folder.path(""));
  check_places(validation);
  REQUIRE(validation.skipped.size() == 1);
  CHECK(thinwire::test::contains(validation.skipped[0].why,
                                 "mine_a.csv:3:3: unknown host 'nowhere'"));
  REQUIRE(validation.rows.size() == 2);  // too small a platform skips rows when they run
  REQUIRE(validation.sweep.points.size() == 2);
  CHECK(validation.sweep.points[validation.rows[0].point].ranks == 4);
  CHECK(validation.sweep.points[validation.rows[1].point].ranks == 4096);
}

TEST_CASE("A description of a machine is refused with the JSON pointer") {
  CHECK(refusal_of_machine(R"({"name": "m"})").find("settings") != std::string::npos);
  CHECK(refusal_of_machine(R"({"name": "", "settings": {}})").find("/name: \"\"") !=
        std::string::npos);
  CHECK(refusal_of_machine(R"({"name": "m", "settings": {"ranks": 4}})")
            .find("/settings: /ranks: unknown key 'ranks'") != std::string::npos);
  CHECK(refusal_of_machine(R"({"name": "m", "settings": {"machine": {"alpha_s": -1}}})")
            .find("/machine/alpha_s: -1 is not valid") != std::string::npos);
  CHECK(refusal_of_machine(R"({"name": "m", "settings": {}, "calibrated": []})")
            .find("unknown key 'calibrated'; did you mean 'calibrated_on'?") != std::string::npos);
  CHECK(refusal_of_machine(
            R"({"name": "m", "settings": {}, "calibrated_on": [{"run": "a", "collective": "b"}]})")
            .find("/calibrated_on/0/collective") != std::string::npos);
  const std::vector<MeasuredRow> rows{measured_row("a", "ring_ompi", 4, 8, 1)};
  CHECK(error_of<InputError>([&] {
          const char* const text = R"({"name": "mine", "settings": {"network": "counting"}})";
          static_cast<void>(plan_validation(rows, {machine_in(text)}, ""));
        }).ends_with("/settings/network: counting has no clock"));
  CHECK(error_of<InputError>([] {
          static_cast<void>(plan_validation({}, {machine_in(kMine), machine_in(kMine)}, ""));
        }).find("both describe mine") != std::string::npos);
}

TEST_CASE("The records of a validation say each row, each reason and each figure") {
  const std::vector<MeasuredRow> rows{measured_row("a", "ring_ompi", 4, 1000, 2),
                                      measured_row("a", "rabenseifner_ompi", 4, 1000, 1),
                                      measured_row("b", "ring_ompi", 8, 1000, 0.5),
                                      measured_row("b", "default_ompi", 8, 1000, 1),
                                      measured_row("b", "default_ompi", 8, 2000, 1)};
  Validation validation = plan_validation(rows, {machine_in(kMine)}, "");
  take_results(validation, results_of(validation));
  const std::vector<thinwire::Json> records = thinwire::report::validation_records(validation);
  const auto of_kind = [&](const char* kind) { return thinwire::report::of_kind(records, kind); };
  REQUIRE(of_kind("row").size() == 3);
  CHECK(of_kind("row")[0].at("error") == -1.0);
  CHECK(of_kind("row")[1].at("error") == 0.0);
  CHECK(of_kind("row")[2].at("error") == 1.0);
  CHECK(of_kind("row")[2].at("basis") == "predicted");
  REQUIRE(of_kind("skipped").size() == 1);
  CHECK(of_kind("skipped")[0].at("rows") == 2);
  CHECK(of_kind("formula").size() == 1);
  const auto summaries = of_kind("summary");
  REQUIRE(summaries.size() == 4);  // calibrated and predicted, by simulation and formula
  CHECK(summaries[0].at("predictor") == "simulation");
  CHECK(summaries[0].at("rows") == 2);
  CHECK(summaries[0].at("median_error").get<double>() == thinwire::test::approx(0.5));
  CHECK(summaries[0].at("pairs") == 1);
  CHECK(summaries[0].at("pairs_right") == 0.0);  // both take a second
  CHECK(summaries[0].at("mean_regret").get<double>() == thinwire::test::approx(0.5));
  CHECK(summaries[2].at("mean_regret").is_null());  // one scheme is no choice
  const std::string text = thinwire::report::validation_text(records);
  for (const char* heading : {"Rows\n", "Skipped\n", "Plain formulas\n", "Errors as ratios"}) {
    CHECK(text.find(heading) != std::string::npos);
  }
}

TEST_CASE("The shipped descriptions are of machines that were measured") {
  const std::string data = std::string(THINWIRE_SOURCE_DIR) + "/results/measured/data/";
  auto measured = thinwire::studies::read_measured({.path = data + "collectives.csv"});
  CHECK(measured.size() == 760);
  const auto on_gpus = thinwire::studies::read_measured({.path = data + "gpu.csv"});
  CHECK(on_gpus.size() == 348);
  measured.insert(measured.end(), on_gpus.begin(), on_gpus.end());
  for (const std::string& name : thinwire::studies::kMachines.names()) {
    CAPTURE(name);
    const MachineDescription machine = read_machine(thinwire::studies::kMachines.file(name));
    std::size_t calibrated = 0;
    for (const MeasuredRow& row : measured) {
      calibrated += row.machine == machine.name && machine.calibrated(row) ? 1 : 0;
    }
    CHECK((machine.calibrated_on.empty() ? calibrated == 0 : calibrated > 20));
    CHECK(std::ranges::any_of(measured,
                              [&](const MeasuredRow& row) { return row.machine == machine.name; }));
    CHECK_FALSE(machine.sources.empty());
  }
}
