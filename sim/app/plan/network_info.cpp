#include "sim/app/plan/network_info.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/core/base/errors.hpp"
#include "sim/core/base/nearest.hpp"
#include "sim/core/base/printable.hpp"

namespace thinwire::plan {

std::vector<std::string> names_of(NetworkSet networks) {
  std::vector<const NetworkInfo*> found;
  for (const NetworkInfo& network : all_networks()) {
    if (networks.has(network.id)) found.push_back(&network);
  }
  std::ranges::sort(found, {}, &NetworkInfo::id);
  std::vector<std::string> names;
  for (const NetworkInfo* const network : found) names.push_back(network->name);
  return names;
}

const std::vector<NetworkInfo>& all_networks() {
  static const std::vector<NetworkInfo> all{
      {.id = NetworkId::alphabeta,
       .name = "alphabeta",
       .summary = "the papers' machine, T(L) = alpha + beta L, ports full duplex; LogGP in general",
       .platform = PlatformUse::possible},
      {.id = NetworkId::smpi,
       .name = "smpi",
       .summary = "SimGrid's MPI emulation: flows share the links of a platform XML",
       .clock_goes_on = true,
       .congests = true,
       .platform = PlatformUse::needed},
      {.id = NetworkId::links,
       .name = "links",
       .summary = "links of a platform XML that messages share: smpi's congestion, far faster",
       .congests = true,
       .platform = PlatformUse::needed},
      {.id = NetworkId::counting,
       .name = "counting",
       .summary = "no clock: steps, messages and words of a schedule",
       .has_clock = false},
      {.id = NetworkId::mpi,
       .name = "mpi",
       .summary =
           "real processes and bytes: mpirun -n P thinwire measure (docs/how-to/measure-on-mpi.md)",
       .is_real = true}};
  return all;
}

const NetworkInfo& find_network(std::string_view name) {
  const auto found = std::ranges::find(all_networks(), name, &NetworkInfo::name);
  if (found != all_networks().end()) return *found;
  throw InputError("unknown network '{}'{}", excerpt(name), did_you_mean(name, names_of({})));
}

}  // namespace thinwire::plan
