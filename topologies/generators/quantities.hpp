// Parses and formats bandwidths and times as in SimGrid's XML.
#pragma once

#include <string>
#include <string_view>

#include "sim/core/base/units.hpp"

namespace thinwire::topologies {

/// Parses "5.25GBps" (bytes), "25Gbps" (bits) etc. to bytes per second; prefixes k, M, G, T are
/// decimal. Throws InputError that starts with `what`.
[[nodiscard]] double parse_bandwidth(std::string_view text, std::string_view what);
/// Parses "100ns", "0.65us", "2ms", "1s". Throws InputError that starts with `what`.
[[nodiscard]] Seconds parse_time(std::string_view text, std::string_view what);

/// "15.75GBps": ten digits, in the largest unit in which the number is at least 1.
[[nodiscard]] std::string bandwidth_text(double bytes_a_second);
/// "100ns", "2.2us", "0s".
[[nodiscard]] std::string time_text(Seconds time);

}  // namespace thinwire::topologies
