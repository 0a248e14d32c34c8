// Records how long each message occupies the links of its path.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "sim/machine/networks/common/transfer.hpp"
#include "sim/machine/networks/links/fabric.hpp"
#include "sim/machine/networks/links/link_use.hpp"

namespace thinwire::networks {

/// Records the link use of one run.
class LinkRecorder {
 public:
  LinkRecorder(const Fabric& fabric, std::span<const topologies::PlatformLink> links)
      : fabric_(fabric), use_(links) {}

  /// Stores the path of a transfer until its completion.
  void departs(TransferIndex index, const Fabric::Path& path) {
    if (index >= inner_links_.size()) inner_links_.resize(index + 1);
    inner_links_[index] = path.inner;
  }
  /// A message occupies the links of its path from its departure until it has crossed them.
  void completes(TransferIndex index, const Transfer<topologies::CompactRoute>& transfer,
                 double crossed) {
    path_.clear();
    fabric_.for_each_link(transfer.from, transfer.to, transfer.route, inner_links_[index],
                          [this](topologies::LinkIndex link) { path_.push_back(link); });
    const double begin = transfer.departed;
    const auto bytes = static_cast<double>(to_bytes(transfer.words).value());
    const double alone = fabric_.uncontended(transfer.route, transfer.words);
    use_.add(path_, bytes, begin, std::max(crossed, begin + alone));
  }
  /// A flow of a collective in switches occupied its links.
  void crossed(std::span<const topologies::LinkIndex> links, Words words, double begin,
               double end) {
    use_.add(links, static_cast<double>(to_bytes(words).value()), begin, end);
  }
  [[nodiscard]] std::vector<LinkReport> reports(double makespan) const {
    return use_.reports(makespan);
  }

 private:
  const Fabric& fabric_;
  LinkUse use_;
  std::vector<Fabric::InnerLinks> inner_links_;  ///< by transfer
  std::vector<topologies::LinkIndex> path_;      ///< of the completed transfer
};

}  // namespace thinwire::networks
