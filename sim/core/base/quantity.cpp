#include "sim/core/base/quantity.hpp"

#include <array>
#include <cmath>
#include <string>
#include <utility>

#include "sim/core/base/numbers.hpp"

namespace thinwire::inline base {

namespace {

/// A suffix stands for base^exponent.
struct Suffix {
  std::string_view text;
  std::string_view unit;
  int base;
  int exponent;
};

constexpr std::array kSuffixes{
    Suffix{"K", "", 10, 3},        Suffix{"k", "", 10, 3},        Suffix{"M", "", 10, 6},
    Suffix{"G", "", 10, 9},        Suffix{"T", "", 10, 12},       Suffix{"%", "", 10, -2},
    Suffix{"B", "bytes", 10, 0},   Suffix{"K", "bytes", 10, 3},   Suffix{"k", "bytes", 10, 3},
    Suffix{"M", "bytes", 10, 6},   Suffix{"G", "bytes", 10, 9},   Suffix{"T", "bytes", 10, 12},
    Suffix{"KB", "bytes", 10, 3},  Suffix{"kB", "bytes", 10, 3},  Suffix{"MB", "bytes", 10, 6},
    Suffix{"GB", "bytes", 10, 9},  Suffix{"TB", "bytes", 10, 12}, Suffix{"KiB", "bytes", 2, 10},
    Suffix{"MiB", "bytes", 2, 20}, Suffix{"GiB", "bytes", 2, 30}, Suffix{"TiB", "bytes", 2, 40},
    Suffix{"MiB", "MiB", 2, 0},    Suffix{"GiB", "MiB", 2, 10},   Suffix{"TiB", "MiB", 2, 20},
    Suffix{"s", "s", 10, 0},       Suffix{"ms", "s", 10, -3},     Suffix{"us", "s", 10, -6},
    Suffix{"µs", "s", 10, -6},     Suffix{"μs", "s", 10, -6},     Suffix{"ns", "s", 10, -9},
    Suffix{"ps", "s", 10, -12}};

std::string_view without_word(std::string_view unit) { return unit == "s/word" ? "s" : unit; }

/// The seconds that a word of 4 bytes takes at a bandwidth: "25Gbps", "3GB/s".
std::optional<double> seconds_per_word(std::string_view word) {
  constexpr double kBits = 32;
  for (const auto& [suffix, bits] : {std::pair{"Gbps", 1e9},
                                     {"Mbps", 1e6},
                                     {"Tbps", 1e12},
                                     {"GBps", 8e9},
                                     {"MBps", 8e6},
                                     {"TBps", 8e12},
                                     {"Gb/s", 1e9},
                                     {"Mb/s", 1e6},
                                     {"GB/s", 8e9},
                                     {"MB/s", 8e6}}) {
    if (!word.ends_with(suffix)) continue;
    const std::string_view text(suffix);
    const auto number = parse_number<double>(word.substr(0, word.size() - text.size()));
    if (number && *number > 0) return kBits / (*number * bits);
  }
  return std::nullopt;
}

}  // namespace

std::optional<double> parse_quantity(std::string_view word, std::string_view unit) {
  if (const auto plain = parse_number<double>(word)) return plain;
  if (unit == "s/word") {
    if (const auto time = seconds_per_word(word)) return time;
  }
  for (const Suffix& suffix : kSuffixes) {
    if (suffix.unit != without_word(unit) || !word.ends_with(suffix.text)) continue;
    const std::string_view number = word.substr(0, word.size() - suffix.text.size());
    const auto value = parse_number<double>(number);
    if (!value) continue;
    if (suffix.base == 2) return std::ldexp(*value, suffix.exponent);
    // Written as an exponent, the result is rounded once.
    const bool has_exponent = number.find_first_of("eE") != std::string_view::npos;
    if (!has_exponent && std::isfinite(*value)) {
      return parse_number<double>(std::string(number) + "e" + std::to_string(suffix.exponent));
    }
    return *value * std::pow(10.0, suffix.exponent);
  }
  return std::nullopt;
}

std::optional<std::int64_t> parse_whole(std::string_view word, std::string_view unit) {
  if (const auto plain = parse_number<std::int64_t>(word)) return plain;
  if (word.ends_with('%')) return std::nullopt;
  constexpr double kExact = 9007199254740992;  // 2^53: above it a double skips whole numbers
  const std::optional<double> value = parse_quantity(word, unit);
  if (!value || !(std::abs(*value) <= kExact) || *value != std::round(*value)) return std::nullopt;
  return static_cast<std::int64_t>(*value);
}

std::string_view quantity_example(std::string_view unit, bool whole) {
  const std::string_view plain = without_word(unit);
  if (unit == "s/word") return "4e-10, 0.4ns or 80Gbps";
  if (plain == "s") return "2e-6 or 2us";
  if (plain == "bytes") return "4096, 64K or 64KiB";
  if (plain == "MiB") return "2048 or 2GiB";
  if (!plain.empty()) return {};
  return whole ? "1000, 1e6 or 25.5M" : "0.01, 1e6, 1% or 25.5M";
}

}  // namespace thinwire::inline base
