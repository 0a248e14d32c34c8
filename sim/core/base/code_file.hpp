// The file that this code was loaded from.
#pragma once

#include <string>

namespace thinwire::inline base {

/// The path of the running program, or of the shared library with this code where another program,
/// such as Python, has loaded it. Empty if the system does not tell.
[[nodiscard]] std::string code_file();
/// Whether this code is part of such a library.
[[nodiscard]] bool is_loaded_library();

}  // namespace thinwire::inline base
