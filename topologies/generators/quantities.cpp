#include "topologies/generators/quantities.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

#include "sim/core/base/errors.hpp"
#include "sim/core/base/printable.hpp"

namespace thinwire::topologies {

namespace {

/// A unit is times / over of the base unit, where one of the two is 1: powers of ten are exact,
/// their inverses are not.
struct Unit {
  std::string_view name;
  double times;
  double over;
};

// Units from small to large. Bits are read but never written.
constexpr std::array kBandwidths{
    Unit{"Bps", 1, 1},      Unit{"kBps", 1e3, 1},  Unit{"MBps", 1e6, 1}, Unit{"GBps", 1e9, 1},
    Unit{"TBps", 1e12, 1},  Unit{"bps", 1, 8},     Unit{"kbps", 125, 1}, Unit{"Mbps", 125e3, 1},
    Unit{"Gbps", 125e6, 1}, Unit{"Tbps", 125e9, 1}};
constexpr std::size_t kBytesBandwidths = 5;
constexpr std::array kTimes{Unit{"ps", 1, 1e12}, Unit{"ns", 1, 1e9}, Unit{"us", 1, 1e6},
                            Unit{"ms", 1, 1e3}, Unit{"s", 1, 1}};

template <class Units>
std::optional<double> parse(std::string_view text, const Units& units) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || !std::isfinite(value) || value < 0) return std::nullopt;
  const std::string_view name = text.substr(static_cast<std::size_t>(end - text.data()));
  for (const Unit& unit : units) {
    if (unit.name != name) continue;
    const double in_base = value * unit.times / unit.over;
    return std::isfinite(in_base) ? std::optional(in_base) : std::nullopt;
  }
  return std::nullopt;
}

std::string text_of(double value, const Unit* first, const Unit* last) {
  const Unit* unit = first;
  // Values just below 1000 of a unit because of rounding take the next unit.
  while (unit + 1 != last && value >= unit[1].times / unit[1].over * (1 - 1e-12)) ++unit;
  const double scaled = value * unit->over / unit->times;
  return fmt::format("{:.10g}{}", scaled, unit->name);
}

}  // namespace

double parse_bandwidth(std::string_view text, std::string_view what) {
  if (const auto value = parse(text, kBandwidths); value && *value > 0) return *value;
  throw InputError(
      "{}: '{}' is not valid; expected a bandwidth above 0 with its unit, as in 5.25GBps or 25Gbps",
      what, excerpt(text));
}

Seconds parse_time(std::string_view text, std::string_view what) {
  if (const auto value = parse(text, kTimes)) return Seconds(*value);
  throw InputError(
      "{}: '{}' is not valid; expected a time from 0 with its unit, as in 100ns or 0.65us", what,
      text);
}

std::string bandwidth_text(double bytes_a_second) {
  return text_of(bytes_a_second, kBandwidths.data(), kBandwidths.data() + kBytesBandwidths);
}

std::string time_text(Seconds time) {
  if (time.value() == 0) return "0s";
  return text_of(time.value(), kTimes.data(), kTimes.data() + kTimes.size());
}

}  // namespace thinwire::topologies
