// Sweeps as a user runs them: in parallel, in parts, and killed in the middle.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <regex>
#include <set>
#include <sstream>
#include <thread>
#include <vector>

#include "tests/app/cli/program.hpp"
#include "tests/support/sanitizers.hpp"

namespace {

using nlohmann::json;
using thinwire::testing::Ended;
using thinwire::testing::exec_program;
using thinwire::testing::kSmallSweep;
using thinwire::testing::lines_in;
using thinwire::testing::run_program;
using thinwire::testing::TemporaryFolder;
using thinwire::testing::text_of;

/// 60 points of some milliseconds.
constexpr const char* kManyPoints = R"({
  "name": "many",
  "base": {"components": 20000, "density": 0.05, "ranks": 12},
  "grid": {"scheme": ["gtopk", "topka", "oktopk"], "seed": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10,
                                                           11, 12, 13, 14, 15, 16, 17, 18, 19, 20]}
})";

/// Some tenths of a second each.
constexpr const char* kLongPoints = R"({
  "name": "long",
  "base": {"components": 1000000, "density": 0.1, "granule": 1, "ranks": 32, "iterations": 8},
  "grid": {"scheme": ["topka"], "machine.alpha_s": [1e-6, 2e-6, 3e-6, 4e-6]}
})";

std::vector<json> rows_in(const std::string& path) {
  std::vector<json> rows;
  std::istringstream lines(text_of(path));
  for (std::string line; std::getline(lines, line);) rows.push_back(json::parse(line));
  return rows;
}

/// The points in a results file, and how often each is there.
std::map<std::string, int> points_in(const std::string& path) {
  std::map<std::string, int> points;
  for (const json& row : rows_in(path)) ++points[row.at("point").dump()];
  return points;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// The program in the background, in a process group of its own.
pid_t start_program(const std::vector<std::string>& arguments) {
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child > 0) return child;
  setpgid(0, 0);
  const int nowhere = open("/dev/null", O_WRONLY);
  dup2(nowhere, STDOUT_FILENO);
  dup2(nowhere, STDERR_FILENO);
  std::string program = THINWIRE_PROGRAM;
  std::vector<std::string> copies = arguments;
  std::vector<char*> all{program.data()};
  for (std::string& argument : copies) all.push_back(argument.data());
  all.push_back(nullptr);
  execv(program.c_str(), all.data());
  _exit(127);
}

/// Waits until it ends, and gives what waitpid says.
int status_of(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

}  // namespace

TEST_CASE("a sweep runs the grid, keeps its results, and later runs only what is missing") {
  const TemporaryFolder folder;
  const std::string command = "sweep " + folder.write("small.json", kSmallSweep) + " -o " +
                              folder.path("deep/er/out.jsonl");
  const Ended first = run_program(command);
  CHECK(first.exit_code == 0);
  CHECK(lines_in(first.out) == 10);
  CHECK(first.err.find("9 points (0 of them were there already)") != std::string::npos);
  const std::string results = text_of(folder.path("deep/er/out.jsonl"));
  CHECK(lines_in(results) == 9);

  // As if it had been killed in the middle of a line.
  const std::string cut = folder.write("deep/er/out.jsonl", results.substr(0, results.size() - 40));
  const Ended again = run_program(command);
  CHECK(again.exit_code == 0);
  CHECK(again.out == first.out);
  CHECK(lines_in(text_of(cut)) == 9);
  CHECK(again.err.find("9 points (8 of them were there already)") != std::string::npos);

  const Ended forced = run_program(command + " --force");
  CHECK(forced.out == first.out);
  CHECK(forced.err.find("(0 of them") != std::string::npos);
}

TEST_CASE("a sweep does not touch the results of another sweep") {
  const TemporaryFolder folder;
  const std::string out = folder.path("out.jsonl");
  CHECK(
      run_program("sweep " + folder.write("a.json", R"({"name":"a"})") + " -o " + out).exit_code ==
      0);
  const std::string before = text_of(out);
  const Ended other =
      run_program("sweep " + folder.write("b.json", R"({"name":"b"})") + " -o " + out);
  CHECK(other.exit_code == 2);
  CHECK(other.err.find("holds results of the sweep 'a'") != std::string::npos);
  CHECK(text_of(out) == before);
}

TEST_CASE(
    "a smaller grid under the same name keeps the rows of the larger one, and links stay links") {
  const TemporaryFolder folder;
  const std::string link = folder.path("link.jsonl");
  std::filesystem::create_symlink(folder.path("real.jsonl"), link);
  const std::string small =
      R"({"name":"small","base":{"components":4096,"density":0.05,"scheme":"topka"},
                                "grid":{"ranks":[5]}})";
  CHECK(run_program("sweep " + folder.write("a.json", kSmallSweep) + " -o " + link).exit_code == 0);
  CHECK(run_program("sweep " + folder.write("b.json", small) + " -o " + link).exit_code == 0);
  CHECK(std::filesystem::is_symlink(link));
  CHECK(lines_in(text_of(folder.path("real.jsonl"))) == 9);
}

TEST_CASE("a sweep gives the same rows in the same order, however many points run at once" *
          doctest::test_suite("large")) {
  const TemporaryFolder folder;
  const std::string config = folder.write("many.json", kManyPoints);
  for (const char* jobs : {"1", "2", "7"}) {
    CHECK(run_program("sweep " + config + " -j " + jobs + " -o " + folder.path(jobs)).exit_code ==
          0);
  }
  const auto without_measurements = [&](const char* name) {
    std::vector<json> rows = rows_in(folder.path(name));
    for (json& row : rows) {
      row.erase("wall_s");
      row.erase("peak_rss_bytes");
    }
    return rows;
  };
  const std::vector<json> one = without_measurements("1");
  CHECK(one.size() == 60);
  CHECK(without_measurements("2") == one);
  CHECK(without_measurements("7") == one);
}

TEST_CASE("a sweep that is killed 50 times has every point exactly once in the end" *
          doctest::test_suite("large")) {
  const TemporaryFolder folder;
  const std::string config = folder.write("many.json", kManyPoints);
  const std::string out = folder.path("many.jsonl");
  std::mt19937 random(7);  // NOLINT(cert-msc51-cpp): the same moments each time
  std::uniform_int_distribution<int> moment(1, thinwire::test::kSanitized ? 400 : 60);
  std::set<std::string> finished;
  int in_the_middle = 0;
  for (int kill_number = 0; kill_number < 50; ++kill_number) {
    // What was finished stays; every tenth time all of it is done anew.
    std::vector<std::string> arguments{"sweep", config, "-j", "2", "-o", out};
    if (kill_number % 10 == 9) arguments.emplace_back("--force");
    const pid_t child = start_program(arguments);
    std::this_thread::sleep_for(std::chrono::milliseconds(moment(random)));
    kill(child, SIGKILL);
    in_the_middle += WIFSIGNALED(status_of(child)) ? 1 : 0;
    const std::string text = text_of(out);
    std::istringstream whole_lines(text.substr(0, text.rfind('\n') + 1));
    std::set<std::string> now;
    for (std::string line; std::getline(whole_lines, line);) {
      now.insert(json::parse(line).at("point").dump());
    }
    CHECK(std::ranges::includes(now, finished));
    finished = now;
  }
  CHECK(in_the_middle > 10);
  const Ended ended = exec_program("sweep " + config + " -o " + out);
  CHECK(ended.exit_code == 0);
  const auto points = points_in(out);
  CHECK(points.size() == 60);
  CHECK(std::ranges::all_of(points, [](const auto& point) { return point.second == 1; }));
  CHECK(lines_in(ended.out) == 61);
  CHECK(std::distance(std::filesystem::directory_iterator(out.substr(0, out.rfind('/'))), {}) <= 3);
}

TEST_CASE("Ctrl-C ends a sweep in good order, and takes its children with it" *
          doctest::test_suite("large")) {
  const TemporaryFolder folder;
  const std::string config = folder.write("long.json", kLongPoints);
  const std::string out = folder.path("long.jsonl");
  const pid_t child = start_program({"sweep", config, "-j", "2", "-o", out});
  while (lines_in(text_of(out)) == 0) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  kill(-child, SIGINT);  // as a terminal does: to the children too
  const int status = status_of(child);
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 130);
  CHECK(kill(-child, 0) != 0);  // the group is empty
  for (const json& row : rows_in(out)) CHECK(row.at("status") == "ok");
  CHECK(rows_in(out).size() < 4);
  const Ended rest = exec_program("sweep " + config + " -o " + out);
  CHECK(rest.exit_code == 0);
  CHECK_FALSE(has(rest.err, "(0 of them were there already)"));
}

TEST_CASE("where the disk is full what was written stays whole, and the sweep goes on later" *
          doctest::test_suite("large")) {
  const TemporaryFolder folder;
  const std::string config = folder.write("many.json", kManyPoints);
  const std::string out = folder.path("many.jsonl");
  // A file may grow to 16 blocks of 512 bytes, about four rows.
  const std::string script =
      folder.write("full.sh", "trap '' XFSZ; ulimit -f 16; exec " + std::string(THINWIRE_PROGRAM) +
                                  " sweep " + config + " -j 1 -o " + out + " 2>&1 >/dev/null");
  const std::string said = folder.path("said");
  const int status = std::system(("sh " + script + " | cat >" + said).c_str());
  CHECK(WIFEXITED(status));
  CHECK(has(text_of(said), "many.jsonl: cannot be written any more: File too large"));
  const std::size_t kept = rows_in(out).size();
  CHECK(kept > 0);
  CHECK(kept < 10);
  const Ended rest = exec_program("sweep " + config + " -o " + out);
  CHECK(rest.exit_code == 0);
  CHECK(has(rest.err, "60 points (" + std::to_string(kept) + " of them were there already)"));
  CHECK(points_in(out).size() == 60);
}

TEST_CASE("two sweeps do not write one file at the same time" * doctest::test_suite("large")) {
  const TemporaryFolder folder;
  const std::string config = folder.write("long.json", kLongPoints);
  const std::string out = folder.path("long.jsonl");
  const pid_t first = start_program({"sweep", config, "-j", "1", "-o", out});
  while (lines_in(text_of(out)) == 0) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  const Ended second = exec_program("sweep " + config + " -o " + out);
  CHECK(second.exit_code == 2);
  CHECK(has(second.err, "another command is writing it (process " + std::to_string(first) + ")"));
  CHECK(status_of(first) == 0);
}

TEST_CASE("a point that goes beyond a limit fails with its reason, and the others do not" *
          doctest::test_suite("large")) {
  const TemporaryFolder folder;
  const std::string config = folder.write("limits.json", R"({
    "name": "limits", "base": {"scheme": "topka", "density": 0.1, "granule": 1},
    "grid": {"ranks": [2, 200], "components": [1000, 4000000]}})");
  const std::string out = folder.path("limits.jsonl");
  const auto failures = [&](const std::string& limit, const std::string& reason) {
    const Ended ended = run_program("sweep " + config + " --force -o " + out + " " + limit);
    CHECK(ended.exit_code == 1);
    CHECK(has(ended.err, "failed: topka on 200 ranks: " + reason));
    CHECK_FALSE(has(ended.err, "failed: topka on 2 ranks: "));
    std::size_t failed = 0;
    for (const json& row : rows_in(out)) failed += row.at("status") == "failed" ? 1 : 0;
    CHECK(rows_in(out).size() == 4);
    return failed;
  };
  CHECK(failures("--time-limit 3", "took longer than the 3 s that it was given") == 1);
  CHECK(failures("--memory-limit 400", "needs more than the 400 MiB of memory") == 1);
}

TEST_CASE("parts of a sweep hold each point once, and merge to the whole" *
          doctest::test_suite("large")) {
  const TemporaryFolder folder;
  const std::string config = folder.write("many.json", kManyPoints);
  std::string parts;
  for (const char* part : {"1", "2", "3"}) {
    const std::string out = folder.path(std::string("part") + part);
    CHECK(run_program("sweep " + config + " --shard " + part + "/3 -o " + out).exit_code == 0);
    CHECK(rows_in(out).size() == 20);
    parts += " " + out;
  }
  const std::string whole = folder.path("whole.jsonl");
  // A part twice is no more than once.
  const Ended merged = run_program("merge" + parts + " " + folder.path("part2") + " -o " + whole);
  CHECK(merged.exit_code == 0);
  CHECK(merged.err == "60 results of 4 files in " + whole + "\n");
  CHECK(points_in(whole).size() == 60);
  CHECK(rows_in(whole).size() == 60);
  CHECK(run_program("merge" + parts).out == text_of(whole));
  const Ended nothing_left = run_program("sweep " + config + " -o " + whole);
  CHECK(has(nothing_left.err, "60 points (60 of them were there already)"));
}

TEST_CASE("a merge keeps the result that succeeded, and refuses results of different sweeps" *
          doctest::test_suite("large")) {
  const TemporaryFolder folder;
  const std::string config = folder.write("long.json", kLongPoints);
  const std::string failed = folder.path("failed");
  const std::string good = folder.path("good");
  CHECK(run_program("sweep " + config + " --time-limit 0.001 -o " + failed).exit_code == 1);
  CHECK(run_program("sweep " + config + " -o " + good).exit_code == 0);
  CHECK(run_program("merge " + failed).exit_code == 1);
  for (const std::string& files : {failed + " " + good, good + " " + failed}) {
    const Ended merged = run_program("merge " + files);
    CHECK(merged.exit_code == 0);
    CHECK(lines_in(merged.out) == 4);
    CHECK_FALSE(has(merged.out, "\"failed\""));
  }
  const std::string other = folder.path("other");
  CHECK(run_program("sweep " + folder.write("o.json", R"({"name":"o"})") + " -o " + other)
            .exit_code == 0);
  const Ended mixed = run_program("merge " + good + " " + other);
  CHECK(mixed.exit_code == 2);
  CHECK(has(mixed.err, "holds results of the sweep 'o', and " + good + " of 'long'"));
  const Ended nowhere = run_program("merge " + good + " -o " + good + "/file");
  CHECK(nowhere.exit_code == 2);
  CHECK(has(nowhere.err, "its folder cannot be made: Not a directory"));
}

TEST_CASE("a sweep on some numbers of ranks is completed by a later one on all") {
  const TemporaryFolder folder;
  const std::string command =
      "sweep " + folder.write("small.json", kSmallSweep) + " -o " + folder.path("out.jsonl");
  const Ended small = run_program(command + " --ranks 1,5");
  CHECK(small.exit_code == 0);
  CHECK(has(small.err, "6 points (0 of them were there already)"));
  CHECK(has(run_program(command).err, "9 points (6 of them were there already)"));
  const Ended none =
      run_program("sweep " + folder.write("many.json", kManyPoints) + " --ranks 12,11");
  CHECK(none.exit_code == 2);
  CHECK(has(none.err, "--ranks 11: "));
  CHECK(has(none.err, " has points on 12 ranks"));
}

TEST_CASE("a dry run tells what would run, and runs nothing") {
  const TemporaryFolder folder;
  const std::string config = folder.write("small.json", kSmallSweep);
  const std::string out = folder.path("out.jsonl");
  const Ended before = run_program("sweep " + config + " --dry-run --format jsonl -o " + out);
  CHECK(before.exit_code == 0);
  CHECK(lines_in(before.out) == 9);
  CHECK(has(before.err, "9 of 9 points would run, in about "));
  CHECK_FALSE(std::filesystem::exists(out));
  CHECK(run_program("sweep " + config + " -o " + out).exit_code == 0);
  const Ended after = run_program("sweep " + config + " --dry-run -o " + out);
  CHECK(has(after.err, "0 of 9 points would run, in about 0:00"));
  const Ended forced = run_program("sweep " + config + " --dry-run --force -o " + out);
  CHECK(has(forced.err, "9 of 9 points would run"));
  CHECK(has(forced.out, "measured"));
}

TEST_CASE("a dry run says which points would be skipped, and why") {
  const TemporaryFolder folder;
  const Ended ended = run_program("sweep --dry-run --format jsonl " + folder.write("skip.json", R"({
    "name": "skip",
    "base": {"components": 1000, "network": "links", "platform": "gige_star"},
    "grid": {"scheme": ["topka", "gtopk"], "ranks": [3, 64, 128]}
  })"));
  CHECK(ended.exit_code == 0);
  CHECK(has(ended.err, "4 of 6 points would run, in about "));
  CHECK(has(ended.err, "2 would be skipped"));
  CHECK(has(ended.out, "the platform has 64 hosts, fewer than the 128 ranks"));
  CHECK(has(ended.out, "\"action\":\"skip\""));
}

TEST_CASE(
    "all that is wrong in a sweep is told at once, with its lines, and quantities have units") {
  const TemporaryFolder folder;
  const Ended ended = run_program("sweep --dry-run " + folder.write("wrong.json", R"({
    "name": "wrong",
    "base": {"scheme": "okto", "machine": {"alpha_s": "2 apples"}},
    "grid": {"density": [0.01, 2], "netwrk": ["links"]}
  })"));
  CHECK(ended.exit_code == 2);
  for (const char* part :
       {"/base/scheme: unknown scheme 'okto'; did you mean 'oktopk'?",
        "    3 |     \"base\": {\"scheme\": \"okto\",", "/base/machine/alpha_s: \"2 apples\"",
        "as in 2e-6 or 2us", "/grid/density/1: 2 is not valid",
        "/grid/netwrk/0: unknown key 'netwrk'; did you mean 'network'?"}) {
    CAPTURE(part);
    CHECK(has(ended.err, part));
  }
  const auto time = [&](const std::string& machine) {
    const Ended run =
        run_program("run --scheme dense_ring -P 4 --columns scheme,time --format csv --config " +
                    folder.write("c.json", R"({"machine": )" + machine + "}"));
    CHECK(run.exit_code == 0);
    return run.out.substr(run.out.find("dense_ring"));
  };
  CHECK(time(R"({"alpha_s": "3us", "beta_s_per_word": "32Gbps"})") ==
        time(R"({"alpha_s": 3e-6, "beta_s_per_word": 1e-9})"));
}

TEST_CASE("a sweep leaves out the combinations that its exceptions name, and only those") {
  const TemporaryFolder folder;
  const Ended ended = run_program("sweep --dry-run " + folder.write("except.json", R"({
    "name": "except",
    "base": {"components": 1000},
    "grid": {"scheme": ["topka", "gtopk"], "ranks": [1, 3, 7], "input.skew": [0, 1]},
    "except": [{"scheme": ["gtopk"], "ranks": [3, 7]},
               {"input.skew": [1], "ranks": [1]}]
  })"));
  CHECK(ended.exit_code == 0);
  CHECK(has(ended.err, "6 of 6 points would run"));  // topka 5 of 6, gtopk 1 of 6
  CHECK(has(ended.out, "gtopk on 1 rank"));
  CHECK_FALSE(has(ended.out, "gtopk on 3 ranks"));
  CHECK_FALSE(has(ended.out, "gtopk on 7 ranks"));
  CHECK(has(ended.out, "topka on 7 ranks"));
}

TEST_CASE("a sweep gives schemes options of their own") {
  const TemporaryFolder folder;
  const auto swept = [&](const std::string& options) {
    return run_program("sweep --format jsonl " + folder.write("o.json", R"({
      "name": "o",
      "base": {"components": 1000, "ranks": 2},
      "grid": {"scheme": ["topka", "oktopk"]},
      "options_of": )" + options + "}") +
                       " -o " + folder.path("o.jsonl"));
  };
  const Ended ended = swept(R"({"oktopk": {"tau_prime": 7}})");
  CAPTURE(ended.err);
  CHECK(ended.exit_code == 0);
  CHECK(has(text_of(folder.path("o.jsonl")), "\"tau_prime\":7"));
  const auto refused = [&](const std::string& options, const std::string& why) {
    const Ended wrong = swept(options);
    CAPTURE(wrong.err);
    CHECK(wrong.exit_code == 2);
    CHECK(has(wrong.err, why));
  };
  refused(R"({"gtopk": {"tau_prime": 7}})", "/options_of/gtopk: is no scheme of the sweep");
  refused(R"({"topka": {"tau_prime": 7}})", "unknown option 'tau_prime'");
  refused(R"({"oktopk": 7})", "/options_of/oktopk: 7 is not valid");
  refused(R"([7])", "/options_of: ");
}

TEST_CASE("an exception that could leave out nothing is refused, and so is one that leaves none") {
  const TemporaryFolder folder;
  const auto refused = [&](const std::string& except, const std::string& why) {
    const Ended ended = run_program(
        "sweep --dry-run " +
        folder.write("e.json", R"({"name":"e","grid":{"ranks":[1,3]},"except":)" + except + "}"));
    CAPTURE(ended.err);
    CHECK(ended.exit_code == 2);
    CHECK(lines_in(ended.err) == 1);
    CHECK(has(ended.err, why));
  };
  refused(R"([{"seed":[1]}])", "/except/0/seed: is no key of the grid");
  refused(R"([{"ranks":[1]},{"ranks":[3,4]}])", "/except/1/ranks: the grid has no 4");
  refused(R"([{"ranks":[]}])", "/except/0/ranks: [] is not valid");
  refused("[{}]", "/except/0: {} is not valid");
  refused(R"({"ranks":[1]})", "/except: ");
  refused(R"([{"ranks":[1]},{"ranks":[3]}])", "/except: leaves no point of the grid");
}

TEST_CASE("on a terminal a sweep has one bar, with what is done, running, failed and left" *
          doctest::test_suite("large")) {
  const TemporaryFolder folder;
  const std::string config = folder.write("long.json", kLongPoints);
  const std::string log = folder.path("log");
  const std::string command = "COLUMNS=100 script -qec '" + std::string(THINWIRE_PROGRAM) +
                              " sweep " + config + " -j 2 -o " + folder.path("out") + "' " + log +
                              " >/dev/null </dev/null";
  REQUIRE(std::system(command.c_str()) == 0);
  const std::string shown = text_of(log);
  // The bar is drawn ten times a second at most, so which counts it shows is a matter of time.
  CHECK(std::regex_search(shown,
                          std::regex(R"(\[[#.]+\] [0-4]/4 done, [12] running, 0 failed, 0:0)")));
  CHECK(has(shown, "\r\033[K["));
  CHECK(has(shown, "4 points (0 of them were there already)"));
}

TEST_CASE("wrong flags of a sweep are refused in one line") {
  const TemporaryFolder folder;
  const std::string config = folder.write("small.json", kSmallSweep);
  for (const char* flags :
       {"--shard 0/3", "--shard 4/3", "--shard 1", "--shard 1/x", "--shard 1/2/3", "-j 0", "-j -1",
        "-j x", "--ranks 0", "--ranks x", "--time-limit 0", "--memory-limit -3"}) {
    CAPTURE(flags);
    const Ended ended = run_program("sweep " + config + " -o " + folder.path("o") + " " + flags);
    CHECK(ended.exit_code == 2);
    CHECK(lines_in(ended.err) == 1);
  }
}
