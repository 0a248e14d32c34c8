// Runs the thinwire program as a user does.
#pragma once

#include <string>

#include "tests/support/temporary_folder.hpp"

namespace thinwire::testing {

using test::TemporaryFolder;
using test::text_of;

struct Ended {
  int exit_code;
  std::string out;
  std::string err;
};

/// Arguments as the shell would take them.
[[nodiscard]] Ended run_program(const std::string& arguments);

}  // namespace thinwire::testing
