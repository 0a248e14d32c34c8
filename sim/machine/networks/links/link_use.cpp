#include "sim/machine/networks/links/link_use.hpp"

#include <algorithm>
#include <cmath>

namespace thinwire::networks {

/// Merges pairs of parts until the parts extend beyond `end`.
void LinkUse::widen(double end) {
  if (width_ == 0) width_ = 2 * end / static_cast<double>(kParts);
  while (end >= width_ * static_cast<double>(kParts)) {
    for (Use& use : used_) {
      if (use.parts.empty()) continue;
      for (std::size_t i = 0; i < kParts / 2; ++i) {
        use.parts[i] = use.parts[2 * i] + use.parts[2 * i + 1];
      }
      std::fill(use.parts.begin() + kParts / 2, use.parts.end(), 0.0F);
    }
    width_ *= 2;
  }
}

void LinkUse::add(std::span<const topologies::LinkIndex> links, double bytes, double begin,
                  double end) {
  if (!(bytes > 0) || links.empty()) return;
  widen(end);
  const auto first = static_cast<std::size_t>(begin / width_);
  const auto last = static_cast<std::size_t>(end / width_);
  for (const topologies::LinkIndex link : links) {
    Use& use = used_[link];
    use.bytes += bytes;
    if (use.parts.empty()) use.parts.resize(kParts);
    if (first == last) {
      use.parts[first] += static_cast<float>(bytes);
      continue;
    }
    for (std::size_t part = first; part <= last; ++part) {
      const double from = std::max(begin, width_ * static_cast<double>(part));
      const double to = std::min(end, width_ * static_cast<double>(part + 1));
      use.parts[part] += static_cast<float>(bytes * (to - from) / (end - begin));
    }
  }
}

std::vector<LinkReport> LinkUse::reports(double makespan) const {
  std::vector<LinkReport> reports;
  for (std::size_t i = 0; i < used_.size(); ++i) {
    const Use& use = used_[i];
    if (use.bytes == 0) continue;
    const double bandwidth = links_[i].bandwidth;
    double peak = 0;
    for (std::size_t part = 0; part < kParts; ++part) {
      const double begin = width_ * static_cast<double>(part);
      const double seconds = std::min(width_, makespan - begin);
      // A short last part is not representative.
      if (seconds < width_ / 2 && part > 0) break;
      peak = std::max(peak, static_cast<double>(use.parts[part]) / (bandwidth * seconds));
    }
    LinkReport& report = reports.emplace_back();
    report.name = links_[i].name;
    report.bandwidth = bandwidth;
    report.carried = Bytes(std::llround(use.bytes));
    report.mean_utilisation = makespan > 0 ? use.bytes / (bandwidth * makespan) : 0;
    // Bytes are spread evenly over a message's time, which overestimates some parts.
    if (!links_[i].fat_pipe) peak = std::min(peak, 1.0);
    report.peak_utilisation = std::max(peak, report.mean_utilisation);
  }
  std::ranges::sort(reports, {}, &LinkReport::name);
  return reports;
}

}  // namespace thinwire::networks
