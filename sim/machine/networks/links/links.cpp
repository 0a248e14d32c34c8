#include "sim/machine/networks/links/links.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <optional>
#include <utility>

#include "sim/machine/networks/common/complaints.hpp"
#include "sim/machine/networks/common/shared_links_loop.hpp"
#include "sim/machine/networks/links/bandwidths.hpp"
#include "sim/machine/networks/links/fabric.hpp"
#include "sim/machine/networks/links/link_recorder.hpp"
#include "sim/machine/networks/links/symmetry.hpp"

namespace thinwire::networks {

namespace {

/// Whether the routes of a run need not be known before it begins. Messages that choose a path compare
/// several routes, recorded paths are kept, and background traffic is on all links but ports.
bool routes_may_be_asked_for(const LinksSettings& settings) {
  return settings.routing == LinkRouting::minimal && !settings.record_links &&
         settings.background_share == 0 && settings.background_flows == 0;
}

}  // namespace

LinksNetwork::LinksNetwork(const std::string& platform, const LinksSettings& settings)
    : settings_(settings),
      platform_(platform, {.verbose = settings.verbose, .factors = settings.factors}) {}

LinksNetwork::~LinksNetwork() = default;

void LinksNetwork::connect(std::vector<topologies::HostIndex> hosts) {
  hosts_ = std::move(hosts);
  std::vector<topologies::HostIndex> sites = hosts_;
  if (settings_.routing != LinkRouting::minimal) {  // detours may use the switch of any host
    sites.resize(hosts_.size() + platform_.hosts().size());
    std::iota(sites.begin() + static_cast<std::ptrdiff_t>(hosts_.size()), sites.end(),
              topologies::HostIndex{0});
  }
  topologies::CompactRoutesLimits limits;
  if (routes_may_be_asked_for(settings_)) limits.held_up_to = settings_.routes_held;
  routes_ = std::make_unique<topologies::CompactRoutes>(
      platform_, sites, static_cast<std::size_t>(settings_.representatives), limits);
  fabric_ = std::make_unique<Fabric>(platform_, *routes_, hosts_.size(), settings_);
  bandwidths_ = bandwidths_left(platform_, hosts_, settings_, [this](topologies::LinkIndex link) {
    return fabric_->is_port(link);
  });
  std::ranges::copy(fabric_->process_bandwidths(), std::back_inserter(bandwidths_));
  if (settings_.representatives > 0) check_symmetric(platform_, hosts_, *fabric_, settings_);
}

RunReport LinksNetwork::run(int ranks, const RankProgram& program) {
  check_places(platform_.path(), ranks,
               settings_.representatives > 0 ? static_cast<std::size_t>(settings_.representatives)
                                             : hosts_.size());
  std::optional<LinkRecorder> recorder;
  if (settings_.record_links) recorder.emplace(*fabric_, platform_.links());
  SharedLinksLoop<Fabric> loop(ranks, *fabric_, bandwidths_, settings_.host, timeline(),
                               recorder ? &*recorder : nullptr, read_ahead_);
  loop.give_up_after(limit());
  RunReport report = loop.run(program);
  if (recorder) report.links = recorder->reports(report.makespan().value());
  return report;
}

}  // namespace thinwire::networks
