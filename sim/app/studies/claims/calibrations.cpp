#include "sim/app/studies/claims/calibrations.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string_view>

#include "sim/app/studies/claims/claims.hpp"
#include "sim/core/base/json_node.hpp"
#include "sim/core/base/units.hpp"
#include "sim/machine/workloads/device.hpp"
#include "sim/machine/workloads/model.hpp"

namespace thinwire::studies {

namespace {

constexpr std::string_view kCalibratedFrom = "calibrated from claim ";

/// The claim in "calibrated from claim oktopk.vgg.minutes (...); ...", or empty.
std::string claim_in(const std::string& source) {
  const std::size_t at = source.find(kCalibratedFrom);
  if (at == std::string::npos) return {};
  const std::size_t from = at + kCalibratedFrom.size();
  return source.substr(from, source.find(';', from) - from);
}

std::string share_of(double rate, double peak, const std::string& unit, const std::string& what) {
  return fmt::format("{:.3g} {}, {:.2g}% of {} ({:.3g})", rate, unit, 100 * rate / peak, what,
                     peak);
}

/// The bytes of memory that one element of a kind of work reads and writes at least.
double bytes_of(const std::string& work) {
  if (work == "reduce") return 12;  // two words read, one written
  if (work == "prefix_sum") return 8;
  return 4;
}

Calibration of_claims_file(const std::string& name, const Json& entry) {
  Calibration calibration{.name = name,
                          .value = entry.at("value").get<double>(),
                          .unit = entry.at("unit").get<std::string>(),
                          .set_by = fmt::format("{} ({})", entry.at("claim").get<std::string>(),
                                                entry.at("what").get<std::string>()),
                          .check = {}};
  if (entry.contains("peak")) {
    // A time per element of so many bytes, or a rate.
    const double rate = entry.contains("bytes")
                            ? entry.at("bytes").get<double>() / calibration.value
                            : calibration.value;
    calibration.check = share_of(rate / 1e9, entry.at("peak_bytes_per_s").get<double>() / 1e9,
                                 "GB/s", entry.at("peak").get<std::string>());
  }
  return calibration;
}

}  // namespace

std::vector<Calibration> calibrations() {
  std::vector<Calibration> all;
  const Json facts = read_json(claims_file());
  const Json& peaks = facts.at("peaks");
  for (const auto& item : facts.at("calibrations").items()) {
    all.push_back(of_claims_file(item.key(), item.value()));
  }
  for (const std::string& name : workloads::kModels.names()) {
    const workloads::Model model = workloads::read_model(workloads::kModels.file(name));
    double forward = 0;
    for (const workloads::ModelLayer& layer : model.layers) forward += layer.forward_flops;
    for (const workloads::ModelCompute& compute : model.compute) {
      const std::string claim = claim_in(compute.source);
      if (claim.empty()) continue;
      // The backward pass has twice the operations of the forward pass.
      const double flops = 3 * forward * static_cast<double>(compute.batch) / compute.time.value();
      all.push_back({.name = fmt::format("{} on {}, computing", name, compute.device),
                     .value = compute.time.value(),
                     .unit = "s",
                     .set_by = claim,
                     .check = share_of(flops / 1e12,
                                       peaks.at(compute.device).at("flops").get<double>() / 1e12,
                                       "TFLOP/s", "the peak")});
    }
  }
  for (const std::string& name : workloads::kDevices.names()) {
    const workloads::Device device = workloads::read_device(workloads::kDevices.file(name));
    for (const auto* const prices : {&device.gpu, &device.host}) {
      for (const auto& [work, sourced] : *prices) {
        const std::string claim = claim_in(sourced.source);
        if (claim.empty()) continue;
        const double seconds = sourced.price.element.value();
        all.push_back({.name = fmt::format("{}, {}", name, work),
                       .value = seconds,
                       .unit = "s per element",
                       .set_by = claim,
                       .check = share_of(bytes_of(work) / seconds / 1e9,
                                         peaks.at(name).at("bytes_per_s").get<double>() / 1e9,
                                         "GB/s", "the memory")});
      }
    }
  }
  return all;
}

}  // namespace thinwire::studies
