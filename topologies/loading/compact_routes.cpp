#include "topologies/loading/compact_routes.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "sim/core/base/random.hpp"

namespace thinwire::topologies {

namespace {

constexpr std::uint64_t kProbeSeed = 1;
constexpr std::size_t kMostProbes = 32;  ///< of each of the two sets
constexpr std::size_t kManySites = 32'768;
constexpr std::size_t kFewProbes = 8;    ///< with a block, or very many sites
constexpr std::size_t kMostOfNode = 64;  ///< sites; the pairs of a larger node are like any other
constexpr std::size_t kKeptOfSite = 32;  ///< routes, if each is asked for when it is needed
constexpr std::uint32_t kNoSite = std::numeric_limits<std::uint32_t>::max();

/// Which class each site is in.
struct Classes {
  std::vector<std::uint32_t> of;  ///< by site
  std::size_t count = 0;
};

}  // namespace

class CompactRoutes::Maker {
 public:
  Maker(const Platform& platform, std::size_t block, const CompactRoutesLimits& limits,
        CompactRoutes& made)
      : platform_(platform),
        limits_(limits),
        made_(made),
        maker_(platform, made.hosts_, made.halves_, made.kinds_) {
    for (std::size_t rank = 0; rank < block; ++rank) block_.push_back(made.site_of_[rank]);
    std::ranges::sort(block_);
    block_.erase(std::unique(block_.begin(), block_.end()), block_.end());
    find_nodes();
  }

  void make() {
    const bool alike = !platform_.xml().distances;  // else each pair has a latency of its own
    if (alike && sites() > limits_.all_pairs_up_to && make_classes()) return;
    if (too_many(sites() * sites())) {
      make_on_demand();
    } else {
      make_all_pairs();
    }
  }

 private:
  enum class End : std::uint8_t { source, destination };

  [[nodiscard]] std::size_t sites() const { return made_.hosts_.size(); }
  [[nodiscard]] bool too_many(std::size_t pairs) const {
    return block_.empty() && pairs > limits_.held_up_to;
  }

  /// Where a node has too many sites, each is a node of its own.
  void find_nodes() {
    std::unordered_map<std::string_view, std::vector<SiteIndex>> nodes;
    for (SiteIndex site = 0; site < sites(); ++site) {
      nodes[platform_.hosts()[made_.hosts_[site]].node].push_back(site);
    }
    node_.resize(sites());
    std::uint32_t next = 0;
    for (const auto& [name, members] : nodes) {
      const bool apart = members.size() > kMostOfNode;
      for (const SiteIndex site : members) node_[site] = apart ? next++ : next;
      if (!apart) ++next;
    }
  }

  void forget() {
    maker_.forget_ports();
    made_.sites_.assign(sites(), {});
    made_.near_.clear();
    made_.table_.clear();
    made_.back_.clear();
  }

  // --- each pair when it is needed

  /// The ports are taken from the routes to and from the probes, and within nodes. Another first link is
  /// an inner link of its route, so eager messages that take it leave at the speed of the route.
  void make_on_demand() {
    forget();
    choose_probes();
    for (SiteIndex site = 0; site < sites(); ++site) {
      for (const SiteIndex probe : probes_[0]) {
        maker_.compact_route(site, probe);
        maker_.compact_route(probe, site);
      }
    }
    fill_near();
    made_.near_ = {};  // its routes were asked for because of their ports
    made_.table_ = {};
    store_ports();
    maker_.keep_ports();
    made_.complete_ = true;
    made_.on_demand_ =
        std::make_unique<RoutesOnDemand>(std::move(maker_), std::bit_ceil(kKeptOfSite * sites()));
  }

  // --- every pair

  void make_all_pairs() {
    forget();
    made_.complete_ = true;
    made_.rows_ = made_.columns_ = sites();
    made_.near_.resize(sites());
    for (SiteIndex site = 0; site < sites(); ++site) {
      made_.sites_[site] = {.node = site, .near = site, .place = 0, .row = site, .column = site};
    }
    if (block_.empty()) {
      made_.table_.assign(sites() * sites(), {});
      for (SiteIndex from = 0; from < sites(); ++from) {
        for (SiteIndex to = 0; to < sites(); ++to) {
          made_.table_[from * sites() + to] = maker_.compact_route(from, to);
        }
        made_.near_[from] = made_.table_[from * sites() + from];
      }
    } else {
      number_block();
      for (const SiteIndex from : block_) {
        for (SiteIndex to = 0; to < sites(); ++to)
          made_.table_.push_back(maker_.compact_route(from, to));
      }
      for (const SiteIndex to : block_) {
        for (SiteIndex from = 0; from < sites(); ++from)
          made_.back_.push_back(maker_.compact_route(from, to));
      }
      for (SiteIndex site = 0; site < sites(); ++site)
        made_.near_[site] = maker_.compact_route(site, site);
    }
    store_ports();
    find_switches();
  }

  /// Numbers the rows and columns of the block, in the order of its sites.
  void number_block() {
    const auto number = [this](std::vector<std::uint32_t>& numbers, std::size_t count,
                               std::uint32_t Site::*of) {
      numbers.assign(count, kNotOfBlock);
      std::uint32_t next = 0;
      for (const SiteIndex site : block_) {
        std::uint32_t& at = numbers[made_.sites_[site].*of];
        if (at == kNotOfBlock) at = next++;
      }
    };
    number(made_.block_rows_, made_.rows_, &Site::row);
    number(made_.block_columns_, made_.columns_, &Site::column);
  }

  /// Whether two sources have the same routes to all sites outside their nodes. Where there are no
  /// such sites, whether no link is between the two sources.
  [[nodiscard]] bool same_switch(SiteIndex a, SiteIndex b) const {
    bool any = false;
    for (SiteIndex to = 0; to < sites(); ++to) {
      if (node_[to] == node_[a] || node_[to] == node_[b]) continue;
      any = true;
      const CompactRoute x = made_.route(a, to);
      const CompactRoute y = made_.route(b, to);
      if (x.head != y.head || x.tail != y.tail || x.hops != y.hops || x.up != y.up ||
          x.down != y.down) {
        return false;
      }
    }
    return any || (made_.route(a, b).hops == 0 && made_.route(b, a).hops == 0);
  }

  /// Sources of one row are behind one switch; sources of different rows may be too.
  void find_switches() {
    if (!block_.empty()) return;
    std::vector<SiteIndex> firsts;  // of each switch
    std::vector<std::uint32_t> of_row(made_.rows_, kNoSite);
    made_.switches_.clear();
    for (SiteIndex site = 0; site < sites(); ++site) {
      std::uint32_t& found = of_row[made_.sites_[site].row];
      if (found == kNoSite) {
        const auto at =
            std::ranges::find_if(firsts, [&](SiteIndex first) { return same_switch(first, site); });
        found = static_cast<std::uint32_t>(at - firsts.begin());
        if (at == firsts.end()) firsts.push_back(site);
      }
      made_.switches_.push_back(found);
    }
  }

  // --- classes

  /// False where classes do not hold what SimGrid routes.
  bool make_classes() {
    forget();
    choose_probes();
    const Classes sources = classes_of(End::source);
    const Classes destinations = classes_of(End::destination);
    if (too_many(sources.count * destinations.count)) return false;
    fill_table(sources, destinations);
    if (!same_ports(sources, maker_.up_ports()) || !same_ports(destinations, maker_.down_ports())) {
      return false;
    }
    fill_near();
    store_ports();
    if (!as_asked()) return false;
    find_switches();
    return true;
  }

  /// Two sets in different nodes: sites in the nodes of the first are matched by the second.
  void choose_probes() {
    for (std::vector<SiteIndex>& set : probes_) set.clear();
    const std::size_t most = block_.empty() && sites() <= kManySites ? kMostProbes : kFewProbes;
    const std::size_t wanted = std::clamp<std::size_t>(sites() / 4, 1, most);
    for (std::size_t set = 0; set < probes_.size(); ++set) {
      probed_[set].assign(sites(), false);  // by node
      for (std::size_t i = 0; i < wanted; ++i) {
        // One of each part of the platform.
        const std::size_t begin = i * sites() / wanted;
        const std::size_t size = (i + 1) * sites() / wanted - begin;
        const auto probe = static_cast<SiteIndex>(begin + random_bits(kProbeSeed, set, i) % size);
        if (set == 1 && probed_[0][node_[probe]]) continue;
        probes_[set].push_back(probe);
        probed_[set][node_[probe]] = true;
      }
    }
  }

  /// The hash of a site's routes to or from the probes of a set.
  std::uint64_t signature(End end, SiteIndex site, std::size_t set) {
    std::uint64_t hash = kProbeSeed;
    for (const SiteIndex probe : probes_[set]) {
      const bool source = end == End::source;
      const CompactRoute route =
          source ? maker_.compact_route(site, probe) : maker_.compact_route(probe, site);
      const std::uint8_t port = source ? route.up : route.down;
      double bandwidth = 0;
      if (port != CompactRoute::kNoPort) {
        bandwidth =
            maker_.bandwidth(source ? maker_.up_ports(site)[port] : maker_.down_ports(site)[port]);
      }
      hash = random_bits(hash, route.head, route.tail, route.hops, port,
                         std::bit_cast<std::uint64_t>(bandwidth));
    }
    return hash;
  }

  Classes classes_of(End end) {
    Classes classes{.of = std::vector<std::uint32_t>(sites(), kNoSite), .count = 0};
    const auto next = [&] { return static_cast<std::uint32_t>(classes.count++); };
    std::unordered_map<std::uint64_t, std::uint32_t> by_first;
    std::vector<SiteIndex> members;  // of each class one that the second set can tell
    for (SiteIndex site = 0; site < sites(); ++site) {
      if (probed_[0][node_[site]]) continue;
      const auto [at, is_new] = by_first.try_emplace(signature(end, site, 0), 0);
      if (is_new) {
        at->second = next();
        members.push_back(kNoSite);
      }
      classes.of[site] = at->second;
      SiteIndex& member = members[at->second];
      if (member == kNoSite && !probed_[1][node_[site]]) member = site;
    }
    std::unordered_map<std::uint64_t, std::uint32_t> by_second;
    for (std::uint32_t i = 0; i < members.size(); ++i) {
      if (members[i] == kNoSite) continue;
      const auto [at, is_new] = by_second.try_emplace(signature(end, members[i], 1), i);
      if (!is_new) at->second = kNoSite;  // the second set does not tell the two
    }
    for (SiteIndex site = 0; site < sites(); ++site) {
      if (classes.of[site] != kNoSite) continue;
      const auto at = by_second.find(signature(end, site, 1));
      classes.of[site] = probes_[1].empty() || at == by_second.end() || at->second == kNoSite
                             ? next()
                             : at->second;
    }
    return classes;
  }

  /// One site of each class, and another one in a different node, where there is one.
  struct Representatives {
    SiteIndex first = kNoSite;
    SiteIndex second = kNoSite;
  };
  [[nodiscard]] std::vector<Representatives> representatives_of(const Classes& classes) const {
    std::vector<Representatives> all(classes.count);
    for (SiteIndex site = 0; site < sites(); ++site) {
      Representatives& those = all[classes.of[site]];
      if (those.first == kNoSite) {
        those.first = site;
      } else if (those.second == kNoSite && node_[site] != node_[those.first]) {
        those.second = site;
      }
    }
    return all;
  }

  void fill_table(const Classes& sources, const Classes& destinations) {
    made_.complete_ = false;
    made_.rows_ = sources.count;
    made_.columns_ = destinations.count;
    for (SiteIndex site = 0; site < sites(); ++site) {
      made_.sites_[site].row = sources.of[site];
      made_.sites_[site].column = destinations.of[site];
    }
    const std::vector<Representatives> from = representatives_of(sources);
    const std::vector<Representatives> to = representatives_of(destinations);
    if (block_.empty()) {
      made_.table_.assign(sources.count * destinations.count, {});
      CompactRoute* entry = made_.table_.data();
      for (const Representatives& source : from) {
        for (const Representatives& destination : to) *entry++ = route_between(source, destination);
      }
      return;
    }
    number_block();
    made_.table_.clear();
    for (const std::uint32_t row : in_order(made_.block_rows_)) {
      for (const Representatives& destination : to) {
        made_.table_.push_back(route_between(from[row], destination));
      }
    }
    made_.back_.clear();
    for (const std::uint32_t column : in_order(made_.block_columns_)) {
      for (const Representatives& source : from) {
        made_.back_.push_back(route_between(source, to[column]));
      }
    }
  }
  /// Between two classes. Where all pairs of the two are within a node, nobody looks it up.
  CompactRoute route_between(const Representatives& source, const Representatives& destination) {
    SiteIndex a = source.first;
    SiteIndex b = destination.first;
    if (node_[a] == node_[b]) {
      if (destination.second != kNoSite) {
        b = destination.second;
      } else {
        a = source.second;
      }
    }
    return a == kNoSite ? CompactRoute{} : maker_.compact_route(a, b);
  }
  /// The classes of the block by their numbers in it.
  [[nodiscard]] static std::vector<std::uint32_t> in_order(
      const std::vector<std::uint32_t>& numbers) {
    std::vector<std::uint32_t> classes;
    for (std::uint32_t i = 0; i < numbers.size(); ++i) {
      if (numbers[i] != kNotOfBlock) classes.push_back(i);
    }
    std::ranges::sort(classes, {}, [&](std::uint32_t i) { return numbers[i]; });
    return classes;
  }

  /// Whether all sites of a class have as many ports as the one that was asked for.
  [[nodiscard]] static bool same_ports(const Classes& classes,
                                       const std::vector<std::vector<LinkIndex>>& ports) {
    std::vector<std::size_t> count(classes.count, kNoSite);
    for (SiteIndex site = 0; site < ports.size(); ++site) {
      std::size_t& wanted = count[classes.of[site]];
      if (wanted == kNoSite) wanted = ports[site].size();
      if (wanted != ports[site].size()) return false;
    }
    return true;
  }

  void fill_near() {
    std::vector<std::vector<SiteIndex>> nodes(sites());
    for (SiteIndex site = 0; site < sites(); ++site) nodes[node_[site]].push_back(site);
    for (const std::vector<SiteIndex>& node : nodes) {
      for (std::uint32_t place = 0; place < node.size(); ++place) {
        Site& site = made_.sites_[node[place]];
        site.node = node_[node[place]];
        site.place = place;
        site.near = static_cast<std::uint32_t>(made_.near_.size());
        for (const SiteIndex to : node)
          made_.near_.push_back(maker_.compact_route(node[place], to));
      }
    }
  }

  void store_ports() {
    const auto store = [](const std::vector<std::vector<LinkIndex>>& of_sites, Ports& into) {
      into = {};
      into.begin.push_back(0);
      for (const std::vector<LinkIndex>& ports : of_sites) {
        into.links.insert(into.links.end(), ports.begin(), ports.end());
        into.begin.push_back(static_cast<std::uint32_t>(into.links.size()));
      }
    };
    store(maker_.up_ports(), made_.up_);
    store(maker_.down_ports(), made_.down_);
  }

  /// Whether random pairs have SimGrid's own routes; all pairs, where they are no more. With a
  /// block, half of the pairs are from it, and half are to it.
  [[nodiscard]] bool as_asked() {
    const std::size_t firsts = block_.empty() ? sites() : block_.size();
    const std::uint64_t all = std::uint64_t{firsts} * sites() * (block_.empty() ? 1 : 2);
    const bool random = all > limits_.pairs_compared;
    for (std::uint64_t i = 0; i < (random ? limits_.pairs_compared : all); ++i) {
      const std::uint64_t pair = random ? random_bits(kProbeSeed, i) % all : i;
      auto from = static_cast<SiteIndex>(pair / sites());
      auto to = static_cast<SiteIndex>(pair % sites());
      if (!block_.empty()) {
        const bool reversed = from >= firsts;
        from = block_[from % firsts];
        if (reversed) std::swap(from, to);
      }
      if (made_.links(from, to) != maker_.route(from, to)) return false;
    }
    return true;
  }

  const Platform& platform_;
  CompactRoutesLimits limits_;
  CompactRoutes& made_;
  RouteMaker maker_;
  std::vector<SiteIndex> block_;     ///< its sites, in order
  std::vector<std::uint32_t> node_;  ///< by site
  std::array<std::vector<SiteIndex>, 2> probes_;
  std::array<std::vector<bool>, 2> probed_;  ///< by node
};

CompactRoutes::CompactRoutes(const Platform& platform, std::span<const HostIndex> hosts,
                             std::size_t block, const CompactRoutesLimits& limits)
    : hosts_(hosts.begin(), hosts.end()) {
  std::ranges::sort(hosts_);
  hosts_.erase(std::unique(hosts_.begin(), hosts_.end()), hosts_.end());
  for (const HostIndex host : hosts) {
    site_of_.push_back(
        static_cast<SiteIndex>(std::ranges::lower_bound(hosts_, host) - hosts_.begin()));
  }
  Maker(platform, block, limits, *this).make();
  halves_.shrink_to_fit();
}

std::size_t CompactRoutes::bytes() const {
  const auto of = [](const auto& all) { return all.capacity() * sizeof(all[0]); };
  return sizeof(*this) + of(site_of_) + of(hosts_) + of(sites_) + of(table_) + of(back_) +
         of(block_rows_) + of(block_columns_) + of(near_) + of(halves_) + of(up_.links) +
         of(up_.begin) + of(down_.links) + of(down_.begin) + of(kinds_) + of(switches_) +
         (on_demand_ ? on_demand_->bytes() : 0);
}

std::vector<LinkIndex> CompactRoutes::links(SiteIndex from, SiteIndex to) const {
  const Site& a = site(from);
  const Site& b = site(to);
  const bool in_block = !block_rows_.empty() && block_rows_[a.row] != kNotOfBlock;
  const CompactRoute route = block_rows_.empty() ? this->route(from, to)
                             : in_block          ? route_from_block(a, b)
                                                 : route_to_block(a, b);
  std::vector<LinkIndex> all;
  if (route.up != CompactRoute::kNoPort) all.push_back(up_ports(from)[route.up]);
  for (const auto& half : inner_links(route)) all.insert(all.end(), half.begin(), half.end());
  if (route.down != CompactRoute::kNoPort) all.push_back(down_ports(to)[route.down]);
  return all;
}

}  // namespace thinwire::topologies
