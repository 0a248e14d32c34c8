// The message gap on SimGrid's links, and their utilisation.
#pragma once

#include <algorithm>
#include <cmath>
#include <simgrid/kernel/resource/NetworkModelIntf.hpp>
#include <simgrid/s4u.hpp>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "sim/core/kernel/network.hpp"
#include "sim/machine/networks/smpi/message_ends.hpp"
#include "topologies/loading/route_table.hpp"

namespace thinwire::networks {

/// Charges the message gap, and counts the bytes that cross each link.
class SmpiLinks {
 public:
  SmpiLinks(Seconds gap, bool record) : gap_(gap.value()), record_(record) {
    auto* model = simgrid::s4u::Engine::get_instance()->get_netzone_root()->get_network_model();
    model->set_bw_factor_cb([this](double size, const simgrid::s4u::Host*,
                                   const simgrid::s4u::Host*,
                                   const std::vector<simgrid::s4u::Link*>& links,
                                   const std::unordered_set<simgrid::s4u::NetZone*>&) {
      return bandwidth_factor(size, links);
    });
    if (record_) simgrid::s4u::Engine::on_time_advance_cb([this](double) { look_at_usage(); });
  }

  void begin() {
    used_.clear();
    index_of_.clear();
  }

  [[nodiscard]] std::vector<LinkReport> end(double makespan) const {
    std::vector<LinkReport> reports;
    for (const Used& used : used_) {
      const double bandwidth = used.link->get_bandwidth();
      reports.push_back({.name = used.link->get_name(),
                         .bandwidth = bandwidth,
                         .carried = Bytes(static_cast<std::int64_t>(std::llround(used.bytes))),
                         .mean_utilisation = makespan > 0 ? used.bytes / (bandwidth * makespan) : 0,
                         .peak_utilisation = used.peak});
    }
    std::ranges::sort(reports, {}, &LinkReport::name);
    return reports;
  }

 private:
  struct Used {
    const simgrid::s4u::Link* link;
    double bytes = 0;
    double peak = 0;
  };

  static constexpr double kEnvelope = 16;  // bytes that SMPI adds to every message
  static constexpr std::size_t kNoLink = SIZE_MAX;

  /// Whether a link is not a wire but only a weight for the routing
  /// (topologies/loading/platform.hpp).
  static bool is_weight(const simgrid::s4u::Link& link) {
    const topologies::PlatformLink seen{
        .name = {},
        .bandwidth = link.get_bandwidth(),
        .latency = Seconds(link.get_latency()),
        .fat_pipe = link.get_sharing_policy() == simgrid::s4u::Link::SharingPolicy::FATPIPE};
    return seen.is_weight();
  }

  /// SimGrid divides SMPI's size of a message by (bandwidth x factor). This factor has the effect
  /// that the size is the message's own bytes plus the number of bytes that stand for the gap.
  double bandwidth_factor(double size, const std::vector<simgrid::s4u::Link*>& links) {
    double bytes = size - kEnvelope;
    if (bytes == kBytesOfEmpty) bytes = 0;
    if (record_) count(bytes, links);
    double occupied = bytes;
    if (gap_ > 0) {
      double bandwidth = HUGE_VAL;
      for (const simgrid::s4u::Link* link : links)
        bandwidth = std::min(bandwidth, link->get_bandwidth());
      if (std::isfinite(bandwidth)) occupied += gap_ * bandwidth;
    }
    constexpr double kAlmostNothing = 1e-6;
    return size / std::max(occupied, kAlmostNothing);
  }

  void count(double bytes, const std::vector<simgrid::s4u::Link*>& links) {
    for (const simgrid::s4u::Link* link : links) {
      const auto [found, fresh] = index_of_.try_emplace(link, used_.size());
      if (fresh && is_weight(*link)) found->second = kNoLink;
      if (found->second == kNoLink) continue;
      if (fresh) used_.push_back({.link = link});
      used_[found->second].bytes += bytes;
    }
  }

  void look_at_usage() {
    for (Used& used : used_) {
      used.peak = std::max(used.peak, used.link->get_usage() / used.link->get_bandwidth());
    }
  }

  double gap_;
  bool record_;
  std::vector<Used> used_;
  std::unordered_map<const simgrid::s4u::Link*, std::size_t> index_of_;
};

}  // namespace thinwire::networks
