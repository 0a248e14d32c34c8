#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <sstream>
#include <string>

#include "tests/app/cli/program.hpp"
#include "tests/support/approx.hpp"

namespace {

using thinwire::testing::check_refused;
using thinwire::testing::Ended;
using thinwire::testing::lines_in;
using thinwire::testing::run_program;
using thinwire::testing::TemporaryFolder;
using thinwire::testing::text_of;

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
  CHECK(run_program("--version").out.starts_with("1."));
}

TEST_CASE("a run with nothing given works, and says that it lies inside its interval") {
  const Ended ended = run_program("run");
  CHECK(ended.exit_code == 0);
  CHECK(ended.err.empty());
  CHECK(lines_in(ended.out) == 2);
  CHECK(ended.out.find("inside") != std::string::npos);
}

TEST_CASE("help before a command is --help after it") {
  CHECK(run_program("help run").out == run_program("run --help").out);
  CHECK(run_program("help").out == run_program("--help").out);
  CHECK(run_program("help topo show").out == run_program("topo show --help").out);
}

TEST_CASE("help and the version are found where people look for them") {
  CHECK(run_program("topo help").out == run_program("topo --help").out);
  CHECK(run_program("topo help show").out == run_program("topo show --help").out);
  CHECK(run_program("run help").out == run_program("run --help").out);
  CHECK(run_program("-V").out == run_program("--version").out);
  CHECK(run_program("version").out == run_program("--version").out);
}

TEST_CASE("help names values, not the parser's types, and every device") {
  for (const char* command :
       {"run", "recommend", "list", "trace selection", "topo show", "sweep"}) {
    CAPTURE(command);
    const std::string help = run_program(std::string(command) + " --help").out;
    for (const char* raw : {"INT", "UINT", "FLOAT", "TEXT", " in [", "POSITIVE", "{"}) {
      CAPTURE(raw);
      CHECK(help.find(raw) == std::string::npos);
    }
  }
  const auto devices = nlohmann::json::parse(run_program("list devices --format json").out);
  CHECK(devices.size() >= 4);
  const std::string help = run_program("run --help-all").out;
  for (const auto& device : devices) {
    CHECK(help.find(device.at("name").get<std::string>()) != std::string::npos);
  }
}

TEST_CASE("lists of values run every combination, each as alone") {
  const std::string all =
      run_program("run --scheme topka,dense_ring -P 3,8 -n 1000 --format jsonl").out;
  std::string alone;
  for (const char* ranks : {"3", "8"}) {
    for (const char* scheme : {"topka", "dense_ring"}) {
      alone +=
          run_program(std::string("run -n 1000 --format jsonl --scheme ") + scheme + " -P " + ranks)
              .out;
    }
  }
  const auto sorted = [](const std::string& text) {
    std::multiset<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) {
      nlohmann::json row = nlohmann::json::parse(line);
      row.erase("wall_s");
      row.erase("peak_rss_bytes");
      lines.insert(row.dump());
    }
    return lines;
  };
  CHECK(sorted(all) == sorted(alone));
  CHECK(sorted(all).size() == 4);
}

TEST_CASE("a table has a column for every setting in which its rows differ" *
          doctest::test_suite("large")) {
  const auto heading = [](const std::string& flags) {
    const Ended ended = run_program("run " + flags);
    CHECK(ended.exit_code == 0);
    return " " + ended.out.substr(0, ended.out.find('\n')) + " ";
  };
  const auto has = [](const std::string& line, const std::string& name) {
    return line.find(" " + name + " ") != std::string::npos;
  };
  const std::string lists = heading(
      "-n 1000 --scheme topka,dense_ring -d 1%,10% --seed 1,2 --alpha 1us,2us --overlap 0,1");
  for (const char* name : {"density", "seed", "alpha", "overlap"}) CHECK(has(lists, name));
  const std::string alone = heading("-n 1000 --scheme topka -d 10% --seed 2 --alpha 2us");
  for (const char* name : {"density", "seed", "alpha", "overlap"}) CHECK_FALSE(has(alone, name));
  CHECK(has(heading("-n 1000 --iterations 2,4"), "iterations"));
  CHECK(has(heading("--model lstm_an4 --statistical -P 2 --batch 1,2"), "batch"));
  CHECK(has(heading("--model lstm_an4 --statistical -P 2 -d 1%,2%"), "density"));
  // Each row says which it is.
  const std::string out = run_program("run -n 1000 --scheme topka --seed 7,8 -P 3").out;
  std::istringstream lines(out);
  std::string line;
  std::getline(lines, line);
  for (const char* seed : {" 7 ", " 8 "}) {
    std::getline(lines, line);
    CHECK(line.find(seed) != std::string::npos);
  }
  // Only tables have them: every other format always has all settings.
  CHECK(run_program("run -n 1000 --seed 1,2 --format json").out.find("\"settings\"") ==
        std::string::npos);
}

TEST_CASE("every flag takes numbers as people write them" * doctest::test_suite("large")) {
  const auto row_of = [](const std::string& flags) {
    return nlohmann::json::parse(run_program("run --format jsonl " + flags).out).at("point");
  };
  CHECK(row_of("-n 1K --beta 0.4ns")["machine"]["beta_s_per_word"] == 0.4e-9);
  CHECK(row_of("-n 1K --gamma 1ns")["machine"]["gamma_s_per_word"] == 1e-9);
  CHECK(row_of("-n 1K --eager 4KiB")["machine"]["eager_bytes"] == 4096);
  CHECK(row_of("-n 1K --set machine.alpha_s=3us")["machine"]["alpha_s"] == 3e-6);
  CHECK(row_of("--set components=2e3")["components"] == 2000);
  CHECK(row_of("-n 1K --set options.tau=1K")["options"]["tau"] == 1000);
  CHECK(row_of("-n 1K --set input.overlap=5%")["input"]["overlap"] == 0.05);
  CHECK(row_of("-n 1K --scheme qsgd --set options.bits=4")["options"]["bits"] == 4);
  const auto same = [](const std::string& a, const std::string& b) {
    CAPTURE(a);
    const Ended first = run_program(a);
    CHECK(first.exit_code == 0);
    CHECK(first.out == run_program(b).out);
  };
  same("list schemes --costs -n 25.5M -d 1% -P 1K",
       "list schemes --costs -n 25500000 -d 0.01 -P 1000");
  same("trace fill-in vgg16 -d 0.1% -P 1K,2K", "trace fill-in vgg16 -d 0.001 -P 1000,2000");
  CHECK(run_program("topo make star --hosts 1K").out.find("radical=\"0-999\"") !=
        std::string::npos);
  same("topo show gige_star --traffic ring --bytes 1MB", "topo show gige_star --traffic ring");
}

TEST_CASE("a platform of more hosts than were asked for says so") {
  CHECK(run_program("topo make fat_tree hosts=17").err ==
        "note: fat_tree: 256 hosts instead of 17, because all its parts are complete\n");
  CHECK(run_program("topo make dragonfly hosts=1000").err ==
        "note: dragonfly: 1152 hosts instead of 1000, because all its parts are complete\n");
  for (const char* whole : {"fat_tree hosts=512", "star hosts=17", "star", "nvlink_ib hosts=16"}) {
    CHECK(run_program(std::string("topo make ") + whole).err == "");
  }
}

TEST_CASE("a decimal comma is pointed out, since it makes two values") {
  const Ended two = run_program("run --scheme topka -n 25,5K");
  CHECK(two.exit_code == 0);
  CHECK(two.err ==
        "--components 25,5K: these are two values, 25 and 5K; a decimal has a point: "
        "25.5K\n");
  CHECK(run_program("run --scheme topka -n 1000 -d 0,01").err.find("a decimal has a point: 0.01") !=
        std::string::npos);
  CHECK(run_program("run --scheme topka -n 1000 -d 0,0.01").err.empty());
  CHECK(run_program("run --scheme topka -n 1000,2000").err.empty());
  CHECK(run_program("run --scheme topka -n 1K,2K").err.empty());
}

TEST_CASE("a point that is given twice runs once") {
  const Ended once = run_program("run -n 1000 -P 8,8 --scheme topka,topka");
  CHECK(once.exit_code == 0);
  CHECK(lines_in(once.out) == 2);
  CHECK(once.err.starts_with("note: repeated points left out: 3"));
}

TEST_CASE("a dense scheme runs once however many densities are given, and shows none") {
  const Ended run = run_program("run -n 1000 -P 4 --scheme dense_ring,topka -d 0.01,0.1,0.2");
  CHECK(run.exit_code == 0);
  CHECK(lines_in(run.out) == 5);
  CHECK(run.out.find("dense_ring", run.out.find("dense_ring") + 1) == std::string::npos);
  CHECK(run.err.starts_with("note: repeated points left out: 2"));

  const TemporaryFolder folder;
  const std::string sweep = folder.write("s.json", R"({"name": "s", "base": {"components": 1000},
      "grid": {"scheme": ["dense_ring", "qsgd", "topka"], "density": [0.01, 0.1]}})");
  const Ended swept = run_program("sweep " + sweep + " -o " + folder.path("s.jsonl"));
  CHECK(swept.exit_code == 0);
  CHECK(lines_in(text_of(folder.path("s.jsonl"))) == 4);
  CHECK(lines_in(run_program("compare " + folder.path("s.jsonl")).out) == 5);
}

TEST_CASE("completion knows figures, placements and the keys of --set") {
  const auto offers = [](const std::string& words, const std::string& name) {
    return ("\n" + run_program("complete -- " + words).out).find("\n" + name + "\n") !=
           std::string::npos;
  };
  CHECK(offers("report --figure c", "crossover"));
  CHECK(offers("run --placement r", "round_robin"));
  CHECK(offers("run --set opt", "options.tau="));
  CHECK(offers("run --set input.o", "input.overlap="));
  CHECK(offers("run --routing v", "valiant"));
}

TEST_CASE("the table of a run of topka is what the formula says") {
  // 3 messages of 2 * 1000 * (1 + 2 + 4) words in all: 3 * 1e-6 + 14000 * 1e-9 seconds.
  const Ended ended =
      run_program("run --scheme topka -P 8 -n 100000 -k 1000 --alpha 1e-6 --beta 1e-9");
  CHECK(ended.out ==
        "scheme  ranks   time  ratio  verdict\n"
        "topka       8  17 µs      1  exact\n");
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
      csv.starts_with("schema,scheme,network,platform,placement,packets,"
                      "time_resolution_s,flows_per_port,ranks,components,size_bytes,k,"));
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

TEST_CASE("README's table is what the main job prints of the committed results") {
  const std::string source = THINWIRE_SOURCE_DIR;
  const auto records = nlohmann::json::parse(
      run_program("compare " + source +
                  "/results/table1/table1.jsonl --where ranks=256 --format json")
          .out);
  std::istringstream page(text_of(source + "/README.md"));
  int shown = 0;
  for (std::string line; std::getline(page, line);) {
    if (!line.starts_with("| `")) continue;
    CAPTURE(line);
    std::replace(line.begin(), line.end(), '|', ' ');
    std::erase(line, '`');
    std::istringstream words(line);
    std::string scheme, unit, word, verdict;
    double time = 0, low = 0, over_best = 0;
    words >> scheme >> time >> unit >> low >> word;
    std::optional<double> high;
    if (word == "to") {
      high = 0;
      words >> *high >> over_best;
    } else {
      over_best = std::stod(word);
    }
    words >> verdict;
    const auto record = std::ranges::find_if(
        records, [&](const nlohmann::json& one) { return one["scheme"] == scheme; });
    REQUIRE(record != records.end());
    REQUIRE(unit == "ms");
    const auto agrees = [&](double value, const char* column) {
      CHECK(value == doctest::Approx((*record)[column].get<double>()).epsilon(5e-3));
    };
    agrees(time * 1e-3, "time_mean_s");
    agrees(low, "ratio_low");
    agrees(high.value_or(low), "ratio_high");
    agrees(over_best, "over_best");
    CHECK((*record)["verdict"] == verdict);
    ++shown;
  }
  CHECK(shown == 5);
}

TEST_CASE("what selects far from k wins no order of times, and is noted") {
  const TemporaryFolder folder;
  const Ended ended =
      run_program("run --scheme gaussiank,topka -P 4 --profile bert --statistical --format jsonl");
  CHECK(ended.err.starts_with("note: 1 of 2 results (gaussiank) select less than half"));
  const std::string rows = folder.write("rows.jsonl", ended.out);
  for (const std::string how : {"--sort-by time_s", "--group-by scheme --sort-by time_s_min"}) {
    const Ended compared = run_program("compare " + rows + " " + how);
    CAPTURE(compared.out);
    CHECK(compared.out.find("topka") < compared.out.find("gaussiank"));
  }
  CHECK(run_program("run --scheme topka -P 4 -n 1000").err.empty());
}

TEST_CASE("the gate does not hold where nothing can be compared") {
  const TemporaryFolder folder;
  for (const auto& [setting, why] :
       {std::pair{"--set machine.latency_s=1e-6", "the machine has settings other than α, β and γ"},
        std::pair{"--eager 4096", "the machine has settings other than α, β and γ"},
        std::pair{"--approximate 4 -P 16 --profile bert --statistical",
                  "a few ranks stand for all ('approximate')"}}) {
    CAPTURE(std::string(setting));
    const std::string row =
        run_program("run --scheme dense_ring -n 1000 --format jsonl " + std::string(setting)).out;
    const Ended ended = run_program("compare " + folder.write("row", row) + " --tolerance 1");
    CHECK(ended.exit_code == 1);
    CHECK(ended.err == "1 of 1 results cannot be compared: " + std::string(why) + "\n");
  }
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
        std::pair{"ranks", "expected KEY=VALUE"}}) {
    const Ended refused = run_program("compare " + rows + " --where " + wrong);
    CHECK(refused.exit_code == 2);
    CHECK(refused.out.empty());
    CHECK(refused.err.find(what) != std::string::npos);
  }
}

TEST_CASE("numbers of --where are numbers, however they are written") {
  const TemporaryFolder folder;
  const std::string rows = folder.write(
      "rows.jsonl", run_program("run --scheme topka -P 4,8 -n 1001 -d 0.01 --format jsonl").out);
  // k is 10 of 1001 components.
  for (const char* condition :
       {"density=0.00999", "ranks=4,8", "ranks=4.0,8e0", "ranks=8 --where ranks=8"}) {
    CAPTURE(std::string(condition));
    CHECK(run_program("compare " + rows + " --where " + condition).exit_code == 0);
  }
  check_refused(run_program("compare " + rows + " --where density=0.02"), "no result has");
  check_refused(run_program("compare " + rows + " --where ranks=9"), "no result has");
  check_refused(run_program("compare " + rows + " --where ranks=4,density=0.01"),
                "'density=0.01' is another condition");
  check_refused(run_program("compare " + rows + " --where time_s=inf"), "no result has");
  check_refused(run_program("compare " + rows + " --where components=1001.001"), "no result has");
}

TEST_CASE("an interval's ends are in order, and the paper's bound is for whole words") {
  const auto row = [](const std::string& flags) {
    return nlohmann::json::parse(run_program("run --format json " + flags).out).at(0);
  };
  const nlohmann::json dense = row("--scheme topkdsa -P 4 -n 10000 -d 0.7");
  CHECK(dense.at("paper_low_s").get<double>() < dense.at("paper_high_s").get<double>());
  CHECK(dense.at("ratio_low").get<double>() < dense.at("ratio_high").get<double>());
  for (const char* flags : {"--scheme topka -P 8", "--scheme topka -P 8 --index-bits 64",
                            "--scheme gtopk -P 16 --index-bits 40"}) {
    CAPTURE(std::string(flags));
    CHECK(row(flags).at("verdict") != "above");
  }
  const Ended infinite =
      run_program("run --scheme topka -P 2 --alpha 0 --beta 0 --gamma 1e-9 --format csv");
  CHECK(infinite.out.find("null") == std::string::npos);
  CHECK(infinite.out.find(",inf,") != std::string::npos);
}

TEST_CASE("columns are chosen, compared and told by the same names") {
  const std::string point = "run --scheme topka,dense_ring -P 4 -n 1000 ";
  const std::string chosen = run_program(point + "--columns scheme,time,over_best").out;
  CHECK(chosen.starts_with("scheme          time  over_best\n"));
  CHECK(run_program(point + "--columns scheme,time_s,over_best").out == chosen);
  CHECK(
      run_program(point + "--columns time,scheme --format csv").out.starts_with("time_s,scheme\n"));
  CHECK(run_program(point + "--wide").out.find("busbw") != std::string::npos);
  check_refused(run_program(point + "--columns schema,shceme"), "did you mean 'scheme'?");
  check_refused(run_program(point + "--columns scheme --format jsonl"), "whole rows");
  const TemporaryFolder folder;
  const std::string rows = folder.write("rows.jsonl", run_program(point + "--format jsonl").out);
  const auto records = nlohmann::json::parse(
      run_program("compare " + rows + " --sort-by time_mean --format json").out);
  CHECK(records[0]["scheme"] == "topka");
  CHECK(records[0]["over_best"] == 1);
  CHECK(records[1]["over_best"] == thinwire::test::approx(records[1]["time_mean_s"].get<double>() /
                                                          records[0]["time_mean_s"].get<double>()));
  CHECK(run_program("compare " + rows + " --sort-by ratio").exit_code == 0);
  const std::string traced = folder.write(
      "traced.jsonl", run_program("run --scheme topka --trace lstm_all -P 4 --format jsonl").out);
  const Ended headed = run_program("compare " + traced + " --where input=lstm_all --columns input");
  CHECK(headed.out.starts_with("input\nlstm_all\n"));
  const Ended partly = run_program("compare " + rows + " --where scheme=topka,dense");
  CHECK(partly.exit_code == 0);
  CHECK(partly.err ==
        "note: --where scheme=topka,dense: no result has dense; did you mean 'dense_ring'?\n");
}

TEST_CASE("what cannot be meant is noted, and names are found in their groups") {
  const std::string run = "run --scheme topka -P 2 -n 1000 ";
  CHECK(
      run_program(run + "--alpha 2").err ==
      "note: machine.alpha_s is 2 s, far beyond any network; usual are microseconds, as in 2us\n");
  CHECK(run_program(run + "--alpha 2us --beta 25Gbps").err.empty());
  const auto row = nlohmann::json::parse(run_program(run + "--beta 25Gbps --format jsonl").out);
  CHECK(row["point"]["machine"]["beta_s_per_word"] == thinwire::test::approx(1.28e-9));
  check_refused(run_program(run + "--set tau=32"),
                "unknown key 'tau'; did you mean 'options.tau'?");
  check_refused(run_program("run --set model=bert"), "did you mean 'workload.model'?");
  check_refused(run_program("run --set base.model=bert"), "did you mean 'workload.model'?");
  check_refused(run_program("run --bandwidth 25Gbps"), "did you mean '--beta'?");
  check_refused(run_program("run --scheme ring"), "did you mean one of dense_ring, ");
  check_refused(run_program("run --model bert --device H100"), "did you mean 'h100'?");
}

TEST_CASE("help shows the flags that people use first, and --help-all all") {
  const std::string help = run_program("run --help").out;
  CHECK(help.find("--scheme") != std::string::npos);
  CHECK(help.find("--handshake") == std::string::npos);
  CHECK(help.find("Examples:") < help.find("Options:"));
  CHECK(run_program("run --help-all").out.find("--overlap") != std::string::npos);
  for (const char* command : {"run --help-all", "recommend --help-all", "topo show --help"}) {
    std::istringstream lines(run_program(command).out);
    for (std::string line; std::getline(lines, line);) {
      CAPTURE(line);
      CHECK(line.size() <= 104);  // some are letters of two bytes
    }
  }
}

TEST_CASE("bandwidths are as nccl-tests defines them, of the dense gradient") {
  const auto record_of = [](const std::string& flags) {
    return nlohmann::json::parse(run_program("run --format json " + flags).out)[0];
  };
  const auto one = record_of("-P 8 -n 1000 --scheme dense_ring");
  const double time = one["time_s"];
  CHECK(one["schema"] == "comparison/2");
  CHECK(one["size_bytes"] == 4000);
  CHECK(one["algbw_bytes_per_s"].get<double>() == thinwire::test::approx(4000 / time));
  CHECK(one["busbw_bytes_per_s"].get<double>() == thinwire::test::approx(4000 / time * 14 / 8));
  // No time, and a time with more in it than the allreduce.
  CHECK(record_of("-P 1 -n 1000")["algbw_bytes_per_s"].is_null());
  CHECK(record_of("-P 3 -n 1000 --network counting")["busbw_bytes_per_s"].is_null());
  CHECK(record_of("-P 2 --model lstm_an4 --statistical")["algbw_bytes_per_s"].is_null());
}

TEST_CASE("the tables of run and sweep fit into 100 columns" * doctest::test_suite("large")) {
  // n is long, so that the columns are wide.
  const TemporaryFolder folder;
  const Ended table =
      run_program("sweep " + folder.write("c.json", R"({"name":"c","base":{"components":133547324},
                    "grid":{"scheme":["oktopk","dense_recursive_doubling"],"ranks":[7,128]}})") +
                  " -o " + folder.path("c.jsonl"));
  REQUIRE(table.exit_code == 0);
  std::istringstream lines(table.out);
  for (std::string line; std::getline(lines, line);) CHECK(line.size() <= 100);
}

TEST_CASE(
    "compare takes several files, counts a result once, and names the sweep where they differ") {
  const TemporaryFolder folder;
  const auto sweep = [&](const std::string& name, const std::string& ranks) {
    const std::string rows = folder.path(name + ".jsonl");
    const std::string config =
        folder.write(name + ".json", R"({"name":")" + name +
                                         R"(","base":{"components":1000,"scheme":"topka"},
                                             "grid":{"ranks":)" +
                                         ranks + "}}");
    REQUIRE(run_program("sweep " + config + " -o " + rows).exit_code == 0);
    return rows;
  };
  const std::string a = sweep("a", "[2,4]");
  const std::string b = sweep("b", "[4,8]");
  const Ended both = run_program("compare " + a + " " + b);
  CHECK(both.exit_code == 0);
  CHECK(lines_in(both.out) == 4);
  CHECK(both.out.find("sweep") != std::string::npos);
  CHECK(both.err == "1 results occur more than once; the last of each is used\n");
  CHECK(run_program("compare " + a).out.find("sweep") == std::string::npos);
  const auto sorted = nlohmann::json::parse(
      run_program("compare " + b + " " + a + " --format json --sort-by time_s").out);
  REQUIRE(sorted.size() == 3);
  CHECK(sorted[0]["ranks"] == 2);
  CHECK(sorted[2]["ranks"] == 8);

  const std::string files = "compare " + a + " " + b;
  const auto groups = nlohmann::json::parse(
      run_program(files + " --group-by scheme,sweep --format json --sort-by sweep").out);
  REQUIRE(groups.size() == 2);
  CHECK(groups[0]["sweep"] == "a");
  CHECK(groups[0]["count"] == 1);
  CHECK(groups[1]["count"] == 2);
  CHECK(groups[1]["ratio_low_median"] == 1);
  for (const auto& [flags, lines] :
       {std::pair{"table", 2}, std::pair{"csv", 2}, std::pair{"jsonl", 1}}) {
    const Ended ended = run_program(files + " --group-by scheme --format " + flags);
    CHECK(ended.exit_code == 0);
    CHECK(lines_in(ended.out) == lines);
  }
  for (const auto& [flags, what] :
       {std::pair{"--group-by rank",
                  "--group-by: no column is called 'rank'; did you mean 'ranks'?"},
        std::pair{"--group-by scheme,", "--group-by: no column is called ''"},
        std::pair{"--sort-by times_s", "--sort-by: no column is called 'times_s'"},
        std::pair{"--group-by scheme --sort-by times_s",
                  "--sort-by: no column is called 'times_s'"}}) {
    const Ended refused = run_program(files + " " + flags);
    CHECK(refused.exit_code == 2);
    CHECK(refused.out.empty());
    CHECK(refused.err.find(what) != std::string::npos);
    CHECK(lines_in(refused.err) <= 2);  // one, and that a result is there twice
  }
}

TEST_CASE("compare refuses what compare itself has printed, and rows of another schema") {
  const TemporaryFolder folder;
  const std::string row = run_program("run --scheme topka -P 2 -n 1000 --format jsonl").out;
  const std::string rows = folder.write("rows.jsonl", row);
  const std::string printed =
      folder.write("printed.jsonl", run_program("compare " + rows + " --format jsonl").out);
  const Ended refused = run_program("compare " + rows + " " + printed);
  CHECK(refused.exit_code == 2);
  CHECK(refused.err.find("printed.jsonl:1: /schema: 'comparison/2' is a report") !=
        std::string::npos);
  auto other = nlohmann::json::parse(row);
  other["schema"] = 1;
  const Ended old = run_program("compare " + folder.write("old.jsonl", other.dump() + "\n"));
  CHECK(old.exit_code == 2);
  CHECK(old.err.find("this version reads rows of schema 2, and this row has schema 1") !=
        std::string::npos);
  CHECK(old.err.find("simulate its points again") != std::string::npos);
  other["schema"] = 3;
  const Ended later = run_program("compare " + folder.write("later.jsonl", other.dump() + "\n"));
  CHECK(later.exit_code == 2);
  CHECK(later.err.find("read it with that version or a later one") != std::string::npos);
}

TEST_CASE("a row whose time is not the time of its iterations is refused") {
  const TemporaryFolder folder;
  const std::string good = run_program("run --scheme topka -P 8 -n 1000 --format jsonl").out;
  for (const nlohmann::json& time : {nlohmann::json(5), nlohmann::json(-1), nlohmann::json("1")}) {
    auto row = nlohmann::ordered_json::parse(good);
    row["result"]["time_s"] = time;
    check_refused(run_program("compare " + folder.write("bad", row.dump() + "\n")),
                  "/result/time_s");
  }
}

TEST_CASE("compare is a gate with --tolerance, and only then") {
  const TemporaryFolder folder;
  const std::string good = run_program("run --scheme topka -P 8 -n 1000 --format jsonl").out;
  auto row = nlohmann::ordered_json::parse(good);
  const double slower = 1.01 * row["result"]["time_s"].get<double>();
  row["result"]["iteration_times_s"] = {1.0, slower};
  row["result"]["time_s"] = slower;
  row["key"] = "0123456789abcdef";
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

TEST_CASE("compare --baseline is a gate with --tolerance, and only then") {
  const TemporaryFolder folder;
  const std::string run = "run --scheme dense_ring -n 1000 --format jsonl -P ";
  const std::string old = folder.write("old", run_program(run + "2,4").out);
  auto slower = nlohmann::ordered_json::parse(run_program(run + "2").out);
  for (auto& time : slower["result"]["iteration_times_s"]) time = 1.01 * time.get<double>();
  slower["result"]["time_s"] = slower["result"]["iteration_times_s"].back();
  const std::string now = folder.write("now", slower.dump() + "\n" + run_program(run + "4").out);
  const std::string compare = "compare " + now + " --baseline " + old;
  const Ended table = run_program(compare);
  CHECK(table.exit_code == 0);
  CHECK(table.out.find("slower") != std::string::npos);
  CHECK(table.err.find("1 of 2 points are missing, failed, or differ") != std::string::npos);
  CHECK(run_program(compare + " --tolerance 1e-3").exit_code == 1);
  CHECK(run_program(compare + " --tolerance 0.02").exit_code == 0);
  CHECK(run_program(compare + " --where ranks=4 --tolerance 0").exit_code == 0);
  const std::string fewer = folder.write("fewer", run_program(run + "4").out);
  CHECK(run_program("compare " + fewer + " --baseline " + old + " --tolerance 1").exit_code == 1);
  const std::string other = folder.write("other", run_program(run + "8").out);
  check_refused(run_program("compare " + other + " --baseline " + old), "has no point of");
  const Ended csv = run_program(compare + " --format csv");
  CHECK(csv.out.find("time_ratio") != std::string::npos);
  CHECK(csv.out.find("settings") == std::string::npos);
}

TEST_CASE("compare leaves a truncated last line out and says so") {
  const TemporaryFolder folder;
  const std::string row = run_program("run --scheme topka -P 8 -n 1000 --format jsonl").out;
  const Ended ended = run_program("compare " + folder.write("cut", row + row.substr(0, 100)));
  CHECK(ended.exit_code == 0);
  CHECK(lines_in(ended.out) == 2);
  CHECK(ended.err.find("last line is not complete") != std::string::npos);
}

TEST_CASE("docs/reference/cost-models.md and algorithms/catalogue.md are what the registry says") {
  const std::string root = THINWIRE_SOURCE_DIR;
  CHECK(text_of(root + "/docs/reference/cost-models.md") ==
        run_program("list schemes --costs --markdown").out);
  CHECK(text_of(root + "/algorithms/catalogue.md") == run_program("list schemes --markdown").out);
}

TEST_CASE("bits of values are refused where messages have a format of their own") {
  const Ended ended = run_program("run --scheme omnireduce -P 4 -n 1000 --value-bits 16");
  CHECK(ended.exit_code == 2);
  CHECK(ended.err.find("omnireduce have a format of their own") != std::string::npos);
  CHECK(run_program("run --scheme topka -P 4 -n 1000 --value-bits 16").exit_code == 0);
}

TEST_CASE("list --costs evaluates the papers' tables where it is told") {
  const auto rows = nlohmann::json::parse(
      run_program("list schemes --costs -P 8 -n 1000 -d 0.1 --format json").out);
  CHECK(rows.size() == 58);
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

TEST_CASE("a collective that is no allreduce runs by itself, and is refused in a training") {
  for (const char* scheme : {"allgather_bruck", "reduce_scatter_ring", "alltoall_linear"}) {
    CAPTURE(std::string(scheme));
    const std::string run = std::string("run --scheme ") + scheme + " -P 7 -n 1000";
    const auto record = nlohmann::json::parse(run_program(run + " --format json").out)[0];
    CHECK(record.at("verdict") == "exact");
    CHECK(record.at("ranks_agree") == true);
    // nccl-tests: the bus bandwidth of these is (P-1)/P of the algorithm's, of an allreduce twice.
    CHECK(record.at("busbw_bytes_per_s").get<double>() ==
          thinwire::test::approx(record.at("algbw_bytes_per_s").get<double>() * 6 / 7));
    for (const std::string& more :
         {std::string(" --model vgg16"), std::string(" --set error_feedback=true")}) {
      const Ended refused = run_program(std::string("run --scheme ") + scheme + " -P 7" + more);
      CHECK(refused.exit_code == 2);
      CHECK(refused.err.find("needs an allreduce") != std::string::npos);
    }
  }
  const Ended ranked =
      run_program("recommend --model vgg16 -P 4 --schemes dense_ring,allgather_ring");
  CHECK(ranked.exit_code == 2);
  CHECK(ranked.err.find("'allgather_ring' is of the collective allgather") != std::string::npos);
}

TEST_CASE("list names every scheme with its costs") {
  const Ended ended = run_program("list schemes --wide");
  const std::string all = run_program("list --wide").out;
  for (const char* name : {"dense_rabenseifner", "dense_ring", "dense_recursive_doubling",
                           "dense_double_tree", "dense_ovlp", "hierarchical_ring", "exdyna",
                           "dragonn", "topka", "oktopk", "[2k (P-1)/P, 6k (P-1)/P]", "tau_prime"}) {
    CHECK(ended.out.find(name) != std::string::npos);
  }
  for (const char* name : {"alphabeta", "counting", "oktopk", "machine.alpha_s", "bert"}) {
    CHECK(all.find(name) != std::string::npos);
  }
  const auto schemes = nlohmann::json::parse(run_program("list schemes --format json").out);
  CHECK(schemes.size() == 58);
  CHECK(schemes.front().at("collective") == "allreduce");
  CHECK(schemes.back().at("collective") == "ping_pong");
}
