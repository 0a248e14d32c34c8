// A message as a network sees it: a length in words, and a handle that the network passes on
// without looking inside.
#pragma once

#include <cstdint>

#include "sim/core/base/shared.hpp"
#include "sim/core/base/units.hpp"

namespace thinwire::inline kernel {

/// A part of an immutable value: positions [first, last) of `body`. The body defines the unit of
/// positions. Copying a Payload copies no data.
struct Payload {
  Ref<const Body> body;
  std::uint32_t first = 0;
  std::uint32_t last = 0;

  friend bool operator==(const Payload&, const Payload&) = default;
};

/// A message from one rank to another.
struct Message {
  Payload payload;
  Words words;  ///< length on the wire
};

}  // namespace thinwire::inline kernel
