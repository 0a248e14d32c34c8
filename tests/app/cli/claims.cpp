#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "sim/app/report/tables/claims_report.hpp"
#include "sim/app/studies/claims/claims.hpp"
#include "tests/app/cli/program.hpp"
#include "tests/support/approx.hpp"
#include "tests/support/sanitizers.hpp"

namespace {

using thinwire::testing::Ended;
using thinwire::testing::run_program;
using thinwire::testing::TemporaryFolder;
using thinwire::testing::text_of;

/// The records, without the counts that follow the records of claims.
std::vector<nlohmann::json> lines_of(const std::string& text) {
  std::vector<nlohmann::json> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    nlohmann::json record = nlohmann::json::parse(line);
    if (record.value("kind", "") != "count") lines.push_back(std::move(record));
  }
  return lines;
}

}  // namespace

TEST_CASE("The quick claims hold as far as they follow from formulas or were calibrated") {
  if (thinwire::test::kSanitized) return;  // a minute; other tests run the same code
  const TemporaryFolder folder;
  const Ended ended = run_program("claims --quick --format jsonl -o '" + folder.path("c") + "'");
  CHECK(ended.err.empty());
  REQUIRE(ended.exit_code == 0);
  const auto findings = lines_of(ended.out);
  CHECK(findings.size() > 20);
  std::set<std::string> papers;
  for (const auto& finding : findings) {
    CAPTURE(finding.dump());
    const auto claim = finding.at("claim").get<std::string>();
    papers.insert(claim.substr(0, claim.find('.')));
    if (finding.at("basis") == "predicted") continue;
    CHECK(finding.at("verdict") == "holds");
    // What tools/calibrate set, it set well.
    if (finding.at("basis") == "calibrated") {
      CHECK(finding.at("ratio").get<double>() == thinwire::test::approx(1).epsilon(0.1));
    }
  }
  for (const char* paper : {"oktopk", "sparcml", "exdyna", "dragonn"})
    CHECK(papers.contains(paper));
  CHECK(lines_of(text_of(folder.path("c/claims.jsonl"))) == findings);
  CHECK(text_of(folder.path("c/claims.txt")).find("calibrated numbers: ") != std::string::npos);
}

TEST_CASE("A claim's table says what a number is: its unit, and an upper bound as one") {
  const Ended bins = run_program("claims dragonn.bins zen.bitmap");
  CHECK(bins.exit_code == 0);
  CHECK(bins.out.find("unit") != std::string::npos);
  CHECK(bins.out.find(" MB ") != std::string::npos);
  thinwire::studies::Finding finding;
  finding.kind = thinwire::studies::FindingKind::at_most;
  finding.paper = 0.11;
  finding.simulated = 0.04;
  const std::string text = thinwire::report::claims_text({finding});
  CHECK(text.find("at most  ≤ 0.11") != std::string::npos);
}

TEST_CASE("claims --list prints the ids that begin as asked for") {
  const std::string all = run_program("claims --list").out;
  const Ended bert = run_program("claims oktopk.bert sparcml.scd --list");
  CHECK(bert.out ==
        "oktopk.bert.256.speedup\noktopk.bert.efficiency\noktopk.bert.32.hours\n"
        "oktopk.bert.seconds\noktopk.bert.links\nsparcml.scd\n");
  CHECK(all.size() > bert.out.size());
  const Ended unknown = run_program("claims foo --list");
  CHECK(unknown.exit_code == 2);
  CHECK(unknown.out.empty());
  CHECK(run_program("claims --list --quick").exit_code == 2);
}

TEST_CASE("The headline of Ok-Topk is predicted within a quarter: BERT on 256 GPUs" *
          doctest::test_suite("large")) {
  const auto findings =
      lines_of(run_program("claims oktopk.bert.256 oktopk.bert.eff --format jsonl").out);
  REQUIRE(findings.size() == 4);
  for (const auto& finding : findings) {
    CAPTURE(finding.dump());
    CHECK(finding.at("basis") == "predicted");
    CHECK(finding.at("verdict") == "holds");
  }
}

TEST_CASE("Claims are chosen by how their ids begin, and unknown ones are refused") {
  const Ended list = run_program("claims --list");
  CHECK(list.exit_code == 0);
  CHECK(list.out.find("oktopk.table1\n") != std::string::npos);
  const Ended one = run_program("claims dragonn.bins");
  CHECK(one.out.find("predicted numbers, within 25%: 2 of 2 hold (100%)") != std::string::npos);
  const Ended wrong = run_program("claims dragon.bins");
  CHECK(wrong.exit_code == 2);
  CHECK(wrong.err.find("no claim's id begins with 'dragon.bins'; did you mean 'dragonn.bins'?") !=
        std::string::npos);
  CHECK(run_program("claims ''").err.find("no claim's id begins with ''") != std::string::npos);
  CHECK(run_program("claims dragonn.bins -o /proc/nowhere").exit_code == 2);
}

TEST_CASE("What is not simulated says why, and counts for nothing") {
  const std::vector<thinwire::studies::Finding> findings =
      thinwire::studies::check_claims({"oktopk.xi"});
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].verdict == thinwire::studies::ClaimVerdict::not_simulated);
  CHECK(!findings[0].note.empty());
  CHECK(thinwire::studies::count(findings, thinwire::studies::FindingKind::number,
                                 thinwire::studies::Basis::predicted)
            .of == 0);
}

TEST_CASE("recommend ranks schemes and says what it could not look at" *
          doctest::test_suite("large")) {
  const Ended ended = run_program(
      "recommend --model vgg16 -P 16 --platform gige_star --schemes topka,oktopk,dense_ovlp "
      "--most-ranks 32 -j 1");
  CHECK(ended.exit_code == 0);
  // How far it is, is told where no terminal shows it, from the beginning.
  CHECK(ended.err.find("0/3 simulated, about 0:") != std::string::npos);
  CHECK(ended.err.find("3/3 simulated, about 0:00 left\n") != std::string::npos);
  CHECK(ended.out.find("dominant") != std::string::npos);
  for (const char* part :
       {"\nWith more ranks, ", "\nWith longer latencies, ", "\nAmong oktopk, ",
        "  network    links, platform gige_star", "\nrecommended: ", "\nconvergence: ",
        "\nIn one sentence: to train vgg16 on 16 ranks of gige_star, use oktopk: an iteration "}) {
    CAPTURE(part);
    CHECK(ended.out.find(part) != std::string::npos);
  }
  const Ended data =
      run_program("recommend --model vgg16 -P 16 --schemes topka,dense_ovlp --fast --format jsonl");
  int candidates = 0;
  for (const nlohmann::json& record : lines_of(data.out)) {
    if (record.at("kind") != "candidate") continue;
    ++candidates;
    // A dense scheme has no training to compare with.
    CHECK(record.at("measured_points").is_null() == (record.at("scheme") == "dense_ovlp"));
  }
  CHECK(candidates == 2);
  CHECK(run_program("recommend").exit_code == 2);
  CHECK(run_program("recommend --model vgg17").exit_code == 2);
  CHECK(run_program("recommend --model vgg16 --schemes topk").exit_code == 2);
}

TEST_CASE("recommend names what is faster and not advised, with the reason and its source") {
  const Ended ended =
      run_program("recommend --model bert --device h100 -P 16 --schemes cltk,dense_ring --fast");
  CHECK(ended.exit_code == 0);
  CHECK(ended.out.find("\nnot advised: cltk, ") != std::string::npos);
  CHECK(ended.out.find("converges worse: a significantly low convergence rate") !=
        std::string::npos);
  CHECK(ended.out.find("\nrecommended: dense_ring\nconvergence: exact: ") != std::string::npos);
  // What trainings of a small model gave is told, and told to be that.
  CHECK(ended.out.find("; measured on a small model (cnn, density ") != std::string::npos);
  CHECK(ended.out.find("worse; small model -") != std::string::npos);
  const Ended none =
      run_program("recommend --model bert --device h100 -P 16 --schemes cltk --fast");
  CHECK(none.out.find("\nno recommendation\n") != std::string::npos);
  // Options are for the schemes that have them, and other keys of a point for all.
  const Ended set = run_program(
      "recommend --model vgg16 --device h100 -P 4 --fast --schemes dense_ring,dense_ovlp --set "
      "options.bucket_words=1M --set seed=3 --set machine.noise_s=1e-7");
  CHECK(set.exit_code == 0);
  CHECK(run_program("recommend --model vgg16 -P 4 --set options").exit_code == 2);
  const Ended large = run_program("recommend --model llama_7b --device h100 -P 4");
  CHECK(large.exit_code == 2);
  CHECK(large.err.find("does not fit on h100") != std::string::npos);
  const Ended refused = run_program("recommend --nccl-tuner x.csv -P 4 --state-bytes 3");
  CHECK(refused.exit_code == 2);
  CHECK(refused.err.find("--state-bytes") != std::string::npos);
}

TEST_CASE("A run of a model prints where its iteration goes") {
  const Ended ended = run_program("run --scheme topka -P 8 --model vgg16 --staging");
  CHECK(ended.exit_code == 0);
  CHECK(ended.out.find("sparsification") != std::string::npos);
  CHECK(run_program("run --model vgg16 --device h10").exit_code == 2);
  CHECK(run_program("list models").out.find("llama_7b") != std::string::npos);
  CHECK(run_program("list devices").out.find("p100") != std::string::npos);
}
