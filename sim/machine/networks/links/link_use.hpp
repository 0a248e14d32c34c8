// What each link carried, and when.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "sim/core/kernel/network.hpp"
#include "topologies/loading/platform.hpp"

namespace thinwire::networks {

/// Bytes of each link, in all and in parts of the run.
class LinkUse {
 public:
  explicit LinkUse(std::span<const topologies::PlatformLink> links)
      : links_(links), used_(links.size()) {}

  /// A message of `bytes` kept links busy between `begin` and `end`, in seconds.
  void add(std::span<const topologies::LinkIndex> links, double bytes, double begin, double end);
  /// Those that carried something, by name. The peak is the largest mean over a part of the run,
  /// which has 32 to 64 parts; 1 at most but on a fat pipe.
  [[nodiscard]] std::vector<LinkReport> reports(double makespan) const;

 private:
  static constexpr std::size_t kParts = 64;
  struct Use {
    double bytes = 0;
    std::vector<float> parts = {};  ///< bytes in each part of the time
  };

  void widen(double end);

  std::span<const topologies::PlatformLink> links_;
  std::vector<Use> used_;
  double width_ = 0;  ///< of a part, in seconds
};

}  // namespace thinwire::networks
