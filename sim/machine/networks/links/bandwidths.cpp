#include "sim/machine/networks/links/bandwidths.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "sim/core/base/errors.hpp"
#include "sim/core/base/nearest.hpp"
#include "sim/core/base/numbers.hpp"
#include "sim/core/base/printable.hpp"
#include "sim/core/base/random.hpp"
#include "sim/core/base/split.hpp"

namespace thinwire::networks {

namespace {

/// Subtracts the bandwidth used by the flows between hosts without a rank.
void subtract_flows(const topologies::Platform& platform,
                    const std::vector<topologies::HostIndex>& hosts, const LinksSettings& settings,
                    std::vector<double>& left) {
  std::vector<bool> used(platform.hosts().size());
  for (const topologies::HostIndex host : hosts) used[host] = true;
  std::vector<topologies::HostIndex> others;
  for (topologies::HostIndex host = 0; host < used.size(); ++host) {
    if (!used[host]) others.push_back(host);
  }
  if (others.size() < 2) {
    throw InputError(
        "{}: background_flows: {} of {} hosts have no rank, and flows take two; give fewer ranks, "
        "or background_share",
        platform.path(), others.size(), used.size());
  }
  // A random cycle through all of them: no host sends to itself.
  std::vector<std::pair<std::uint64_t, topologies::HostIndex>> order;
  for (const topologies::HostIndex host : others)
    order.emplace_back(random_bits(settings.seed, host), host);
  std::ranges::sort(order);

  std::vector<std::vector<topologies::LinkIndex>> routes;
  std::vector<double> demands;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const topologies::HostIndex to = order[(i + 1) % order.size()].second;
    topologies::Route route = platform.route(order[i].second, to);
    std::erase_if(route.links,
                  [&](topologies::LinkIndex link) { return platform.links()[link].fat_pipe; });
    if (route.links.empty()) continue;
    demands.push_back(settings.background_flows * platform.links()[route.links.front()].bandwidth);
    routes.push_back(std::move(route.links));
  }
  const std::vector<double> rates = max_min_rates(routes, demands, left);
  std::vector<double> load(left.size());
  std::vector<int> flows(left.size());
  for (std::size_t i = 0; i < routes.size(); ++i) {
    for (const topologies::LinkIndex link : routes[i]) {
      load[link] += rates[i];
      ++flows[link];
    }
  }
  for (std::size_t link = 0; link < left.size(); ++link) {
    left[link] = std::max(left[link] - load[link], left[link] / (flows[link] + 1));
  }
}

struct SlowLink {
  std::string name;
  double share = 1;
};

std::vector<SlowLink> parsed(const std::string& slow_links) {
  std::vector<SlowLink> all;
  if (slow_links.empty()) return all;
  for (const std::string& text : split(slow_links)) {
    const std::size_t equals = text.rfind('=');
    const auto share = equals == std::string::npos
                           ? std::nullopt
                           : parse_number<double>(std::string_view(text).substr(equals + 1));
    if (equals == 0 || !share || !(*share > 0) || !(*share <= 1)) {
      throw InputError(
          "'{}' is not valid; expected NAME=SHARE, the share of its bandwidth that a link has "
          "left, as in uplink-0=0.5",
          excerpt(text));
    }
    const std::string name = text.substr(0, equals);
    if (std::ranges::find(all, name, &SlowLink::name) != all.end()) {
      throw InputError("'{}': {} is given twice", text, name);
    }
    all.push_back({name, *share});
  }
  return all;
}

/// Reduces the bandwidths of the slow links. A cable's name stands for both directions.
void slow_down(const topologies::Platform& platform, const std::string& slow_links,
               std::vector<double>& left) {
  for (const SlowLink& slow : parsed(slow_links)) {
    bool found = false;
    for (topologies::LinkIndex link = 0; link < left.size(); ++link) {
      const std::string& name = platform.links()[link].name;
      if (name != slow.name && name != slow.name + "_UP" && name != slow.name + "_DOWN") continue;
      if (platform.links()[link].fat_pipe) {
        throw InputError("{}: slow_links: '{}' is a fat pipe: messages do not share its bandwidth",
                         platform.path(), name);
      }
      left[link] *= slow.share;
      found = true;
    }
    if (found) continue;
    std::vector<std::string> names;
    for (const topologies::PlatformLink& link : platform.links()) {
      names.push_back(link.name);
      for (const std::string_view side : {"_UP", "_DOWN"}) {
        if (link.name.ends_with(side)) {
          names.push_back(link.name.substr(0, link.name.size() - side.size()));
        }
      }
    }
    std::string hint = did_you_mean(slow.name, names);
    if (names.size() > 8 && hint.starts_with("; known")) {
      hint = fmt::format("; there are {} links, see 'thinwire run --links'", names.size());
    }
    throw InputError("{}: slow_links: unknown link '{}'{}", platform.path(), excerpt(slow.name),
                     hint);
  }
}

}  // namespace

void check_slow_links(const std::string& slow_links) { static_cast<void>(parsed(slow_links)); }

std::vector<double> max_min_rates(const std::vector<std::vector<topologies::LinkIndex>>& routes,
                                  const std::vector<double>& demands,
                                  const std::vector<double>& bandwidths) {
  std::vector<double> left = bandwidths;
  std::vector<std::vector<std::size_t>> flows_of(bandwidths.size());
  std::vector<int> open(bandwidths.size());  // per link: flows whose rate is not yet known
  for (std::size_t flow = 0; flow < routes.size(); ++flow) {
    for (const topologies::LinkIndex link : routes[flow]) {
      flows_of[link].push_back(flow);
      ++open[link];
    }
  }
  std::vector<double> rates(routes.size(), -1);
  const auto fix_rate = [&](std::size_t flow, double rate) {
    if (rates[flow] >= 0) return;
    rates[flow] = rate;
    for (const topologies::LinkIndex link : routes[flow]) {
      left[link] = std::max(0.0, left[link] - rate);
      --open[link];
    }
  };
  std::vector<std::size_t> by_demand(routes.size());
  for (std::size_t i = 0; i < by_demand.size(); ++i) by_demand[i] = i;
  std::ranges::sort(by_demand, {}, [&](std::size_t flow) { return demands[flow]; });
  auto next = by_demand.begin();
  while (true) {
    while (next != by_demand.end() && rates[*next] >= 0) ++next;
    if (next == by_demand.end()) return rates;
    // Water-filling: raise all rates equally until a link is full or a flow has its demand.
    double share = HUGE_VAL;
    std::size_t fullest = 0;
    for (std::size_t link = 0; link < left.size(); ++link) {
      if (open[link] == 0 || left[link] / open[link] >= share) continue;
      share = left[link] / open[link];
      fullest = link;
    }
    if (demands[*next] <= share) {
      fix_rate(*next, demands[*next]);
    } else {
      for (const std::size_t flow : flows_of[fullest]) fix_rate(flow, share);
    }
  }
}

std::vector<double> bandwidths_left(const topologies::Platform& platform,
                                    const std::vector<topologies::HostIndex>& hosts,
                                    const LinksSettings& settings,
                                    const std::function<bool(topologies::LinkIndex)>& is_port) {
  std::vector<double> left;
  for (const topologies::PlatformLink& link : platform.links()) left.push_back(link.bandwidth);
  slow_down(platform, settings.slow_links, left);
  if (settings.background_flows > 0) subtract_flows(platform, hosts, settings, left);
  for (topologies::LinkIndex link = 0; link < left.size(); ++link) {
    if (!is_port(link) && !platform.links()[link].fat_pipe) {
      left[link] *= 1 - settings.background_share;
    }
  }
  return left;
}

}  // namespace thinwire::networks
