// The bytes that each link carried over time.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "sim/core/kernel/network.hpp"
#include "topologies/loading/platform.hpp"

namespace thinwire::networks {

/// The bytes of each link, in total and per part of the run.
class LinkUse {
 public:
  explicit LinkUse(std::span<const topologies::PlatformLink> links)
      : links_(links), used_(links.size()) {}

  /// A message of `bytes` bytes occupied `links` from `begin` to `end`, in seconds.
  void add(std::span<const topologies::LinkIndex> links, double bytes, double begin, double end);
  /// The links that carried something, in the order of their names. The run is divided into 32 to
  /// 64 equal parts. The peak is the mean utilisation in the busiest part. It is at most 1, except
  /// on a fat pipe.
  [[nodiscard]] std::vector<LinkReport> reports(double makespan) const;

 private:
  static constexpr std::size_t kParts = 64;
  struct Use {
    double bytes = 0;
    std::vector<float> parts = {};  ///< bytes per part of the time
  };

  void widen(double end);

  std::span<const topologies::PlatformLink> links_;
  std::vector<Use> used_;
  double width_ = 0;  ///< length of a part, in seconds
};

}  // namespace thinwire::networks
