#include "sim/machine/networks/links/fabric.hpp"

#include <fmt/format.h>

#include <cmath>

#include "sim/core/base/errors.hpp"
#include "sim/core/base/random.hpp"

namespace thinwire::networks {

namespace {

/// The number of detours that UGAL compares: two as on Aries; Kim et al. have one.
constexpr int kDetours = 2;
/// The number of random switches tried, since some allow no detour.
constexpr std::uint64_t kDraws = 8;

/// The backlog of a path, as UGAL estimates it: the time of the message on the slowest link, with
/// its current sharing, times the number of links.
double backlog(const Fabric::InnerLinks& inner, double bytes, double now, FairLinks& links) {
  double longest = 0;
  std::size_t count = 0;
  for (const auto& stretch : inner) {
    count += stretch.size();
    for (const topologies::LinkIndex link : stretch)
      longest = std::max(longest, links.estimate(now, link, bytes));
  }
  return longest * static_cast<double>(count);
}

}  // namespace

Fabric::Fabric(const topologies::Platform& platform, const topologies::CompactRoutes& routes,
               std::size_t ranks, const LinksSettings& settings)
    : platform_(platform),
      routes_(routes),
      settings_(settings),
      has_table_(settings.representatives == 0 && !routes.on_demand()),
      gap_(platform.message_gap().value()),
      ranks_(ranks),
      process_bandwidth_(settings.host.gap_per_word > Seconds(0)
                             ? 4 / settings.host.gap_per_word.value()
                             : HUGE_VAL) {
  for (const topologies::PlatformLink& link : platform.links()) {
    bandwidths_.push_back(link.bandwidth);
    latencies_.push_back(link.latency.value());
    fat_pipes_.push_back(link.fat_pipe);
  }
  all_shared_ = !limits_processes() && std::ranges::find(fat_pipes_, true) == fat_pipes_.end();
  find_ends(ranks);
  find_ports(ranks);
  find_lookahead();
  if (settings.routing != LinkRouting::ecmp) return;
  for (topologies::SiteIndex site = 0; site < routes.sites(); ++site) {
    const std::size_t at = routes.switch_of(site);
    if (at >= behind_.size()) behind_.resize(at + 1);
    behind_[at].push_back(site);
  }
}

void Fabric::find_ends(std::size_t ranks) {
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    End end{.site = routes_.site_of(rank)};
    end.routed_by = routes_.site(end.site);
    const auto up = routes_.up_ports(end.site);
    const auto down = routes_.down_ports(end.site);
    if (!up.empty()) end.up = port(up.front());
    if (!down.empty()) end.down = port(down.front());
    ends_.push_back(end);
  }
}

/// A first or last link that has other users is not a port.
void Fabric::find_ports(std::size_t ranks) {
  std::vector<std::uint32_t> users(links());
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const topologies::SiteIndex at = routes_.site_of(rank);
    for (const topologies::LinkIndex link : routes_.up_ports(at)) ++users[link];
    for (const topologies::LinkIndex link : routes_.down_ports(at)) ++users[link];
  }
  for (std::size_t i = 0; i < links(); ++i) ports_.push_back(users[i] == 1 && !fat_pipes_[i]);
  for (const topologies::LinkIndex link : routes_.all_inner_links()) ports_[link] = false;
}

void Fabric::find_lookahead() {
  if (routes_.on_demand()) return;  // a route that is not known may have no link, and no latency
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
  routes_.for_each_route([&](Route route) {
    // The order of additions is as in latency(), so that rounding cannot make it larger.
    const double latency = (route.up == Route::kNoPort ? 0 : up) + routes_.kind(route).latency;
    lookahead_ = std::min(lookahead_, latency + (route.down == Route::kNoPort ? 0 : down));
  });
}

void Fabric::check_members(const Members& members, ReducingLevel level) const {
  const Rank first = members.at(0);
  std::vector<std::string_view> nodes;
  for (int i = 0; i < members.count; ++i) {
    const Rank rank = members.at(i);
    nodes.push_back(host_of(rank).node);
    if (level != ReducingLevel::node || nodes.back() == nodes.front()) continue;
    throw SimulationError(
        "no switch inside a node connects ranks {} and {}: {} is of node {}, {} of node {}",
        first.value(), rank.value(), host_of(first).name, nodes.front(), host_of(rank).name,
        nodes.back());
  }
  std::ranges::sort(nodes);
  const auto twice = std::ranges::adjacent_find(nodes);
  if (level == ReducingLevel::node || twice == nodes.end()) return;
  throw SimulationError("switches between nodes sum for one rank of each node, and two are on {}",
                        *twice);
}

SwitchTree Fabric::switch_tree(const Members& members, ReducingLevel level) const {
  check_members(members, level);
  const auto member = [&](int index) { return members.at(index); };
  const auto route = [&](Rank from, Rank to) { return routes_.links(site(from), site(to)); };
  // The ends of the longest route of the first member.
  const Rank near = member(0);
  Rank far = member(1);
  for (int i = 2; i < members.count; ++i) {
    if (route(near, member(i)).size() > route(near, far).size()) far = member(i);
  }
  SwitchTree tree;
  std::vector<bool> up_taken(links());
  std::vector<bool> down_taken(links());
  double up_latency = 0;
  double down_latency = 0;
  const auto half = [&](std::span<const topologies::LinkIndex> of_route, std::vector<bool>& taken,
                        double& latency) {
    SwitchTree::Links own;
    double sum = 0;
    int shared = 0;
    for (const topologies::LinkIndex link : of_route) {
      sum += latencies_[link];
      if (fat_pipes_[link]) continue;
      ++shared;
      tree.bandwidth = std::min(tree.bandwidth, bandwidths_[link]);
      if (!taken[link]) own.push_back(link);
      taken[link] = true;
    }
    latency = std::max(latency, sum);
    tree.levels = std::max(tree.levels, shared);
    if (own.size() > FairLinks::kMostLinks) {
      throw InputError("{}: a route of {} links to a switch that sums is too long",
                       platform_.path(), own.size());
    }
    return own;
  };
  for (int i = 0; i < members.count; ++i) {
    const bool far_side = i != 0 && (member(i) == far ||
                                     route(member(i), near).size() >= route(member(i), far).size());
    const Rank to = far_side ? near : far;
    const std::vector<topologies::LinkIndex> there = route(member(i), to);
    const std::vector<topologies::LinkIndex> back = route(to, member(i));
    // A link in the middle belongs to the far side.
    const auto count = [&](std::size_t size) { return far_side ? (size + 1) / 2 : size / 2; };
    tree.up.push_back(half(std::span(there).first(count(there.size())), up_taken, up_latency));
    tree.down.push_back(half(std::span(back).last(count(back.size())), down_taken, down_latency));
  }
  tree.latency = up_latency + down_latency;
  return tree;
}

Fabric::Path Fabric::path(const Departure<Route>& message, FairLinks& links) const {
  const Route route = message.route;
  Path path{.inner = minimal(route)};
  if (route.hops > 0) {
    path.inner = choose_inner_links(message, links);
    for (const auto& stretch : path.inner) {
      for (const topologies::LinkIndex link : stretch) path.extra_latency += latencies_[link];
    }
    path.extra_latency -= routes_.kind(route).latency;
  }
  add_shared(message.from, message.to, route, path);
  return path;
}

Fabric::Path Fabric::represented_path(Rank from, Rank to, Route route) const {
  const Ends sent = sent_by_first(from, to);
  const Ends received = received_by_first(from, to);
  const Route back =
      routes_.route_to_block(end(received.from).routed_by, end(received.to).routed_by);
  const InnerLinks near_sender = minimal(route);
  const InnerLinks near_receiver = minimal(back);
  Path path;
  std::size_t left = up_to_cable(near_sender);
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
    path.inner.at(i) = near_sender.at(i).first(std::min(left, near_sender.at(i).size()));
    left -= path.inner.at(i).size();
  }
  std::size_t skipped = up_to_cable(near_receiver);
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
    path.inner.at(i + 2) =
        near_receiver.at(i).subspan(std::min(skipped, near_receiver.at(i).size()));
    skipped -= near_receiver.at(i).size() - path.inner.at(i + 2).size();
  }
  route.down = back.down;
  add_shared(sent.from, received.to, route, path);
  return path;
}

std::size_t Fabric::up_to_cable(const InnerLinks& inner) const {
  double longest = -1;
  std::size_t of_longest = 0;
  const auto each = [&](const auto& visit) {
    std::size_t at = 0;
    for (const auto& stretch : inner) {
      for (const topologies::LinkIndex link : stretch) visit(at++, latencies_[link]);
    }
  };
  each([&](std::size_t /*at*/, double latency) {
    if (latency > longest) of_longest = 0;
    longest = std::max(longest, latency);
    if (latency == longest) ++of_longest;
  });
  std::size_t before = (of_longest + 1) / 2;  // of the links with the greatest latency
  std::size_t count = 0;
  each([&](std::size_t at, double latency) {
    if (latency == longest && before > 0 && --before == 0) count = at + 1;
  });
  return count;
}

void Fabric::add_shared(Rank from, Rank to, Route route, Path& path) const {
  std::size_t count = 0;
  for (const auto& stretch : path.inner) count += stretch.size();
  if (all_shared_ && count + 2 <= path.shared.capacity()) {
    path.shared.resize(count + 2, boost::container::default_init);
    auto end = path.shared.begin();
    for_each_link(from, to, route, path.inner, [&](topologies::LinkIndex link) { *end++ = link; });
    path.shared.resize(static_cast<std::size_t>(end - path.shared.begin()));
    return;
  }
  count = 0;
  const auto share = [&](topologies::LinkIndex link) {
    if (count++ < path.shared.capacity()) path.shared.push_back(link);
  };
  for_each_link(from, to, route, path.inner, [&](topologies::LinkIndex link) {
    if (!fat_pipes_[link]) share(link);
  });
  if (limits_processes()) {
    const auto process = [this](Rank rank) {
      return static_cast<topologies::LinkIndex>(this->links() +
                                                2 * static_cast<std::size_t>(rank.value()));
    };
    share(process(from));
    share(process(to) + 1);
  }
  if (count > path.shared.size()) {
    const auto name = [&](Rank rank) {
      return platform_.hosts()[routes_.host_of(site(rank))].name;
    };
    throw InputError(
        "{}: the route from {} to {} shares {} links with others; the network links follows a "
        "message on at most {}",
        platform_.path(), name(from), name(to), count, path.shared.capacity());
  }
}

Fabric::InnerLinks Fabric::choose_inner_links(const Departure<Route>& message,
                                              FairLinks& links) const {
  const Route route = message.route;
  const topologies::SiteIndex from = site(message.from);
  const topologies::SiteIndex to = site(message.to);
  InnerLinks best = minimal(route);
  if (settings_.routing == LinkRouting::ecmp) {
    const std::vector<topologies::SiteIndex>& mates = behind_[routes_.switch_of(to)];
    const std::uint64_t draw = random_bits(settings_.seed, from, to);
    const Route other = routes_.route(from, mates[draw % mates.size()]);
    return other.up != route.up || other.hops == 0 ? best : minimal(other);
  }
  const bool adaptive = settings_.routing == LinkRouting::ugal;
  const double bytes = demand(route, message.words);
  double least = adaptive ? backlog(best, bytes, message.now, links) : HUGE_VAL;
  int found = 0;
  for (std::uint64_t draw = 0; draw < kDraws && found < (adaptive ? kDetours : 1); ++draw) {
    const auto over = static_cast<topologies::SiteIndex>(
        random_bits(settings_.seed, message.number, draw) % routes_.sites());
    InnerLinks candidate;
    if (!detour(from, over, to, route, candidate)) continue;
    ++found;
    const double all = adaptive ? backlog(candidate, bytes, message.now, links) : 0;
    if (all >= least) continue;
    least = all;
    best = candidate;
  }
  return best;
}

bool Fabric::detour(topologies::SiteIndex from, topologies::SiteIndex over,
                    topologies::SiteIndex to, Route route, InnerLinks& inner) const {
  const std::uint32_t at = routes_.switch_of(over);
  if (at == routes_.switch_of(from) || at == routes_.switch_of(to)) return false;
  const Route there = routes_.route(from, over);
  const Route on = routes_.route(over, to);
  if (there.up != route.up || on.down != route.down) return false;
  const auto first = routes_.inner_links(there);
  const auto second = routes_.inner_links(on);
  inner = {first[0], first[1], second[0], second[1]};
  return std::size_t{there.hops} + on.hops + 2 <= FairLinks::kMostLinks;
}

}  // namespace thinwire::networks
