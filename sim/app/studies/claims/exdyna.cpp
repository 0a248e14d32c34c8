// The claims of ExDyna (2024): 16 V100 in two nodes of 8 with NVLink, PyTorch 1.5 and NCCL.
//
// They run on the platform exdyna_v100 with SMPI because eight GPUs share a NIC; messages go from
// GPU to GPU. Computing times follow from the operations at a public training's rate, so that no
// figure here is calibrated by one of this paper.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/schemes/exdyna.hpp"
#include "sim/app/studies/claims/trials.hpp"
#include "sim/machine/workloads/device.hpp"
#include "sim/machine/workloads/model.hpp"

namespace thinwire::studies {

namespace {

constexpr int kExdynaRanks = 16;
/// The names of the models in the paper and here.
constexpr std::array<std::pair<const char*, const char*>, 3> kExdynaModels{
    {{"resnet152", "resnet152"}, {"inception_v4", "inception_v4"}, {"lstm", "lstm_wikitext2"}}};

Json exdyna_point(const std::string& model, const std::string& scheme, int ranks) {
  return {{"scheme", scheme},
          {"ranks", ranks},
          {"network", "smpi"},
          {"platform", "exdyna_v100"},
          {"workload", {{"model", model}, {"device", "v100"}}}};
}

const results::Row& exdyna_trained(Trials& trials, const std::string& model,
                                   const std::string& scheme, int ranks = kExdynaRanks,
                                   const Json& options = Json::object()) {
  Json point = exdyna_point(model, scheme, ranks);
  point["options"] = options;
  return trials.run(point);
}

double seconds(Trials& trials, const std::string& model, const std::string& scheme) {
  return exdyna_trained(trials, model, scheme).outcome->training->mean.total().value();
}

double slowdown(Trials& trials, const std::string& model, const std::string& scheme) {
  return seconds(trials, model, scheme) / seconds(trials, model, "exdyna");
}

/// The slowdown by selecting alone: nothing but the computing time and the price of a top-k.
double selection_over_computing(const Trials& trials, const std::string& name) {
  const workloads::Model model = workloads::read_model(workloads::kModels.file(name));
  const WorkPrices prices = trials.prices("v100");
  const double computing = workloads::compute_on(model, "v100").time.value();
  return 1 + prices.topk.of(model.components).value() / computing;
}

void clt(Trials& trials, ClaimPage& page) {
  for (const auto& [reported, model] : kExdynaModels) {
    page.number(reported, fmt::format("/values/{}", reported), slowdown(trials, model, "cltk"))
        .against("selection over computing", selection_over_computing(trials, model));
  }
}

void topk(Trials& trials, ClaimPage& page) {
  for (const auto& [reported, model] : kExdynaModels) {
    page.number(reported, fmt::format("/values/{}", reported),
                slowdown(trials, model, "topk_allreduce"))
        .against("selection over computing", selection_over_computing(trials, model));
  }
  for (const auto& [reported, model] : kExdynaModels) {
    const double own = seconds(trials, model, "exdyna");
    // The paper's breakdown has no overlap.
    double others = seconds(trials, model, "dense_ring");
    for (const char* scheme : {"cltk", "topk_allreduce", "hard_threshold"}) {
      others = std::min(others, seconds(trials, model, scheme));
    }
    page.order(fmt::format("{}: ExDyna is the fastest, also of dense", reported),
               clearly_less(own, others), fmt::format("{:.3g} times the next", own / others));
    const double top = seconds(trials, model, "topk_allreduce");
    const double leader = seconds(trials, model, "cltk");
    const std::string pointer = fmt::format("/values/{}", reported);
    const double papers =
        page.paper(pointer) /
        trials.claim("exdyna.iteration.clt").at(Json::json_pointer(pointer)).get<double>();
    if (!clearly_less(1, papers)) continue;  // the LSTM's figures differ by 0.5%
    page.order(fmt::format("{}: Top-k is slower than CLT-k", reported), clearly_less(leader, top),
               fmt::format("{:.5g} times; {:.5g} in the paper", top / leader, papers));
  }
}

/// The density of the update that all ranks apply, relative to k.
double actual_density(const results::Row& row) {
  return static_cast<double>(row.outcome->result_components) / static_cast<double>(row.point.k);
}

void hard_density(Trials& /*trials*/, ClaimPage& page) {
  page.not_simulated(
      "inception_v4",
      "the published threshold is 1/(2 sqrt(k)), in the units of gradients whose "
      "norm is unknown; the exact threshold of the first iteration gives 16 at most");
}

void density(Trials& trials, ClaimPage& page) {
  const double found = actual_density(exdyna_trained(trials, "inception_v4", "exdyna"));
  page.stated("inception_v4, over what was set", 1, found).against("by construction", 1);
}

/// Figure 2 has other models, whose densities are in a picture without numbers. Inception-v4 stands
/// for them, with the density that the text gives for it.
void figure2(Trials& trials, ClaimPage& page) {
  constexpr int kRanks = 8;
  constexpr double kSet = 0.001;
  const auto communication = [&](const std::string& scheme, double density) {
    Json point = exdyna_point("inception_v4", scheme, kRanks);
    if (density > 0) point["density"] = density;
    return trials.outcome(point).training->mean.communication.value();
  };
  const double over = trials.claim("exdyna.hard.density").at("value").get<double>();
  // What a rank selects such that all together have the density: each rank's share of the first
  // guess, corrected by the overlap found there.
  double each = over * kSet / kRanks;
  Json guess = exdyna_point("inception_v4", "hard_threshold", kRanks);
  guess["density"] = each;
  const results::Row& row = trials.run(guess);
  each = std::min(1.0, each * over * kSet * static_cast<double>(row.point.space.components) /
                           static_cast<double>(row.outcome->result_components));
  const double sparse = communication("hard_threshold", each);
  const double dense = communication("dense_ring", 0);
  page.order(
      "hard-threshold communicates longer than dense", clearly_less(dense, sparse),
      fmt::format("{:.3g} and {:.3g} ms on Inception-v4 with {:g} times the density set; "
                  "{:.3g} ms if each rank selected k",
                  1e3 * sparse, 1e3 * dense, over, 1e3 * communication("hard_threshold", kSet)));
}

/// Figure 10: if the threshold did not follow the global error, the density would not stay.
void figure10(Trials& trials, ClaimPage& page) {
  const auto run = [&](int iterations) -> const results::Outcome& {
    return trials.outcome({{"scheme", "exdyna"},
                           {"ranks", kExdynaRanks},
                           {"components", 200'000},
                           {"k", 200},
                           {"iterations", iterations},
                           {"error_feedback", true},
                           {"input", {{"tail", 0.5}}}});
  };
  bool stays = true;
  std::string note;
  // The error grows in the first iterations alone.
  for (const int iterations : {2, 5, 10, 20, 100}) {
    const results::Outcome& outcome = run(iterations);
    const double share = static_cast<double>(outcome.selection->total) / 200;
    stays = stays && std::abs(share - 1) < kClaimTolerance;
    note += fmt::format("{}{:.3g}", note.empty() ? "" : ", ", share);
  }
  const std::vector<double>& errors = run(100).global_errors;
  const double growth = errors.empty() ? 0 : errors.back() / errors.front();
  page.order("the threshold follows the global error: the density stays while the error grows",
             stays && growth > 2,
             fmt::format("{} k after 2, 5, 10, 20, 100 iterations from zero error, which grows "
                         "{:.3g} times from the first one on, {:.3g} times in the first 20",
                         note, growth, errors.size() < 20 ? 0 : errors[19] / errors.front()));
}

void figure8(Trials& /*trials*/, ClaimPage& page) {
  page.not_simulated("", "convergence, which needs the gradients of these trainings");
}

/// f(t) in the reported iteration.
double traffic_ratio(const results::Row& row) {
  return algorithms::padding_factor(row.point.ranks, row.outcome->selection->most,
                                    row.outcome->selection->total);
}

/// Table I on the profiles of two models, whose ranks have one law.
void table1_of_exdyna(Trials& trials, ClaimPage& page) {
  for (const std::string profile : {"vgg16", "lstm"}) {
    const auto run = [&](const char* scheme) -> const results::Row& {
      return trials.run({{"scheme", scheme},
                         {"ranks", kExdynaRanks},
                         {"density", 0.001},
                         {"input", {{"profile", profile}, {"statistical", true}}}});
    };
    const double own = traffic_ratio(run("exdyna"));
    const double hard = traffic_ratio(run("hard_threshold"));
    const double sidco = traffic_ratio(run("sidco"));
    page.order(profile + ": ExDyna pads less than hard-threshold and SIDCo",
               clearly_less(own, std::min(hard, sidco)),
               fmt::format("f = {:.3g}, {:.3g} and {:.3g}", own, hard, sidco));
    const double top = actual_density(run("topk_allreduce"));
    const double threshold = actual_density(run("hard_threshold"));
    const double kept = std::max(actual_density(run("cltk")), actual_density(run("exdyna")));
    page.order(
        profile + ": Top-k and hard-threshold build up, CLT-k and ExDyna do not",
        clearly_less(2, std::min(top, threshold)) && kept < 1 + kClaimTolerance,
        fmt::format("{:.3g} and {:.3g} times what was set, {:.3g} at most", top, threshold, kept));
  }
}

void figure9(Trials& trials, ClaimPage& page) {
  for (const auto& [reported, model] : kExdynaModels) {
    const results::Row& dynamic = exdyna_trained(trials, model, "exdyna");
    const double moving = traffic_ratio(dynamic);
    const int settled = dynamic.outcome->settling_iterations.value_or(0);
    const double fixed =
        traffic_ratio(exdyna_trained(trials, model, "exdyna", kExdynaRanks, {{"blk_move", 0}}));
    page.order(
        fmt::format("{}: less traffic than with static partitions", reported),
        clearly_less(moving, fixed),
        fmt::format("f = {:.3g} after {} iterations, {:.3g} static", moving, settled, fixed));
  }
}

}  // namespace

ClaimChecks exdyna_claims() {
  return {{"exdyna.iteration.clt", clt},         {"exdyna.iteration.topk", topk},
          {"exdyna.hard.density", hard_density}, {"exdyna.figure2", figure2},
          {"exdyna.figure8", figure8},           {"exdyna.figure9", figure9},
          {"exdyna.figure10", figure10},         {"exdyna.density", density},
          {"exdyna.table1", table1_of_exdyna}};
}

}  // namespace thinwire::studies
