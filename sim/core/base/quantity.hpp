// Parses the numbers that users type: "25.5M", "1%", "2us", "64KiB".
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace thinwire::inline base {

/// A decimal number that a suffix may follow, directly. Which one depends on `unit`:
///   none         K, M, G, T (powers of 1000), %
///   bytes        K, M, G, T, also with B (powers of 1000); KiB, MiB, GiB, TiB (of 1024); B
///   MiB          MiB, GiB, TiB
///   s, s/word    ns, us, µs, ms, s
///   s/word       also bandwidths, Gbps and Gb/s of bits, GBps and GB/s of bytes; also M and T
/// Others have no suffix. A decimal result is the nearest one to what is written: "0.4ns" is 4e-10.
/// Empty if the word is anything else.
[[nodiscard]] std::optional<double> parse_quantity(std::string_view word,
                                                   std::string_view unit = {});

/// The same where the result is whole; "1e6" and "2.5K" are, and "100%" is not. Between 2^53 and
/// 2^63 only plain digits are taken.
[[nodiscard]] std::optional<std::int64_t> parse_whole(std::string_view word,
                                                      std::string_view unit = {});

/// The suffixes of a unit as an error message gives them, "1e6 or 25.5M"; empty if there are none.
[[nodiscard]] std::string_view quantity_example(std::string_view unit, bool whole);

}  // namespace thinwire::inline base
