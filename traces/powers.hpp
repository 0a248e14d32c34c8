// Powers of many numbers.
#pragma once

#include <span>

namespace thinwire::traces {

/// Replaces numbers in (0, 1) by their powers, which are those of std::pow(float, float) to the bit.
/// They are computed in double precision, as vectors. Where the library might have rounded its own to
/// another float, it is asked.
void raise_each(std::span<float> numbers, float exponent);

}  // namespace thinwire::traces
