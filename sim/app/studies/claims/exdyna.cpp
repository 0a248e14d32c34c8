// The claims of ExDyna (2024): 16 V100 in two nodes of 8 with NVLink, PyTorch 1.5 and NCCL.
//
// They run on the platform exdyna_v100 with SMPI because eight GPUs share a NIC; messages go from
// GPU to GPU. Each model's compute time is calibrated with CLT-k's slowdown.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "sim/app/studies/claims/trials.hpp"

namespace thinwire::studies {

namespace {

constexpr int kExdynaRanks = 16;
/// A smaller ratio counts as a tie.
constexpr double kMargin = 1.01;
/// The names of the models in the paper and here.
constexpr std::array<std::pair<const char*, const char*>, 3> kExdynaModels{
    {{"resnet152", "resnet152"}, {"inception_v4", "inception_v4"}, {"lstm", "lstm_wikitext2"}}};

const experiment::Row& exdyna_trained(Trials& trials, const std::string& model,
                                      const std::string& scheme) {
  return trials.run({{"scheme", scheme},
                     {"ranks", kExdynaRanks},
                     {"network", "smpi"},
                     {"platform", "exdyna_v100"},
                     {"workload", {{"model", model}, {"device", "v100"}}}});
}

double seconds(Trials& trials, const std::string& model, const std::string& scheme) {
  return exdyna_trained(trials, model, scheme).outcome->training->mean.total().value();
}

void slowdown(Trials& trials, ClaimPage& page, const std::string& scheme, Basis basis) {
  for (const auto& [reported, model] : kExdynaModels) {
    page.number(reported, fmt::format("/values/{}", reported),
                seconds(trials, model, scheme) / seconds(trials, model, "exdyna"), basis,
                basis == Basis::calibrated ? "sets the model's computing time on the V100" : "");
  }
}

void clt(Trials& trials, ClaimPage& page) { slowdown(trials, page, "cltk", Basis::calibrated); }

void topk(Trials& trials, ClaimPage& page) {
  slowdown(trials, page, "topk_allreduce", Basis::predicted);
  for (const auto& [reported, model] : kExdynaModels) {
    const double own = seconds(trials, model, "exdyna");
    // The paper's breakdown has no overlap.
    double others = seconds(trials, model, "dense_ring");
    for (const char* scheme : {"cltk", "topk_allreduce", "hard_threshold"}) {
      others = std::min(others, seconds(trials, model, scheme));
    }
    page.order(fmt::format("{}: ExDyna is the fastest, also of dense", reported),
               kMargin * own < others, fmt::format("{:.3g} times the next", own / others));
    const double top = seconds(trials, model, "topk_allreduce");
    const double leader = seconds(trials, model, "cltk");
    page.order(fmt::format("{}: Top-k is slower than CLT-k", reported), top > kMargin * leader,
               fmt::format("{:.5g} times", top / leader));
  }
}

/// The density of the update that all ranks apply, relative to k.
double actual_density(const experiment::Row& row) {
  return static_cast<double>(row.outcome->result_components) / static_cast<double>(row.point.k);
}

void hard_density(Trials& trials, ClaimPage& page) {
  page.number("inception_v4", "/value",
              actual_density(exdyna_trained(trials, "inception_v4", "hard_threshold")),
              Basis::predicted, "the threshold here is right in the first iteration");
}

void density(Trials& trials, ClaimPage& page) {
  const double found = actual_density(exdyna_trained(trials, "inception_v4", "exdyna"));
  page.stated("inception_v4, over what was set", 1, found);
}

}  // namespace

ClaimChecks exdyna_claims() {
  return {{"exdyna.iteration.clt", clt},
          {"exdyna.iteration.topk", topk},
          {"exdyna.hard.density", hard_density},
          {"exdyna.density", density}};
}

}  // namespace thinwire::studies
