#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "tests/app/cli/program.hpp"
#include "tests/support/approx.hpp"

namespace {

using thinwire::testing::check_refused;
using thinwire::testing::Ended;
using thinwire::testing::run_program;
using thinwire::testing::TemporaryFolder;
using thinwire::testing::text_of;

constexpr const char* kOnAlphaBeta = R"({
  "name": "mine",
  "settings": {"machine": {"alpha_s": 1e-6, "beta_s_per_word": 1e-9}},
  "calibrated_on": [{"run": "a"}]
})";

/// 4 ranks on the ring: 6 messages of 250 words each, which take 6 x 1.25 µs.
constexpr const char* kThreeRows =
    "machine,run,test,nodes,tasks_per_node,collective,library,gpu,algorithm,segment,elements,"
    "seconds_median\n"
    "mine,a,0,4,1,allreduce,OMPI,no,ring_ompi,,1000,7.5e-6\n"
    "mine,b,0,4,1,allreduce,OMPI,no,ring_over,,1000,1.5e-5\n"
    "mine,b,0,4,1,allreduce,OMPI,no,default_ompi,,1000,1.5e-5\n";

}  // namespace

TEST_CASE("Measured rows are simulated, each distinct point once, and compared") {
  const TemporaryFolder folder;
  const std::string arguments = "validate --measured " + folder.write("m.csv", kThreeRows) +
                                " --machine " + folder.write("mine.json", kOnAlphaBeta) + " -o " +
                                folder.path("out");
  const Ended ended = run_program(arguments + " --format jsonl");
  REQUIRE(ended.exit_code == 0);
  CHECK(ended.err.find("2 of 3 measured rows simulated, 1 skipped; 1 points in") !=
        std::string::npos);
  CHECK(text_of(folder.path("out/validation.jsonl")) == ended.out);
  CHECK(text_of(folder.path("out/validation.txt")).find("\nSkipped\n") != std::string::npos);
  std::istringstream lines(ended.out);
  std::string line;
  REQUIRE(std::getline(lines, line));
  const nlohmann::json calibrated = nlohmann::json::parse(line);
  CHECK(calibrated.at("simulated_s").get<double>() == thinwire::test::approx(7.5e-6));
  CHECK(std::abs(calibrated.at("error").get<double>()) < 1e-12);
  CHECK(calibrated.at("basis") == "calibrated");
  REQUIRE(std::getline(lines, line));
  const nlohmann::json predicted = nlohmann::json::parse(line);
  CHECK(predicted.at("error").get<double>() == thinwire::test::approx(-1));
  CHECK(predicted.at("formula_error").get<double>() == thinwire::test::approx(-1));
  CHECK(predicted.at("basis") == "predicted");

  const Ended page = run_program("report " + folder.path("out/validation.jsonl"));
  CHECK(page.exit_code == 0);
  CHECK(page.out.find("\"algorithm\":\"ring_over\"") != std::string::npos);
  check_refused(run_program("report --figure time " + folder.path("out/validation.jsonl")),
                "no results in");
  check_refused(
      run_program("report " + folder.write("v.jsonl", R"({"schema":"validation/1","kind":"row",)"
                                                      R"("machine":"m"})"
                                                      "\n")),
      "v.jsonl:1: not a line of 'thinwire validate --format jsonl': no run");

  // A second run finds the point in the folder, and prints the tables.
  const Ended again = run_program(arguments + " --wide");
  CHECK(again.exit_code == 0);
  CHECK(again.err.find("ring on") == std::string::npos);
  CHECK(again.out == text_of(folder.path("out/validation.txt")));
}

TEST_CASE("The shortest row of a run tells its state, and counts as no prediction") {
  const TemporaryFolder folder;
  std::string description = kOnAlphaBeta;
  description.insert(description.find("\"calibrated_on\""), R"("probed": "machine.alpha_s", )");
  // Run b was measured where a message takes 3 µs longer: 6 messages of 1 and of 250 words.
  const std::string measured = folder.write(
      "m.csv", std::string(kThreeRows).substr(0, std::string(kThreeRows).find("mine,b")) +
                   "mine,b,0,4,1,allreduce,OMPI,no,ring_over,,4,2.4006e-5\n"
                   "mine,b,0,4,1,allreduce,OMPI,no,ring_over,,1000,2.55e-5\n");
  const Ended ended = run_program("validate --measured " + measured + " --machine " +
                                  folder.write("mine.json", description) + " -o " +
                                  folder.path("out") + " --format jsonl");
  REQUIRE(ended.exit_code == 0);
  std::istringstream lines(ended.out);
  int probes = 0;
  for (std::string line; std::getline(lines, line);) {
    const nlohmann::json record = nlohmann::json::parse(line);
    if (record.at("kind") == "probe") {
      ++probes;
      CHECK(record.at("run") == "b");
      CHECK(record.at("rows") == 1);
      CHECK(record.at("setting") == "machine.alpha_s");
      CHECK(record.at("value").get<double>() == thinwire::test::approx(4e-6).epsilon(0.01));
    }
    if (record.at("kind") != "row") continue;
    const bool in_a = record.at("run") == "a";
    CHECK(record.at("basis") == (in_a                         ? "calibrated"
                                 : record.at("elements") == 4 ? "probed"
                                                              : "predicted"));
    CHECK(std::abs(record.at("error").get<double>()) < 0.01);
  }
  CHECK(probes == 1);
  description.replace(description.find("alpha_s\","), 7, "gamma_s");
  check_refused(run_program("validate --measured " + measured + " --machine " +
                            folder.write("wrong.json", description)),
                "/probed: \"machine.gamma_s\" is not valid");
}

TEST_CASE("Rows with the times of the library's choice are skipped where another name differs") {
  const TemporaryFolder folder;
  std::string rows = std::string(kThreeRows).substr(0, std::string(kThreeRows).find("mine,b"));
  for (const int elements : {100, 1000, 10000, 100000}) {
    const auto add = [&](const std::string& algorithm, double seconds) {
      rows += "mine,b,0,4,1,allreduce,OMPI,no," + algorithm + ",," + std::to_string(elements) +
              "," + std::to_string(seconds) + "\n";
    };
    add("default_ompi", 0.1);
    add("ring_ompi", 0.101);
    add("ring_over", elements == 100 ? 0.2 : 0.1);  // the same at three of four sizes
    add("rabenseifner_ompi", 0.1);                  // by no other name: the library may choose it
    add("recursive_doubling_ompi", 0.101);
    add("recursive_doubling_over", elements > 1000 ? 0.2 : 0.1);
  }
  const Ended ended = run_program("validate --measured " + folder.write("m.csv", rows) +
                                  " --machine " + folder.write("mine.json", kOnAlphaBeta) + " -o " +
                                  folder.path("out") + " --format jsonl");
  REQUIRE(ended.exit_code == 0);
  std::istringstream lines(ended.out);
  std::string skipped;
  for (std::string line; std::getline(lines, line);) {
    const nlohmann::json record = nlohmann::json::parse(line);
    const bool told = record.at("kind") == "skipped" &&
                      record.at("reason").get<std::string>().find("did not run what it was told") !=
                          std::string::npos;
    if (!told) continue;
    skipped += record.at("algorithm").get<std::string>() + " ";
    CHECK(record.at("rows") == 4);
  }
  CHECK(skipped == "recursive_doubling_ompi ");
}

TEST_CASE("Rows that differ in their segments alone are told apart") {
  const TemporaryFolder folder;
  const std::string header(kThreeRows, std::string(kThreeRows).find('\n') + 1);
  const std::string rows = header +
                           "mine,a,0,4,1,allreduce,OMPI,no,ring_segmented_ompi,1024,100000,1e-3\n" +
                           "mine,a,0,4,1,allreduce,OMPI,no,ring_segmented_ompi,65536,100000,1e-3\n";
  const Ended ended =
      run_program("validate --measured " + folder.write("m.csv", rows) + " --machine " +
                  folder.write("mine.json", kOnAlphaBeta) + " -o " + folder.path("out"));
  REQUIRE(ended.exit_code == 0);
  CHECK(ended.out.find("  segment  ") != std::string::npos);
  const std::string records = text_of(folder.path("out/validation.jsonl"));
  CHECK(records.find("\"tasks_per_node\":1,\"segment\":65536,") != std::string::npos);
  const Ended figure = run_program("report " + folder.path("out/validation.jsonl") +
                                   " --figure measured --format svg");
  CHECK(figure.out.find("ring_segmented_ompi, 1 KiB segments") != std::string::npos);
  CHECK(figure.out.find("ring_segmented_ompi, 64 KiB segments") != std::string::npos);
}

TEST_CASE("fit refuses an output that cannot be written before it simulates anything") {
  const TemporaryFolder folder;
  const std::string arguments = "fit " + folder.write("m.csv", kThreeRows) + " --machine " +
                                folder.write("mine.json", kOnAlphaBeta) +
                                " --fit machine.alpha_s -o " + folder.path("");
  check_refused(run_program(arguments), "cannot be written: Is a directory");
  check_refused(run_program(arguments + "/m.csv/fitted.json"),
                "cannot be written: Not a directory");
}

TEST_CASE("fit puts trials aside that another version made") {
  const TemporaryFolder folder;
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path("."));
  std::filesystem::create_directories("results/local");
  const std::string stale = R"({"schema":2,"sweep":"fit","key":"0","version":"0",)"
                            R"("status":"failed","reason":"","point":{"of_another_time":1},)"
                            R"("result":null,"wall_s":0,"peak_rss_bytes":0})"
                            "\n";
  static_cast<void>(folder.write("results/local/fit_mine.jsonl", stale));
  const Ended ended =
      run_program("fit " + folder.write("m.csv", kThreeRows) + " --machine " +
                  folder.write("mine.json", kOnAlphaBeta) + " --fit machine.alpha_s");
  std::filesystem::current_path(before);
  CHECK(ended.exit_code == 0);
  CHECK(ended.err.find("fit_mine.jsonl:1: /point: /of_another_time: unknown key") !=
        std::string::npos);
  CHECK(ended.err.find("is now results/local/fit_mine.jsonl.old") != std::string::npos);
  CHECK(text_of(folder.path("results/local/fit_mine.jsonl.old")) == stale);
}

TEST_CASE("validate that compares nothing says so and fails") {
  const TemporaryFolder folder;
  const std::string rows = kThreeRows;
  const std::string mine = folder.write("mine.json", kOnAlphaBeta);
  std::string others = rows;
  for (std::size_t at = 0; (at = others.find("\nmine", at)) != std::string::npos;) {
    others.replace(at, 5, "\nyours");
  }
  for (const std::string& text : {rows.substr(0, rows.find('\n') + 1), others}) {
    const Ended ended = run_program("validate --measured " + folder.write("m.csv", text) +
                                    " --machine " + mine + " -o " + folder.path("out"));
    CHECK(ended.exit_code == 1);
    CHECK(ended.err.find("nothing was compared") != std::string::npos);
  }
}

TEST_CASE("validate refuses bad input in one line") {
  const TemporaryFolder folder;
  const std::string rows = folder.write("m.csv", kThreeRows);
  const std::string mine = folder.write("mine.json", kOnAlphaBeta);
  const auto refused = [&](const std::string& arguments, const std::string& what) {
    CAPTURE(arguments);
    check_refused(run_program("validate " + arguments), what);
  };
  refused("", "--measured");
  refused("--measured nowhere.csv", "nowhere.csv");
  refused("--measured " + rows + ",node=3", "unknown key 'node'; did you mean 'nodes'?");
  refused("--measured " + rows + " --machine leonadro", "did you mean 'leonardo'?");
  refused("--measured " + rows + " --machine " + mine + " " + mine, "both describe mine");
  refused("--measured " + rows + " --machine " + mine + " --placement nowhere", "is no folder");
  std::string negative = kThreeRows;
  negative.replace(negative.find("7.5e-6"), 6, "-7.5e-6");
  refused("--measured " + folder.write("n.csv", negative),
          "n.csv:2:48: seconds_median: '-7.5e-6' is not valid");
}

TEST_CASE("a fit that is poor without a rendezvous finds it" * doctest::test_suite("large")) {
  const TemporaryFolder folder;
  const std::string xml = folder.path("true.xml");
  REQUIRE(run_program("topo make rails islands=1 nodes=2 gpus=2 nic-bandwidth=20GBps "
                      "gpu-bandwidth=200GBps -o " +
                      xml)
              .exit_code == 0);
  const Ended log = run_program(
      "run --scheme dense_auto --network links --set machine.eager_bytes=524288 --set "
      "options.rendezvous_s=1e-4 --sizes 256,2K,16K,256K,16M --format nccl -P 4 --platform " +
      xml);
  REQUIRE(log.exit_code == 0);
  const Ended fit =
      run_program("fit " + folder.write("log.txt", log.out) +
                  " --nic-bandwidth 200Gbps --format json -o " + folder.path("mine.json"));
  CAPTURE(fit.err);
  REQUIRE(fit.exit_code == 0);
  CHECK(fit.err.find("a rendezvous between nodes: yes") != std::string::npos);
  const nlohmann::json description = nlohmann::json::parse(text_of(folder.path("mine.json")));
  CHECK(description.at("settings").at("options").at("rendezvous_s").get<double>() ==
        thinwire::test::approx(1e-4).epsilon(0.1));
}

TEST_CASE("fit makes a machine of a log, finds its NIC's rate, and predicts more nodes" *
          doctest::test_suite("large")) {
  const TemporaryFolder folder;
  const std::string xml = folder.path("true.xml");
  REQUIRE(run_program("topo make rails islands=1 nodes=2 gpus=2 nic-bandwidth=20GBps "
                      "gpu-bandwidth=200GBps -o " +
                      xml)
              .exit_code == 0);
  const Ended log = run_program(
      "run --scheme dense_auto --network links --set machine.eager_bytes=524288 --sizes "
      "4K:256M:16 --format nccl -P 4 --platform " +
      xml);
  REQUIRE(log.exit_code == 0);
  const std::string logs = folder.write("log.txt", log.out) + ' ';
  const std::string machine = folder.path("mine.json");
  const Ended fit =
      run_program("fit " + logs + "--nic-bandwidth 200Gbps --nodes 8 --name mine -o " + machine +
                  " --format json");
  CAPTURE(fit.err);
  REQUIRE(fit.exit_code == 0);
  CHECK(fit.err.find("assumed: 2 NICs of a node, one for each GPU") != std::string::npos);
  const nlohmann::json description = nlohmann::json::parse(text_of(machine));
  CHECK(description.at("calibration").at("rms_of_log_ratio").get<double>() < 0.05);
  double rate = 0;
  for (const auto& setting : description.at("calibration").at("settings")) {
    if (setting.at("setting") == "nic-bandwidth") rate = setting.at("value").get<double>();
  }
  CHECK(rate == thinwire::test::approx(20e9).epsilon(0.05));
  const nlohmann::json predicted = nlohmann::json::parse(fit.out);
  REQUIRE(predicted.size() == 5);
  CHECK(predicted[0].at("ranks") == 16);
  CHECK(predicted[4].at("low_s").get<double>() < predicted[4].at("time_s").get<double>());
  // The description is a platform, and a machine of the same rows.
  const Ended ended =
      run_program("run --scheme dense_auto -P 16 -n 1024 --platform " + machine + " --format json");
  REQUIRE(ended.exit_code == 0);
  const nlohmann::json row = nlohmann::json::parse(ended.out).front();
  CHECK(row.at("network") == "links");
  CHECK(row.at("time_s").get<double>() ==
        thinwire::test::approx(predicted[0].at("time_s").get<double>()));
  const Ended validated = run_program("validate --machine " + machine + " --measured " + logs +
                                      "-o " + folder.path("out"));
  CHECK(validated.exit_code == 0);
  CHECK(validated.out.find("calibrated") != std::string::npos);

  const std::string refused = "fit " + logs + "-o " + machine;
  check_refused(run_program(refused + " --gpus 1"), "--gpus 1: a log has 2 ranks on a node");
  check_refused(run_program(refused + " --fit machine.call_s"), "give --machine FILE as well");
  check_refused(run_program("fit " + logs + "-o machine.txt"), "expected a file FILE.json");
}
