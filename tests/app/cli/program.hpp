// Runs the thinwire program as a user does, or its code in a process of its own.
#pragma once

#include <cstddef>
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
/// The same with the program itself, for what depends on its file: a packet simulator runs in a copy
/// of it, and its hash is part of the keys of results where the tree has uncommitted changes.
[[nodiscard]] Ended exec_program(const std::string& arguments);

/// Without the lines of files that complaints show.
[[nodiscard]] std::ptrdiff_t lines_in(const std::string& text);
/// A text on stderr but for its notes.
[[nodiscard]] std::string without_notes(const std::string& text);
/// Checks that bad input was refused: one line on stderr that says `what`, nothing on stdout, exit
/// code 2.
void check_refused(const Ended& ended, const std::string& what);

/// Nine points of some milliseconds.
inline constexpr const char* kSmallSweep = R"({
  "name": "small",
  "base": {"components": 4096, "density": 0.05},
  "grid": {"scheme": ["dense_rabenseifner", "topka", "oktopk"], "ranks": [1, 5, 8]}
})";

}  // namespace thinwire::testing
