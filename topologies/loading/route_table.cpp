#include "topologies/loading/route_table.hpp"

#include "sim/core/base/errors.hpp"

namespace thinwire::topologies {

RouteTable routes_of(const Platform& platform) {
  return {platform.hosts(), platform.links(),
          [&platform](HostIndex from, HostIndex to) -> std::optional<Route> {
            try {
              Route route = platform.route(from, to);
              std::erase_if(route.links,
                            [&](LinkIndex link) { return platform.links()[link].is_weight(); });
              return route;
            } catch (const InputError&) {
              return std::nullopt;
            }
          }};
}

}  // namespace thinwire::topologies
