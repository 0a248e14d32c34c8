#include "sim/app/run/networks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "sim/app/plan/approximate.hpp"
#include "sim/app/plan/network_info.hpp"
#include "sim/app/plan/point.hpp"
#include "sim/core/base/errors.hpp"
#include "sim/core/gradient/concatenation.hpp"
#include "sim/machine/networks/alphabeta/alphabeta.hpp"
#include "sim/machine/networks/common/approximate/representatives.hpp"
#include "sim/machine/networks/counting/counting.hpp"
#include "sim/machine/networks/smpi/smpi.hpp"
#include "topologies/loading/end_to_end.hpp"
#include "topologies/loading/placement.hpp"
#include "topologies/loading/shipped.hpp"

namespace thinwire::run {

namespace {

/// The number of ranks on a node, if ranks of a node follow one another and all nodes but the
/// last have as many; otherwise, and where hosts are nodes of their own, 0.
int ranks_of_node(const topologies::Platform& platform,
                  const std::vector<topologies::HostIndex>& hosts) {
  std::vector<std::string_view> nodes;
  std::vector<std::size_t> first;  // the first rank of each node
  for (std::size_t rank = 0; rank < hosts.size(); ++rank) {
    const std::string_view node = platform.hosts()[hosts[rank]].node;
    if (nodes.empty() || nodes.back() != node) {
      nodes.push_back(node);
      first.push_back(rank);
    }
  }
  const std::size_t size = first.size() > 1 ? first[1] : hosts.size();
  for (std::size_t i = 0; i < first.size(); ++i) {
    const std::size_t end = i + 1 < first.size() ? first[i + 1] : hosts.size();
    const bool last = i + 1 == first.size();
    if (end - first[i] > size || (!last && end - first[i] != size)) return 0;
  }
  std::ranges::sort(nodes);
  const bool apart = std::ranges::adjacent_find(nodes) == nodes.end();
  return apart && size > 1 ? static_cast<int>(size) : 0;
}

topologies::PlatformFactors factors_of(const plan::Point& point) {
  return {.latency = point.latency_factor, .bandwidth = point.bandwidth_factor};
}

ReadyNetwork make_alphabeta(const plan::Point& point, bool verbose) {
  plan::Machine machine = point.machine;
  if (!point.platform.empty()) {
    const topologies::Platform platform(topologies::kPlatforms.file(point.platform),
                                        {.verbose = verbose, .factors = factors_of(point)});
    machine = machine_on(point, platform, place(platform.hosts(), point.ranks, point.placement));
    machine.route_latency = {};  // the papers' machine: all of α occupies the ports
  }
  return {.network = alphabeta_of(machine, machine.host_for(point.space.components, point.seed)),
          .machine = machine};
}

ReadyNetwork make_smpi(const plan::Point& point, bool verbose) {
  auto network = std::make_unique<networks::SmpiNetwork>(
      topologies::kPlatforms.file(point.platform),
      networks::SmpiSettings{.time_resolution = point.time_resolution,
                             .flows_per_port = point.flows_per_port,
                             .packets = point.packets,
                             .factors = factors_of(point),
                             .record_links = point.record.links,
                             .verbose = verbose});
  std::vector<topologies::HostIndex> hosts =
      topologies::place(network->platform().hosts(), point.ranks, point.placement);
  plan::Machine machine = machine_on(point, network->platform(), hosts);
  machine.switches = {};  // SimGrid's only forward
  network->connect(std::move(hosts));
  return {.network = std::move(network), .machine = machine};
}

/// Refuses a routing that has no effect on the platform or is not meant for it.
void check_routing(const networks::LinksSettings& settings, const topologies::Platform& platform) {
  const topologies::PlatformXml& xml = platform.xml();
  std::vector<networks::LinkRouting> known{networks::LinkRouting::minimal};
  if (xml.dragonflies && !xml.distances) {
    known.insert(known.end(), {networks::LinkRouting::valiant, networks::LinkRouting::ugal});
  }
  if (xml.fat_trees > 0 && !xml.distances) known.push_back(networks::LinkRouting::ecmp);
  if (std::ranges::find(known, settings.routing) != known.end()) return;
  const auto name = [](networks::LinkRouting routing) {
    return networks::kLinkRoutings.at(static_cast<std::size_t>(routing));
  };
  std::vector<std::string_view> names;
  for (const networks::LinkRouting routing : known) names.push_back(name(routing));
  throw InputError(
      "/links/routing: '{}' means nothing on {}, which knows {}; valiant and ugal are for "
      "dragonflies, ecmp is for fat trees",
      name(settings.routing), platform.path(), fmt::join(names, ", "));
}

ReadyNetwork make_links(const plan::Point& point, bool verbose) {
  auto network = links_of(point, verbose);
  const std::vector<topologies::HostIndex> hosts =
      topologies::place(network->platform().hosts(), point.ranks, point.placement);
  const plan::Machine machine = machine_on(point, network->platform(), hosts);
  network->connect(hosts);
  return {.network = std::move(network), .machine = machine};
}

}  // namespace

std::unique_ptr<Network> alphabeta_of(const plan::Machine& machine,
                                      const networks::HostCosts& host) {
  return std::make_unique<networks::AlphaBetaNetwork>(
      networks::LogGP{.latency = machine.latency + machine.route_latency,
                      .overhead = Seconds(0),
                      .gap = machine.alpha - machine.route_latency,
                      .gap_per_word = machine.beta_per_word},
      host, machine.switches);
}

plan::Machine machine_on(const plan::Point& point, const topologies::Platform& platform,
                         const std::vector<topologies::HostIndex>& hosts) {
  const auto of = [&](const Members& group) {
    std::vector<topologies::HostIndex> of_group;
    for (int i = 0; i < group.count; ++i) {
      of_group.push_back(hosts[static_cast<std::size_t>(group.at(i).value())]);
    }
    return std::pair(topologies::end_to_end(platform, of_group), ranks_of_node(platform, of_group));
  };
  plan::Machine machine = point.machine;
  const Members all{.first = 0, .count = point.ranks, .stride = 1};
  const bool alone = point.data_ranks() == 1;
  const auto [ends, node] = of(alone ? all : point.parallel.data_group(Rank(0), point.ranks));
  machine.alpha = ends.alpha;
  machine.route_latency = ends.latency;
  machine.beta_per_word = ends.beta_per_word;
  machine.node = node;
  machine.switches = platform.switches();
  if (point.sums_activations()) {
    const auto [within, shared] = of(point.parallel.tensor_group(Rank(0), point.ranks));
    machine.in_tensor_group = {within.alpha, within.beta_per_word, shared};
  }
  return machine;
}

std::unique_ptr<networks::LinksNetwork> links_of(const plan::Point& point, bool verbose) {
  networks::LinksSettings settings = point.links;
  settings.host = point.machine.host_for(point.space.components, point.seed);
  settings.seed = point.seed;
  settings.record_links = point.record.links;
  settings.representatives = point.few_ranks();
  settings.factors = factors_of(point);
  settings.verbose = verbose;
  auto network = std::make_unique<networks::LinksNetwork>(
      topologies::kPlatforms.file(point.platform), settings);
  check_routing(settings, network->platform());
  return network;
}

ReadyNetwork make_network(const plan::Point& point, bool verbose) {
  switch (point.network->id) {
    case plan::NetworkId::links:
      return make_links(point, verbose);
    case plan::NetworkId::smpi:
      return make_smpi(point, verbose);
    case plan::NetworkId::alphabeta:
      return make_alphabeta(point, verbose);
    case plan::NetworkId::counting:
      return {.network = std::make_unique<networks::CountingNetwork>(), .machine = point.machine};
    case plan::NetworkId::mpi:
      break;
  }
  throw InputError(
      "/network: mpi runs real processes; use 'mpirun -n P thinwire measure' for points on it");
}

std::unique_ptr<Network> for_ranks_of(const plan::Point& point, std::unique_ptr<Network> network) {
  const std::optional<networks::FewRanks> few = plan::few_ranks_of(point);
  if (!few) return network;
  return std::make_unique<networks::RepresentativesNetwork>(
      std::move(network), *few, std::make_unique<ConcatenationRenamer>());
}

}  // namespace thinwire::run
