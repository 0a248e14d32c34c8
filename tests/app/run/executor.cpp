// Processes, of which some run at once, and the jobs that they run.
#include "sim/app/run/executor.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "sim/core/base/errors.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/temporary_folder.hpp"

namespace thinwire::run {

namespace {

/// Its process gives the number.
Job number(int i) {
  return {.work = {.run = [i] { return fmt::format("{}", i); }}, .expected_s = 0.01};
}

}  // namespace

TEST_CASE(
    "no more processes run at once than were asked for, and each hands over its own outcome") {
  const test::TemporaryFolder folder;
  // Each process holds a file while it runs, and tells how many there are.
  const auto hold = [&](int number) {
    return ChildWork{.run = [&folder, number] {
      const std::string file = folder.write(fmt::format("process{}", number), "");
      usleep(20'000 * static_cast<unsigned>(4 - number % 4));
      const auto held = std::distance(std::filesystem::directory_iterator(folder.path("")), {});
      std::filesystem::remove(file);
      return fmt::format("{} of {}", number, held);
    }};
  };
  for (const int most : {1, 3}) {
    Executor executor({.at_once = most});
    for (int i = 0; i < 8; ++i) CHECK(executor.start(hold(i)) == static_cast<std::size_t>(i));
    int together = 0;
    for (int i = 0; i < 8; ++i) {
      const std::string text = executor.take(static_cast<std::size_t>(i))->outcome().text;
      CHECK(text.starts_with(fmt::format("{} of ", i)));
      together = std::max(together, std::stoi(text.substr(text.rfind(' '))));
    }
    CHECK(together <= most);
    CHECK((together > 1) == (most > 1));
    CHECK(executor.running().empty());
  }
}

TEST_CASE("a process that fails leaves the others alone") {
  Executor executor({.at_once = 2});
  executor.start({.run = [] { return std::string("first"); }});
  executor.start({.run = []() -> std::string { throw SimulationError("no"); }});
  executor.start({.run = [] { return std::string("third"); }});
  CHECK(executor.take(2)->outcome().text == "third");
  CHECK_THROWS_AS((void)executor.take(1)->outcome(), SimulationError);
  CHECK(executor.take(0)->outcome().text == "first");
}

TEST_CASE("Jobs run no more than so many at a time, and each is told once, with the progress") {
  std::vector<Job> jobs;
  for (int i = 0; i < 7; ++i) jobs.push_back(number(i));
  std::vector<std::size_t> ended;
  JobProgress last;
  run_jobs(jobs, {.at_once = 3},
           {.ended =
                [&](std::size_t job, const ChildProcess& process) {
                  CHECK(process.outcome().text == fmt::format("{}", job));
                  ended.push_back(job);
                },
            .progress =
                [&](const JobProgress& now) {
                  CHECK(now.running <= 3);
                  CHECK(now.left_s >= 0);
                  CHECK(now.ended == ended.size());
                  last = now;
                }});
  CHECK(last.ended == 7);
  CHECK(last.left_s < 1e-9);
  std::ranges::sort(ended);
  CHECK(ended == std::vector<std::size_t>{0, 1, 2, 3, 4, 5, 6});
}

TEST_CASE("The longest job begins first, and of equally long ones the first") {
  std::vector<Job> jobs;
  for (int i = 0; i < 5; ++i) jobs.push_back(number(i));
  jobs[1].expected_s = 0.001;
  jobs[3].expected_s = 7;
  std::vector<std::size_t> started;
  std::vector<std::size_t> ended;
  run_jobs(jobs, {},
           {.started = [&](std::size_t job) { started.push_back(job); },
            .ended = [&](std::size_t job, const ChildProcess&) { ended.push_back(job); }});
  CHECK(started == std::vector<std::size_t>{3, 0, 2, 4, 1});
  CHECK(ended == started);
}

TEST_CASE("A job beyond its limit ends, and the others go on") {
  std::vector<Job> jobs;
  jobs.push_back({.work = {.run =
                               [] {
                                 std::this_thread::sleep_for(std::chrono::minutes(1));
                                 return std::string("late");
                               }},
                  .expected_s = 1});
  jobs.push_back(number(1));
  std::vector<std::string> told;
  run_jobs(jobs, {.limits = {.seconds = 0.5}},
           {.ended = [&](std::size_t job, const ChildProcess& process) {
             told.push_back(job == 1 ? process.outcome().text
                                     : test::error_of<SimulationError>(
                                           [&] { static_cast<void>(process.outcome()); }));
           }});
  CHECK(told == std::vector<std::string>{"took longer than the 0.5 s that it was given", "1"});
}

TEST_CASE("Ctrl-C ends jobs, after those that have ended were told") {
  std::vector<Job> jobs;
  for (int i = 0; i < 4; ++i) jobs.push_back(number(i));
  std::vector<std::size_t> ended;
  CHECK(test::error_of<InterruptedError>([&] {
          run_jobs(jobs, {}, {.ended = [&](std::size_t job, const ChildProcess&) {
                     ended.push_back(job);
                     std::raise(SIGINT);
                   }});
        }) == "interrupted");
  CHECK(ended == std::vector<std::size_t>{0});
}

}  // namespace thinwire::run
