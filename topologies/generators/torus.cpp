// A torus of up to six dimensions: every host has a cable to the next and to the previous one of its
// ring in each dimension, and routes messages of others. Fugaku's Tofu Interconnect D is one of six
// dimensions, of which a and c have 2 hosts and b has 3: Ajima et al., "The Tofu Interconnect D"
// (CLUSTER 2018), has ten cables of 6.8 GB/s a host, six network interfaces, and 0.49 us for a put to
// a neighbour, which are the defaults.
//
// The port of a host stands for its network interfaces: messages to several neighbours at once share
// it. Parallel cables of a dimension are one link of their bandwidth together.
//
// Hosts are node-0, node-1, ...; the last dimension varies fastest.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "sim/core/base/errors.hpp"
#include "topologies/generators/families.hpp"
#include "topologies/generators/quantities.hpp"
#include "topologies/generators/racks.hpp"
#include "topologies/generators/reducing.hpp"
#include "topologies/generators/xml.hpp"

namespace thinwire::topologies {

namespace {

constexpr std::array kDimensions{"x", "y", "z", "a", "b", "c"};

/// The hosts of each dimension; "hosts" sets the last.
std::vector<int> sizes_of(const Settings& settings) {
  std::vector<int> sizes = settings.wholes("dims");
  if (sizes.size() > kDimensions.size()) {
    throw InputError(
        settings.refusal("dims", fmt::format("at most {} sizes, as in 8,8,8", kDimensions.size())));
  }
  const auto wanted = settings.optional_whole("hosts");
  if (wanted) sizes.back() = 1;
  std::int64_t hosts = 1;
  for (const int size : sizes) hosts = std::min(hosts * size, kMostHosts + 1);
  if (wanted && hosts <= kMostHosts) {
    sizes.back() = static_cast<int>((*wanted + hosts - 1) / hosts);
    hosts *= sizes.back();
  }
  if (hosts > kMostHosts) {
    throw InputError("torus: more hosts than the {} of a platform", kMostHosts);
  }
  return sizes;
}

std::string torus_xml(const Settings& settings, const std::vector<std::string>& comment) {
  const std::vector<int> sizes = sizes_of(settings);
  std::vector<int> cables = settings.wholes("cables");
  const LinkFigures cable = settings.figures("");
  if (cables.size() == 1) cables.resize(sizes.size(), cables.front());
  if (cables.size() != sizes.size()) {
    throw InputError("torus: {} dims, but cables for {}", sizes.size(), cables.size());
  }
  XmlHead head{.comment = comment,
               .message_gap = settings.time("gap"),
               .reducing = reducing_figures(settings, 0, settings.bandwidth("port-bandwidth")),
               .topology = "torus",
               .links = {}};
  std::int64_t hosts = 1;
  for (std::size_t i = 0; i < kDimensions.size(); ++i) {
    const int size = i < sizes.size() ? sizes[i] : 1;
    hosts *= size;
    head.topology += fmt::format(" {}={}", kDimensions.at(i), size);
    if (size > 1) {
      head.links.emplace_back(fmt::format("{}-", kDimensions.at(i)), bundle(cable, cables[i]));
    }
  }
  return platform_xml(head, cluster_xml("torus", "node-", hosts, settings.figures("port-")));
}

void torus_words(CommonWords& words) {
  const auto racks = words.take_racks();
  if (!racks) return;
  const auto root = static_cast<int>(std::sqrt(racks->hosts));
  const int first = largest_divisor(racks->hosts, root);
  std::vector<int> sizes{racks->hosts / first, first, racks->racks};
  std::erase(sizes, 1);
  if (sizes.empty()) sizes = {1};
  words.set("dims", fmt::format("{}", fmt::join(sizes, ",")));
  if (!words.has("bandwidth") || words.has("port-bandwidth")) return;
  // A host has two cables in each dimension.
  const double cable = words.settings().bandwidth("bandwidth");
  words.set("port-bandwidth", bandwidth_text(2 * static_cast<double>(sizes.size()) * cable));
}

}  // namespace

Family torus_family() {
  Family family{
      "torus",
      {"mesh", "tofu"},
      "rings of hosts in up to six dimensions, as Tofu and Blue Gene have them",
      {{"hosts", "", "hosts to hold at least: sets the last of dims to the least that does"},
       {"dims", "8,8,8", "hosts of each dimension"},
       {"cables", "1", "parallel cables of each dimension; one number goes for all"},
       {"bandwidth", "6.8GBps", "of a cable, each way"},
       {"latency", "100ns", "of a cable"},
       {"port-bandwidth", "40.8GBps", "of a host's network interfaces together, each way"},
       {"port-latency", "195ns", "of a host's port; a route has two of them"},
       {"gap", "100ns",
        "fixed time of each message on a host's port, beside the time of its bytes"}},
      "",
      &torus_xml,
      &torus_words};
  add_racks(family.parameters,
            "a plane of two dimensions each, joined along a third; with a "
            "bandwidth, a port has the bandwidth of all its cables");
  add_reducing_parameters(family.parameters, false);
  return family;
}

}  // namespace thinwire::topologies
