#include "topologies/loading/routes.hpp"

#include "sim/core/base/errors.hpp"

namespace thinwire::topologies {

namespace {

/// More than any wire has.
constexpr double kWeightBandwidth = 1e15;

}  // namespace

bool is_weight(const PlatformLink& link) {
  return link.fat_pipe && link.latency.value() == 0 && link.bandwidth >= kWeightBandwidth;
}

RouteTable routes_of(const Platform& platform) {
  return {platform.hosts(), platform.links(),
          [&platform](HostIndex from, HostIndex to) -> std::optional<Route> {
            try {
              Route route = platform.route(from, to);
              std::erase_if(route.links,
                            [&](LinkIndex link) { return is_weight(platform.links()[link]); });
              return route;
            } catch (const InputError&) {
              return std::nullopt;
            }
          }};
}

}  // namespace thinwire::topologies
