#include "topologies/generators/rails.hpp"

#include <fmt/format.h>

#include <cstdint>

#include "sim/core/base/errors.hpp"
#include "topologies/generators/reducing.hpp"

namespace thinwire::topologies {

namespace {

std::int64_t island_size(const RailsParameters& p) { return std::int64_t{p.nodes} * p.gpus; }

void check(const RailsParameters& p) {
  for (const auto& [name, value] :
       {std::pair{"islands", p.islands}, std::pair{"nodes", p.nodes}, std::pair{"gpus", p.gpus}}) {
    if (value < 1) throw InputError(fmt::format("rails: {}: {} is less than 1", name, value));
  }
  if (!(p.oversubscription > 0)) {
    throw InputError(fmt::format("rails: oversubscription {} is not above 0", p.oversubscription));
  }
  if (island_size(p) > kMostHosts || island_size(p) * p.islands > kMostHosts) {
    throw InputError(fmt::format("rails: {} islands of {} hosts are more than the {} of a platform",
                                 p.islands, island_size(p), kMostHosts));
  }
}

}  // namespace

std::string rails_xml(const RailsParameters& p, const std::vector<std::string>& comment) {
  check(p);
  XmlHead head{
      .comment = comment,
      .message_gap = p.message_gap,
      .reducing = p.reducing,
      .topology = fmt::format("rails islands={} nodes={} gpus={}", p.islands, p.nodes, p.gpus),
      .links = {{"nvlink-", p.gpu}}};
  if (p.islands * p.gpus > 1) {
    head.links.emplace_back(
        "uplink-", LinkFigures{p.nic.bandwidth * p.nodes / p.oversubscription, p.uplink_latency});
  }
  return platform_xml(head, cluster_xml("nic", "gpu-", island_size(p) * p.islands, p.nic));
}

const std::vector<ParameterInfo>& rails_parameters() {
  static const std::vector<ParameterInfo> parameters = [] {
    std::vector<ParameterInfo> all{
        {"hosts", "", "GPUs to hold at least: sets islands to the least that does"},
        {"islands", "7", "islands"},
        {"nodes", "160", "nodes of an island"},
        {"gpus", "4", "GPUs (hosts) of a node, each with a NIC"},
        {"oversubscription", "2", "of a switch: bandwidth from below over bandwidth to the core"},
        {"gpu-bandwidth", "450GBps", "of a GPU's link to the switch of its node, each way"},
        {"gpu-latency", "85ns", "of that link; a route within a node has two"},
        {"nic-bandwidth", "25GBps", "of a NIC, each way"},
        {"nic-latency", "1.085us", "of a NIC's link to the switch of its rail"},
        {"uplink-latency", "115ns", "of a switch's link to the core"},
        {"gap", "300ns", "time that a message occupies a host's port beyond its bytes"},
    };
    add_reducing_parameters(all, true);
    return all;
  }();
  return parameters;
}

std::string rails_xml(const Settings& settings, const std::vector<std::string>& comment) {
  const std::vector<double> oversubscription = settings.numbers("oversubscription", 0);
  if (oversubscription.size() != 1) {
    throw InputError(settings.refusal("oversubscription", "one number above 0"));
  }
  RailsParameters p{.islands = settings.whole("islands"),
                    .nodes = settings.whole("nodes"),
                    .gpus = settings.whole("gpus"),
                    .oversubscription = oversubscription.front(),
                    .gpu = {settings.bandwidth("gpu-bandwidth"), settings.time("gpu-latency")},
                    .nic = {settings.bandwidth("nic-bandwidth"), settings.time("nic-latency")},
                    .uplink_latency = settings.time("uplink-latency"),
                    .message_gap = settings.time("gap")};
  p.reducing = reducing_figures(settings, p.gpu.bandwidth, p.nic.bandwidth);
  if (const auto hosts = settings.optional_whole("hosts")) {
    p.islands = static_cast<int>((*hosts + island_size(p) - 1) / island_size(p));
  }
  return rails_xml(p, comment);
}

}  // namespace thinwire::topologies
