// The claims about OmniReduce (SIGCOMM 2021). Its own figures are of models whose gradients are zero
// by nature, for which no profile is shipped. What ZEN (OSDI 2025) measured of it with the top 5% of a
// language model is compared here, on ZEN's 16 machines with 25 Gb/s and with BERT's profile: see
// zen.cpp.
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "sim/app/studies/claims/trials.hpp"
#include "sim/core/kernel/wire_format.hpp"

namespace thinwire::studies {

namespace {

constexpr int kOmniMachines = 16;
constexpr int kBlockComponents = 256;
constexpr double kOmniTopShare = 0.05;
constexpr double kOmniBytesPerSecond = 25e9 / 8;

/// Exact gradients of a tenth of BERT's components: blocks are not known of statistical ones. The
/// latency is a tenth, too, so that all times are.
constexpr int kOmniShare = 10;
constexpr std::int64_t kOmniComponents = 133'547'324 / kOmniShare;

const results::Outcome& omni_outcome(Trials& trials, const std::string& scheme) {
  return trials.outcome(
      {{"scheme", scheme},
       {"ranks", kOmniMachines},
       {"components", kOmniComponents},
       {"density", kOmniTopShare},
       {"iterations", 1},
       {"machine",
        {{"alpha_s", trials.assumed("zen.alpha_s") / kOmniShare},
         {"beta_s_per_word", static_cast<double>(kWordBytes) / kOmniBytesPerSecond}}},
       {"input", {{"profile", "bert"}}},
       {"record", {{"ranks", true}}}});
}

void omni_blocks(Trials& trials, ClaimPage& page) {
  const results::Outcome& outcome = omni_outcome(trials, "omnireduce");
  double words = 0;
  for (const results::RankPhase& of : outcome.by_rank) {
    if (of.phase == "push") words += static_cast<double>(of.traffic.words_received.value());
  }
  constexpr auto kAll = static_cast<double>(kOmniComponents);
  constexpr double kHeader = (kBlockComponents + 2.0) / kBlockComponents;
  page.at_least("share of the components that are in blocks with a selected one", "/lo",
                words / kHeader / (kOmniMachines - 1) / kAll, Basis::predicted,
                "BERT's profile at 5%")
      .against("selections drawn evenly", 1 - std::pow(1 - kOmniTopShare, kBlockComponents));
}

void omni_speedup(Trials& trials, ClaimPage& page) {
  const double dense = omni_outcome(trials, "dense_ring").time().value();
  const double blocks = omni_outcome(trials, "omnireduce").time().value();
  const double hashed = omni_outcome(trials, "zen").time().value();
  page.at_most("speedup of communication over AllReduce", "/hi", dense / blocks, Basis::predicted,
               "BERT's profile at 5%")
      .against("every block is sent", 1);
  page.at_most("communication over ZEN's", "/zen_hi", blocks / hashed, Basis::predicted,
               "BERT's profile at 5%; the hashing itself is left out")
      .against("no effect", 1);
  page.order("ZEN is faster", clearly_less(hashed, blocks),
             fmt::format("{:.3g} times", blocks / hashed));
}

void omni_training(Trials& /*trials*/, ClaimPage& page) {
  page.not_simulated("", "no profiles of these models, whose gradients are zero by nature");
}

}  // namespace

ClaimChecks omnireduce_claims() {
  return {{"omnireduce.blocks", omni_blocks},
          {"omnireduce.comm", omni_speedup},
          {"omnireduce.training", omni_training}};
}

}  // namespace thinwire::studies
