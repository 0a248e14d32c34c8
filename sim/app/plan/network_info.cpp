#include "sim/app/plan/network_info.hpp"

#include <fmt/format.h>

#include "sim/app/plan/settings.hpp"
#include "sim/core/base/errors.hpp"
#include "sim/core/base/nearest.hpp"

namespace thinwire::plan {

std::string settings_read_on(const std::string& network) {
  std::vector<std::string> paths;
  for (const Setting& setting : point_settings()) {
    const bool of_networks = !setting.readers.empty() && !setting.readers.starts_with("runs ");
    if (of_networks && setting.read_on(network)) paths.push_back(setting.path);
  }
  return paths.empty() ? "none" : fmt::format("{}", fmt::join(paths, ", "));
}

const std::vector<NetworkInfo>& all_networks() {
  static const std::vector<NetworkInfo> all{
      {.name = "alphabeta",
       .summary = "the papers' machine, T(L) = alpha + beta L, ports full duplex; LogGP in general",
       .platform = PlatformUse::possible},
      {.name = "smpi",
       .summary = "SimGrid's MPI emulation: flows share the links of a platform XML",
       .clock_goes_on = true,
       .congests = true,
       .platform = PlatformUse::needed},
      {.name = "links",
       .summary = "links of a platform XML that messages share: smpi's congestion, far faster",
       .congests = true,
       .platform = PlatformUse::needed},
      {.name = "counting",
       .summary = "no clock: steps, messages and words of a schedule",
       .has_clock = false},
      {.name = "mpi",
       .summary = "real processes and bytes: mpirun -n P thinwire measure (docs/measure.md)",
       .is_real = true}};
  return all;
}

const NetworkInfo& find_network(std::string_view name) {
  std::vector<std::string> names;
  for (const NetworkInfo& network : all_networks()) {
    if (network.name == name) return network;
    names.push_back(network.name);
  }
  throw InputError(fmt::format("unknown network '{}'{}", name, did_you_mean(name, names)));
}

}  // namespace thinwire::plan
