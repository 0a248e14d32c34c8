// How many pieces a message is cut into.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>

#include "sim/core/base/errors.hpp"

namespace thinwire::algorithms {

/// The number of pieces of at most `most` words in `words`, at least 1. All pieces of a message, of
/// which there are `shares` times as many, are numbered: throws InputError if an int cannot.
[[nodiscard]] inline int pieces_of(std::int64_t words, std::int64_t most, std::int64_t shares) {
  const std::int64_t pieces = std::max<std::int64_t>(1, words / most + (words % most > 0 ? 1 : 0));
  if (pieces > std::numeric_limits<int>::max() / shares) {
    throw InputError(
        "{} pieces of each of {} parts of a message are more than can be numbered; give longer "
        "ones, by segment_bytes or chunk_words",
        pieces, shares);
  }
  return static_cast<int>(pieces);
}

}  // namespace thinwire::algorithms
