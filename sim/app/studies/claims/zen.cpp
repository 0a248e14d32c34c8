// The claims of ZEN (OSDI 2025): 16 machines of 8 V100 with NVLink, 25 Gb/s between them.
//
// The GPUs of a machine split the gradient (ReduceScatter, or tensor parallelism with the language
// models) and share the wire, so the machines are ranks that synchronise all of it, on the α-β
// machine. No profile of these models is shipped: BERT's stands for the two language models, at their
// density, and what depends on the natural sparsity of LSTM, DeepFM and NMT is not simulated.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "algorithms/sparsifiers/sparsifier.hpp"
#include "sim/app/studies/claims/trials.hpp"
#include "sim/core/kernel/wire_format.hpp"

namespace thinwire::studies {

namespace {

constexpr int kZenMachines = 16;
constexpr double kTopShare = 0.05;  // DGC's, for the language models
constexpr double kZenBytesPerSecond = 25e9 / 8;

/// A scheme among the machines, with gradients as BERT's.
Json zen_point(const Trials& trials, const std::string& scheme, double density, int ranks) {
  return {{"scheme", scheme},
          {"ranks", ranks},
          {"density", density},
          {"machine",
           {{"alpha_s", trials.assumed("zen.alpha_s")},
            {"beta_s_per_word", static_cast<double>(kWordBytes) / kZenBytesPerSecond}}},
          {"input", {{"profile", "bert"}, {"statistical", true}}}};
}

/// The seconds that a V100 takes to hash so many entries and to compact them (Algorithm 1).
double hashing_on_v100(const Trials& trials, std::int64_t entries) {
  const algorithms::SelectionWork work{
      .hashed = entries, .prefix_summed = std::llround(2.2 * static_cast<double>(entries))};
  return work.cost(trials.prices("v100")).value();
}

/// The density of the sum of selections that are drawn evenly.
double drawn_evenly(double density, int ranks) { return 1 - std::pow(1 - density, ranks); }

/// The communication speedup over a ring allreduce.
double zen_speedup(Trials& trials, const std::string& scheme) {
  const results::Row& row = trials.run(zen_point(trials, scheme, kTopShare, kZenMachines));
  const double hashed = kTopShare * static_cast<double>(row.point.space.components);
  const double dense =
      trials.outcome(zen_point(trials, "dense_ring", kTopShare, kZenMachines)).time().value();
  return dense / (row.outcome->time().value() + hashing_on_v100(trials, std::llround(hashed)));
}

void llm(Trials& trials, ClaimPage& page) {
  const double union_density = drawn_evenly(kTopShare, kZenMachines);
  const double null = 2 / (2 * kTopShare + union_density + 1.0 / 32);
  for (const char* model : {"opt_2.7b", "gemma2_2b"}) {
    page.number(model, fmt::format("/values/{}", model), zen_speedup(trials, "zen"),
                Basis::predicted, "BERT's profile at 5%")
        .against("formula, selections drawn evenly", null);
  }
}

void over_sparcml(Trials& trials, ClaimPage& page) {
  const double gain = zen_speedup(trials, "zen") / zen_speedup(trials, "ssar_recursive_double");
  double exchanged = 0;  // Equation 2
  for (int ranks = 1; ranks < kZenMachines; ranks *= 2) {
    exchanged += 2 * drawn_evenly(kTopShare, ranks);
  }
  const double shared_out = (kZenMachines - 1.0) / kZenMachines *
                            (2 * kTopShare + drawn_evenly(kTopShare, kZenMachines) + 1.0 / 32);
  page.at_most("communication of SparCML over ZEN's", "/hi", gain, Basis::predicted,
               "BERT's profile at 5%")
      .against("formula, selections drawn evenly", exchanged / shared_out);
  page.order("faster than SparCML", clearly_less(1, gain), fmt::format("{:.3g} times", gain));
}

void densification(Trials& /*trials*/, ClaimPage& page) {
  page.not_simulated("", "no profile of embeddings' gradients, whose overlap is not known");
}

void hashing(Trials& trials, ClaimPage& page) {
  const double entries = page.paper("/components") * page.paper("/density");
  const double by_dragonn = 13.2 * page.paper("/components") * kWordBytes / 512e6;
  page.number("Algorithm 1, ms", "/value", 1e3 * hashing_on_v100(trials, std::llround(entries)))
      .against("DRAGONN's encoding, by size", by_dragonn);
}

void baseline(Trials& trials, ClaimPage& page) {
  Json point = zen_point(trials, "dense_ring", kTopShare, kZenMachines);
  point["components"] = static_cast<std::int64_t>(page.paper("/components"));
  const double speedup = page.paper("/speedup");
  page.stated("AllReduce by its saving and its speedup, ms",
              page.paper("/saving_ms") / (1 - 1 / speedup),
              1e3 * trials.outcome(point).time().value())
      .against("all bytes twice over the wire",
               1e3 * 2 * kWordBytes * page.paper("/components") / kZenBytesPerSecond);
  page.not_simulated("zen", "no profile of DeepFM's embeddings: their overlap is not known");
}

void imbalance(Trials& trials, ClaimPage& page) {
  const auto ratio = [&](const char* scheme, const char* phase) {
    Json point = zen_point(trials, scheme, kTopShare, kZenMachines);
    point["record"] = {{"ranks", true}};
    double most = 0;
    double sum = 0;
    for (const results::RankPhase& of : trials.outcome(point).by_rank) {
      if (of.phase != phase) continue;
      const auto words = static_cast<double>(of.traffic.words_received.value());
      most = std::max(most, words);
      sum += words;
    }
    return most * kZenMachines / sum;
  };
  page.at_most("push, received by a rank over the mean", "/hi", ratio("zen", "push"),
               Basis::predicted,
               fmt::format("BERT's profile, 16 ranks; {:.3g} with equal regions of indexes",
                           ratio("ssar_split_allgather", "split_and_reduce")))
      .against("all ranks alike", 1);
}

void bitmap(Trials& /*trials*/, ClaimPage& page) {
  page.number("MB of a hash bitmap", "/values/hash_bitmap", page.paper("/values/tensor") / 32,
              Basis::formula);
  page.number("MB of 16 bitmaps of all indexes", "/values/bitmaps",
              kZenMachines * page.paper("/values/tensor") / 32, Basis::formula);
  page.order("at a density of 95% it is shorter than the dense tensor", 0.95 + 1.0 / 32 < 1,
             fmt::format("{:.3g} of it", 0.95 + 1.0 / 32), Basis::formula);
}

void nmt(Trials& /*trials*/, ClaimPage& page) {
  page.not_simulated("", "no profile of NMT's embeddings: their overlap is not known");
}

}  // namespace

ClaimChecks zen_claims() {
  return {{"zen.comm.llm", llm},
          {"zen.comm.sparcml", over_sparcml},
          {"zen.densification", densification},
          {"zen.hashing", hashing},
          {"zen.baseline", baseline},
          {"zen.imbalance", imbalance},
          {"zen.bitmap", bitmap},
          {"zen.nmt.128", nmt}};
}

}  // namespace thinwire::studies
