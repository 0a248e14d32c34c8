// Jobs in child processes, and the file that their lines go to.
#include "sim/app/run/jobs.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "sim/app/run/estimate.hpp"
#include "sim/core/base/errors.hpp"
#include "tests/support/approx.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/temporary_folder.hpp"

namespace thinwire::run {

namespace {

void accept_all(const std::string& /*text*/) {}

/// Its child gives its number, and its line is that.
Job number(int i) {
  return {.expected_s = 0.01,
          .work = ChildWork{.run = [i] { return fmt::format("{}", i); }},
          .line = [](const ChildProcess* ended) { return ended->outcome().text; }};
}

}  // namespace

TEST_CASE(
    "An estimate counts each iteration that a run simulates, also of kinds beyond those given") {
  const auto estimate = [](Json given) {
    given["components"] = 1'000'000;
    given["ranks"] = 64;
    return estimated_wall_s(plan::point_from(given, "test"));
  };
  const double begin = 0.25;  // of any point
  const Json oktopk = {{"scheme", "oktopk"}, {"iterations", 2}};
  Json alone = oktopk;  // with error feedback the given iterations run alone
  alone["error_feedback"] = true;
  CHECK(estimate(oktopk) - begin > 1.4 * (estimate(alone) - begin));
  Json one = alone;
  one["iterations"] = 1;
  CHECK(estimate(alone) - begin == test::approx(2 * (estimate(one) - begin)).epsilon(0.05));
  const Json training = {{"scheme", "oktopk"}, {"ranks", 64}, {"workload", {{"model", "vgg16"}}}};
  Json first = training;
  first["iterations"] = 1;
  const auto of_model = [](const Json& given) {
    return estimated_wall_s(plan::point_from(given, "test"));
  };
  CHECK(of_model(training) - begin > 2.5 * (of_model(first) - begin));
}

TEST_CASE("Jobs run no more than so many at a time, and the line of each is kept once") {
  const test::TemporaryFolder folder;
  results::LinesFile file(folder.path("lines"), accept_all);
  std::vector<Job> jobs;
  for (int i = 0; i < 7; ++i) jobs.push_back(number(i));
  std::vector<std::size_t> ended;
  std::size_t done = 0;
  run_jobs(std::move(jobs), file, {.at_once = 3, .done_before = 10}, [&](const JobProgress& now) {
    CHECK(now.running <= 3);
    CHECK(now.left_s >= 0);
    if (now.ended) ended.push_back(*now.ended);
    done = now.done;
  });
  CHECK(done == 17);
  std::string lines;
  for (const std::size_t job : ended) lines += fmt::format("{}\n", job);
  CHECK(test::text_of(folder.path("lines")) == lines);
  std::ranges::sort(ended);
  CHECK(ended == std::vector<std::size_t>{0, 1, 2, 3, 4, 5, 6});
}

TEST_CASE(
    "One at a time, jobs end in their order, and one without work has its line all the same") {
  const test::TemporaryFolder folder;
  results::LinesFile file(folder.path("lines"), accept_all);
  std::vector<Job> jobs;
  jobs.push_back(number(0));
  jobs.push_back({.work = {}, .line = [](const ChildProcess* ended) {
                    CHECK(ended == nullptr);
                    return std::string("nothing to do");
                  }});
  jobs.push_back(number(2));
  run_jobs(std::move(jobs), file, {}, [](const JobProgress& /*now*/) {});
  CHECK(test::text_of(folder.path("lines")) == "0\nnothing to do\n2\n");
}

TEST_CASE("A job beyond its limit ends, and the others go on") {
  const test::TemporaryFolder folder;
  results::LinesFile file(folder.path("lines"), accept_all);
  std::vector<Job> jobs;
  jobs.push_back({.expected_s = 1,
                  .work = ChildWork{.run =
                                        [] {
                                          std::this_thread::sleep_for(std::chrono::minutes(1));
                                          return std::string("late");
                                        }},
                  .line = [](const ChildProcess* ended) {
                    return test::error_of<SimulationError>(
                        [&] { static_cast<void>(ended->outcome()); });
                  }});
  jobs.push_back(number(1));
  run_jobs(std::move(jobs), file, {.limits = {.seconds = 0.5}}, [](const JobProgress& /*now*/) {});
  CHECK(test::text_of(folder.path("lines")) == "took longer than the 0.5 s that it was given\n1\n");
}

TEST_CASE("Ctrl-C ends jobs, and the lines of those that have ended are there") {
  const test::TemporaryFolder folder;
  results::LinesFile file(folder.path("lines"), accept_all);
  std::vector<Job> jobs;
  for (int i = 0; i < 4; ++i) jobs.push_back(number(i));
  const std::string why = test::error_of<InterruptedError>([&] {
    run_jobs(std::move(jobs), file, {.done_before = 2, .what = "things"},
             [](const JobProgress& now) {
               if (now.ended) std::raise(SIGINT);
             });
  });
  CHECK(why == "interrupted; 3 of 6 things are in " + folder.path("lines") +
                   ", and the same command goes on");
  CHECK(test::text_of(folder.path("lines")) == "0\n");
}

TEST_CASE("Lines of JSON have their place, and only the last one may be cut off") {
  std::string places;
  const auto read = [&](const std::string& text) {
    return results::for_each_json_line(
        text, "file", [&](const Json&, const std::string& at) { places += at + " "; });
  };
  CHECK(read("1\n{}\n"));
  CHECK(places == "file:1 file:2 ");
  CHECK(read(""));
  CHECK(read("1\n2"));
  CHECK_FALSE(read("1\n{\"a\":"));
  CHECK(test::error_of<InputError>([&] { static_cast<void>(read("1\n{\n2\n")); }) ==
        "file:2: not JSON; results are one JSON object a line");
  CHECK(test::error_of<InputError>([&] { static_cast<void>(read("my only line")); }) ==
        "file:1: not JSON; results are one JSON object a line");
}

}  // namespace thinwire::run
