// Wired platforms against SimGrid's own zones where it has them, and against an independent count of
// the cables and of the links within groups.
#include "topologies/loading/wiring.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/support/errors.hpp"
#include "tests/support/platforms.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/topologies/loading.hpp"
#include "topologies/generators/family.hpp"
#include "topologies/loading/route_table.hpp"
#include "topologies/loading/shipped.hpp"

namespace thinwire::topologies {

namespace {

using test::contains;
using test::error_of;
using test::on_platform;
using test::platform_xml;
using test::property;
using test::TemporaryFolder;

using Parameters = std::map<std::string, std::string>;

/// Of each pair of hosts, a line with the bandwidth and latency of its links and their names, and
/// whether the same links are in other lines: names differ, but a link is known by its first use.
/// Without so many links at each end.
std::string shape_of_routes(const std::string& xml, std::ptrdiff_t ends = 0) {
  const TemporaryFolder folder;
  return on_platform(folder.write("p.xml", xml), [ends](const Platform& platform) {
    const RouteTable table = routes_of(platform);
    std::map<LinkIndex, std::size_t> first_use;
    std::string text;
    for (HostIndex from = 0; from < platform.hosts().size(); ++from) {
      for (HostIndex to = 0; to < platform.hosts().size(); ++to) {
        if (from == to) continue;
        const Route route = table.route(from, to).value();
        text += fmt::format("{}-{}:", from, to);
        for (const LinkIndex link :
             std::span(route.links.begin() + ends, route.links.end() - ends)) {
          const std::size_t number = first_use.try_emplace(link, first_use.size()).first->second;
          text += fmt::format(" {}/{:g}/{:g}", number, platform.links()[link].bandwidth,
                              platform.links()[link].latency.value());
        }
        text += fmt::format(" = {:.9g}\n", route.latency.value());
      }
    }
    return text;
  });
}

std::string made(const std::string& name, const Parameters& parameters) {
  return make_platform(family(name), parameters);
}

/// SimGrid's dragonfly of one group, with the figures of the generator's defaults.
std::string simgrid_group(int chassis, int routers, int nodes) {
  std::string properties = property("thinwire.message_gap", "300ns") +
                           property("thinwire.link.local_link_", "10.2GBps 500ns");
  if (routers > 1) properties += property("thinwire.link.green_link_", "5.25GBps 100ns");
  if (chassis > 1) properties += property("thinwire.link.black_link_", "15.75GBps 100ns");
  return platform_xml(fmt::format(
      "<zone id=\"world\" routing=\"Full\">{}<cluster id=\"d\" prefix=\"nid-\" radical=\"0-{}\" "
      "suffix=\"\" speed=\"1Gf\" topology=\"DRAGONFLY\" topo_parameters=\"1,1;{},1;{},1;{}\" "
      "bw=\"1GBps\" lat=\"1us\" sharing_policy=\"SPLITDUPLEX\"/></zone>",
      properties, chassis * routers * nodes - 1, chassis, routers, nodes));
}

/// The switch of a group at the end of a cable to another group, by the head of wiring.hpp.
int end_of(int group, int other, int cable, int cables, int switches) {
  return ((other > group ? other - 1 : other) * cables + cable) % switches;
}

std::string refusal_of(const std::string& xml) {
  const TemporaryFolder folder;
  return error_of<InputError>(
      [&] { (void)on_platform(folder.write("p.xml", xml), [](const Platform&) { return ""; }); });
}

std::string wired(const std::string& topology, const std::string& properties = {},
                  const std::string& attributes = "sharing_policy=\"SPLITDUPLEX\"") {
  return platform_xml("<zone id=\"world\" routing=\"Full\">" +
                      property("thinwire.topology", topology) + properties +
                      "<cluster id=\"c\" prefix=\"h-\" suffix=\"\" radical=\"0-7\" speed=\"1Gf\" "
                      "bw=\"1GBps\" lat=\"1us\" " +
                      attributes + "/></zone>");
}

}  // namespace

TEST_CASE("within a group, the routes of a wired dragonfly equal SimGrid's") {
  for (const auto& [chassis, routers, nodes] :
       {std::array{1, 1, 3}, std::array{1, 5, 2}, std::array{4, 1, 2}, std::array{3, 4, 2}}) {
    CAPTURE(chassis);
    CAPTURE(routers);
    const std::string ours = made("dragonfly", {{"groups", "1"},
                                                {"chassis", std::to_string(chassis)},
                                                {"routers", std::to_string(routers)},
                                                {"nodes", std::to_string(nodes)}});
    CHECK((shape_of_routes(ours) == shape_of_routes(simgrid_group(chassis, routers, nodes))));
  }
}

TEST_CASE("within a cell, the routes of a Dragonfly+ equal the routes of SimGrid's fat tree") {
  for (const auto& [leaves, spines, nodes] :
       {std::array{1, 1, 4}, std::array{3, 4, 5}, std::array{6, 2, 3}, std::array{4, 8, 4}}) {
    CAPTURE(leaves);
    CAPTURE(spines);
    const std::string ours = made("dragonfly_plus", {{"cells", "1"},
                                                     {"leaves", std::to_string(leaves)},
                                                     {"spines", std::to_string(spines)},
                                                     {"nodes", std::to_string(nodes)},
                                                     {"host-bandwidth", "25GBps"},
                                                     {"uplink-latency", "300ns"}});
    const std::string tree = platform_xml(fmt::format(
        "<zone id=\"world\" routing=\"Full\"><cluster id=\"t\" prefix=\"h-\" radical=\"0-{}\" "
        "suffix=\"\" speed=\"1Gf\" topology=\"FAT_TREE\" topo_parameters=\"2;{},{};1,{};1,1\" "
        "bw=\"25GBps\" lat=\"300ns\" sharing_policy=\"SPLITDUPLEX\"/></zone>",
        leaves * nodes - 1, nodes, leaves, spines));
    CHECK((shape_of_routes(ours) == shape_of_routes(tree)));
  }
}

TEST_CASE("the routes on rails are those that SimGrid finds on nvlink_ib") {
  for (const auto& [islands, nodes, gpus] :
       {std::array{2, 3, 4}, std::array{1, 4, 2}, std::array{3, 1, 3}}) {
    CAPTURE(islands);
    CAPTURE(gpus);
    const Parameters figures{
        {"gpus", std::to_string(gpus)}, {"gpu-bandwidth", "300GBps"}, {"oversubscription", "2"}};
    Parameters ours = figures;
    ours["islands"] = std::to_string(islands);
    ours["nodes"] = std::to_string(nodes);
    Parameters theirs = figures;
    theirs["nodes"] = std::to_string(islands * nodes);
    theirs["nics"] = std::to_string(gpus);
    theirs["leaf-nodes"] = std::to_string(nodes);
    CHECK((shape_of_routes(made("rails", ours)) == shape_of_routes(made("nvlink_ib", theirs))));
  }
}

TEST_CASE("the routes of a torus equal SimGrid's, with a port at each end") {
  // SimGrid's first dimension varies fastest. Where both ways around are as long, its choice depends
  // on the coordinates, so all rings are odd. It refuses a dimension of one host.
  for (const std::vector<int>& sizes : {std::vector{5}, {3, 5}, {7, 3, 3}, {3, 3, 3, 3, 5}}) {
    CAPTURE(fmt::format("{}", fmt::join(sizes, ",")));
    int hosts = 1;
    for (const int size : sizes) hosts *= size;
    const std::string ours = made("torus", {{"dims", fmt::format("{}", fmt::join(sizes, ","))},
                                            {"port-bandwidth", "1000GBps"},
                                            {"port-latency", "0s"},
                                            {"gap", "300ns"}});
    const std::string theirs = platform_xml(fmt::format(
        "<zone id=\"world\" routing=\"Full\">{}<cluster id=\"t\" prefix=\"h-\" radical=\"0-{}\" "
        "suffix=\"\" speed=\"1Gf\" topology=\"TORUS\" topo_parameters=\"{}\" bw=\"6.8GBps\" "
        "lat=\"100ns\" sharing_policy=\"SPLITDUPLEX\"/></zone>",
        property("thinwire.message_gap", "300ns"), hosts - 1,
        fmt::join(sizes.rbegin(), sizes.rend(), ",")));
    CHECK((shape_of_routes(ours, 1) == shape_of_routes(theirs)));
  }
}

TEST_CASE("a ring of two has one cable, and an even ring is crossed forwards") {
  const TemporaryFolder folder;
  const std::string path = folder.write("p.xml", made("torus", {{"dims", "4,2"}}));
  const auto inner = [&path](HostIndex from, HostIndex to) {
    return on_platform(path, [&](const Platform& platform) {
      std::string names;
      const Route route = platform.route(from, to);
      for (std::size_t i = 1; i + 1 < route.links.size(); ++i) {
        names += platform.links()[route.links[i]].name + " ";
      }
      return names;
    });
  };
  // Hosts are 2 x + y. From (0, 0) to (2, 1): the cable of y, and two of x forwards.
  CHECK(inner(0, 5) == "y-0_UP x-1_UP x-3_UP ");
  CHECK(inner(5, 0) == "y-4_DOWN x-4_UP x-6_UP ");
  CHECK(inner(1, 7) == "x-7_DOWN ");
  CHECK(inner(7, 1) == "x-7_UP ");
}

TEST_CASE("between groups, a route takes a cable of its source's router, or its share of all") {
  // Where cables end and how many links there are in a group is counted here anew.
  for (const auto& [chassis, places, cables] :
       {std::array{1, 5, 2}, std::array{3, 4, 1}, std::array{3, 4, 5}, std::array{2, 3, 6},
        std::array{2, 4, 19}, std::array{3, 4, 11}, std::array{1, 1, 4}, std::array{2, 3, 12}}) {
    CAPTURE(chassis);
    CAPTURE(places);
    CAPTURE(cables);
    const std::string xml = made("dragonfly", {{"groups", "3"},
                                               {"chassis", std::to_string(chassis)},
                                               {"routers", std::to_string(places)},
                                               {"nodes", "1"},
                                               {"blue-cables", std::to_string(cables)}});
    const int routers = chassis * places;
    const auto end = [&](int group, int other, int cable) {
      return end_of(group, other, cable, cables, routers);
    };
    const auto between = [&](int from, int to) {
      return (from % places != to % places ? 1 : 0) + (from / places != to / places ? 1 : 0);
    };
    const TemporaryFolder folder;
    CHECK(on_platform(folder.write("p.xml", xml), [&](const Platform& platform) {
            std::string wrong;
            std::map<std::array<int, 3>, std::set<int>> sources;  // of a cable, to a group
            for (int from = 0; from < 3 * routers; ++from) {
              for (int to = 0; to < 3 * routers; ++to) {
                const int a = from / routers;
                const int b = to / routers;
                if (a == b) continue;
                const Route route = platform.route(from, to);
                std::vector<int> taken;
                for (const LinkIndex link : route.links) {
                  const std::string& name = platform.links()[link].name;
                  if (!name.starts_with("blue-")) continue;
                  taken.push_back(std::stoi(name.substr(name.find('.') + 1)));
                }
                const int cable = taken.size() == 1 ? taken.front() : 0;
                const int near = end(a, b, cable);
                const std::size_t length =
                    3 + between(from % routers, near) + between(end(b, a, cable), to % routers);
                bool has_own = false;
                for (int c = 0; c < cables; ++c) has_own |= end(a, b, c) == from % routers;
                if (taken.size() != 1 || route.links.size() != length ||
                    (has_own && near != from % routers)) {
                  wrong += fmt::format("{}-{} ", from, to);
                }
                sources[{a, b, cable}].insert(from);
              }
            }
            std::size_t least = 3 * routers;
            std::size_t most = 0;
            for (const auto& [key, routers_of] : sources) {
              least = std::min(least, routers_of.size());
              most = std::max(most, routers_of.size());
            }
            if (cables <= routers && (sources.size() != 6U * cables || most > least + 1)) {
              wrong += fmt::format("{} cables of {} to {} routers", sources.size(), least, most);
            }
            // Of several cables of its own, a router uses more than one.
            if (cables > routers && routers > 1 && sources.size() <= 6U * routers) {
              wrong += fmt::format("{} cables", sources.size());
            }
            return wrong;
          }).empty());
  }
}

TEST_CASE("an exchange of two groups, router by router, has two of them on a cable at most") {
  // All 16 routers of a chassis of aries_8192 had the nearest cable between two groups in common.
  for (const auto& [name, groups, routers] :
       {std::tuple{"aries_daint", 14, 96}, std::tuple{"aries_8192", 16, 128}}) {
    CAPTURE(name);
    const std::string most = on_platform(kPlatforms.file(name), [&](const Platform& platform) {
      int fullest = 0;
      for (int a = 0; a < groups; ++a) {
        for (int b = 0; b < groups; ++b) {
          if (a == b) continue;
          std::map<LinkIndex, int> routers_on;
          for (int router = 0; router < routers; ++router) {
            const auto from = static_cast<HostIndex>((a * routers + router) * 4);
            const auto to = static_cast<HostIndex>((b * routers + router) * 4);
            for (const LinkIndex link : platform.route(from, to).links) {
              if (platform.links()[link].name.starts_with("blue-")) ++routers_on[link];
            }
          }
          for (const auto& [link, count] : routers_on) fullest = std::max(fullest, count);
        }
      }
      return fmt::format("{}", fullest);
    });
    CHECK(most == "2");
  }
}

TEST_CASE("a route between cells takes one cable, and every cable and spine has its share") {
  const std::string xml = made(
      "dragonfly_plus",
      {{"cells", "3"}, {"leaves", "4"}, {"spines", "3"}, {"nodes", "3"}, {"global-cables", "6"}});
  const TemporaryFolder folder;
  const std::string found = on_platform(folder.write("p.xml", xml), [](const Platform& platform) {
    std::map<std::string, int> uses;
    std::string wrong;
    for (HostIndex from = 0; from < 36; ++from) {
      for (HostIndex to = 0; to < 36; ++to) {
        if (from / 12 == to / 12) continue;
        const Route route = platform.route(from, to);
        std::string kinds;
        for (const LinkIndex link : route.links) {
          const std::string& name = platform.links()[link].name;
          kinds += name.substr(0, name.find_first_of("-_0123456789")) + " ";
          if (name.starts_with("global-")) ++uses[name];
        }
        if (kinds != "dragonfly uplink global uplink dragonfly ") wrong += kinds;
      }
    }
    std::set<int> counts;
    for (const auto& [name, count] : uses) counts.insert(count);
    return fmt::format("{} {} {}", wrong, uses.size(), fmt::join(counts, ","));
  });
  // 3 pairs, 6 cables and 2 directions; 12 x 12 pairs of hosts over 6 cables.
  CHECK(found == " 36 24");
}

TEST_CASE("a route of a wired dragonfly goes from switch to switch") {
  // The ends of a link by its name, from the numbers of wiring.hpp: no code in common.
  const std::string xml = made(
      "dragonfly",
      {{"groups", "4"}, {"chassis", "2"}, {"routers", "3"}, {"nodes", "1"}, {"blue-cables", "4"}});
  const TemporaryFolder folder;
  const std::string broken = on_platform(folder.write("p.xml", xml), [](const Platform& platform) {
    const auto router = [](int group, int chassis, int place) {
      return group * 6 + chassis * 3 + place;
    };
    const auto ends = [&](const std::string& name) -> std::pair<int, int> {
      std::vector<int> n;
      std::string digits = name;
      std::ranges::replace_if(
          digits, [](char c) { return c < '0' || c > '9'; }, ' ');
      std::istringstream words(digits);
      for (int number = 0; words >> number;) n.push_back(number);
      std::pair<int, int> both;
      if (name.starts_with("green-")) both = {router(n[0], n[1], n[2]), router(n[0], n[1], n[3])};
      if (name.starts_with("black-")) both = {router(n[0], n[1], n[3]), router(n[0], n[2], n[3])};
      if (name.starts_with("blue-")) {
        both = {n[0] * 6 + end_of(n[0], n[1], n[2], 4, 6),
                n[1] * 6 + end_of(n[1], n[0], n[2], 4, 6)};
      }
      if (name.ends_with("_DOWN")) std::swap(both.first, both.second);
      return both;
    };
    std::string text;
    for (HostIndex from = 0; from < 24; ++from) {
      for (HostIndex to = 0; to < 24; ++to) {
        const Route route = platform.route(from, to);
        int here = static_cast<int>(from);
        for (std::size_t i = 1; i + 1 < route.links.size(); ++i) {
          const auto [begin, end] = ends(platform.links()[route.links[i]].name);
          if (begin != here) text += fmt::format("{}-{} at {}\n", from, to, i);
          here = end;
        }
        if (here != static_cast<int>(to)) text += fmt::format("{}-{} ends at {}\n", from, to, here);
      }
    }
    return text;
  });
  CHECK(broken.empty());
}

TEST_CASE("aries_daint: no router holds more blue cables than its 10 optical ports") {
  std::vector<int> cables(96);
  for (int peer = 0; peer < 13; ++peer) {
    for (int cable = 0; cable < 73; ++cable) ++cables[end_of(13, peer, cable, 73, 96)];
  }
  CHECK(std::ranges::max(cables) == 10);
  CHECK(std::ranges::min(cables) == 9);
  // A router that holds a cable is three links from the router at its other end, and no other is.
  const std::string lengths =
      on_platform(kPlatforms.file("aries_daint"), [](const Platform& platform) {
        std::map<std::size_t, int> count;
        for (HostIndex from = 0; from < 384; from += 4) {
          for (HostIndex to = 384; to < 768; to += 4)
            ++count[platform.route(from, to).links.size()];
        }
        std::string text;
        for (const auto& [links, pairs] : count) text += fmt::format("{}:{} ", links, pairs);
        return text;
      });
  std::istringstream words(lengths);
  int direct = 0;
  int all = 0;
  for (std::string word; words >> word;) {
    const int links = std::stoi(word);
    const int pairs = std::stoi(word.substr(word.find(':') + 1));
    CHECK(links <= 7);
    if (links == 3) direct = pairs;
    all += pairs;
  }
  CHECK(direct == 73);
  CHECK(all == 96 * 96);
}

TEST_CASE("a text that is no topology is refused with what would be right") {
  const std::string figures = property("thinwire.link.green-", "1GBps 1us");
  const std::string group = "dragonfly groups=1 chassis=1 routers=4 nodes=2 cables=1";
  CHECK(!shape_of_routes(wired(group, figures)).empty());
  CHECK(contains(refusal_of(wired("dragonfy groups=1")),
                 "thinwire.topology: unknown topology 'dragonfy'; did you mean 'dragonfly'?"));
  CHECK(contains(refusal_of(wired("dragonfly group=1")),
                 "dragonfly has no 'group'; did you mean 'groups'?"));
  CHECK(contains(refusal_of(wired("dragonfly groups=1 chassis=1 routers=4 nodes=2")),
                 "dragonfly has no cables; wanted are groups, chassis, routers, nodes, cables"));
  CHECK(contains(refusal_of(wired("dragonfly groups=0")), "'groups=0' is not valid"));
  CHECK(contains(refusal_of(wired("dragonfly groups")), "'groups' is not valid"));
  CHECK(contains(refusal_of(wired("dragonfly groups=1 groups=1")), "groups is given twice"));
  CHECK(contains(refusal_of(wired(group)), "property thinwire.link.green- is missing"));
  CHECK(contains(
      refusal_of(wired("dragonfly groups=1 chassis=1 routers=4 nodes=3 cables=1", figures)),
      "makes 12 hosts, and the cluster has 8"));
  CHECK(contains(
      refusal_of(wired("dragonfly_plus cells=2 leaves=2 nodes=2 spines=1 cables=4000000000",
                       property("thinwire.link.uplink-", "1GBps 1us") +
                           property("thinwire.link.global-", "1GBps 1us"))),
      "makes 4000000004 cables; a platform may have 20000000"));
  CHECK(contains(refusal_of(wired(group, figures + property("thinwire.link.blue-", "1GBps 1us"))),
                 "thinwire.link.blue-: no link has a name that starts so"));
  for (const char* attributes :
       {"sharing_policy=\"SHARED\"", "sharing_policy=\"SPLITDUPLEX\" limiter_link=\"1e9\"",
        "sharing_policy=\"SPLITDUPLEX\" loopback_bw=\"1GBps\" loopback_lat=\"1us\"",
        "sharing_policy=\"SPLITDUPLEX\" bb_bw=\"1GBps\" bb_lat=\"1us\"",
        "sharing_policy=\"SPLITDUPLEX\" topology=\"TORUS\" topo_parameters=\"2,4\""}) {
    CAPTURE(std::string(attributes));
    CHECK(contains(refusal_of(wired(group, figures, attributes)),
                   "expected one plain cluster of hosts"));
  }
  CHECK(contains(refusal_of(platform_xml("<zone id=\"world\" routing=\"Full\"><zone id=\"in\" "
                                         "routing=\"Full\">" +
                                         property("thinwire.topology", group) +
                                         "<host id=\"a\" speed=\"1Gf\"/></zone></zone>")),
                 "is read on the outermost zone alone"));
}

}  // namespace thinwire::topologies
