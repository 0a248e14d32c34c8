#include "sim/app/studies/claims/claims.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sim/app/report/tables/claims_report.hpp"
#include "sim/app/studies/claims/calibrations.hpp"
#include "sim/app/studies/claims/trials.hpp"
#include "sim/core/base/errors.hpp"
#include "sim/core/base/files.hpp"
#include "sim/core/base/json_node.hpp"
#include "sim/machine/workloads/device.hpp"
#include "sim/machine/workloads/model.hpp"
#include "tests/support/approx.hpp"
#include "tests/support/errors.hpp"
#include "topologies/loading/shipped.hpp"

namespace {

using thinwire::plan::Point;
using thinwire::results::Outcome;
using thinwire::results::Row;
using thinwire::studies::Basis;
using thinwire::studies::ClaimVerdict;
using thinwire::studies::Finding;
using thinwire::studies::FindingKind;

/// A row with every part that a claim may ask for, without a simulation.
Row invented_row(const Point& point) {
  using thinwire::Seconds;
  Row row;
  row.point = point;
  Outcome outcome;
  outcome.iteration = 1;
  outcome.iteration_times = {Seconds(1)};
  outcome.words_received = {.max = point.ranks, .mean = 1};
  outcome.messages_received = {.max = 1, .mean = 1};
  outcome.phases = {{.name = "split_and_reduce", .time = Seconds(1), .words_received = {}}};
  outcome.result_components = 1;
  outcome.ranks_agree = true;
  outcome.selection = thinwire::results::SelectionSummary{
      .least = 1, .most = 1, .total = 1, .sent_least = 2, .sent_most = 2, .ranks = 1};
  outcome.by_rank = {{.rank = 0, .phase = "split_and_reduce", .traffic = {}}};
  const thinwire::workloads::IterationParts parts{
      .computation = Seconds(1), .sparsification = Seconds(1), .communication = Seconds(1)};
  outcome.training = thinwire::results::TrainingOutcome{
      .mean = parts, .samples_per_s = 1, .kinds = {{.which = {1, 1}, .parts = parts}}};
  row.outcome = outcome;
  return row;
}

Finding number(Basis basis, double paper, double simulated) {
  Finding finding;
  finding.basis = basis;
  finding.paper = paper;
  finding.simulated = simulated;
  finding.verdict = ClaimVerdict::holds;
  return finding;
}

}  // namespace

TEST_CASE("Every predicted number of every paper states a null model" *
          doctest::test_suite("large")) {
  const std::vector<Finding> findings = thinwire::studies::check_claims({}, {}, invented_row);
  CHECK(findings.size() > 100);
  for (const Finding& finding : findings) {
    if (finding.kind != FindingKind::number || finding.basis != Basis::predicted) continue;
    if (finding.verdict == ClaimVerdict::not_simulated) continue;
    CAPTURE(finding.claim);
    CAPTURE(finding.what);
    CHECK(!finding.null_model.empty());
    CHECK(finding.null_value.has_value());
  }
}

TEST_CASE("A prediction that misses at an end of an assumed constant's range says where") {
  // gTopk takes what its sort on the host costs, all others a second. 7.71 is reported.
  const auto runner = [](const Point& point) {
    Row row = invented_row(point);
    const thinwire::workloads::Device device =
        thinwire::workloads::read_device(thinwire::workloads::kDevices.file(point.workload.device));
    const double seconds =
        point.scheme == "gtopk" ? device.host.at("sort").price.element.value() * 4e7 : 1;
    row.outcome->training->mean = {
        .computation = thinwire::Seconds(seconds), .sparsification = {}, .communication = {}};
    return row;
  };
  const auto greatest = [](const std::vector<Finding>& findings) {
    for (const Finding& finding : findings) {
      if (finding.what == "the greatest speedup") return finding;
    }
    return Finding();
  };
  const Finding plain = greatest(thinwire::studies::check_claims({"oktopk.lstm.64"}, {}, runner));
  CHECK(plain.simulated == thinwire::test::approx(183e-9 * 4e7));
  CHECK(!plain.range_low);
  const Finding ranged =
      greatest(thinwire::studies::check_claims({"oktopk.lstm.64"}, {}, runner, true));
  CHECK(ranged.simulated == plain.simulated);
  CHECK(ranged.verdict == ClaimVerdict::holds);
  CHECK(ranged.range_low == thinwire::test::approx(83e-9 * 4e7));
  CHECK(ranged.range_high == thinwire::test::approx(198e-9 * 4e7));
  CHECK(ranged.misses_at == std::vector<std::string>{"p100.host.sort = 8.3e-08"});
  const thinwire::studies::ClaimScore score = thinwire::studies::score({ranged});
  CHECK(score.over_ranges.of == 1);
  CHECK(score.over_ranges.hold == 0);
  CHECK(thinwire::report::claims_text({ranged}).find("p100.host.sort = 8.3e-08") !=
        std::string::npos);
}

TEST_CASE("What claims.json calibrates names a number that counts as calibrated") {
  const std::vector<Finding> findings =
      thinwire::studies::check_claims({"sparcml.table2", "dragonn.speedup.full"}, {}, invented_row);
  const thinwire::Json facts = thinwire::read_json(thinwire::studies::claims_file());
  int found = 0;
  for (const auto& item : facts.at("calibrations").items()) {
    CAPTURE(item.key());
    if (item.value().at("claim") == "oktopk.bert.32.hours") continue;  // another test's
    ++found;
    CHECK(std::ranges::count_if(findings, [&](const Finding& finding) {
            return finding.claim == item.value().at("claim") &&
                   finding.what == item.value().at("what") && finding.basis == Basis::calibrated;
          }) == 1);
  }
  CHECK(found == 3);
}

TEST_CASE("SparCML's Table 2: exchanges by the batch, a pass over the components, and new pages") {
  // Every allreduce takes a second.
  const std::vector<Finding> findings =
      thinwire::studies::check_claims({"sparcml.table2"}, {}, invented_row);
  const auto of = [&](const std::string& claim, const std::string& what) {
    const auto found = std::ranges::find_if(findings, [&](const Finding& finding) {
      return finding.claim == "sparcml.table2." + claim && finding.what == what;
    });
    REQUIRE(found != findings.end());
    return *found;
  };
  const thinwire::Json facts = thinwire::read_json(thinwire::studies::claims_file());
  const auto calibrated = [&](const char* name) {
    return facts.at("calibrations").at(name).at("value").get<double>();
  };
  const double each = 125;
  const double pass = calibrated("sparcml.pass_s_per_component");
  // 25.9 MB of doubles are kept; 132.9 MB are 32,440 pages that are mapped anew.
  const double url = 2396130 / (8 * each) * (1 + 3231961 * pass);
  const double webspam = 350000 / (8 * each) * (1 + 16609143 * pass + 32440 * 5.75e-7);
  const Finding kept = of("comm", "Piz Daint, URL, LR, P = 8, dense, s");
  CHECK(*kept.simulated == thinwire::test::approx(url).epsilon(1e-4));
  CHECK(*of("comm", "Greina IB, Webspam, LR, P = 8, sparse, s").simulated ==
        thinwire::test::approx(webspam).epsilon(1e-4));
  // Four times the ranks have four times the batch.
  const Finding less = of("comm", "Piz Daint, Webspam, SVM, P = 32, sparse, s");
  CHECK(*less.simulated == thinwire::test::approx(webspam / 4).epsilon(1e-4));
  // The null model: 15 s of URL's row, by the components of all exchanges.
  CHECK(*of("comm", "Piz Daint, URL, SVM, P = 32, sparse, s").null_value ==
        thinwire::test::approx(3.75));
  CHECK(*less.null_value ==
        thinwire::test::approx(15.0 / 4 * (350000.0 * 16609143) / (2396130.0 * 3231961)));
  // That of dense passes has the wire of doubles and a core's 0.93 ns a word of 4 bytes besides.
  const Finding dense = of("comm", "Piz Daint, Webspam, SVM, P = 32, dense, s");
  const double words = 16609143 * 31.0 / 32;
  const thinwire::plan::Machine machine;  // of an invented row
  const double formula = 350000 / (32 * each) *
                         (2 * 5 * machine.alpha.value() +
                          words * (2 * 2 * machine.beta_per_word.value() + 2 * 0.93e-9));
  CHECK(*dense.null_value - *less.null_value == thinwire::test::approx(formula).epsilon(1e-3));
}

TEST_CASE("SparCML's totals count once: computing is total minus communication, by arithmetic") {
  const std::vector<Finding> findings = thinwire::studies::check_claims(
      {"sparcml.table2.computing", "sparcml.spark"}, {}, invented_row);
  int computing = 0;
  for (const Finding& finding : findings) {
    CAPTURE(finding.what);
    CHECK(finding.what.find("total") == std::string::npos);
    if (finding.what.find("computing") == std::string::npos) continue;
    ++computing;
    if (finding.what == "Greina GigE, Webspam, LR, P = 8, dense, computing, s") {
      CHECK(*finding.paper == thinwire::test::approx(768.0 - 759.5));
    }
    CHECK(finding.basis != Basis::predicted);
  }
  CHECK(computing == 20 + 4);
}

TEST_CASE("A wide ResNet's exchange follows two batches, of which the last alone is simulated") {
  // Each simulated iteration takes three seconds, one of which is computing.
  const auto runner = [](const Point& point) {
    Row row = invented_row(point);
    if (point.scheme == "dense_ovlp") {
      row.outcome->training->mean.communication = thinwire::Seconds(11);
    }
    return row;
  };
  const std::vector<Finding> findings =
      thinwire::studies::check_claims({"sparcml.wide_resnets"}, {}, runner);
  REQUIRE(findings.size() == 2);
  const thinwire::Json resnet50 =
      thinwire::read_json(thinwire::workloads::kModels.file("resnet50"));
  double input = -4.0 / 220;
  for (const thinwire::Json& compute : resnet50.at("compute")) {
    if (compute.at("device") == "p100") input += compute.at("seconds").get<double>();
  }
  const double before = 2 * (input + 1) - 1;
  CHECK(*findings[0].simulated ==
        thinwire::test::approx((before + 13) / (before + 3)).epsilon(1e-6));
}

TEST_CASE("A bound from below holds from there on, and values within 1% are no order") {
  using thinwire::studies::clearly_less;
  const auto share = [](double words) {
    return [words](const Point& point) {
      Row row = invented_row(point);
      Outcome& outcome = *row.outcome;
      outcome.by_rank.front().phase = "push";
      outcome.by_rank.front().traffic.words_received =
          thinwire::Words(static_cast<std::int64_t>(words * 15 * 13'354'732 * 258 / 256));
      return row;
    };
  };
  const auto blocks = [&](double words) {
    return thinwire::studies::check_claims({"omnireduce.blocks"}, {}, share(words)).front();
  };
  CHECK(blocks(0.77).kind == FindingKind::at_least);
  CHECK(blocks(0.77).verdict == ClaimVerdict::holds);
  CHECK(blocks(0.29).verdict == ClaimVerdict::misses);
  CHECK(thinwire::report::claims_text({blocks(0.77)}).find("at least  ≥ 0.3") != std::string::npos);
  CHECK(clearly_less(0.99, 1));
  CHECK(!clearly_less(0.998, 1));
}

TEST_CASE("Claims that are simulated at once say what they say one after the other") {
  const std::vector<std::string> wanted{"oktopk.table1", "sparcml.spark", "exdyna.figure8",
                                        "dragonn.decode"};
  std::vector<std::string> papers;
  const auto progress = [&](const std::string& paper) { papers.push_back(paper); };
  const std::vector<Finding> findings =
      thinwire::studies::check_claims_at_once(wanted, progress, true);
  CHECK(papers.size() == 4);
  CHECK(thinwire::report::claim_records(findings) ==
        thinwire::report::claim_records(thinwire::studies::check_claims(
            wanted, {}, thinwire::studies::run_claims_point, true)));
}

TEST_CASE("A verdict by a hair is counted: the null model or the simulation near the border") {
  Finding clear = number(Basis::predicted, 100, 110);
  clear.against("no effect", 50);
  Finding null_near = number(Basis::predicted, 100, 110);
  null_near.against("no effect", 74.7);
  Finding near = number(Basis::predicted, 100, 123.7);
  near.against("no effect", 50);
  Finding trivial = number(Basis::predicted, 100, 123.7);
  trivial.against("no effect", 100);
  CHECK(!clear.at_border());
  CHECK(null_near.at_border());
  CHECK(near.at_border());
  CHECK(!trivial.at_border());
  CHECK(thinwire::studies::score({clear, null_near, near, trivial}).at_border.of == 2);
}

TEST_CASE("A model's computing time on one device changes, and nothing else") {
  thinwire::studies::Trials trials(thinwire::read_json(thinwire::studies::claims_file()),
                                   invented_row);
  CHECK(trials.retimed_model("resnet50", "p100", 1) == "resnet50");
  const thinwire::Json given = thinwire::read_json(thinwire::workloads::kModels.file("resnet50"));
  const thinwire::Json twice = thinwire::read_json(trials.retimed_model("resnet50", "p100", 2));
  CHECK(twice.at("layers") == given.at("layers"));
  for (std::size_t i = 0; i < given.at("compute").size(); ++i) {
    const thinwire::Json& before = given.at("compute").at(i);
    const double factor = before.at("device") == "p100" ? 2 : 1;
    CHECK(twice.at("compute").at(i).at("seconds") ==
          thinwire::test::approx(factor * before.at("seconds").get<double>()));
  }
}

TEST_CASE("A platform's links of one name get another bandwidth, and nothing else changes") {
  const std::string xml =
      thinwire::read_text(thinwire::topologies::kPlatforms.file("dragonn_v100"));
  const std::string slower = thinwire::studies::with_bandwidth(xml, "nic", 8.25e8);
  const auto count = [](const std::string& text, const std::string& what) {
    int found = 0;
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) {
      ++found;
    }
    return found;
  };
  CHECK(count(slower, "bandwidth=\"825000000Bps\"") == 2);
  CHECK(count(slower, "bandwidth=\"1.7GBps\"") == 0);
  CHECK(count(slower, "bw=\"12GBps\"") == 2);
  CHECK(count(thinwire::studies::with_bandwidth(slower, "nic", 1.7e9), "1700000000Bps") == 2);
  CHECK(thinwire::test::error_of<thinwire::InputError>([&] {
          static_cast<void>(thinwire::studies::with_bandwidth(xml, "cable", 1e9));
        }) == "the platform has no link 'cable' with a number");
}

TEST_CASE("There are at most 10 calibrated parameters, and no rate exceeds its hardware's") {
  const std::vector<thinwire::studies::Calibration> all = thinwire::studies::calibrations();
  CHECK(all.size() <= 10);
  CHECK(all.size() >= 5);
  for (const thinwire::studies::Calibration& calibration : all) {
    CAPTURE(calibration.name);
    CHECK(!calibration.set_by.empty());
    REQUIRE(!calibration.check.empty());
    const std::size_t comma = calibration.check.find(", ");
    CHECK(std::stod(calibration.check.substr(comma + 2)) <= 110);  // percent
    if (calibration.name == "bert on p100, computing") {
      // 8 sequences, 3 times the forward pass, by hand from the file: some 2 TFLOP/s.
      CHECK(calibration.check.find("of the peak (9.3)") != std::string::npos);
    }
  }
}

TEST_CASE("A predicted number is informative where its null model misses") {
  Finding holds_too = number(Basis::predicted, 100, 110);
  holds_too.against("no effect", 80);
  Finding misses = number(Basis::predicted, 100, 110);
  misses.against("no effect", 74);
  Finding wrong = number(Basis::predicted, 100, 200);
  wrong.against("no effect", 130);
  wrong.verdict = ClaimVerdict::misses;
  Finding calibrated = number(Basis::calibrated, 100, 100);
  calibrated.against("no effect", 1);
  const Finding without = number(Basis::predicted, 100, 100);
  CHECK(holds_too.null_holds() == true);
  CHECK(!holds_too.informative());
  CHECK(misses.informative());
  CHECK(wrong.informative());
  CHECK(!calibrated.informative());
  CHECK(!without.informative());
  CHECK(!without.null_holds().has_value());

  const std::vector<Finding> all{holds_too, misses, wrong, calibrated, without};
  const thinwire::studies::ClaimScore score = thinwire::studies::score(all);
  CHECK(score.predicted.of == 4);
  CHECK(score.predicted.hold == 3);
  CHECK(score.informative.of == 2);
  CHECK(score.informative.hold == 1);
  CHECK(score.trivial.of == 1);
  CHECK(score.trivial.hold == 1);
  CHECK(score.without_null.of == 1);

  const std::string text = thinwire::report::claims_text(all);
  CHECK(text.find("informative: the null model misses: 1 of 2 hold (50%)") != std::string::npos);
  CHECK(text.find("no null model stated: 1 of 1 hold") != std::string::npos);
  CHECK(thinwire::report::claim_records(all)[1].at("null") == 74);
  CHECK(thinwire::report::claim_records(all)[1].at("informative") == true);
  CHECK(thinwire::report::claim_records(all)[4].at("null_holds").is_null());
  CHECK(thinwire::report::claim_counts(all)[1].at("hold") == 1);
}
