// Records how long each message occupies the links of its path.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "sim/machine/networks/links/fabric.hpp"
#include "sim/machine/networks/links/link_use.hpp"
#include "sim/machine/networks/links/transfer.hpp"

namespace thinwire::networks {

/// Records the link use of one run.
class LinkRecorder {
 public:
  LinkRecorder(const Fabric& fabric, std::span<const topologies::PlatformLink> links)
      : fabric_(fabric), use_(links) {}

  /// Stores the path of a transfer until its completion.
  void departs(TransferIndex index, const Fabric::Middle& middle) {
    if (index >= middles_.size()) middles_.resize(index + 1);
    middles_[index] = middle;
  }
  /// A message occupies a link until it has crossed it, a serial port while it is served there.
  void completes(TransferIndex index, const Transfer& transfer, double crossed,
                 double received_from) {
    path_.clear();
    fabric_.for_each_link(transfer.from, transfer.to, transfer.way, middles_[index],
                          [this](topologies::LinkIndex link) { path_.push_back(link); });
    const std::span<const topologies::LinkIndex> path = path_;
    const double begin = transfer.departed;
    const double bytes = static_cast<double>(to_bytes(transfer.words).value());
    const double alone = fabric_.uncontended(transfer.way, transfer.words);
    if (!fabric_.serial() || path.size() < 2) {
      use_.add(path, bytes, begin, std::max(crossed, begin + alone));
      return;
    }
    const double sent = fabric_.send_occupancy(transfer.from, transfer.way, transfer.words);
    use_.add(path.first(1), bytes, begin, begin + sent);
    use_.add(path.last(1), bytes, received_from, received_from + alone);
    use_.add(path.subspan(1, path.size() - 2), bytes, begin, begin + alone);
  }
  [[nodiscard]] std::vector<LinkReport> reports(double makespan) const {
    return use_.reports(makespan);
  }

 private:
  const Fabric& fabric_;
  LinkUse use_;
  std::vector<Fabric::Middle> middles_;      ///< by transfer
  std::vector<topologies::LinkIndex> path_;  ///< of the completed transfer
};

}  // namespace thinwire::networks
