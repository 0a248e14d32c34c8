// The claims of SparDL (ICDE 2024). Only its abstracts and its code could be read: they say by how
// much it is faster at most, and not on which machine. So these are bounds: no case here may exceed
// them. The cases are VGG-16 at 1% as in the published script, on 2 to 16 ranks, with the machine of
// the α-β formulas that is its default here.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sim/app/results/compare.hpp"
#include "sim/app/studies/claims/trials.hpp"

namespace thinwire::studies {

namespace {

constexpr double kSparDlDensity = 0.01;

Json spardl_point(const std::string& scheme, int ranks) {
  return {{"scheme", scheme},
          {"ranks", ranks},
          {"density", kSparDlDensity},
          {"input", {{"profile", "vgg16"}, {"statistical", true}}}};
}

double spardl_time(Trials& trials, const std::string& scheme, int ranks) {
  return trials.outcome(spardl_point(scheme, ranks)).mean_time().value();
}

/// The greatest time of a scheme over SparDL's.
double most_over(Trials& trials, const std::vector<std::string>& schemes) {
  double most = 0;
  for (const int ranks : {2, 4, 8, 14, 16}) {
    for (const std::string& scheme : schemes) {
      most =
          std::max(most, spardl_time(trials, scheme, ranks) / spardl_time(trials, "spardl", ranks));
    }
  }
  return most;
}

void spardl_fastest(Trials& trials, ClaimPage& page) {
  const std::vector<std::string> others{"oktopk", "gtopk", "topka", "topkdsa"};
  std::string over;
  for (const std::string& scheme : others) {
    over += fmt::format(", {} {:.3g}", scheme, most_over(trials, {scheme}));
  }
  page.at_most("communication over that of each other sparse allreduce, 2 to 16 ranks", "/hi",
               most_over(trials, others), Basis::predicted, "its machine is not known" + over)
      .against("no effect", 1);
  std::string gains;
  bool fastest = true;
  for (const int ranks : {8, 14, 16}) {
    double best = spardl_time(trials, others.front(), ranks);
    for (const std::string& scheme : others) {
      best = std::min(best, spardl_time(trials, scheme, ranks));
    }
    const double gain = best / spardl_time(trials, "spardl", ranks);
    fastest = fastest && clearly_less(1, gain);
    gains += fmt::format("{}{:.3g}", gains.empty() ? "" : ", ", gain);
  }
  page.order("it is faster than all of them on 8, 14 and 16 ranks", fastest,
             gains + " times the fastest of them");
}

void spardl_best(Trials& trials, ClaimPage& page) {
  page.at_most("communication over Ok-Topk's, 2 to 16 ranks", "/hi", most_over(trials, {"oktopk"}),
               Basis::predicted, "its machine is not known")
      .against("no effect", 1);
}

void spardl_no_fill_in(Trials& trials, ClaimPage& page) {
  for (const int ranks : {8, 14}) {
    const results::Row& row = trials.run(spardl_point("spardl", ranks));
    const auto words = static_cast<double>(row.outcome->words_received.max);
    const double formula = 4.0 * static_cast<double>(row.point.k) * (ranks - 1) / ranks;
    page.order(fmt::format("P = {}: no entry more than k in the result, at any P", ranks),
               row.outcome->result_components <= row.point.k && words <= 1.001 * formula,
               fmt::format("{} of {} components, {:.4g} times 4k (P-1)/P words",
                           row.outcome->result_components, row.point.k, words / formula),
               Basis::formula);
  }
}

}  // namespace

ClaimChecks spardl_claims() {
  return {{"spardl.speedup.most", spardl_fastest},
          {"spardl.speedup.best", spardl_best},
          {"spardl.fillin", spardl_no_fill_in}};
}

}  // namespace thinwire::studies
