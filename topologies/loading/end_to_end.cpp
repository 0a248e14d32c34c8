#include "topologies/loading/end_to_end.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sim/core/base/errors.hpp"

namespace thinwire::topologies {

namespace {

constexpr std::uint64_t kPairs = 65'536;

class Mean {
 public:
  explicit Mean(const Platform& platform) : platform_(platform) {}

  void add(HostIndex from, HostIndex to) {
    if (from == to) return;
    const Route route = platform_.route(from, to);
    double bandwidth = HUGE_VAL;
    for (const LinkIndex index : route.links) {
      const PlatformLink& link = platform_.links()[index];
      if (!(link.bandwidth > 0) || !(link.latency >= Seconds(0))) {
        throw InputError(
            "{}: link {}: {} bytes a second and a latency of {} s are not valid; expected more "
            "than 0, and 0 or more",
            platform_.path(), link.name, link.bandwidth, link.latency.value());
      }
      bandwidth = std::min(bandwidth, link.bandwidth);
    }
    latency_ += route.latency.value();
    per_word_ += 4 / bandwidth;
    ++pairs_;
  }

  [[nodiscard]] EndToEnd result() const {
    if (pairs_ == 0) return {};
    const auto pairs = static_cast<double>(pairs_);
    const Seconds latency(latency_ / pairs);
    return {.alpha = platform_.message_gap() + latency,
            .latency = latency,
            .beta_per_word = Seconds(per_word_ / pairs)};
  }

 private:
  const Platform& platform_;
  double latency_ = 0;
  double per_word_ = 0;
  std::int64_t pairs_ = 0;
};

}  // namespace

EndToEnd end_to_end(const Platform& platform, std::span<const HostIndex> hosts) {
  Mean mean(platform);
  const std::uint64_t ranks = hosts.size();
  const std::uint64_t all = ranks * ranks;
  // A step that shares no factor with the number of pairs visits them evenly, none twice.
  std::uint64_t step = std::max<std::uint64_t>(1, all / kPairs);
  while (std::gcd(step, ranks) != 1) ++step;
  for (std::uint64_t pair = 0; pair < all; pair += step) {
    mean.add(hosts[pair / ranks], hosts[pair % ranks]);
  }
  return mean.result();
}

}  // namespace thinwire::topologies
