#include "sim/machine/networks/links/fabric.hpp"

#include <fmt/format.h>

#include <cmath>

#include "sim/core/base/errors.hpp"
#include "sim/core/base/random.hpp"

namespace thinwire::networks {

namespace {

/// Detours that a message of UGAL considers. Aries has two, and so have Kim et al. one.
constexpr int kDetours = 2;
/// Draws for each, as not every switch is on a way.
constexpr std::uint64_t kDraws = 8;

}  // namespace

Fabric::Fabric(const topologies::Platform& platform, const topologies::CompactRoutes& routes,
               std::size_t ranks, const LinksSettings& settings)
    : platform_(platform),
      routes_(routes),
      settings_(settings),
      gap_(platform.message_gap().value()) {
  for (const topologies::PlatformLink& link : platform.links()) {
    links_.push_back({.bandwidth = link.bandwidth, .per_word = 4 / link.bandwidth});
    latencies_.push_back(link.latency.value());
    fat_pipes_.push_back(link.fat_pipe);
  }
  find_ports(ranks);
  if (!serial_) find_lookahead();
  if (settings.routing != LinkRouting::ecmp) return;
  for (topologies::SiteIndex site = 0; site < routes.sites(); ++site) {
    const std::size_t at = routes.switch_of(site);
    if (at >= behind_.size()) behind_.resize(at + 1);
    behind_[at].push_back(site);
  }
}

/// A first or last link that anybody else uses too is no port.
void Fabric::find_ports(std::size_t ranks) {
  std::vector<std::uint32_t> users(links_.size());
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const topologies::SiteIndex at = routes_.site_of(rank);
    for (const topologies::LinkIndex link : routes_.up_ports(at)) ++users[link];
    for (const topologies::LinkIndex link : routes_.down_ports(at)) ++users[link];
  }
  for (std::size_t i = 0; i < links_.size(); ++i) {
    links_[i].port = users[i] == 1 && !fat_pipes_[i];
  }
  for (const topologies::LinkIndex link : routes_.all_middles()) links_[link].port = false;
  const auto shared = [&](std::size_t link) { return !links_[link].port && !fat_pipes_[link]; };
  serial_ = !settings_.fair_ports && std::ranges::none_of(routes_.all_middles(), shared);
  for (std::size_t i = 0; i < links_.size(); ++i) {
    if (users[i] > 0 && shared(i)) serial_ = false;
  }
}

void Fabric::find_lookahead() {
  double up = HUGE_VAL;
  double down = HUGE_VAL;
  for (topologies::SiteIndex site = 0; site < routes_.sites(); ++site) {
    for (const topologies::LinkIndex link : routes_.up_ports(site))
      up = std::min(up, latencies_[link]);
    for (const topologies::LinkIndex link : routes_.down_ports(site)) {
      down = std::min(down, latencies_[link]);
    }
  }
  lookahead_ = HUGE_VAL;
  routes_.for_each_way([&](topologies::Way way) {
    // In the order of latency(), so that rounding does not make it more.
    const double latency =
        (way.up == topologies::Way::kNoPort ? 0 : up) + routes_.kind(way).latency;
    lookahead_ = std::min(lookahead_, latency + (way.down == topologies::Way::kNoPort ? 0 : down));
  });
}

Fabric::Path Fabric::path(const Departing& message, FairLinks& links,
                          std::span<topologies::LinkIndex, FairLinks::kMostLinks> shared) {
  const topologies::Way way = message.way;
  std::span<const topologies::LinkIndex> middle = routes_.middle(way);
  double detour = 0;
  if (settings_.routing != LinkRouting::minimal && way.hops > 0) {
    choose_middle(message, links);
    middle = middle_;
    for (const topologies::LinkIndex link : middle) detour += latencies_[link];
    detour -= routes_.kind(way).latency;
  }
  if (settings_.record_links) {
    whole_.clear();
    follow(message.from, message.to, way, middle,
           [&](topologies::LinkIndex link) { whole_.push_back(link); });
  }
  if (serial_) return {0, detour};
  std::size_t count = 0;
  follow(message.from, message.to, way, middle, [&](topologies::LinkIndex link) {
    if (fat_pipes_[link]) return;
    if (count < shared.size()) shared[count] = link;
    ++count;
  });
  if (count > shared.size()) {
    const auto name = [&](Rank rank) {
      return platform_.hosts()[routes_.host_of(site(rank))].name;
    };
    throw InputError(fmt::format(
        "{}: the route from {} to {} shares {} links with others; the network links follows a "
        "message on at most {}",
        platform_.path(), name(message.from), name(message.to), count, shared.size()));
  }
  return {count, detour};
}

void Fabric::choose_middle(const Departing& message, FairLinks& links) {
  const topologies::Way way = message.way;
  const topologies::SiteIndex from = site(message.from);
  const topologies::SiteIndex to = site(message.to);
  const std::span<const topologies::LinkIndex> minimal = routes_.middle(way);
  middle_.assign(minimal.begin(), minimal.end());
  if (settings_.routing == LinkRouting::ecmp) {
    const std::vector<topologies::SiteIndex>& mates = behind_[routes_.switch_of(to)];
    const std::uint64_t draw = random_bits(settings_.seed, from, to);
    const topologies::Way other = routes_.way(from, mates[draw % mates.size()]);
    if (other.up != way.up || other.hops == 0) return;
    const std::span<const topologies::LinkIndex> links_of_other = routes_.middle(other);
    middle_.assign(links_of_other.begin(), links_of_other.end());
    return;
  }
  const bool adaptive = settings_.routing == LinkRouting::ugal;
  const double bytes = this->bytes(way, message.words);
  double least = adaptive ? burden(middle_, bytes, message.now, links) : HUGE_VAL;
  int found = 0;
  for (std::uint64_t draw = 0; draw < kDraws && found < (adaptive ? kDetours : 1); ++draw) {
    const auto over = static_cast<topologies::SiteIndex>(
        random_bits(settings_.seed, message.number, draw) % routes_.sites());
    if (!go_over(from, over, to, way, candidate_)) continue;
    ++found;
    const double all = adaptive ? burden(candidate_, bytes, message.now, links) : 0;
    if (all >= least) continue;
    least = all;
    middle_.swap(candidate_);
  }
}

bool Fabric::go_over(topologies::SiteIndex from, topologies::SiteIndex over,
                     topologies::SiteIndex to, topologies::Way way,
                     std::vector<topologies::LinkIndex>& links) const {
  const std::uint32_t at = routes_.switch_of(over);
  if (at == routes_.switch_of(from) || at == routes_.switch_of(to)) return false;
  const topologies::Way there = routes_.way(from, over);
  const topologies::Way on = routes_.way(over, to);
  if (there.up != way.up || on.down != way.down) return false;
  const std::span<const topologies::LinkIndex> first = routes_.middle(there);
  const std::span<const topologies::LinkIndex> second = routes_.middle(on);
  if (first.size() + second.size() + 2 > FairLinks::kMostLinks) return false;
  links.assign(first.begin(), first.end());
  links.insert(links.end(), second.begin(), second.end());
  return true;
}

double Fabric::burden(std::span<const topologies::LinkIndex> middle, double bytes, double now,
                      FairLinks& links) {
  double longest = 0;
  for (const topologies::LinkIndex link : middle)
    longest = std::max(longest, links.estimate(now, link, bytes));
  return longest * static_cast<double>(middle.size());
}

double Fabric::take_in(Rank to, topologies::Way way, Words words, double head) {
  if (way.down == topologies::Way::kNoPort) return head;
  const topologies::LinkIndex index = routes_.down_ports(site(to))[way.down];
  Link& link = links_[index];
  const double start = std::max(head, link.free);
  link.free = start + occupancy(way, index, words);
  return start;
}

}  // namespace thinwire::networks
