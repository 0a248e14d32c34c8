#include "sim/app/cli/sizes.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "sim/core/base/errors.hpp"
#include "sim/core/base/numbers.hpp"
#include "sim/core/base/printable.hpp"
#include "sim/core/base/quantity.hpp"
#include "sim/core/base/split.hpp"

namespace thinwire::cli {

namespace {

constexpr std::int64_t kBytesOfComponent = 4;
constexpr double kMostBytes = 4.0 * (std::int64_t{1} << 40);

/// A size in bytes, at least the size of one component.
double bytes_of(const std::string& text, const std::string& flag) {
  std::string word = text;
  // Suffixes of one letter are nccl-tests' and count in 1024; KiB does so anyway, and KB in 1000.
  constexpr std::string_view kBinary = "kKMGT";
  if (!word.empty() && kBinary.find(word.back()) != std::string_view::npos) {
    if (word.back() == 'k') word.back() = 'K';
    word += "iB";
  }
  const auto bytes = parse_quantity(word, "bytes");
  if (!bytes || !(*bytes >= kBytesOfComponent) || !(*bytes <= kMostBytes)) {
    throw InputError(
        "{}: '{}' is not valid; expected a size from 4 bytes, as in 8, 64K (of 1024) or 1G", flag,
        excerpt(text));
  }
  return *bytes;
}

double factor_of(const std::string& text, const std::string& flag) {
  const auto factor = parse_number<double>(text);
  if (factor && *factor > 1 && std::isfinite(*factor)) return *factor;
  throw InputError("{}: '{}' is not valid; expected a factor above 1, as in 2", flag,
                   excerpt(text));
}

Json in_components(const std::vector<double>& sizes) {
  Json all = Json::array();
  for (const double bytes : sizes) {
    const auto components = static_cast<std::int64_t>(bytes) / kBytesOfComponent;
    if (all.empty() || all.back() != components) all.push_back(components);
  }
  return all;
}

std::vector<double> range_of(double least, double most, double factor, const std::string& flag) {
  if (most < least) {
    throw InputError("{}: the largest size is below the smallest", flag);
  }
  constexpr double kMostSizes = 10'000;
  const double count = std::log(most / least) / std::log(factor);
  if (count > kMostSizes) {
    throw InputError("{}: {:.0f} sizes are too many; take a larger factor", flag, count);
  }
  std::vector<double> sizes;
  for (double size = least; size <= most; size *= factor) sizes.push_back(size);
  return sizes;
}

}  // namespace

void add_size_flags(Command& command, SizeFlags& flags) {
  command
      .add_option("--sizes", flags.sizes,
                  "sizes in place of -n, in bytes: LEAST:MOST:FACTOR or a list; K, M and G are "
                  "powers of 1024")
      .value_text("1K:1G:2");
  command.add_option("-b,--min-bytes", flags.least, "the smallest size, as for nccl-tests")
      .value_text("BYTES");
  command.add_option("-e,--max-bytes", flags.most, "the largest size").value_text("BYTES [-b]");
  command.add_option("-f,--step-factor", flags.factor, "from one size to the next")
      .value_text("X [2]");
}

Json components_of(const SizeFlags& flags) {
  if (flags.sizes.empty()) {
    if (flags.least.empty()) {
      throw InputError("-b: is missing; give the smallest size, as in -b 8 -e 128M -f 2");
    }
    if (flags.most.empty() && !flags.factor.empty()) {
      throw InputError("-f: there is one size; give the largest one too, as in -b 8 -e 128M -f 2");
    }
    const double least = bytes_of(flags.least, "-b");
    const double most = flags.most.empty() ? least : bytes_of(flags.most, "-e");
    const double factor = flags.factor.empty() ? 2 : factor_of(flags.factor, "-f");
    return in_components(range_of(least, most, factor, "-e"));
  }
  if (!flags.least.empty() || !flags.most.empty() || !flags.factor.empty()) {
    throw InputError("--sizes: says what -b, -e and -f say; leave one out");
  }
  const std::vector<std::string> range = split(flags.sizes, ':');
  if (range.size() == 1) {
    std::vector<double> sizes;
    for (const std::string& size : split(flags.sizes)) sizes.push_back(bytes_of(size, "--sizes"));
    return in_components(sizes);
  }
  if (range.size() > 3) {
    throw InputError("--sizes: '{}' is not valid; expected LEAST:MOST:FACTOR, as in 1K:1G:2",
                     excerpt(flags.sizes));
  }
  const double factor = range.size() == 3 ? factor_of(range[2], "--sizes") : 2;
  return in_components(
      range_of(bytes_of(range[0], "--sizes"), bytes_of(range[1], "--sizes"), factor, "--sizes"));
}

}  // namespace thinwire::cli
