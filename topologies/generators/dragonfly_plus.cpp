#include "topologies/generators/dragonfly_plus.hpp"

#include <fmt/format.h>

#include <cstdint>

#include "sim/core/base/errors.hpp"

namespace thinwire::topologies {

namespace {

std::int64_t cell_size(const DragonflyPlusParameters& p) {
  return std::int64_t{p.leaves} * p.nodes;
}

void check(const DragonflyPlusParameters& p) {
  for (const auto& [name, value] :
       {std::pair{"cells", p.cells}, std::pair{"leaves", p.leaves}, std::pair{"spines", p.spines},
        std::pair{"nodes", p.nodes}, std::pair{"uplinks", p.uplinks},
        std::pair{"global-cables", p.global_cables}}) {
    if (value < 1) {
      throw InputError(fmt::format("dragonfly_plus: {}: {} is less than 1", name, value));
    }
  }
  if (cell_size(p) > kMostHosts || cell_size(p) * p.cells > kMostHosts) {
    throw InputError(
        fmt::format("dragonfly_plus: {} cells of {} hosts are more than the {} of a platform",
                    p.cells, cell_size(p), kMostHosts));
  }
}

}  // namespace

std::string dragonfly_plus_xml(const DragonflyPlusParameters& p,
                               const std::vector<std::string>& comment) {
  check(p);
  XmlHead head{
      .comment = comment,
      .message_gap = p.message_gap,
      .topology = fmt::format("dragonfly_plus cells={} leaves={} nodes={} spines={} cables={}",
                              p.cells, p.leaves, p.nodes, p.spines, p.global_cables),
      .links = {}};
  head.links.emplace_back("uplink-", bundle(p.uplink, p.uplinks));
  if (p.cells > 1) head.links.emplace_back("global-", p.global);
  return platform_xml(head, cluster_xml("dragonfly_plus", "nid-", cell_size(p) * p.cells, p.host));
}

const std::vector<ParameterInfo>& dragonfly_plus_parameters() {
  static const std::vector<ParameterInfo> parameters{
      {"hosts", "", "hosts to hold at least: sets cells to the least that does"},
      {"cells", "20", "cells"},
      {"leaves", "18", "leaf switches of a cell"},
      {"spines", "18", "spine switches of a cell"},
      {"nodes", "10", "nodes (hosts) of a leaf switch"},
      {"uplinks", "1", "cables between a leaf and a spine of its cell"},
      {"global-cables", "18", "cables between two cells, spread over the spines of each"},
      {"host-bandwidth", "50GBps", "of a node's link to its leaf, each way"},
      {"host-latency", "300ns", "of a node's link"},
      {"uplink-bandwidth", "25GBps", "of a cable between leaf and spine"},
      {"uplink-latency", "150ns", "of a link between leaf and spine"},
      {"global-bandwidth", "25GBps", "of a cable between two cells"},
      {"global-latency", "250ns", "of a link between two cells"},
      {"gap", "300ns", "time that a message occupies a host's port beyond its bytes"},
  };
  return parameters;
}

std::string dragonfly_plus_xml(const Settings& settings, const std::vector<std::string>& comment) {
  const auto figures = [&](const std::string& name) {
    return LinkFigures{settings.bandwidth(name + "-bandwidth"), settings.time(name + "-latency")};
  };
  DragonflyPlusParameters p{.cells = settings.whole("cells"),
                            .leaves = settings.whole("leaves"),
                            .spines = settings.whole("spines"),
                            .nodes = settings.whole("nodes"),
                            .uplinks = settings.whole("uplinks"),
                            .global_cables = settings.whole("global-cables"),
                            .host = figures("host"),
                            .uplink = figures("uplink"),
                            .global = figures("global"),
                            .message_gap = settings.time("gap")};
  if (const auto hosts = settings.optional_whole("hosts")) {
    p.cells = static_cast<int>((*hosts + cell_size(p) - 1) / cell_size(p));
  }
  if (p.cells == 1) {
    settings.refuse_given({"global-cables", "global-bandwidth", "global-latency"},
                          "one cell has no links to others");
  }
  return dragonfly_plus_xml(p, comment);
}

}  // namespace thinwire::topologies
