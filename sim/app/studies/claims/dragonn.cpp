// The claims of DRAGONN (ICML 2022): 16 V100 in two machines of 8 with PCIe, 25 Gb/s between them,
// Horovod and NCCL; compression ratio 0.001.
//
// They run on the α-β machine with one calibrated parameter, β. Full synchronization is dense
// allreduce in buckets of 64 MiB (Horovod's fusion buffer), overlapped with the backward pass; the
// sparse ones go tensor by tensor, also overlapped.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "algorithms/schemes/topka.hpp"
#include "sim/app/studies/claims/trials.hpp"
#include "sim/machine/workloads/device.hpp"

namespace thinwire::studies {

namespace {

constexpr int kDragonnRanks = 16;
constexpr std::array kDragonnModels{"resnet50", "vit", "mlp_mixer", "xml"};
constexpr const char* kFull = "full";
constexpr const char* kDgc = "dgc";
constexpr const char* kHashing = "hashing alone";
constexpr const char* kDragonn = "dragonn";

Json machine(const Trials& trials) {
  return {{"alpha_s", trials.assumed("dragonn.alpha_s")},
          {"beta_s_per_word", trials.calibrated("dragonn.beta_s_per_word")}};
}

/// The scheme and options of one of the paper's systems.
Json system(const std::string& name) {
  if (name == kFull) {
    return {{"scheme", "dense_ovlp"}, {"options", {{"bucket_words", 16'777'216}}}};
  }
  if (name == kDragonn) return {{"scheme", "dragonn"}};
  return {{"scheme", name == kDgc ? "dragonn+dgc" : "dragonn"},
          {"options", {{"tensor_selection", false}, {"sparse_decoding", false}}}};
}

const experiment::Outcome& dragonn_trained(Trials& trials, const std::string& model,
                                           const std::string& name) {
  Json point = system(name);
  point["ranks"] = kDragonnRanks;
  point["machine"] = machine(trials);
  point["workload"] = {{"model", model}, {"device", "v100"}};
  return trials.outcome(point);
}

double speed(Trials& trials, const std::string& model, const std::string& name) {
  return dragonn_trained(trials, model, kFull).training->mean.total().value() /
         dragonn_trained(trials, model, name).training->mean.total().value();
}

/// The time of compression and communication, whether the backward pass hides it or not.
double synchronization(Trials& trials, const std::string& model, const std::string& name) {
  double sum = 0;
  for (const experiment::PhaseCost& phase : dragonn_trained(trials, model, name).phases) {
    const bool waiting = phase.name == "wait" || phase.name == "other";
    if (waiting || phase.name == "forward" || phase.name == "backward") continue;
    sum += phase.time.value();
  }
  return sum;
}

/// The seconds that a V100 takes to select out of that many components.
double encoding(Trials& trials, const std::string& name, std::int64_t components) {
  Json point = system(name);
  point["ranks"] = 2;
  point["components"] = components;
  point["density"] = 0.001;
  point["input"] = {{"profile", "vgg16"}, {"statistical", true}};
  const WorkPrices prices = workloads::read_device(workloads::device_file("v100")).prices(false);
  return trials.outcome(point).selection->work.cost(prices).value();
}

void encode(Trials& trials, ClaimPage& page) {
  constexpr std::int64_t kComponents = 512 * 1024 * 1024 / 4;
  page.number("dragonn, ms", "/values/dragonn", 1e3 * encoding(trials, kHashing, kComponents),
              Basis::calibrated, "sets what comparing costs a V100");
  page.number("dgc, ms", "/values/dgc", 1e3 * encoding(trials, kDgc, kComponents),
              Basis::calibrated, "sets what a prefix sum costs a V100");
}

void speedup(Trials& trials, ClaimPage& page) {
  for (const std::string model : kDragonnModels) {
    page.number(model + ", dragonn", fmt::format("/values/{}/dragonn", model),
                speed(trials, model, kDragonn), Basis::calibrated,
                model == "xml" ? "sets beta; the paper gives the computing time"
                               : "sets the model's computing time on the V100");
    page.number(model + ", dgc", fmt::format("/values/{}/dgc", model), speed(trials, model, kDgc));
    page.order(model + ": DRAGONN is faster than DGC, and that than full synchronization",
               speed(trials, model, kDragonn) > speed(trials, model, kDgc) &&
                   speed(trials, model, kDgc) > 1,
               fmt::format("{:.3g} and {:.3g} times full", speed(trials, model, kDragonn),
                           speed(trials, model, kDgc)));
  }
}

void parts(Trials& trials, ClaimPage& page) {
  for (const std::string model : kDragonnModels) {
    const double dgc = synchronization(trials, model, kDgc);
    page.number(model + ", hashing alone", fmt::format("/values/{}/0", model),
                dgc / synchronization(trials, model, kHashing));
    page.number(model + ", all of it", fmt::format("/values/{}/1", model),
                dgc / synchronization(trials, model, kDragonn));
  }
}

/// The lemma assumes independent slots.
constexpr const char* kEvenly = "coordinates that follow one another are hashed more evenly";

void bins(Trials& trials, ClaimPage& page) {
  const auto empty = [&](double slots) {
    const experiment::Row& row =
        trials.run({{"scheme", "dragonn"},
                    {"ranks", 2},
                    {"components", 102'400},
                    {"k", 10'240},
                    {"iterations", 1},
                    {"input", {{"profile", "vgg16"}}},
                    {"options", {{"slots", slots}, {"sample", 1}, {"tensor_selection", false}}}});
    const experiment::SelectionSummary& selection = *row.outcome->selection;
    const auto most = static_cast<double>(selection.sent_most);
    return 1 - static_cast<double>(selection.most) / most;
  };
  page.stated("as many slots as values", 0.368, empty(1), Basis::predicted, kEvenly);
  page.stated("half as many", 0.135, empty(0.5), Basis::predicted, kEvenly);
}

struct Overheads {
  double full;
  double compression;
  double dgc;
};

/// The overheads for a tensor of that many bytes.
Overheads overheads(Trials& trials, double bytes) {
  const auto components = static_cast<std::int64_t>(bytes / 4);
  const auto time = [&](Json point, double gamma) {
    point["ranks"] = kDragonnRanks;
    point["components"] = components;
    point["density"] = 0.001;
    point["machine"] = machine(trials);
    point["machine"]["gamma_s_per_word"] = gamma;
    point["input"] = {{"profile", "vgg16"}, {"statistical", true}};
    return trials.outcome(point).time().value();
  };
  const WorkPrices prices = workloads::read_device(workloads::device_file("v100")).prices(false);
  Overheads result{};
  result.full = time({{"scheme", "dense_ring"}}, prices.reduce.element.value());
  const Seconds decoding =
      algorithms::dense_decoding(prices, prices.reduce.element, components, kDragonnRanks);
  result.compression = encoding(trials, kDgc, components) + decoding.value();
  result.dgc = time(system(kDgc), 0) + result.compression;
  return result;
}

/// The smallest size in bytes at which `condition` holds, among powers of 2^(1/4).
template <class Condition>
double first_size(Trials& trials, Condition condition) {
  for (double exponent = 14; exponent <= 29; exponent += 0.25) {
    const double bytes = std::exp2(exponent);
    if (condition(overheads(trials, bytes))) return bytes;
  }
  return std::exp2(29.25);
}

void crossover(Trials& trials, ClaimPage& page) {
  page.stated("bytes from which DGC beats full synchronization", std::exp2(21),
              first_size(trials, [](const Overheads& o) { return o.dgc < o.full; }));
  page.stated("bytes from which compression is more than half", std::exp2(24),
              first_size(trials, [](const Overheads& o) { return o.compression > o.dgc / 2; }));
}

}  // namespace

ClaimChecks dragonn_claims() {
  return {{"dragonn.encode.512MB", encode},
          {"dragonn.speedup.full", speedup},
          {"dragonn.sync.parts", parts},
          {"dragonn.bins", bins},
          {"dragonn.crossover", crossover}};
}

}  // namespace thinwire::studies
