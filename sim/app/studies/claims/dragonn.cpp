// The claims of DRAGONN (ICML 2022): 16 V100 in two machines of 8 with PCIe, 25 Gb/s between them,
// Horovod and NCCL; compression ratio 0.001.
//
// They run on the shipped platform dragonn_v100, where the 8 GPUs of a machine share a NIC. Two
// prices of the V100 are calibrated, and what the NIC carries under Horovod. Full synchronization is
// a ring allreduce in buckets of 64 MiB (NCCL's ring, Horovod's fusion buffer), overlapped with the
// backward pass; the sparse ones go tensor by tensor, also overlapped, with DGC's momentum
// correction.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "algorithms/decoding.hpp"
#include "sim/app/studies/claims/trials.hpp"
#include "sim/machine/workloads/device.hpp"

namespace thinwire::studies {

namespace {

constexpr int kDragonnRanks = 16;
constexpr double kDragonnDensity = 0.001;
constexpr std::array kDragonnModels{"resnet50", "vit", "mlp_mixer", "xml"};
constexpr const char* kBert = "bert_squad";  // in Appendix D alone
constexpr std::array kDragonnGpus{4, 8, 16};
constexpr const char* kFull = "full";
constexpr const char* kTopk = "topk";
constexpr const char* kDgc = "dgc";
constexpr const char* kHashing = "hashing alone";
constexpr const char* kDragonn = "dragonn";
constexpr const char* kRandom = "random";
constexpr const char* kSignSgd = "signsgd";

Json on_platform(Trials& trials, const std::string& scheme) {
  return {{"scheme", scheme},
          {"network", "links"},
          {"platform", trials.calibrated_platform("dragonn_v100", "nic")}};
}

/// The scheme and options of one of the paper's systems, on its platform.
Json system(Trials& trials, const std::string& name) {
  Json point = on_platform(trials, name);
  if (name == kFull) {
    point["scheme"] = "dense_ovlp";
    point["options"] = {{"bucket_words", 16'777'216}, {"ring", true}};
  } else if (name == kDragonn) {
    point["scheme"] = "dragonn";
  } else if (name == kRandom) {
    point["scheme"] = "dragonn+random_k";
  } else if (name == kSignSgd) {
    point["scheme"] = name;
  } else {
    const std::string sparsifier = name == kDgc ? "+dgc" : name == kTopk ? "+exact_topk" : "";
    point["scheme"] = "dragonn" + sparsifier;
    point["options"] = {{"tensor_selection", false}, {"sparse_decoding", false}};
  }
  return point;
}

/// What a model's training is run with besides the system.
struct DragonnRun {
  int ranks = kDragonnRanks;
  double density = kDragonnDensity;
  const char* feedback = "momentum";
};

const results::Outcome& dragonn_trained(Trials& trials, const std::string& model,
                                        const std::string& name, DragonnRun run = {}) {
  Json point = system(trials, name);
  point["ranks"] = run.ranks;
  point["density"] = run.density;
  point["workload"] = {{"model", model}, {"device", "v100"}, {"feedback", run.feedback}};
  return trials.outcome(point);
}

/// What the last operation of an iteration waits for Horovod's background thread.
double horovod_wait(const Trials& trials) { return trials.assumed("horovod.wait_s"); }

double seconds_of(Trials& trials, const std::string& model, const std::string& name,
                  DragonnRun run = {}) {
  return dragonn_trained(trials, model, name, run).training->mean.total().value() +
         horovod_wait(trials);
}

/// The speed over full synchronization, which the density does not change.
double speed(Trials& trials, const std::string& model, const std::string& name,
             DragonnRun run = {}) {
  return seconds_of(trials, model, kFull, {.ranks = run.ranks}) /
         seconds_of(trials, model, name, run);
}

/// What somebody answers for a speed over full synchronization who knows the calibrated one: all
/// models with several layers as ViT with DGC; XML by the ring of section 4.2 over computing, which
/// nothing hides there.
double null_speed(Trials& trials, const std::string& model) {
  if (model != "xml") {
    return trials.claim("dragonn.speedup.full").at("/values/vit/dgc"_json_pointer).get<double>();
  }
  const results::Outcome& full = dragonn_trained(trials, model, kFull);
  const double computing = full.training->mean.computation.value();
  const auto n = static_cast<double>(full.result_components);
  const double p = kDragonnRanks;
  const double ring = 2 * (p - 1) / p * n * full.machine.beta_per_word.value();
  return (computing + ring) / computing;
}

/// What stands in the column of null models for null_speed.
std::string null_speed_name(const std::string& model) {
  return model == "xml" ? "the ring's formula over computing alone" : "as ViT with DGC, calibrated";
}

/// The time of compression and communication, whether the backward pass hides it or not.
double synchronization(Trials& trials, const std::string& model, const std::string& name) {
  double sum = horovod_wait(trials);
  for (const results::PhaseCost& phase : dragonn_trained(trials, model, name).phases) {
    const bool waiting = phase.name == "wait" || phase.name == "other";
    if (waiting || phase.name == "forward" || phase.name == "backward") continue;
    sum += phase.time.value();
  }
  return sum;
}

/// The seconds that a V100 takes to select out of that many components.
double encoding(Trials& trials, const std::string& name, std::int64_t components,
                double density = kDragonnDensity) {
  Json point = system(trials, name);
  point["ranks"] = 2;
  point["components"] = components;
  point["density"] = density;
  point["input"] = {{"profile", "vgg16"}, {"statistical", true}};
  return trials.outcome(point).selection->work.cost(trials.prices("v100")).value();
}

/// The seconds that a V100 takes to decode what so many ranks selected out of that many components.
double decoding(const Trials& trials, bool sparse, std::int64_t components, int ranks) {
  const WorkPrices prices = trials.prices("v100");
  const double entries = kDragonnDensity * static_cast<double>(components) * ranks;
  if (sparse) {
    return algorithms::sparse_decoding(prices, prices.scatter.element, components, entries).value();
  }
  return algorithms::dense_decoding(prices, prices.reduce.element, components, entries, ranks)
      .value();
}

constexpr std::int64_t components_in(double bytes) { return static_cast<std::int64_t>(bytes / 4); }
constexpr double kMiB = 1024 * 1024;

void encode(Trials& trials, ClaimPage& page) {
  constexpr std::int64_t kComponents = components_in(512 * kMiB);
  page.number("dragonn, ms", "/values/dragonn", 1e3 * encoding(trials, kHashing, kComponents),
              Basis::calibrated, "sets what comparing costs a V100");
  page.number("dgc, ms", "/values/dgc", 1e3 * encoding(trials, kDgc, kComponents),
              Basis::calibrated, "sets what a prefix sum costs a V100");
}

void encode_less(Trials& trials, ClaimPage& page) {
  double most = 0;
  for (double bytes = kMiB; bytes <= 512 * kMiB; bytes *= 2) {
    const std::int64_t components = components_in(bytes);
    most = std::max(
        most, 1 - encoding(trials, kHashing, components) / encoding(trials, kDgc, components));
  }
  page.number("most that DRAGONN saves of DGC's encoding, 1 to 512 MiB", "/value", most)
      .against("what it saves at 512 MB, which is calibrated", 1 - 13.2 / 35.4);
  for (const std::string name : {kHashing, kDgc}) {
    std::vector<double> times;
    for (const double density : {1e-4, 1e-3, 1e-2}) {
      times.push_back(encoding(trials, name, components_in(512 * kMiB), density));
    }
    const auto [least, longest] = std::ranges::minmax(times);
    page.order(fmt::format("{}: encoding hardly depends on the ratio, 0.0001 to 0.01", name),
               longest < 1.1 * least,
               fmt::format("{:.3g} to {:.3g} ms", 1e3 * least, 1e3 * longest));
  }
  page.order(
      "exact TopK encodes much slower than DGC",
      encoding(trials, kTopk, components_in(512 * kMiB)) >
          2 * encoding(trials, kDgc, components_in(512 * kMiB)),
      fmt::format("{:.3g} and {:.3g} ms", 1e3 * encoding(trials, kTopk, components_in(512 * kMiB)),
                  1e3 * encoding(trials, kDgc, components_in(512 * kMiB))));
}

void decode(Trials& trials, ClaimPage& page) {
  constexpr std::int64_t kComponents = components_in(64 * kMiB);
  const auto growth = [&](bool sparse) {
    return decoding(trials, sparse, kComponents, 16) / decoding(trials, sparse, kComponents, 4);
  };
  page.order("dense decoding grows linearly with the GPUs", std::abs(growth(false) / 4 - 1) < 0.1,
             fmt::format("{:.3g} times from 4 to 16", growth(false)));
  page.order("sparse decoding is nearly constant", growth(true) < 1.25,
             fmt::format("{:.3g} times from 4 to 16", growth(true)));
  for (const int ranks : kDragonnGpus) {
    const double gain =
        decoding(trials, false, kComponents, ranks) / decoding(trials, true, kComponents, ranks);
    page.order(fmt::format("{} GPUs: sparse decoding is more than {} times as fast", ranks, ranks),
               gain > ranks, fmt::format("{:.3g} times", gain));
  }
}

void speedup(Trials& trials, ClaimPage& page) {
  for (const std::string model : kDragonnModels) {
    page.number(model + ", dragonn", fmt::format("/values/{}/dragonn", model),
                speed(trials, model, kDragonn))
        .against(null_speed_name(model), null_speed(trials, model));
    const bool sets = model == "vit";
    page.number(model + ", dgc", fmt::format("/values/{}/dgc", model), speed(trials, model, kDgc),
                sets ? Basis::calibrated : Basis::predicted, sets ? "sets what a NIC carries" : "")
        .against(null_speed_name(model), null_speed(trials, model));
    page.order(model + ": DRAGONN is faster than DGC, and that than full synchronization",
               clearly_less(speed(trials, model, kDgc), speed(trials, model, kDragonn)) &&
                   clearly_less(1, speed(trials, model, kDgc)),
               fmt::format("{:.3g} and {:.3g} times full", speed(trials, model, kDragonn),
                           speed(trials, model, kDgc)));
  }
}

void gpus(Trials& trials, ClaimPage& page) {
  for (const std::string model : kDragonnModels) {
    std::vector<double> leads;
    for (const int ranks : kDragonnGpus) {
      leads.push_back(seconds_of(trials, model, kDgc, {.ranks = ranks}) /
                      seconds_of(trials, model, kDragonn, {.ranks = ranks}));
    }
    page.order(
        model + ": DRAGONN's lead over DGC grows with the GPUs",
        clearly_less(leads[0], leads[1]) && clearly_less(leads[1], leads[2]),
        fmt::format("{:.3g}, {:.3g}, {:.3g} times on 4, 8, 16", leads[0], leads[1], leads[2]));
    std::string speeds;
    bool slowest = true;
    for (const int ranks : kDragonnGpus) {
      const double topk = speed(trials, model, kTopk, {.ranks = ranks});
      slowest = slowest && clearly_less(topk, 1) &&
                clearly_less(topk, speed(trials, model, kDgc, {.ranks = ranks}));
      speeds += fmt::format("{}{:.3g}", speeds.empty() ? "" : ", ", topk);
    }
    page.order(model + ": exact TopK is the slowest, below full synchronization", slowest,
               speeds + " times full on 4, 8, 16");
  }
}

/// The paper tells no meaning of "expected": taken to be DGC's traffic, selected for nothing.
void expected(Trials& trials, ClaimPage& page) {
  // random_k sends as many components and selects them for next to nothing.
  page.number("vit", "/value", speed(trials, "vit", kRandom, {.feedback = "none"}),
              Basis::predicted, "Random's traffic: selected for next to nothing")
      .against("as observed with DGC, calibrated", null_speed(trials, "vit"));
}

void others(Trials& trials, ClaimPage& page) {
  page.number("random over dragonn", "/value",
              seconds_of(trials, "xml", kDragonn) / seconds_of(trials, "xml", kRandom))
      .against("no effect", 1);
  const double sign = seconds_of(trials, "xml", kSignSgd);
  const double hashed = seconds_of(trials, "xml", kDragonn);
  page.order("DRAGONN is faster than SignSGD", clearly_less(hashed, sign),
             fmt::format("{:.3g} and {:.3g} ms", 1e3 * hashed, 1e3 * sign));
}

void ratios(Trials& /*trials*/, ClaimPage& page) {
  page.not_simulated("", "what the figure shows is not in the text");
}

void to_accuracy(Trials& /*trials*/, ClaimPage& page) {
  page.not_simulated("", "1.6 times the speeds of XML in dragonn.speedup.full, counted there");
}

void bert_of_dragonn(Trials& trials, ClaimPage& page) {
  constexpr const char* kNote = "8 sequences of 128 tokens, at ViT's operations a second (assumed)";
  page.number("over dgc", "/values/dgc",
              seconds_of(trials, kBert, kDgc) / seconds_of(trials, kBert, kDragonn),
              Basis::predicted, kNote)
      .against("no effect", 1);
  page.number("over full", "/values/full", speed(trials, kBert, kDragonn), Basis::predicted, kNote)
      .against(null_speed_name(kBert), null_speed(trials, kBert));
}

void parts(Trials& trials, ClaimPage& page) {
  for (const std::string model : kDragonnModels) {
    const double dgc = synchronization(trials, model, kDgc);
    page.number(model + ", hashing alone", fmt::format("/values/{}/0", model),
                dgc / synchronization(trials, model, kHashing))
        .against("no effect", 1);
    page.number(model + ", all of it", fmt::format("/values/{}/1", model),
                dgc / synchronization(trials, model, kDragonn))
        .against("as hashing alone", page.paper(fmt::format("/values/{}/0", model)));
  }
}

/// The lemma assumes independent slots.
constexpr const char* kEvenly = "coordinates that follow one another are hashed more evenly";

void bins(Trials& trials, ClaimPage& page) {
  const auto empty = [&](double slots) {
    const results::Row& row =
        trials.run({{"scheme", "dragonn"},
                    {"ranks", 2},
                    {"components", 102'400},
                    {"k", 10'240},
                    {"iterations", 1},
                    {"input", {{"profile", "vgg16"}}},
                    {"options", {{"slots", slots}, {"sample", 1}, {"tensor_selection", false}}}});
    const results::SelectionSummary& selection = *row.outcome->selection;
    const auto most = static_cast<double>(selection.sent_most);
    return 1 - static_cast<double>(selection.most) / most;
  };
  page.stated("as many slots as values", 0.368, empty(1), Basis::predicted, kEvenly)
      .against("the lemma", std::exp(-1));
  page.stated("half as many", 0.135, empty(0.5), Basis::predicted, kEvenly)
      .against("the lemma", std::exp(-2));
}

struct Overheads {
  double full;
  double compression;
  double dgc;
};

/// The overheads for a tensor of that many bytes.
Overheads overheads(Trials& trials, double bytes) {
  const std::int64_t components = components_in(bytes);
  const auto time = [&](Json point, double gamma) {
    point["ranks"] = kDragonnRanks;
    point["components"] = components;
    point["density"] = kDragonnDensity;
    point["machine"] = {{"gamma_s_per_word", gamma}};
    point["input"] = {{"profile", "vgg16"}, {"statistical", true}};
    return trials.outcome(point).time().value();
  };
  Overheads result{};
  // NCCL takes the faster one of ring and tree, which is the tree where latency counts.
  const double reducing = trials.prices("v100").reduce.element.value();
  result.full =
      horovod_wait(trials) + std::min(time(system(trials, kFull), reducing),
                                      time(on_platform(trials, "dense_double_tree"), reducing));
  result.compression =
      encoding(trials, kDgc, components) + decoding(trials, false, components, kDragonnRanks);
  result.dgc = horovod_wait(trials) + time(system(trials, kDgc), 0) + result.compression;
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
  // Without launches: α and the bytes of section 4.2's formulas, DGC's 35.4 ms for 512 MiB, and the
  // V100's prices of decoding a byte.
  const results::Outcome& full = dragonn_trained(trials, "xml", kFull);
  const double large = 1024 * kMiB;
  const double compressing =
      trials.claim("dragonn.encode.512MB").at("/values/dgc"_json_pointer).get<double>() * 1e-3 /
          (512 * kMiB) +
      decoding(trials, false, components_in(large), kDragonnRanks) / large;
  const double steps = kDragonnRanks - 1;
  const double latency = steps * full.machine.alpha.value();
  const double byte = full.machine.beta_per_word.value() / 4;
  const double half = latency / (compressing - 2 * kDragonnDensity * steps * byte);
  page.stated("bytes from which DGC beats full synchronization", std::exp2(21),
              first_size(trials, [](const Overheads& o) { return clearly_less(o.dgc, o.full); }))
      .against("formulas without launches: always", std::exp2(14));
  page.stated("bytes from which compression is more than half", std::exp2(24),
              first_size(trials, [](const Overheads& o) { return o.compression > o.dgc / 2; }))
      .against("formulas without launches", half);
}

}  // namespace

ClaimChecks dragonn_claims() {
  return {{"dragonn.encode.512MB", encode},
          {"dragonn.encode.less", encode_less},
          {"dragonn.decode", decode},
          {"dragonn.speedup.full", speedup},
          {"dragonn.speedup.gpus", gpus},
          {"dragonn.speedup.expected", expected},
          {"dragonn.speedup.others", others},
          {"dragonn.speedup.ratios", ratios},
          {"dragonn.speedup.accuracy", to_accuracy},
          {"dragonn.speedup.bert", bert_of_dragonn},
          {"dragonn.sync.parts", parts},
          {"dragonn.bins", bins},
          {"dragonn.crossover", crossover}};
}

}  // namespace thinwire::studies
