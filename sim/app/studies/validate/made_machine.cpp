#include "sim/app/studies/validate/made_machine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>
#include <utility>

#include "sim/app/plan/config.hpp"
#include "sim/app/plan/settings.hpp"
#include "sim/app/studies/claims/trials.hpp"
#include "sim/app/studies/validate/measured/timed_lines.hpp"
#include "sim/core/base/errors.hpp"
#include "topologies/generators/family.hpp"
#include "topologies/generators/quantities.hpp"

namespace thinwire::studies {

namespace {

constexpr const char* kNicBandwidth = "nic-bandwidth";
constexpr const char* kNicLatency = "nic-latency";
constexpr const char* kGpuBandwidth = "gpu-bandwidth";
constexpr const char* kGpuLatency = "gpu-latency";
constexpr int kLeafNodes = 32;
constexpr double kUsualGpuBandwidth = 300e9;
constexpr double kUsualNicLatency = 1.085e-6;
constexpr double kUsualGpuLatency = 85e-9;

/// Whether a variable is a figure of the platform: settings of machines have dots.
bool is_of_platform(const std::string& name) { return name.find('.') == std::string::npos; }

/// The bytes per second that a rank sends at least, if all send equally much.
double rate_of_rank(const MeasuredRow& row) {
  const double ranks = static_cast<double>(row.nodes) * row.tasks_per_node;
  const double share = (ranks - 1) / ranks;
  const bool twice = row.collective == "allreduce";
  if (row.collective == "ping_pong") return 8 * static_cast<double>(row.elements) / row.seconds;
  return (twice ? 2 : 1) * share * 4 * static_cast<double>(row.elements) / row.seconds;
}

/// The compute capability of a GPU whose rates NCCL's tuner has, by its name; 0 of others.
std::int64_t compute_capability(const std::string& device) {
  constexpr std::array kNames{std::pair{"v100", 7}, std::pair{"a100", 8}, std::pair{"a800", 8},
                              std::pair{"h100", 9}, std::pair{"h200", 9}, std::pair{"h800", 9}};
  for (const auto& [name, capability] : kNames) {
    if (lower(device).find(name) != std::string::npos) return capability;
  }
  return 0;
}

double given_or(const std::map<std::string, double>& values, const char* name, double otherwise) {
  const auto found = values.find(name);
  return found == values.end() ? otherwise : found->second;
}

}  // namespace

/// The platform files of trials, one for each text.
class MadeMachine::Trials {
 public:
  const std::string& file_of(const std::string& xml) {
    auto& file = files_[xml];
    if (!file) file = std::make_unique<TemporaryFile>(xml, ".xml");
    return file->path();
  }

 private:
  std::map<std::string, std::unique_ptr<TemporaryFile>> files_;
};

MadeMachine::MadeMachine(std::vector<MeasuredRow> rows, MachineWishes wishes,
                         const std::string& path)
    : rows_(std::move(rows)), wishes_(std::move(wishes)), trials_(std::make_unique<Trials>()) {
  if (rows_.empty()) throw InputError("fit: the logs hold no measured times");
  const MeasuredRow& first = rows_.front();
  for (const MeasuredRow& row : rows_) {
    if (row.machine == first.machine && row.gpu == first.gpu) continue;
    throw InputError("{}: was measured on {}{}, but {} on {}{}; a fit is for one machine",
                     row.place, row.machine, row.gpu ? " with GPU buffers" : "", first.place,
                     first.machine, first.gpu ? " with GPU buffers" : "");
  }
  machine_.path = path;
  machine_.name = first.machine;
  machine_.gpu = first.gpu;
  count_nodes();
  take_rates();
  std::vector<std::pair<std::string, int>> runs;
  for (const MeasuredRow& row : rows_) {
    const std::pair run(row.run, row.nodes);
    if (std::ranges::find(runs, run) == runs.end()) runs.push_back(run);
  }
  for (const auto& [run, nodes] : runs)
    machine_.calibrated_on.push_back({.run = run, .nodes = nodes});
  machine_.settings = {{"network", "links"}};
  // NCCL writes into a slot of its buffers (4 MiB by NCCL_BUFFSIZE, 8 slots) before the receiver asks.
  if (machine_.gpu) take_device();
  machine_.settings["machine"]["eager_bytes"] = machine_.gpu ? 524288 : 16384;
  if (!machine_.gpu) assumed_.emplace_back("messages up to 16 KiB are eager");
}

MadeMachine::~MadeMachine() = default;

void MadeMachine::count_nodes() {
  for (const MeasuredRow& row : rows_) {
    const bool one = row.nodes == 1;
    (one ? has_one_node_ : has_more_nodes_) |= row.nodes * row.tasks_per_node > 1;
    most_nodes_ = std::max(most_nodes_, row.nodes);
    ranks_per_node_ = std::max(ranks_per_node_, row.tasks_per_node);
  }
  if (wishes_.gpus) {
    if (!machine_.gpu) {
      throw InputError("--gpus: the logs are not of GPU buffers; say so of the log with gpu=yes");
    }
    if (*wishes_.gpus < ranks_per_node_) {
      throw InputError("--gpus {}: a log has {} ranks on a node", *wishes_.gpus, ranks_per_node_);
    }
    ranks_per_node_ = *wishes_.gpus;
  }
  nics_ = wishes_.nics.value_or(machine_.gpu ? ranks_per_node_ : 1);
  if (!wishes_.nics) {
    assumed_.push_back(machine_.gpu ? fmt::format("{} NICs of a node, one for each GPU", nics_)
                                    : std::string("one NIC of a node"));
  }
  if (machine_.gpu && ranks_per_node_ % nics_ != 0) {
    throw InputError("--nics {}: {} GPUs of a node cannot share them evenly", nics_,
                     ranks_per_node_);
  }
  if (!wishes_.leaf_nodes) {
    assumed_.push_back(fmt::format("{} nodes below a leaf switch", kLeafNodes));
  }
  if (!wishes_.oversubscription) {
    assumed_.emplace_back("no oversubscription above the leaf switches");
  }
}

double MadeMachine::rate_of(bool one_node) const {
  double most = 0;
  for (const MeasuredRow& row : rows_) {
    if ((row.nodes == 1) == one_node) most = std::max(most, rate_of_rank(row));
  }
  return most;
}

void MadeMachine::take_rates() {
  if (!wishes_.nic_bandwidth.empty()) {
    nic_bandwidth_ = topologies::parse_bandwidth(wishes_.nic_bandwidth, "--nic-bandwidth");
  } else if (has_more_nodes_) {
    nic_bandwidth_ = rate_of(false) / nics_;
    assumed_.push_back(fmt::format("{} a NIC, the most that a row shows",
                                   topologies::bandwidth_text(nic_bandwidth_)));
  } else {
    throw InputError(
        "--nic-bandwidth: the logs are from one node, so they do not show it; give it, as in "
        "400Gbps");
  }
  if (!machine_.gpu) return;
  if (!wishes_.gpu_bandwidth.empty()) {
    gpu_bandwidth_ = topologies::parse_bandwidth(wishes_.gpu_bandwidth, "--gpu-bandwidth");
  } else if (has_one_node_) {
    gpu_bandwidth_ = rate_of(true);
  } else {
    gpu_bandwidth_ = kUsualGpuBandwidth;
    assumed_.push_back(fmt::format("{} of a GPU to the switch of its node: no log is of one node",
                                   topologies::bandwidth_text(gpu_bandwidth_)));
  }
}

void MadeMachine::take_device() {
  std::string device = wishes_.device;
  for (const MeasuredRow& row : rows_) {
    if (device.empty()) device = row.device;
  }
  const std::int64_t capability = compute_capability(device);
  if (capability == 0 && !wishes_.device.empty()) {
    throw InputError("--device {}: its rates are not known; these are: v100, a100, h100",
                     wishes_.device);
  }
  if (capability == 0) {
    assumed_.emplace_back(
        "no limits of the GPU's thread blocks: no log names a V100, A100 or H100; see --device");
  }
  machine_.settings["options"] = {{"gpu", capability}, {"ll128", wishes_.ll128}};
}

std::vector<FitVariable> MadeMachine::variables() const {
  const auto rate = [](const char* name, double start) {
    return FitVariable{.name = name, .start = start, .unit = "B/s", .may_vanish = false};
  };
  const auto time = [](const char* name, double start) {
    return FitVariable{.name = name, .start = start, .unit = "s"};
  };
  const auto setting = [](const char* path, double start) {
    return FitVariable{.name = path, .start = start, .unit = plan::setting_at(path).unit};
  };
  std::vector<FitVariable> all;
  if (has_more_nodes_) all.push_back(rate(kNicBandwidth, 0.9 * nic_bandwidth_));
  if (!machine_.gpu) {
    all.push_back(setting("machine.overhead_s", 5e-7));
    all.push_back(setting("machine.host_latency_s", 1e-6));
    if (std::ranges::any_of(rows_, [](const MeasuredRow& row) {
          return row.collective == "allreduce" || row.collective == "reduce_scatter";
        })) {
      all.push_back(setting("machine.gamma_s_per_word", 2e-10));
    }
    return all;
  }
  if (has_more_nodes_) all.push_back(time(kNicLatency, kUsualNicLatency));
  if (has_one_node_) {
    all.push_back(rate(kGpuBandwidth, gpu_bandwidth_));
    all.push_back(time(kGpuLatency, kUsualGpuLatency));
  }
  all.push_back(setting("machine.call_s", 3e-6));
  if (has_more_nodes_) all.push_back(setting("machine.eager_s_per_word", 1.2e-10));
  if (wishes_.rendezvous) all.push_back(time("options.rendezvous_s", 1e-5));
  return all;
}

std::vector<MeasuredRow> MadeMachine::rows() const {
  constexpr std::size_t kMostSizes = 12;
  std::map<std::tuple<std::string, int, int, std::string, std::string>, std::vector<MeasuredRow>>
      curves;
  for (const MeasuredRow& row : rows_) {
    curves[{row.run, row.nodes, row.tasks_per_node, row.collective, row.algorithm}].push_back(row);
  }
  std::vector<MeasuredRow> kept;
  for (auto& [key, curve] : curves) {
    std::ranges::stable_sort(curve, {}, &MeasuredRow::elements);
    const std::vector<MeasuredRow> some = spread_over(curve, kMostSizes);
    kept.insert(kept.end(), some.begin(), some.end());
  }
  return kept;
}

std::string MadeMachine::platform_xml(const std::map<std::string, double>& values,
                                      int nodes) const {
  const int leaf = std::min(wishes_.leaf_nodes.value_or(kLeafNodes), nodes);
  const int leaves = (nodes + leaf - 1) / leaf;
  const std::string over = fmt::format("{}", wishes_.oversubscription.value_or(1));
  const auto rate = [&](const char* name, double otherwise) {
    return topologies::bandwidth_text(given_or(values, name, otherwise));
  };
  const auto time = [&](const char* name, double otherwise) {
    return topologies::time_text(Seconds(given_or(values, name, otherwise)));
  };
  if (!machine_.gpu) {
    const double bandwidth = nics_ * given_or(values, kNicBandwidth, nic_bandwidth_);
    const std::string children =
        leaves == 1 ? std::to_string(leaf) : fmt::format("{},{}", leaf, leaves);
    return topologies::make_platform(topologies::family("fat_tree"),
                                     {{"children", children},
                                      {"oversubscription", over},
                                      {"bandwidth", topologies::bandwidth_text(bandwidth)}});
  }
  std::map<std::string, std::string> parameters{
      {"gpus", std::to_string(ranks_per_node_)},
      {"oversubscription", over},
      {kNicBandwidth, rate(kNicBandwidth, nic_bandwidth_)},
      {kNicLatency, time(kNicLatency, kUsualNicLatency)},
      {kGpuBandwidth, rate(kGpuBandwidth, gpu_bandwidth_)},
      {kGpuLatency, time(kGpuLatency, kUsualGpuLatency)}};
  const bool rails = nics_ == ranks_per_node_;
  if (rails) {
    parameters["islands"] = std::to_string(leaves);
    parameters["nodes"] = std::to_string(leaf);
  } else {
    parameters["nodes"] = std::to_string(nodes);
    parameters["nics"] = std::to_string(nics_);
    parameters["leaf-nodes"] = std::to_string(leaf);
  }
  return topologies::make_platform(topologies::family(rails ? "rails" : "nvlink_ib"), parameters);
}

MachineDescription MadeMachine::described(const std::map<std::string, double>& values,
                                          const std::string& platform) const {
  MachineDescription machine = machine_;
  machine.settings["platform"] = platform;
  for (const auto& [name, value] : values) {
    if (is_of_platform(name)) continue;
    machine.settings[Json::json_pointer(plan::pointer_of(name))] = value;
  }
  return machine;
}

Json MadeMachine::to_json(const MachineFit& fit) const {
  Json runs = Json::array();
  for (const RowFilter& rows : machine_.calibrated_on) {
    runs.push_back({{"run", rows.run}, {"nodes", *rows.nodes}});
  }
  Json sources = {
      fmt::format("fitted: thinwire fit, to {} rows of {} nodes at most", fit.rows, most_nodes_)};
  for (const std::string& assumed : assumed_) sources.push_back("assumed: " + assumed);
  return studies::to_json(
      fit,
      {{"name", machine_.name},
       {"gpu", machine_.gpu},
       {"summary", fmt::format("{} {} and {} NIC{} a node", ranks_per_node_,
                               machine_.gpu ? "GPUs" : "processes", nics_, nics_ == 1 ? "" : "s")},
       {"settings", Json::object()},
       {"calibrated_on", runs},
       {"sources", sources}});
}

FitProblem MadeMachine::problem() {
  return {.machine = machine_,
          .variables = variables(),
          // NCCL's choices jump as figures move, so the least squares may lie at a jump.
          .descent = {.enough = 0.01, .most_steps = 10},
          .takes_best = true,
          .with = [this](const std::map<std::string, double>& values) {
            return described(values, trials_->file_of(platform_xml(values, most_nodes_)));
          }};
}

}  // namespace thinwire::studies
