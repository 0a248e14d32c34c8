// Several jobs at once on one platform, as a user runs them.
#include <doctest/doctest.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "tests/app/cli/program.hpp"
#include "tests/support/approx.hpp"

using thinwire::testing::check_refused;
using thinwire::testing::Ended;
using thinwire::testing::run_program;
using thinwire::testing::TemporaryFolder;

namespace {

/// Two switches of six hosts with 6.25 MB/s each; the uplink carries three times as much.
constexpr const char* kTwoSwitches = "concurrent --platform testbed_two_switches -n 100000 ";

std::vector<nlohmann::json> jobs_of(const std::string& arguments) {
  const Ended ended = run_program(arguments + " --format json");
  INFO(ended.err);
  REQUIRE(ended.exit_code == 0);
  return nlohmann::json::parse(ended.out).get<std::vector<nlohmann::json>>();
}

std::string placement_of(const TemporaryFolder& folder, const std::vector<int>& hosts) {
  const std::string path = folder.path(fmt::format("{}.txt", fmt::join(hosts, "_")));
  std::ofstream file(path);
  for (const int host : hosts) file << "host-" << host << "\n";
  return path;
}

}  // namespace

TEST_CASE("Jobs that share no link take as long together as alone, and as 'run' says") {
  const auto jobs = jobs_of(std::string(kTwoSwitches) +
                            "--job scheme=dense_ring,ranks=6 --job scheme=dense_ring,ranks=5 "
                            "--job scheme=dense_ring,ranks=1");
  REQUIRE(jobs.size() == 3);
  for (const auto& job : jobs) {
    CHECK(job.at("slowdown").get<double>() == thinwire::test::approx(1).epsilon(1e-9));
    CHECK(job.at("job") == fmt::format("dense_ring_{}", &job - jobs.data() + 1));
  }
  CHECK(jobs[1].at("first_host") == "host-6");
  CHECK(jobs[1].at("k").is_null());  // dense
  const Ended alone = run_program(
      "run --platform testbed_two_switches --network links -n 100000 --scheme dense_ring -P 6 "
      "--format json");
  CHECK(jobs[0].at("alone_s").get<double>() ==
        thinwire::test::approx(nlohmann::json::parse(alone.out)[0].at("time_s").get<double>())
            .epsilon(1e-9));
  CHECK(jobs[2].at("alone_s") == 0);
}

TEST_CASE("A job with periods is compared with the same iterations alone") {
  // Each host has a cable of its own, so nothing is shared.
  const auto jobs = jobs_of(
      "concurrent --platform gige_star -n 20000 --job name=a,ranks=8,options.tau_prime=3 "
      "--job name=b,ranks=8,scheme=dense_ring");
  REQUIRE(jobs.size() == 2);
  for (const auto& job : jobs) {
    CHECK(job.at("slowdown").get<double>() == thinwire::test::approx(1).epsilon(1e-9));
  }
}

TEST_CASE("Six jobs across an uplink of three ports take twice as long together") {
  const TemporaryFolder folder;
  std::string arguments = kTwoSwitches;
  for (int job = 0; job < 6; ++job) {
    arguments += fmt::format(" --job name=j{},scheme=ping_pong,ranks=2,placement={}", job,
                             placement_of(folder, {job, job + 6}));
  }
  for (const auto& job : jobs_of(arguments)) {
    CHECK(job.at("slowdown").get<double>() == thinwire::test::approx(2).epsilon(1e-6));
    CHECK(job.at("iterations") >= 2);
  }
}

TEST_CASE("A short job keeps a long one company until the long one has done its iterations") {
  const TemporaryFolder folder;
  // Both send over the cable of host 0, which is in both rings of a placement by hand.
  const std::string uplink = fmt::format(
      "--set links.slow_links=uplink-0=0.1 --job name=short,scheme=dense_ring,ranks=2,"
      "components=1000,placement={} --job name=long,scheme=dense_ring,ranks=2,iterations=3,"
      "placement={}",
      placement_of(folder, {0, 6}), placement_of(folder, {1, 7}));
  const auto jobs = jobs_of(kTwoSwitches + uplink);
  CHECK(jobs[1].at("iterations") >= 3);
  CHECK(jobs[0].at("iterations").get<int>() > 100);
  // Each has half of the slow uplink all the time.
  for (const auto& job : jobs) {
    CHECK(job.at("slowdown").get<double>() == thinwire::test::approx(2).epsilon(0.02));
  }
}

TEST_CASE("A job's start may have a unit of time") {
  const auto jobs_from = [](const std::string& start) {
    return jobs_of(std::string(kTwoSwitches) + "--job ranks=2 --job ranks=4,start_s=" + start);
  };
  const auto jobs = jobs_from("20us");
  CHECK(jobs[1].at("start_s") == 20e-6);
  CHECK(jobs == jobs_from("2e-5"));
}

TEST_CASE("Jobs that cannot run together are refused in one line") {
  const TemporaryFolder folder;
  const std::string same = placement_of(folder, {0, 1});
  const std::string other = placement_of(folder, {1, 2});
  const std::array<std::pair<std::string, const char*>, 16> cases{{
      {"", "--job: say which jobs run"},
      {"--job scheme", "expected KEY=VALUE, as in scheme=oktopk"},
      {"--job schem=topka", "did you mean 'scheme'?"},
      {"--job scheme=topka,ranks=8 --job ranks=8", "4 of the 12 hosts are left"},
      {"--job ranks=13", "the platform has 12 hosts, fewer than the 13 ranks"},
      {"--job ranks=2,placement=" + same + " --job ranks=2,placement=" + other,
       "host host-1 is one of job 'oktopk_1'"},
      {"--job name=a,ranks=2 --job name=a,ranks=2", "'a' is the name of a job before"},
      {"--job ranks=2 --job ranks=2,platform=fat_tree", "which all jobs share"},
      {"--job ranks=2 --job ranks=2,machine.overhead_s=1e-6", "which all jobs share"},
      {"--job ranks=2,links.background_flows=0.5", "describe their traffic as a job"},
      {"--job ranks=2 --job ranks=4,approximate=2,input.profile=bert,input.statistical=true",
       "/approximate: jobs share links"},
      {"--eager 64 --set machine.destinations=1 --set machine.destinations_beyond=2 --job ranks=4",
       "/machine/destinations_beyond: the jobs' ranks would count together"},
      {"--network smpi --job ranks=2", "jobs share links on the network links alone"},
      {"--job ranks=2,start_s=-1", "/jobs/0/start_s"},
      {"--job ranks=2,start_s=1min", "/jobs/0/start_s"},
      {"-P 2,3 --job scheme=topka", "give one value here"},
  }};
  for (const auto& [arguments, what] : cases) {
    CAPTURE(arguments);
    check_refused(run_program(kTwoSwitches + arguments), what);
  }
  const std::string path = folder.path("jobs.json");
  for (const auto& [text, what] : {std::pair{R"({"jobs": []})", "at least one job"},
                                   {R"({"jobs": [1]})", "/jobs/0"},
                                   {R"({"job": []})", "unknown key 'job'"},
                                   {R"({"jobs": [{]})", "jobs.json:1:"},
                                   {R"([])", "expected an object"}}) {
    std::ofstream(path) << text;
    CAPTURE(std::string(text));
    check_refused(run_program("concurrent --config " + path), what);
  }
}
