#include "tests/app/cli/program.hpp"

#include <doctest/doctest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>

namespace thinwire::testing {

Ended run_program(const std::string& arguments) {
  const TemporaryFolder folder;
  const std::string out = folder.path("out");
  const std::string err = folder.path("err");
  const std::string command =
      std::string(THINWIRE_PROGRAM) + " " + arguments + " >" + out + " 2>" + err + " </dev/null";
  const int status = std::system(command.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, text_of(out), text_of(err)};
}

std::ptrdiff_t lines_in(const std::string& text) { return std::ranges::count(text, '\n'); }

void check_refused(const Ended& ended, const std::string& what) {
  CAPTURE(ended.err);
  CHECK(ended.exit_code == 2);
  CHECK(ended.out.empty());
  CHECK(lines_in(ended.err) == 1);
  CHECK(ended.err.find(what) != std::string::npos);
}

}  // namespace thinwire::testing
