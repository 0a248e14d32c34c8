#include "topologies/generators/dragonfly.hpp"

#include <fmt/format.h>

#include <cstdint>

#include "sim/core/base/errors.hpp"
#include "topologies/generators/quantities.hpp"

namespace thinwire::topologies {

namespace {

std::int64_t group_size(const DragonflyParameters& p) {
  return std::int64_t{p.chassis} * p.routers * p.nodes;
}

void check(const DragonflyParameters& p) {
  for (const auto& [name, value] :
       {std::pair{"groups", p.groups}, std::pair{"chassis", p.chassis},
        std::pair{"routers", p.routers}, std::pair{"nodes", p.nodes},
        std::pair{"green_cables", p.green_cables}, std::pair{"black_cables", p.black_cables},
        std::pair{"blue_cables", p.blue_cables}}) {
    if (value < 1) throw InputError(fmt::format("dragonfly: {}: {} is less than 1", name, value));
  }
  if (group_size(p) > kMostHosts || group_size(p) * p.groups > kMostHosts) {
    throw InputError(
        fmt::format("dragonfly: {} groups of {} hosts are more than the {} of a platform", p.groups,
                    group_size(p), kMostHosts));
  }
}

}  // namespace

std::string dragonfly_xml(const DragonflyParameters& p, const std::vector<std::string>& comment) {
  check(p);
  XmlHead head{
      .comment = comment,
      .message_gap = p.message_gap,
      .topology = fmt::format("dragonfly groups={} chassis={} routers={} nodes={} cables={}",
                              p.groups, p.chassis, p.routers, p.nodes, p.blue_cables),
      .links = {}};
  // Figures for links that do not exist are refused.
  if (p.routers > 1) head.links.emplace_back("green-", bundle(p.green, p.green_cables));
  if (p.chassis > 1) head.links.emplace_back("black-", bundle(p.black, p.black_cables));
  if (p.groups > 1) head.links.emplace_back("blue-", p.blue);
  return platform_xml(head, cluster_xml("dragonfly", "nid-", group_size(p) * p.groups, p.host));
}

const std::vector<ParameterInfo>& dragonfly_parameters() {
  static const std::vector<ParameterInfo> parameters{
      {"hosts", "", "hosts to hold at least: sets groups to the least that does"},
      {"groups", "14", "groups"},
      {"chassis", "6", "chassis of a group"},
      {"routers", "16", "routers of a chassis"},
      {"nodes", "4", "nodes (hosts) of a router"},
      {"green-cables", "1", "cables between two routers of a chassis"},
      {"black-cables", "3", "cables between the same routers of two chassis"},
      {"blue-cables", "73", "cables between two groups, spread over the routers of each"},
      {"host-bandwidth", "10.2GBps", "of a node's link to its router, each way"},
      {"host-latency", "500ns", "of a node's link"},
      {"green-bandwidth", "5.25GBps", "of a green cable"},
      {"green-latency", "100ns", "of a green link"},
      {"black-bandwidth", "5.25GBps", "of a black cable"},
      {"black-latency", "100ns", "of a black link"},
      {"blue-bandwidth", "4.7GBps", "of a blue cable"},
      {"blue-latency", "500ns", "of a blue link"},
      {"gap", "300ns", "time that a message occupies a host's port beyond its bytes"},
  };
  return parameters;
}

std::string dragonfly_xml(const Settings& settings, const std::vector<std::string>& comment) {
  const auto figures = [&](const std::string& name) {
    return LinkFigures{settings.bandwidth(name + "-bandwidth"), settings.time(name + "-latency")};
  };
  DragonflyParameters p{.groups = settings.whole("groups"),
                        .chassis = settings.whole("chassis"),
                        .routers = settings.whole("routers"),
                        .nodes = settings.whole("nodes"),
                        .green_cables = settings.whole("green-cables"),
                        .black_cables = settings.whole("black-cables"),
                        .blue_cables = settings.whole("blue-cables"),
                        .host = figures("host"),
                        .green = figures("green"),
                        .black = figures("black"),
                        .blue = figures("blue"),
                        .message_gap = settings.time("gap")};
  if (const auto hosts = settings.optional_whole("hosts")) {
    p.groups = static_cast<int>((*hosts + group_size(p) - 1) / group_size(p));
  }
  if (p.groups == 1) {
    settings.refuse_given({"blue-cables", "blue-bandwidth", "blue-latency"},
                          "one group has no blue links");
  }
  if (p.chassis == 1) {
    settings.refuse_given({"black-cables", "black-bandwidth", "black-latency"},
                          "one chassis has no black links");
  }
  if (p.routers == 1) {
    settings.refuse_given({"green-cables", "green-bandwidth", "green-latency"},
                          "one router has no green links");
  }
  return dragonfly_xml(p, comment);
}

}  // namespace thinwire::topologies
