// Bandwidths and times as SimGrid's XML writes them.
#pragma once

#include <string>
#include <string_view>

#include "sim/core/base/units.hpp"

namespace thinwire::topologies {

/// Bytes a second of "5.25GBps" (bytes), "25Gbps" (bits) and the like; decimal prefixes k, M, G, T.
/// Throws InputError that starts with `what`.
[[nodiscard]] double parse_bandwidth(std::string_view text, std::string_view what);
/// Of "100ns", "0.65us", "2ms", "1s". Throws InputError that starts with `what`.
[[nodiscard]] Seconds parse_time(std::string_view text, std::string_view what);

/// "15.75GBps": ten digits, in the largest unit that keeps the number from 1.
[[nodiscard]] std::string bandwidth_text(double bytes_a_second);
/// "100ns", "2.2us", "0s".
[[nodiscard]] std::string time_text(Seconds time);

}  // namespace thinwire::topologies
