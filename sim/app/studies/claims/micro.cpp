// The claims of MiCRO (HiPC 2023), as far as its abstract has them, on the models and the platform of
// ExDyna, which is by the same authors.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "sim/app/studies/claims/trials.hpp"

namespace thinwire::studies {

namespace {

Json micro_point(const std::string& model, const std::string& scheme, int ranks) {
  return {{"scheme", scheme},
          {"ranks", ranks},
          {"platform", "exdyna_v100"},
          {"workload", {{"model", model}, {"device", "v100"}}}};
}

double selecting(Trials& trials, const std::string& model, const std::string& scheme, int ranks) {
  return trials.train(micro_point(model, scheme, ranks)).mean.sparsification.value();
}

void micro_density(Trials& trials, ClaimPage& page) {
  for (const char* model : {"resnet152", "inception_v4", "lstm_wikitext2"}) {
    const results::Row& row = trials.run(micro_point(model, "micro", 16));
    const double found =
        static_cast<double>(row.outcome->result_components) / static_cast<double>(row.point.k);
    page.stated(fmt::format("{}, over what was set", model), 1, found)
        .against("by construction", 1);
  }
}

void micro_cost(Trials& trials, ClaimPage& page) {
  for (const char* model : {"resnet152", "inception_v4", "lstm_wikitext2"}) {
    const double own = selecting(trials, model, "micro", 16);
    double others = selecting(trials, model, "hard_threshold", 16);
    for (const char* scheme : {"topk_allreduce", "cltk"}) {
      others = std::min(others, selecting(trials, model, scheme, 16));
    }
    page.order(fmt::format("{}: selects faster than Top-k, CLT-k and hard-threshold", model),
               clearly_less(own, others),
               fmt::format("{:.3g} ms, error feedback included; the next {:.3g} ms", 1e3 * own,
                           1e3 * others));
  }
}

void micro_scaling(Trials& trials, ClaimPage& page) {
  std::string note;
  bool falls = true;
  double before = 0;
  for (const int ranks : {2, 4, 8, 16}) {
    const double time = selecting(trials, "resnet152", "micro", ranks);
    falls = falls && (before == 0 || clearly_less(time, before));
    before = time;
    note += fmt::format("{}{:.3g}", note.empty() ? "" : ", ", 1e3 * time);
  }
  page.order("ResNet-152: selecting takes less time with each doubling of the GPUs", falls,
             note + " ms on 2, 4, 8, 16");
}

}  // namespace

ClaimChecks micro_claims() {
  return {{"micro.density", micro_density},
          {"micro.cost", micro_cost},
          {"micro.scaling", micro_scaling}};
}

}  // namespace thinwire::studies
