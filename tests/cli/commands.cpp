#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/cli/program.hpp"

namespace {

using thinwire::testing::Ended;
using thinwire::testing::run_program;
using thinwire::testing::TemporaryFolder;
using thinwire::testing::text_of;

constexpr const char* kSmallSweep = R"({
  "name": "small",
  "base": {"components": 4096, "density": 0.05},
  "grid": {"scheme": ["dense_rabenseifner", "topka", "oktopk"], "ranks": [1, 5, 8]}
})";

std::ptrdiff_t lines_in(const std::string& text) { return std::ranges::count(text, '\n'); }

}  // namespace

TEST_CASE("help of every command teaches with an example") {
  for (const char* command : {"", "run", "sweep", "compare"}) {
    CAPTURE(command);
    const Ended ended = run_program(std::string(command) + " --help");
    CHECK(ended.exit_code == 0);
    CHECK(ended.err.empty());
    CHECK(ended.out.find("Example") != std::string::npos);
    CHECK(ended.out.find("thinwire ") != std::string::npos);
  }
  CHECK(run_program("--version").out.starts_with("0."));
}

TEST_CASE("a run with nothing given works, and says that it lies inside its interval") {
  const Ended ended = run_program("run");
  CHECK(ended.exit_code == 0);
  CHECK(ended.err.empty());
  CHECK(lines_in(ended.out) == 2);
  CHECK(ended.out.find("inside") != std::string::npos);
}

TEST_CASE("the table of a run of topka is what the formula says") {
  // 3 messages of 2 * 1000 * (1 + 2 + 4) words in all: 3 * 1e-6 + 14000 * 1e-9 seconds.
  const Ended ended =
      run_program("run --scheme topka -P 8 -n 100000 -k 1000 --alpha 1e-6 --beta 1e-9");
  CHECK(ended.out ==
        "scheme  ranks     k   time_s  formula_s  ratio  words_max  formula_words  messages  "
        "formula_messages  verdict\n"
        "topka       8  1000  1.7e-05    1.7e-05      1      14000          14000         3  "
        "               3  exact\n");
}

TEST_CASE("every format holds the same result") {
  const std::string point = "run --scheme topka -P 4 -n 1000 --format ";
  const auto array = nlohmann::json::parse(run_program(point + "json").out);
  const auto row = nlohmann::json::parse(run_program(point + "jsonl").out);
  const std::string csv = run_program(point + "csv").out;
  CHECK(array.size() == 1);
  CHECK(array[0]["time_s"] == row["result"]["time_s"]);
  CHECK(array[0]["ranks_agree"] == true);
  CHECK(lines_in(csv) == 2);
  CHECK(
      csv.starts_with("scheme,network,platform,placement,packets,"
                      "time_resolution_s,flows_per_port,ranks,components,k,"));
  CHECK(csv.find(array[0]["time_s"].dump()) != std::string::npos);
}

TEST_CASE("flags go over the config file, and --set reaches every key") {
  const TemporaryFolder folder;
  const std::string config = folder.write(
      "point.json", R"({"scheme": "topka", "ranks": 4, "density": 0.5, "components": 100})");
  const auto row = nlohmann::json::parse(
      run_program("run --config " + config + " -P 3 -k 7 --set input.overlap=1 --format jsonl")
          .out);
  CHECK(row["point"]["scheme"] == "topka");
  CHECK(row["point"]["ranks"] == 3);
  CHECK(row["point"]["k"] == 7);
  CHECK(row["point"]["input"]["overlap"] == 1.0);
}

TEST_CASE("the counting network reports steps and no seconds") {
  const auto record = nlohmann::json::parse(
      run_program("run --network counting --scheme dense_ring -P 5 --format json").out)[0];
  CHECK(record["steps"] == 8);
  CHECK(record["time_s"].is_null());
  CHECK(record["verdict"] == "exact");
}

TEST_CASE("the gate does not hold where nothing can be compared") {
  const TemporaryFolder folder;
  const std::string row =
      run_program("run --set machine.latency_s=1e-6 -n 1000 --format jsonl").out;
  const Ended ended = run_program("compare " + folder.write("row", row) + " --tolerance 1");
  CHECK(ended.exit_code == 1);
  CHECK(ended.err.find("cannot be compared") != std::string::npos);
}

TEST_CASE("compare shows the results that are asked for") {
  const TemporaryFolder folder;
  const std::string config = folder.write("c.json", R"({"name":"c","base":{"components":1000},
                    "grid":{"scheme":["topka","dense_ring"],"ranks":[2,4,8]}})");
  const std::string rows = folder.path("c.jsonl");
  REQUIRE(run_program("sweep " + config + " -o " + rows).exit_code == 0);
  const auto shown = [&](const std::string& where) {
    return nlohmann::json::parse(run_program("compare " + rows + " --format json " + where).out)
        .size();
  };
  CHECK(shown("") == 6);
  CHECK(shown("--where scheme=topka") == 3);
  CHECK(shown("--where ranks=2,8 --where scheme=topka --where network=alphabeta") == 2);
  for (const auto& [wrong, what] :
       {std::pair{"rank=2", "did you mean 'ranks'?"}, std::pair{"ranks=3", "no result has ranks=3"},
        std::pair{"ranks", "wanted is KEY=VALUE"}}) {
    const Ended refused = run_program("compare " + rows + " --where " + wrong);
    CHECK(refused.exit_code == 2);
    CHECK(refused.out.empty());
    CHECK(refused.err.find(what) != std::string::npos);
  }
}

TEST_CASE("compare is a gate with --tolerance, and only then") {
  const TemporaryFolder folder;
  const std::string good = run_program("run --scheme topka -P 8 -n 1000 --format jsonl").out;
  auto row = nlohmann::ordered_json::parse(good);
  row["result"]["iteration_times_s"] = {1.0, 1.01 * row["result"]["time_s"].get<double>()};
  const std::string bad = row.dump() + "\n";
  CHECK(run_program("compare " + folder.write("good", good) + " --tolerance 1e-9").exit_code == 0);
  const std::string path = folder.write("bad", good + bad);
  CHECK(run_program("compare " + path).exit_code == 0);
  const Ended gate = run_program("compare " + path + " --tolerance 1e-3");
  CHECK(gate.exit_code == 1);
  CHECK(gate.out.find("OFF") != std::string::npos);
  CHECK(gate.err.find("1 of 2 results") != std::string::npos);
  CHECK(run_program("compare " + path + " --tolerance 0.02").exit_code == 0);
}

TEST_CASE("compare leaves a truncated last line out and says so") {
  const TemporaryFolder folder;
  const std::string row = run_program("run --scheme topka -P 8 -n 1000 --format jsonl").out;
  const Ended ended = run_program("compare " + folder.write("cut", row + row.substr(0, 100)));
  CHECK(ended.exit_code == 0);
  CHECK(lines_in(ended.out) == 2);
  CHECK(ended.err.find("last line is not complete") != std::string::npos);
}

TEST_CASE("docs/cost-models.md is what the cost models' code says") {
  const Ended ended = run_program("list schemes --costs --markdown");
  CHECK(ended.exit_code == 0);
  CHECK(text_of(std::string(THINWIRE_SOURCE_DIR) + "/docs/cost-models.md") == ended.out);
}

TEST_CASE("list --costs evaluates the papers' tables where it is told") {
  const auto rows = nlohmann::json::parse(
      run_program("list schemes --costs -P 8 -n 1000 -d 0.1 --format json").out);
  CHECK(rows.size() == 28);
  for (const auto& row : rows) {
    if (row.at("scheme") != "topka") continue;
    CHECK(row.at("run_messages_low") == 3);
    CHECK(row.at("paper_words_low") == 1400);
    CHECK(row.at("bandwidth") == "2k (P-1)");
  }
  CHECK(run_program("list platforms --costs").exit_code == 2);
  CHECK(run_program("list schemes --costs -P 0").exit_code == 2);
}

TEST_CASE("run tells how much was selected, how far that is from k, and what work it was") {
  const Ended ended = run_program("run --scheme topka -P 4 -n 10000 --phases");
  CHECK(ended.exit_code == 0);
  CHECK(ended.out.find("selected by 4 of 4 ranks: 100 a rank, 400 in all, +0.00% from k = 100") !=
        std::string::npos);
  CHECK(ended.out.find("sorted 10000") != std::string::npos);
  const Ended leader = run_program("run --scheme cltk -P 4 -n 10000 --phases");
  CHECK(leader.out.find("selected by 1 of 4 ranks: 100 a rank, 100 in all, +0.00%") !=
        std::string::npos);
}

TEST_CASE(
    "a scheme takes another sparsifier, and pairs that cannot be are refused with the reason") {
  CHECK(run_program("run --scheme oktopk+dgc -P 3 -n 10000").exit_code == 0);
  const auto refusal = [](const std::string& scheme) {
    const Ended ended = run_program("run --scheme " + scheme + " -P 3 -n 1000");
    CHECK(ended.exit_code == 2);
    CHECK(ended.out.empty());
    return ended.err;
  };
  CHECK(refusal("oktopk+dgx").find("unknown sparsifier 'dgx'; did you mean 'dgc'?") !=
        std::string::npos);
  CHECK(refusal("oktop+dgc").find("did you mean 'oktopk'?") != std::string::npos);
  CHECK(refusal("gtopk+dragonn_hash").find("slots in no order") != std::string::npos);
  CHECK(refusal("topka+exdyna").find("each rank selects for all") != std::string::npos);
  CHECK(refusal("dense_ring+dgc").find("sends everything") != std::string::npos);
  CHECK(refusal("qsgd --set options.bits=3").find("must be one of 2, 4, 8") != std::string::npos);
}

TEST_CASE("list names every scheme with its costs") {
  const Ended ended = run_program("list");
  for (const char* name :
       {"dense_rabenseifner", "dense_ring", "dense_recursive_doubling", "dense_double_tree",
        "dense_ovlp", "hierarchical_ring", "exdyna", "dragonn", "topka", "oktopk", "alphabeta",
        "counting", "[2k (P-1)/P, 6k (P-1)/P]", "tau_prime"}) {
    CHECK(ended.out.find(name) != std::string::npos);
  }
  const auto schemes = nlohmann::json::parse(run_program("list schemes --format json").out);
  CHECK(schemes.size() == 28);
}
