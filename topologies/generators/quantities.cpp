#include "topologies/generators/quantities.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

#include "sim/core/errors.hpp"

namespace thinwire {

namespace {

struct Unit {
  std::string_view name;
  double factor;
};

// From small to large. Bits are read and never written.
constexpr std::array kBandwidths{Unit{"Bps", 1},     Unit{"kBps", 1e3},   Unit{"MBps", 1e6},
                                 Unit{"GBps", 1e9},  Unit{"TBps", 1e12},  Unit{"bps", 0.125},
                                 Unit{"kbps", 125},  Unit{"Mbps", 125e3}, Unit{"Gbps", 125e6},
                                 Unit{"Tbps", 125e9}};
constexpr std::size_t kBytesBandwidths = 5;
constexpr std::array kTimes{Unit{"ps", 1e-12}, Unit{"ns", 1e-9}, Unit{"us", 1e-6}, Unit{"ms", 1e-3},
                            Unit{"s", 1}};

template <class Units>
std::optional<double> parse(std::string_view text, const Units& units) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || !std::isfinite(value) || value < 0) return std::nullopt;
  const std::string_view name = text.substr(static_cast<std::size_t>(end - text.data()));
  for (const Unit& unit : units) {
    // A division by a power of ten is exact where a product with its inverse is not.
    if (unit.name == name) return unit.factor < 1 ? value / (1 / unit.factor) : value * unit.factor;
  }
  return std::nullopt;
}

std::string text_of(double value, const Unit* first, const Unit* last) {
  const Unit* unit = first;
  while (unit + 1 != last && value >= unit[1].factor * (1 - 1e-12)) ++unit;
  const double scaled = unit->factor < 1 ? value * (1 / unit->factor) : value / unit->factor;
  return fmt::format("{:.10g}{}", scaled, unit->name);
}

}  // namespace

double parse_bandwidth(std::string_view text, std::string_view what) {
  if (const auto value = parse(text, kBandwidths); value && *value > 0) return *value;
  throw InputError(
      fmt::format("{}: '{}' is not right; wanted is a bandwidth above 0 with its unit, as in "
                  "5.25GBps or 25Gbps",
                  what, text));
}

Seconds parse_time(std::string_view text, std::string_view what) {
  if (const auto value = parse(text, kTimes)) return Seconds(*value);
  throw InputError(fmt::format(
      "{}: '{}' is not right; wanted is a time from 0 with its unit, as in 100ns or 0.65us", what,
      text));
}

std::string bandwidth_text(double bytes_a_second) {
  return text_of(bytes_a_second, kBandwidths.data(), kBandwidths.data() + kBytesBandwidths);
}

std::string time_text(Seconds time) {
  if (time.value() == 0) return "0s";
  return text_of(time.value(), kTimes.data(), kTimes.data() + kTimes.size());
}

}  // namespace thinwire
