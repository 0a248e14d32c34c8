#include "topologies/generators/fat_tree.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>

#include "sim/core/base/errors.hpp"
#include "topologies/generators/quantities.hpp"
#include "topologies/generators/reducing.hpp"

namespace thinwire::topologies {

namespace {

std::int64_t hosts_of(const std::vector<int>& children) {
  std::int64_t hosts = 1;
  for (const int count : children) {
    hosts *= count;
    if (hosts > kMostHosts) {
      throw InputError(fmt::format("fat_tree: more hosts than the {} of a platform", kMostHosts));
    }
  }
  return hosts;
}

/// The number of parents of an element of each level. A host has one leaf.
std::vector<int> parents_of(const FatTreeParameters& p) {
  std::vector<int> parents{1};
  for (std::size_t level = 1; level < p.children.size(); ++level) {
    const double wanted = p.children[level - 1] / (p.oversubscription[level - 1] * p.cables[level]);
    const auto whole = static_cast<int>(std::lround(wanted));
    if (whole < 1 || std::abs(wanted - whole) > 1e-9 * wanted) {
      throw InputError(
          fmt::format("fat_tree: oversubscription {} of level {}: {} children over {} and {} "
                      "cables make {:.6g} "
                      "parents, which is no whole number from 1",
                      p.oversubscription[level - 1], level, p.children[level - 1],
                      p.oversubscription[level - 1], p.cables[level], wanted));
    }
    parents.push_back(whole);
  }
  return parents;
}

void check(const FatTreeParameters& p) {
  const std::size_t levels = p.children.size();
  if (levels == 0) throw InputError("fat_tree: a tree without levels is no platform");
  if (p.cables.size() != levels) {
    throw InputError(
        fmt::format("fat_tree: {} levels of children, but cables for {}", levels, p.cables.size()));
  }
  if (p.oversubscription.size() != levels - 1) {
    throw InputError(
        fmt::format("fat_tree: {} levels have {} oversubscriptions (all but the last), not {}",
                    levels, levels - 1, p.oversubscription.size()));
  }
  static_cast<void>(hosts_of(p.children));
}

}  // namespace

std::string fat_tree_xml(const FatTreeParameters& p, const std::vector<std::string>& comment) {
  check(p);
  const std::vector<int> parents = parents_of(p);
  const std::string body = fmt::format(
      "    <cluster id=\"fat_tree\" prefix=\"host-\" radical=\"0-{}\" suffix=\"\" speed=\"{}\"\n"
      "             topology=\"FAT_TREE\" topo_parameters=\"{};{};{};{}\"\n"
      "             bw=\"{}\" lat=\"{}\" sharing_policy=\"SPLITDUPLEX\"/>\n",
      hosts_of(p.children) - 1, kHostSpeed, p.children.size(), fmt::join(p.children, ","),
      fmt::join(parents, ","), fmt::join(p.cables, ","), bandwidth_text(p.cable.bandwidth),
      time_text(p.cable.latency));
  return platform_xml(
      {.comment = comment, .message_gap = p.message_gap, .reducing = p.reducing, .links = {}},
      body);
}

const std::vector<ParameterInfo>& fat_tree_parameters() {
  static const std::vector<ParameterInfo> parameters = [] {
    std::vector<ParameterInfo> all{
        {"hosts", "", "hosts to hold at least: sets the last of children to the least that does"},
        {"children", "16,16,16", "children of a switch of each level, from the leaves up"},
        {"oversubscription", "2",
         "bandwidth from below over bandwidth to above, of each level but "
         "the last; one number goes for the leaves, the rest being 1"},
        {"cables", "1", "parallel cables at each level; one number goes for all"},
        {"bandwidth", "25GBps", "of a cable, each way"},
        {"latency", "300ns", "of a cable"},
        {"gap", "300ns", "time that a message occupies a host's port beyond its bytes"},
    };
    add_reducing_parameters(all, false);
    return all;
  }();
  return parameters;
}

std::string fat_tree_xml(const Settings& settings, const std::vector<std::string>& comment) {
  FatTreeParameters p{.children = settings.wholes("children"),
                      .oversubscription = settings.numbers("oversubscription", 1),
                      .cables = settings.wholes("cables"),
                      .cable = {settings.bandwidth("bandwidth"), settings.time("latency")},
                      .message_gap = settings.time("gap")};
  p.reducing = reducing_figures(settings, 0, p.cable.bandwidth);
  const std::size_t levels = p.children.size();
  if (p.oversubscription.size() == 1) p.oversubscription.resize(levels - 1, 1);
  if (p.cables.size() == 1) p.cables.resize(levels, p.cables.front());
  if (const auto hosts = settings.optional_whole("hosts")) {
    p.children.back() = 1;
    const std::int64_t below = hosts_of(p.children);
    p.children.back() = static_cast<int>((*hosts + below - 1) / below);
  }
  return fat_tree_xml(p, comment);
}

}  // namespace thinwire::topologies
