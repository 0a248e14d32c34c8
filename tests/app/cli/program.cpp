#include "tests/app/cli/program.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <wordexp.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <regex>
#include <vector>

#ifdef THINWIRE_PROGRAM_IS_LINKED
#include "sim/app/cli/program.hpp"
#endif

namespace thinwire::testing {

namespace {

#ifdef THINWIRE_PROGRAM_IS_LINKED
/// Runs the program's code in a fork of this process, which takes a tenth of the time that it takes
/// to load a program. Returns the status as waitpid() gives it.
int run_forked(std::vector<char*> words, const std::string& out, const std::string& err) {
  std::fflush(nullptr);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    for (const int signal : {SIGABRT, SIGFPE, SIGILL, SIGINT, SIGSEGV, SIGTERM}) {
      std::signal(signal, SIG_DFL);  // doctest has handlers
    }
    constexpr int kNew = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC;
    dup2(open("/dev/null", O_RDONLY | O_CLOEXEC), STDIN_FILENO);
    dup2(open(out.c_str(), kNew, 0600), STDOUT_FILENO);
    dup2(open(err.c_str(), kNew, 0600), STDERR_FILENO);
    const auto count = static_cast<int>(words.size());
    words.push_back(nullptr);
    const int exit_code = cli::Program().run(count, words.data());
    std::fflush(nullptr);
    if (exit_code != 0) _exit(exit_code);  // to look for leaks takes longer than to refuse
    std::exit(exit_code);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}
#endif

/// Gives a run's output, where `run` writes stdout and stderr to files and returns the status.
template <class Run>
Ended ended_by(Run run) {
  const TemporaryFolder folder;
  const std::string out = folder.path("out");
  const std::string err = folder.path("err");
  const int status = run(out, err);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, text_of(out), text_of(err)};
}

}  // namespace

Ended exec_program(const std::string& arguments) {
  return ended_by([&](const std::string& out, const std::string& err) {
    const std::string command =
        std::string(THINWIRE_PROGRAM) + " " + arguments + " >" + out + " 2>" + err + " </dev/null";
    return std::system(command.c_str());
  });
}

#ifdef THINWIRE_PROGRAM_IS_LINKED
Ended run_program(const std::string& arguments) {
  wordexp_t words{};
  // It refuses what takes a shell: pipes, redirections, several commands.
  if (wordexp(arguments.c_str(), &words, WRDE_NOCMD) != 0) return exec_program(arguments);
  std::string name = "thinwire";
  std::vector<char*> all{name.data()};
  all.insert(all.end(), words.we_wordv, words.we_wordv + words.we_wordc);
  Ended result = ended_by(
      [&](const std::string& out, const std::string& err) { return run_forked(all, out, err); });
  wordfree(&words);
  return result;
}
#else
Ended run_program(const std::string& arguments) { return exec_program(arguments); }
#endif

std::ptrdiff_t lines_in(const std::string& text) {
  static const std::regex kExcerpt("(^|\n) *[0-9]* \\| [^\n]*(?=\n)");
  return std::ranges::count(std::regex_replace(text, kExcerpt, ""), '\n');
}

std::string without_notes(const std::string& text) {
  static const std::regex kNote("note: [^\n]*\n");
  return std::regex_replace(text, kNote, "");
}

void check_refused(const Ended& ended, const std::string& what) {
  CAPTURE(ended.err);
  CHECK(ended.exit_code == 2);
  CHECK(ended.out.empty());
  CHECK(lines_in(without_notes(ended.err)) == 1);
  CHECK(ended.err.find(what) != std::string::npos);
}

}  // namespace thinwire::testing
