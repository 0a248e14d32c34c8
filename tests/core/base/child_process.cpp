#include "sim/core/base/child_process.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <iterator>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "sim/core/base/errors.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/sanitizers.hpp"
#include "tests/support/temporary_folder.hpp"

namespace thinwire::inline base {

using test::contains;
using test::error_of;

namespace {

void nothing() {}

/// Without the report that doctest would print.
[[noreturn]] void die() {
  std::signal(SIGABRT, SIG_DFL);
  std::abort();
}

std::string text_of_child(std::function<std::string()> run) {
  return in_child_process({.subject = "test", .prepare = nothing, .run = std::move(run)}).text;
}

/// What becomes of a child that does `work` before it is ready, and of one that does it after.
template <class Error>
std::string prepare_error(std::function<void()> work) {
  return error_of<Error>([&] {
    (void)in_child_process(
        {.subject = "some.xml", .prepare = std::move(work), .run = [] { return std::string(); }});
  });
}

template <class Error>
std::string run_error(std::function<void()> work) {
  return error_of<Error>([&] {
    (void)text_of_child([&] {
      work();
      return std::string("survived");
    });
  });
}

/// Lets what is written on one of the standard streams go to a file instead.
class Redirected {
 public:
  Redirected(int stream, const std::string& path) : stream_(stream), kept_(dup(stream)) {
    std::fflush(nullptr);
    const int file = open(path.c_str(), O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0600);
    dup2(file, stream_);
    close(file);
  }
  Redirected(const Redirected&) = delete;
  Redirected& operator=(const Redirected&) = delete;
  ~Redirected() {
    std::fflush(nullptr);
    dup2(kept_, stream_);
    close(kept_);
  }

 private:
  int stream_;
  int kept_;
};

struct Printed {
  std::string out;
  std::string err;
};

Printed printed_by_a_child(bool verbose) {
  const test::TemporaryFolder folder;
  {
    const Redirected out(STDOUT_FILENO, folder.path("out"));
    const Redirected err(STDERR_FILENO, folder.path("err"));
    const auto say = [](const char* what) {
      std::printf("%s on stdout\n", what);
      std::fprintf(stderr, "%s on stderr\n", what);
    };
    (void)in_child_process({.subject = "test",
                            .prepare = [&] { say("prepare"); },
                            .run =
                                [&] {
                                  say("run");
                                  return std::string();
                                }},
                           verbose);
  }
  return {test::text_of(folder.path("out")), test::text_of(folder.path("err"))};
}

std::ptrdiff_t open_files() {
  const std::filesystem::directory_iterator files("/proc/self/fd");
  return std::distance(begin(files), end(files));
}

}  // namespace

TEST_CASE("A text of any length and content comes back from a child") {
  CHECK(text_of_child([] { return std::string(); }).empty());
  CHECK(text_of_child([] { return std::string("one line\nand another"); }) ==
        "one line\nand another");
  std::string large;
  for (std::size_t i = 0; i < std::size_t{5} << 20U; ++i) large += static_cast<char>(i % 251);
  REQUIRE(contains(large, std::string(1, '\0')));
  CHECK(text_of_child([&] { return large; }) == large);
}

TEST_CASE("A child works on what its parent knew, and changes nothing of it") {
  std::vector<int> list{1, 2, 3};
  const ChildOutcome outcome =
      in_child_process({.subject = "test",
                        .prepare = [&] { list.push_back(4); },
                        .run = [&] { return std::to_string(list.size()); }});
  CHECK(outcome.text == "4");
  CHECK(list.size() == 3);
}

TEST_CASE("Each error of a child comes back as itself, with its text") {
  const std::string text = "file.xml:3: no such 'thing'; two\nlines";
  CHECK(run_error<InputError>([&] { throw InputError(text); }) == text);
  CHECK(run_error<DeadlockError>([&] { throw DeadlockError(text); }) == text);
  CHECK(run_error<UnmatchedError>([&] { throw UnmatchedError(text); }) == text);
  CHECK(run_error<SimulationError>([&] { throw SimulationError(text); }) == text);
  CHECK(run_error<SimulationError>([&] { throw std::logic_error(text); }) == text);
  CHECK_THROWS_AS(run_error<InputError>([] { throw std::bad_alloc(); }), std::bad_alloc);

  CHECK(prepare_error<InputError>([&] { throw InputError(text); }) == text);
  CHECK(prepare_error<SimulationError>([&] { throw SimulationError(text); }) == text);
  CHECK_THROWS_AS(prepare_error<InputError>([] { throw std::bad_alloc(); }), std::bad_alloc);
}

TEST_CASE("What is thrown and is no exception ends in the child as well") {
  CHECK(contains(run_error<SimulationError>([] { throw 42; }), "unknown"));
}

TEST_CASE("A child that dies while it makes ready makes the input an error that names it") {
  CHECK(prepare_error<InputError>([] {
          std::fputs("\n  bad radicals\nBacktrace\n", stderr);
          die();
        }) == "some.xml: cannot be used: bad radicals");
  CHECK(prepare_error<InputError>([] { die(); }) == "some.xml: cannot be used: signal 6 (Aborted)");
  CHECK(prepare_error<InputError>([] { _exit(3); }) == "some.xml: cannot be used: exit code 3");
  CHECK(prepare_error<InputError>([] { _exit(0); }) == "some.xml: cannot be used: exit code 0");
  const std::string error = prepare_error<InputError>([] {
    std::signal(SIGSEGV, SIG_DFL);
    raise(SIGSEGV);
  });
  CHECK(error.starts_with("some.xml: cannot be used: "));
  if (!test::kSanitized) CHECK(contains(error, "signal 11 (Segmentation fault)"));
}

TEST_CASE("A child that dies in its run makes a simulation that failed") {
  CHECK(run_error<SimulationError>([] {
          std::fputs("what went wrong\n", stderr);
          die();
        }) == "the simulation died: what went wrong");
  CHECK(run_error<SimulationError>([] { raise(SIGKILL); }) ==
        "the simulation died: signal 9 (Killed)");
  CHECK(run_error<SimulationError>([] { _exit(0); }) == "the simulation died: exit code 0");
  const std::string error = run_error<SimulationError>([] {
    std::signal(SIGSEGV, SIG_DFL);
    raise(SIGSEGV);
  });
  CHECK(error.starts_with("the simulation died: "));
}

TEST_CASE("The reason of a death is cut where the child said a great deal") {
  const std::string error = prepare_error<InputError>([] {
    for (int i = 0; i < 100'000; ++i) std::fputs("so much to say ", stderr);
    die();
  });
  CHECK(error.size() < 600);
  CHECK(contains(error, "so much to say"));
}

TEST_CASE("What a child prints is kept back, and goes to stderr when verbose") {
  const Printed quiet = printed_by_a_child(false);
  CHECK(quiet.out.empty());
  CHECK(quiet.err.empty());
  const Printed verbose = printed_by_a_child(true);
  CHECK(verbose.out.empty());
  for (const char* line :
       {"prepare on stdout\n", "prepare on stderr\n", "run on stdout\n", "run on stderr\n"}) {
    CHECK(contains(verbose.err, line));
  }
}

TEST_CASE("The peak memory of a child is its own") {
  if (test::kSanitized) return;
  constexpr std::size_t kLarge = std::size_t{256} << 20U;
  const auto peak = [](std::size_t bytes) {
    return in_child_process({.subject = "test",
                             .prepare = nothing,
                             .run =
                                 [bytes] {
                                   const std::vector<char> touched(bytes, 'x');
                                   return std::string(1, touched[bytes / 2]);
                                 }})
        .peak_rss_bytes;
  };
  const std::int64_t small = peak(1);
  CHECK(small > std::int64_t{1} << 20U);
  const std::int64_t more = peak(kLarge) - small;
  CHECK(more > static_cast<std::int64_t>(kLarge * 9 / 10));
  CHECK(more < static_cast<std::int64_t>(kLarge * 11 / 10));
  CHECK(peak(1) < small + (std::int64_t{16} << 20U));
}

TEST_CASE("A child that goes beyond a limit is killed, and its error says which") {
  const auto error_of_child = [](ChildLimits limits, std::function<std::string()> run) {
    ChildWork work;
    work.run = std::move(run);
    ChildProcess child(std::move(work), limits);
    const std::array<const ChildProcess*, 1> only{&child};
    while (!child.advance()) ChildProcess::wait_for_news(only, std::chrono::minutes(1));
    return error_of<SimulationError>([&] { (void)child.outcome(); });
  };
  const auto sleep = [] {
    std::this_thread::sleep_for(std::chrono::minutes(1));
    return std::string();
  };
  CHECK(error_of_child({.seconds = 0.2}, sleep) == "took longer than the 0.2 s that it was given");
  const auto fill = [&] {
    std::vector<char> memory(std::size_t{1} << 30U, 'x');
    return sleep() + memory.back();
  };
  CHECK(error_of_child({.memory_bytes = std::int64_t{600} << 20U}, fill) ==
        "needs more than the 600 MiB of memory that it was given");
}

TEST_CASE("Several children run at once, and one that is given up ends") {
  std::vector<std::unique_ptr<ChildProcess>> children;
  for (int i = 0; i < 5; ++i) {
    ChildWork work;
    work.run = [i] { return std::string(100000, static_cast<char>('a' + i)); };
    children.push_back(std::make_unique<ChildProcess>(std::move(work)));
  }
  ChildWork endless;
  endless.run = [] {
    std::this_thread::sleep_for(std::chrono::minutes(10));
    return std::string();
  };
  { const ChildProcess given_up(std::move(endless)); }
  for (std::size_t i = 0; i < children.size(); ++i) {
    const std::array<const ChildProcess*, 1> one{children[i].get()};
    while (!children[i]->advance()) ChildProcess::wait_for_news(one, std::chrono::minutes(1));
    CHECK(children[i]->outcome().text == std::string(100000, static_cast<char>('a' + i)));
  }
}

TEST_CASE("No process and no open file is left behind, however the child ends") {
  const std::ptrdiff_t before = open_files();
  (void)text_of_child([] { return std::string("fine"); });
  (void)run_error<SimulationError>([] { die(); });
  (void)run_error<DeadlockError>([] { throw DeadlockError("stuck"); });
  (void)prepare_error<InputError>([] { _exit(1); });
  errno = 0;
  CHECK(waitpid(-1, nullptr, WNOHANG) == -1);
  CHECK(errno == ECHILD);
  CHECK(open_files() == before);
}

}  // namespace thinwire::inline base
