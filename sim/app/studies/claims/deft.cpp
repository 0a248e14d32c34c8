// The claims of DEFT (ICPP 2023), as far as its abstract has them, on the models and the platform of
// ExDyna, which is by the same authors.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "sim/app/studies/claims/trials.hpp"

namespace thinwire::studies {

namespace {

Json deft_point(const std::string& scheme, int ranks) {
  return {{"scheme", scheme},
          {"ranks", ranks},
          {"platform", "exdyna_v100"},
          {"workload", {{"model", "lstm_wikitext2"}, {"device", "v100"}}}};
}

/// The components of the sum over k.
double sum_over_k(Trials& trials, const std::string& scheme, int ranks) {
  const results::Row& row = trials.run(deft_point(scheme, ranks));
  return static_cast<double>(row.outcome->result_components) / static_cast<double>(row.point.k);
}

void deft_traffic(Trials& trials, ClaimPage& page) {
  std::string note;
  double most = 0;
  double least = 2;
  for (const int ranks : {2, 4, 8, 16}) {
    const double found = sum_over_k(trials, "deft", ranks);
    most = std::max(most, found);
    least = std::min(least, found);
    note += fmt::format("{}{:.4g}", note.empty() ? "" : ", ", found);
  }
  const double top = sum_over_k(trials, "topk_allreduce", 16);
  page.stated("k selected by 16 GPUs, over what was set", 1, sum_over_k(trials, "deft", 16))
      .against("by construction", 1);
  page.order("the density stays with 2, 4, 8 and 16 GPUs, where Top-k builds up",
             most < 1.1 && least > 0.9 && top > 2,
             fmt::format("{}; Top-k on 16: {:.3g}", note, top));
}

void deft_speed(Trials& trials, ClaimPage& page) {
  std::string note;
  bool grows = true;
  double before = 0;
  for (const int ranks : {2, 4, 8, 16}) {
    const auto selecting = [&](const char* scheme) {
      return trials.train(deft_point(scheme, ranks)).mean.sparsification.value();
    };
    const double speedup = selecting("topk_allreduce") / selecting("deft");
    grows = grows && clearly_less(std::max(1.0, before), speedup);
    before = speedup;
    note += fmt::format("{}{:.3g}", note.empty() ? "" : ", ", speedup);
  }
  page.order("selects faster than Top-k, the more GPUs the more", grows,
             note + " times, error feedback included, on 2, 4, 8, 16");
}

}  // namespace

ClaimChecks deft_claims() { return {{"deft.traffic", deft_traffic}, {"deft.speed", deft_speed}}; }

}  // namespace thinwire::studies
