#include "topologies/loading/route_maker.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "sim/core/base/errors.hpp"

namespace thinwire::topologies {

namespace {

constexpr std::uint32_t kMostHops = std::numeric_limits<std::uint8_t>::max();
constexpr std::size_t kMostKinds = std::size_t{std::numeric_limits<std::uint16_t>::max()} + 1;

}  // namespace

RouteMaker::RouteMaker(const Platform& platform, std::span<const HostIndex> hosts,
                       std::vector<LinkIndex>& halves, std::vector<RouteKind>& kinds)
    : platform_(platform), hosts_(hosts), pool_(halves), kinds_(kinds) {
  for (const PlatformLink& link : platform.links()) {
    weight_.push_back(link.is_weight());
    bandwidth_.push_back(link.bandwidth);
    latency_.push_back(link.latency.value());
  }
  forget_ports();
}

void RouteMaker::forget_ports() {
  up_.assign(hosts_.size(), {});
  down_.assign(hosts_.size(), {});
}

const std::vector<LinkIndex>& RouteMaker::route(SiteIndex from, SiteIndex to) {
  const bool distances = platform_.xml().distances;
  Seconds latency;
  platform_.route_into(hosts_[from], hosts_[to], links_, distances ? &latency : nullptr);
  if (distances) {
    distance_ = latency.value();
    for (const LinkIndex link : links_) distance_ -= latency_[link];
  }
  std::erase_if(links_, [&](LinkIndex link) { return weight_[link]; });
  return links_;
}

CompactRoute RouteMaker::compact_route(SiteIndex from, SiteIndex to) {
  std::span<const LinkIndex> rest = route(from, to);
  CompactRoute route;
  double slowest = std::numeric_limits<double>::infinity();
  for (const LinkIndex link : rest) {
    slowest = std::min(slowest, bandwidth_[link]);
  }
  if (rest.size() >= 2) {
    route.up = port_of(up_[from], rest.front()) & CompactRoute::kNoPort;  // as 4 bits
    route.down = port_of(down_[to], rest.back()) & CompactRoute::kNoPort;
    if (route.up != CompactRoute::kNoPort) rest = rest.subspan(1);
    if (route.down != CompactRoute::kNoPort) rest = rest.first(rest.size() - 1);
  }
  if (rest.size() > kMostHops) {
    throw InputError("{}: the route from {} to {} has more than {} links", platform_.path(),
                     name_of(from), name_of(to), kMostHops);
  }
  route.head = pool_.place_of(rest.first(first_half(rest.size())));
  route.tail = pool_.place_of(rest.subspan(first_half(rest.size())));
  route.hops = static_cast<std::uint8_t>(rest.size());
  double latency = distance_;
  for (const LinkIndex link : rest) latency += latency_[link];
  route.kind = kind_index({.bandwidth = slowest, .latency = latency});
  return route;
}

/// The number of a port of a site; kNoPort if it is one too many.
std::uint8_t RouteMaker::port_of(std::vector<LinkIndex>& ports, LinkIndex link) const {
  const auto found = std::ranges::find(ports, link);
  if (found == ports.end()) {
    if (ports_kept_ || ports.size() == CompactRoute::kNoPort) return CompactRoute::kNoPort;
    ports.push_back(link);
    return static_cast<std::uint8_t>(ports.size() - 1);
  }
  return static_cast<std::uint8_t>(found - ports.begin());
}

std::uint16_t RouteMaker::kind_index(const RouteKind& kind) {
  const auto [at, is_new] = kind_indexes_.try_emplace({kind.bandwidth, kind.latency},
                                                      static_cast<std::uint16_t>(kinds_.size()));
  if (is_new) {
    if (kinds_.size() == kMostKinds) {
      throw InputError("{}: its routes have more than {} different pairs of bandwidth and latency",
                       platform_.path(), kMostKinds);
    }
    kinds_.push_back(kind);
  }
  return at->second;
}

}  // namespace thinwire::topologies
