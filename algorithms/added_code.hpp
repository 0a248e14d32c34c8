// Code that a program adds to Thinwire's own. An error of it says in which scheme, on which rank and
// in which iteration it came up.
#pragma once

#include <string>

#include "algorithms/scheme.hpp"
#include "sim/core/base/errors.hpp"
#include "sim/core/base/units.hpp"

namespace thinwire::algorithms {

/// The error of added code: no input can mend it.
class AddedCodeError : public SimulationError {
 public:
  using SimulationError::SimulationError;
};

/// Throws the exception that is being handled again: as an AddedCodeError with its place, unless it
/// has one, is none of the code (what waits for ever, an interrupt), or is of memory.
[[noreturn]] void rethrow_with_place(const std::string& scheme, Rank rank, int iteration);

/// The scheme with its errors so.
[[nodiscard]] SchemeInfo with_places(SchemeInfo scheme);

}  // namespace thinwire::algorithms
