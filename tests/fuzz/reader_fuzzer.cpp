// Any bytes whatever are read, or refused with an InputError in one short text. The environment says
// which reader: THINWIRE_READER; and where the bytes lie, beside other files of it: THINWIRE_FILE.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "sim/app/plan/plan.hpp"
#include "sim/app/results/results_file.hpp"
#include "sim/app/run/sweep.hpp"
#include "sim/app/studies/concurrent.hpp"
#include "sim/app/studies/validate/machine_description.hpp"
#include "sim/app/studies/validate/measured.hpp"
#include "sim/core/base/errors.hpp"
#include "sim/core/base/files.hpp"
#include "sim/core/base/json_node.hpp"
#include "sim/machine/schedules/chakra.hpp"
#include "sim/machine/schedules/goal.hpp"
#include "sim/machine/workloads/device.hpp"
#include "sim/machine/workloads/model.hpp"
#include "topologies/analysis/traffic.hpp"
#include "topologies/loading/placement.hpp"
#include "topologies/loading/platform_xml.hpp"
#include "traces/profile.hpp"
#include "traces/trace.hpp"

namespace {

using namespace thinwire;  // NOLINT(google-build-using-namespace)

const std::vector<topologies::PlatformHost>& hosts() {
  static const std::vector<topologies::PlatformHost> all = [] {
    std::vector<topologies::PlatformHost> made;
    for (std::uint32_t i = 0; i < 8; ++i) {
      const std::string name = "host-" + std::to_string(i);
      made.push_back({.name = name, .node = name, .group = i / 4, .access = i / 2 % 2});
    }
    return made;
  }();
  return all;
}

void check(const schedules::ReadSchedule& schedule) {
  try {
    schedules::check_progress(schedule, schedule.eager);
  } catch (const DeadlockError&) {  // which is another answer
  }
}

void read_measured(const std::string& path, const char* facts) {
  for (const auto& row : studies::read_measured(studies::measured_file(path + facts))) {
    if (!(row.seconds > 0) || row.elements < 0 || row.nodes < 1) std::abort();
  }
}

/// What is read is written and read again, and its unions are densities.
void read_profile(const std::string& path) {
  traces::Profile profile = traces::read_profile(path);
  traces::write_profile(profile, path);
  profile = traces::read_profile(path);
  for (const auto family : {traces::PopularityFamily::copula, traces::PopularityFamily::beta}) {
    const double together = traces::union_density(profile, family, profile.density, 16);
    if (!(together >= 0 && together <= 1)) std::abort();
  }
}

struct Reader {
  std::string_view name;
  void (*read)(const std::string& path);
};

constexpr auto kReaders = std::to_array<Reader>({
    {"goal", [](const std::string& path) { check(schedules::from_goal(read_text(path), path)); }},
    {"chakra",
     [](const std::string& path) {
       check(schedules::read_chakra(std::filesystem::path(path).parent_path().string()));
     }},
    {"osu",
     [](const std::string& path) {
       read_measured(path, ",machine=m,run=1,nodes=2,tasks_per_node=2,algorithm=ring");
     }},
    {"nccl",
     [](const std::string& path) { read_measured(path, ",machine=m,run=1,algorithm=ring"); }},
    {"imb",
     [](const std::string& path) {
       read_measured(path,
                     ",machine=m,run=1,tasks_per_node=2,collective=allreduce,algorithm=ring");
     }},
    {"csv", [](const std::string& path) { read_measured(path, ""); }},
    {"machine", [](const std::string& path) { (void)studies::read_machine(path); }},
    {"concurrent", [](const std::string& path) { (void)studies::jobs_from(read_json(path), path); }},
    {"model", [](const std::string& path) { (void)workloads::read_model(path); }},
    {"device", [](const std::string& path) { (void)workloads::read_device(path); }},
    {"profile", read_profile},
    {"rows", [](const std::string& path) { (void)results::read_rows(path); }},
    {"sweep", [](const std::string& path) { (void)run::sweep_from(read_json(path), path); }},
    {"config",
     [](const std::string& path) {
       (void)plan::resolve(plan::Request(read_json(path), plan::Origin::config, path));
     }},
    {"placement", [](const std::string& path) { (void)topologies::place(hosts(), 2, path); }},
    {"placement_table", [](const std::string& path) { (void)topologies::place(hosts(), 2, path); }},
    {"platform", [](const std::string& path) { (void)topologies::read_platform_xml(path); }},
    {"traffic",
     [](const std::string& path) {
       topologies::for_each_transfer(path, hosts(), std::array<topologies::HostIndex, 2>{0, 1}, 1,
                                     [](const topologies::Transfer&) {});
     }},
    // HDF5 itself is not instrumented, so what guides libFuzzer is the reader's code.
    {"trace",
     [](const std::string& path) { (void)traces::read_all(traces::TraceReader(path)); }},
});

const char* in_environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// Without a reader of the environment, prints their names.
const Reader& chosen() {
  static const Reader& reader = []() -> const Reader& {
    for (const Reader& one : kReaders) {
      if (one.name == in_environment("THINWIRE_READER")) return one;
    }
    for (const Reader& one : kReaders) std::puts(one.name.data());
    std::exit(2);
  }();
  return reader;
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* /*argc*/, char*** /*argv*/) {
  (void)chosen();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string path = in_environment("THINWIRE_FILE");
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  try {
    chosen().read(path);
  } catch (const InputError& error) {
    if (std::string_view(error.what()).empty()) std::abort();
  }
  return 0;
}
