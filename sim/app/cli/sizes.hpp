// Sizes of gradients in bytes, given as to nccl-tests.
#pragma once

#include <string>

#include "sim/app/cli/command_line.hpp"
#include "sim/core/base/json.hpp"

namespace thinwire::cli {

struct SizeFlags {
  std::string least;
  std::string most;
  std::string factor;
  std::string sizes;  ///< "LEAST:MOST:FACTOR", or sizes separated by commas

  [[nodiscard]] bool any() const {
    return !least.empty() || !most.empty() || !factor.empty() || !sizes.empty();
  }
};

/// -b, -e, -f and --sizes.
void add_size_flags(Command& command, SizeFlags& flags);

/// The sizes in components of 4 bytes, as a JSON array: from the least, each `factor` (2 unless
/// given) times the one before, to the most. K, M, G and T stand for powers of 1024, as in
/// nccl-tests. A size that is no whole number of components is rounded down. Throws InputError for
/// flags that are not valid or contradict one another, and for less than 4 bytes.
[[nodiscard]] Json components_of(const SizeFlags& flags);

}  // namespace thinwire::cli
