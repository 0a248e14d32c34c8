// links_accuracy as a user runs it, with alphabeta judged by SimGrid: they agree on a star.
#include "tests/app/cli/program.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace thinwire::accuracy {

namespace {

using test::TemporaryFolder;
using test::text_of;
using testing::check_refused;
using testing::Ended;
using testing::lines_in;
using testing::run_program;

constexpr const char* kTiny =
    "--network alphabeta --platforms gige_star --patterns ring,topka,dense_ring -P 1,3,7 --sizes "
    "1kB,unequal -j 2";

std::string count_of(const std::string& text, const std::string& what) {
  std::size_t count = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) {
    ++count;
  }
  return std::to_string(count);
}

}  // namespace

TEST_CASE("A tiny table is measured once and then only printed") {
  const TemporaryFolder folder;
  const std::string file = folder.path("new/accuracy.jsonl");
  const std::string command = fmt::format("-o {} {}", file, kTiny);
  const Ended first = run_program(command + " --gate");
  CAPTURE(first.err);
  CHECK(first.exit_code == 0);
  CHECK(first.out.find("ring        gige_star      7  unequal") != std::string::npos);
  CHECK(first.out.find("a dense gradient's parts are all equal") != std::string::npos);
  CHECK(lines_in(first.err) == 30);  // 15 cells, on both
  CHECK(lines_in(text_of(file)) == 30);

  const Ended again = run_program(command);
  CHECK(again.out == first.out);
  CHECK(again.err.empty());
  CHECK(lines_in(text_of(file)) == 30);
}

TEST_CASE("A file that was cut off is continued, and what was superseded goes in the end") {
  const TemporaryFolder folder;
  const std::string file = folder.path("accuracy.jsonl");
  const std::string command = fmt::format("-o {} {}", file, kTiny);
  REQUIRE(run_program(command).exit_code == 0);
  const std::string whole = text_of(file);
  std::ofstream(file) << whole.substr(0, whole.size() / 2);
  const Ended ended = run_program(command);
  CHECK(ended.exit_code == 0);
  CHECK(lines_in(ended.err) > 0);
  CHECK(lines_in(ended.err) < 30);
  CHECK(lines_in(text_of(file)) == 30);

  const Ended forced = run_program(command + " --force --only alphabeta");
  CHECK(lines_in(forced.err) == 15);
  CHECK(lines_in(text_of(file)) == 30);
}

TEST_CASE("One side can be measured alone, and the other taken from elsewhere") {
  const TemporaryFolder folder;
  const std::string reference = folder.path("reference.jsonl");
  const std::string judged = folder.path("judged.jsonl");
  const Ended first = run_program(fmt::format("-o {} {} --only smpi", reference, kTiny));
  CHECK(first.exit_code == 0);
  CHECK(first.out.find("not measured yet on the judged network") != std::string::npos);
  CHECK(count_of(text_of(reference), "\"network\":\"smpi\"") == "15");

  // Nothing to compare with, so nothing is measured.
  const Ended nothing = run_program(fmt::format("-o {} {} --only alphabeta", judged, kTiny));
  CHECK(nothing.err.empty());
  const Ended second =
      run_program(fmt::format("-o {} --also {} {} --only alphabeta", judged, reference, kTiny));
  CHECK(second.exit_code == 0);
  CHECK(second.out.find("missing") == std::string::npos);
  CHECK(count_of(text_of(judged), "\"network\":\"alphabeta\"") == "15");
  CHECK(lines_in(text_of(judged)) == 15);
}

TEST_CASE("Variants of the judged network are kept side by side") {
  const TemporaryFolder folder;
  const std::string file = folder.path("accuracy.jsonl");
  const std::string command = fmt::format(
      "-o {} --network smpi --platforms gige_star --patterns rotated_4 -P 7 --sizes unequal", file);
  CHECK(run_program(command + " --set time_resolution_s=1e-6").exit_code == 0);
  CHECK(lines_in(text_of(file)) == 2);
  CHECK(run_program(command + " --set flows_per_port=1").exit_code == 0);
  CHECK(lines_in(text_of(file)) == 3);
  CHECK(run_program(command + " --set time_resolution_s=1e-6").err.empty());
  check_refused(run_program(command), "would be judged by itself");
  check_refused(run_program(command + " --set chunk=1"), "chunk");
  check_refused(run_program(command + " --set flows_per_port"), "expected KEY=VALUE");
}

TEST_CASE("A cell beyond the time limit is recorded as such, and tried again with a longer one") {
  const TemporaryFolder folder;
  const std::string file = folder.path("accuracy.jsonl");
  const std::string command = fmt::format(
      "-o {} --network alphabeta --platforms aries_daint --patterns rotated_16 -P 16 --sizes "
      "unequal --only smpi",
      file);
  const Ended slow = run_program(command + " --time-limit 0.001");
  CHECK(slow.exit_code == 0);
  CHECK(slow.out.find("too_slow") != std::string::npos);
  CHECK(slow.out.find("took longer than the 0.001 s") != std::string::npos);
  CHECK(run_program(command + " --time-limit 0.001").err.empty());
  const Ended longer = run_program(command + " --time-limit 100");
  CHECK(lines_in(longer.err) == 1);
  CHECK(longer.out.find("too_slow") == std::string::npos);
}

TEST_CASE("A gate that does not hold is exit code 1") {
  const TemporaryFolder folder;
  const Ended ended = run_program(
      fmt::format("-o {} --network alphabeta --platforms nvlink_ib --patterns ring -P 16 --sizes "
                  "64kB --gate --summary",
                  folder.path("accuracy.jsonl")));
  CHECK(ended.exit_code == 1);
  CHECK(ended.err.find("90th percentile above 10%") != std::string::npos);
  CHECK(ended.out.find("Above 10%") != std::string::npos);
}

TEST_CASE("Wrong flags and files are refused in one line") {
  const TemporaryFolder folder;
  const std::string tiny = fmt::format(" {} -o ", kTiny);
  check_refused(
      run_program("--network linkz" + tiny.substr(std::string(" --network alphabeta").size()) +
                  folder.path("a")),
      "unknown network 'linkz'");
  check_refused(run_program(tiny + folder.path("a") + " --only counting"),
                "expected smpi or alphabeta");
  check_refused(run_program(tiny + folder.path("a") + " --sizes 3kB"), "unknown size '3kB'");
  check_refused(run_program(tiny + folder.path("a") + " -P 0"), "0 ranks");
  check_refused(run_program(tiny + folder.path("a") + " --time-limit 0"), "--time-limit");
  check_refused(run_program(tiny + folder.path("a") + " --format html"), "--format");
  check_refused(run_program(tiny + folder.path("a") + " --also " + folder.path("b")),
                "cannot be read");
  check_refused(run_program(tiny + "/proc/accuracy.jsonl"), "cannot be written");
  check_refused(run_program(tiny + folder.path(".")), "not a regular file");
  const std::string other = folder.write("other", "{\"schema\": 2}\n");
  check_refused(run_program(tiny + other), "other:1: this is no measurement");
  CHECK(text_of(other) == "{\"schema\": 2}\n");
  const std::string text = folder.write("text", "no JSON\nat all");
  check_refused(run_program(tiny + text), "text:1:");
  CHECK(text_of(text) == "no JSON\nat all");
}

}  // namespace thinwire::accuracy
