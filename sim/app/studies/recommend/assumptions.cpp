#include "sim/app/studies/recommend/assumptions.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <string>

#include "algorithms/registry.hpp"
#include "sim/app/plan/network_info.hpp"
#include "sim/app/studies/recommend/densities.hpp"
#include "sim/app/studies/recommend/memory.hpp"
#include "sim/machine/workloads/device.hpp"
#include "sim/machine/workloads/model.hpp"

namespace thinwire::studies {

namespace {

std::string density_text(const RecommendSettings& settings, const plan::Point& point) {
  const std::string share = fmt::format("{:.4g}", density_of_point(point));
  if (settings.density_of == DensityOf::sum) {
    return share + " of each rank; schemes with shorter sums than top-k SGD select as many more";
  }
  return fmt::format(
      "{}, k = {}: of each rank, or of all ranks together in {} and of the rank that selects in "
      "{}, "
      "as their papers define it",
      share, point.k,
      fmt::join(algorithms::names_of_schemes(&algorithms::SchemeInfo::selects_together), ", "),
      fmt::join(algorithms::names_of_schemes(&algorithms::SchemeInfo::one_selects), ", "));
}

std::string network_text(const plan::Point& point, const plan::Machine& machine) {
  std::string text = point.network->name;
  if (!point.platform.empty()) text += ", platform " + point.platform;
  text += point.network->congests ? ": messages share links, no other jobs; PCI Express and the "
                                    "striping over several NICs are not modelled, so that this is "
                                    "no advice to add ports"
                                  : ": end to end, no congestion";
  return text +
         fmt::format("; alpha {:.3g} s, beta {:.3g} s/word ({:.3g} GB/s)", machine.alpha.value(),
                     machine.beta_per_word.value(),
                     machine.beta_per_word > Seconds(0) ? 4e-9 / machine.beta_per_word.value() : 0);
}

std::string precision_text(const GradientSpace& space) {
  const Precision& bits = space.precision;
  std::string text =
      fmt::format("values of {} bits, indexes of {} bits", bits.value_bits, bits.index_bits);
  if (bits.value_bits != 32) text += "; what is kept has 32";
  if (static_cast<double>(space.components) > std::ldexp(1.0, bits.index_bits)) {
    text += "; n exceeds the indexes: they need offsets per tensor, or --index-bits 64";
  }
  return text;
}

}  // namespace

std::vector<Remark> assumptions_of(const RecommendSettings& settings, const Candidate& any) {
  const plan::Point& point = any.row.point;
  const plan::Machine& machine = any.row.outcome->machine;
  const workloads::Model model =
      workloads::read_model(workloads::kModels.file(point.workload.model));
  const workloads::Device device =
      workloads::read_device(workloads::kDevices.file(point.workload.device));
  const workloads::ModelCompute& compute = workloads::compute_on(model, device.name);
  const std::int64_t batch = point.workload.batch > 0 ? point.workload.batch : compute.batch;
  std::vector<Remark> all;
  const auto n = static_cast<double>(point.space.components);
  all.push_back({"model", fmt::format("{}: {} components", model.summary, point.space.components)});
  all.push_back({"device", device.name + ": " + device.summary});
  all.push_back(
      {"computing",
       fmt::format("{:.4g} s for {} {}{} per {}: {}",
                   compute.time.value() * static_cast<double>(batch) /
                       static_cast<double>(compute.batch) / point.parallel.tensor,
                   batch, model.sample, batch == 1 ? "" : "s",
                   point.parallel.tensor > 1 ? "tensor-parallel group" : "rank", compute.source)});
  std::string ranks = fmt::format("{}", point.ranks);
  if (machine.node > 1) ranks += fmt::format(", {} on each node", machine.node);
  if (!point.platform.empty()) ranks += fmt::format(", placement {}", point.placement);
  all.push_back({"ranks", ranks});
  if (point.parallel.tensor > 1) {
    all.push_back(
        {"groups",
         fmt::format("{} data-parallel groups of {} ranks; {} tensor-parallel ranks share "
                     "the layers and sum activations by {}",
                     point.parallel.tensor, point.data_ranks(), point.parallel.tensor,
                     point.tensor_scheme->name)});
  }
  all.push_back({"network", network_text(point, machine)});
  if (point.latency_factor != 1 || point.bandwidth_factor != 1) {
    all.push_back({"factors", fmt::format("latencies times {:.4g}, bandwidths times {:.4g}",
                                          point.latency_factor, point.bandwidth_factor)});
  }
  all.push_back({"density", density_text(settings, point)});
  all.push_back({"precision", precision_text(point.space)});
  const std::array<const char*, 3> feedback{"none", "residual", "velocity and accumulator"};
  all.push_back(
      {"kept", fmt::format("{} of what sparse schemes do not send; {}",
                           feedback.at(static_cast<std::size_t>(point.workload.feedback)),
                           point.workload.staging ? "messages go through the host"
                                                  : "messages are sent from GPU memory")});
  const double state = settings.state_bytes * n;
  all.push_back(
      {"memory",
       fmt::format("{} of {} for weights, gradient and optimizer ({:.3g} bytes per "
                   "component); activations are not counted",
                   gigabytes(state),
                   device.memory ? gigabytes(static_cast<double>(device.memory->bytes.value()))
                                 : "an unknown size",
                   settings.state_bytes)});
  return all;
}

}  // namespace thinwire::studies
