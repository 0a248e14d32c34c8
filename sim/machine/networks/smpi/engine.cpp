#include "sim/machine/networks/smpi/engine.hpp"

#include <fmt/format.h>
#include <smpi/smpi.h>
#include <sys/prctl.h>

#include <simgrid/version.h>
#include <simgrid/s4u.hpp>
#include <xbt/config.hpp>

namespace thinwire::networks {

namespace {

namespace sg4 = simgrid::s4u;

#if defined(__SANITIZE_ADDRESS__)
constexpr const char* kContexts = "thread";  // AddressSanitizer knows only the stacks of threads
constexpr int kStackKiB = 1024;
#else
constexpr const char* kContexts = "raw";
constexpr int kStackKiB = 256;
#endif

}  // namespace

void choose_contexts() { simgrid::config::set_value<std::string>("contexts/factory", kContexts); }

void configure_smpi(const SmpiSettings& settings) {
  using simgrid::config::set_default;
  // A rank needs a few kilobytes of its stack, and large pages would keep all of it in memory.
  prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
  // The time that our own code takes is not simulated time.
  sg4::Engine::set_config("smpi/simulate-computation", false);
  sg4::Engine::set_config("contexts/stack-size", kStackKiB);
  if (settings.time_resolution > Seconds(0)) {
    sg4::Engine::set_config("surf/precision", settings.time_resolution.value());
  }
  set_default<double>("smpi/wtime", 0);
  set_default<double>("smpi/init", 0);
  set_default<double>("smpi/test", 0);
  for (const std::string& setting : settings.more) sg4::Engine::set_config(setting);
  SMPI_init();
  // Nobody reads what is sent. A SmpiNetwork has the ends of its own messages told.
  smpi_comm_set_copy_data_callback([](smx_activity_t, void*, size_t) {});
}

std::string version_of_simgrid() {
  int major = 0;
  int minor = 0;
  int patch = 0;
  sg_version_get(&major, &minor, &patch);
  return fmt::format("{}.{}.{}", major, minor, patch);
}

}  // namespace thinwire::networks
