// A fat tree with levels of switches: hosts under leaves, leaves under the next level, and so on.
// Each element of a level has cables to several parents; SimGrid selects among them by destination
// (D-mod-k).
//
// The oversubscription of a level is the ratio of its switches' downward to upward bandwidth:
// children / (parents of the next level x cables).
//
// Hosts are host-0, host-1, ... leaf by leaf.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/core/base/errors.hpp"
#include "topologies/generators/families.hpp"
#include "topologies/generators/quantities.hpp"
#include "topologies/generators/racks.hpp"
#include "topologies/generators/reducing.hpp"
#include "topologies/generators/xml.hpp"

namespace thinwire::topologies {

namespace {

std::int64_t hosts_under(const std::vector<int>& children) {
  std::int64_t hosts = 1;
  for (const int count : children) {
    hosts *= count;
    if (hosts > kMostHosts) {
      throw InputError("fat_tree: more hosts than the {} that a platform may have", kMostHosts);
    }
  }
  return hosts;
}

/// The number of parents of an element of each level. A host has one leaf.
std::vector<int> parents_of(const std::vector<int>& children,
                            const std::vector<double>& oversubscription,
                            const std::vector<int>& cables) {
  std::vector<int> parents{1};
  for (std::size_t level = 1; level < children.size(); ++level) {
    const double of_level = oversubscription[level - 1];
    const double wanted = children[level - 1] / (of_level * cables[level]);
    const auto whole = static_cast<int>(std::lround(wanted));
    if (whole < 1 || std::abs(wanted - whole) > 1e-9 * wanted) {
      const double ports = static_cast<double>(children[level - 1]) / cables[level];
      throw InputError(
          "fat_tree: oversubscription {} of level {}: {} children over {} and {} cables make "
          "{:.6g} parents, which is no whole number from 1; near are {:.6g} and {:.6g}",
          of_level, level, children[level - 1], of_level, cables[level], wanted,
          ports / std::ceil(wanted), ports / std::max(1.0, std::floor(wanted)));
    }
    parents.push_back(whole);
  }
  return parents;
}

std::string fat_tree_xml(const Settings& settings, const std::vector<std::string>& comment) {
  std::vector<int> children = settings.wholes("children");
  std::vector<double> oversubscription = settings.numbers("oversubscription", 1);
  std::vector<int> cables = settings.wholes("cables");
  const LinkFigures cable = settings.figures("");
  const std::size_t levels = children.size();
  if (oversubscription.size() == 1) oversubscription.resize(levels - 1, 1);
  if (cables.size() == 1) cables.resize(levels, cables.front());
  if (const auto hosts = settings.optional_whole("hosts")) {
    children.back() = 1;
    const std::int64_t below = hosts_under(children);
    children.back() = static_cast<int>((*hosts + below - 1) / below);
  }
  if (cables.size() != levels) {
    throw InputError("fat_tree: {} levels of children, but cables for {}", levels, cables.size());
  }
  if (oversubscription.size() != levels - 1) {
    throw InputError("fat_tree: {} levels have {} oversubscriptions (all but the last), not {}",
                     levels, levels - 1, oversubscription.size());
  }
  const std::int64_t all = hosts_under(children);
  const std::string body = fmt::format(
      "    <cluster id=\"fat_tree\" prefix=\"host-\" radical=\"0-{}\" suffix=\"\" speed=\"{}\"\n"
      "             topology=\"FAT_TREE\" topo_parameters=\"{};{};{};{}\"\n"
      "             bw=\"{}\" lat=\"{}\" sharing_policy=\"SPLITDUPLEX\"/>\n",
      all - 1, kHostSpeed, levels, fmt::join(children, ","),
      fmt::join(parents_of(children, oversubscription, cables), ","), fmt::join(cables, ","),
      bandwidth_text(cable.bandwidth), time_text(cable.latency));
  return platform_xml({.comment = comment,
                       .message_gap = settings.time("gap"),
                       .reducing = reducing_figures(settings, 0, cable.bandwidth),
                       .links = {}},
                      body);
}

void fat_tree_words(CommonWords& words) {
  if (const auto racks = words.take_racks()) {
    words.set("children", fmt::format("{},{}", racks->hosts, racks->racks));
  }
}

}  // namespace

Family fat_tree_family() {
  Family family{
      "fat_tree",
      {"leaf_spine", "spine_leaf", "two_tier", "three_tier", "clos", "racks"},
      "racks of hosts on leaf switches, and levels of switches above them, with a settable "
      "oversubscription",
      {{"hosts", "", "hosts to hold at least: sets the last of children to the least that does"},
       {"children", "16,16,16", "children of a switch of each level, from the leaves up"},
       {"oversubscription", "2",
        "bandwidth from below over bandwidth to above, of each level but "
        "the last; one number goes for the leaves, the rest being 1"},
       {"cables", "1", "parallel cables at each level; one number goes for all"},
       {"bandwidth", "25GBps", "of a cable, each way"},
       {"latency", "300ns", "of a cable"},
       {"gap", "300ns",
        "fixed time of each message on a host's port, beside the time of its bytes"}},
      "",
      &fat_tree_xml,
      &fat_tree_words};
  add_racks(family.parameters, "leaf switches, each with as many hosts");
  add_reducing_parameters(family.parameters, false);
  return family;
}

}  // namespace thinwire::topologies
