#include "tests/cli/program.hpp"

#include <sys/wait.h>

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

}  // namespace thinwire::testing
