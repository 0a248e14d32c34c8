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
#include <optional>
#include <string>
#include <vector>

#include "algorithms/decoding.hpp"
#include "sim/app/studies/claims/trials.hpp"
#include "sim/machine/workloads/device.hpp"
#include "sim/machine/workloads/model.hpp"

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

/// What a NIC carries, in bytes per second; the calibrated rate if none is given.
using Nic = std::optional<double>;

Json on_platform(Trials& trials, const std::string& scheme, Nic nic = {}) {
  return {{"scheme", scheme},
          {"network", "links"},
          {"platform", trials.retimed_platform("dragonn_v100", "nic", nic)}};
}

/// The scheme and options of one of the paper's systems, on its platform.
Json system(Trials& trials, const std::string& name, Nic nic = {}) {
  Json point = on_platform(trials, name, nic);
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
  Nic nic = {};
};

const results::Outcome& dragonn_trained(Trials& trials, const std::string& model,
                                        const std::string& name, DragonnRun run = {}) {
  Json point = system(trials, name, run.nic);
  point["ranks"] = run.ranks;
  point["density"] = run.density;
  point["workload"] = {{"model", model}, {"device", "v100"}, {"feedback", run.feedback}};
  return trials.outcome(point);
}

/// The time for which the last operation of an iteration waits for Horovod's background thread.
double horovod_wait(const Trials& trials) { return trials.assumed("horovod.wait_s"); }

double seconds_of(Trials& trials, const std::string& model, const std::string& name,
                  DragonnRun run = {}) {
  return dragonn_trained(trials, model, name, run).training->mean.total().value() +
         horovod_wait(trials);
}

/// The speed over full synchronization, which the density does not change.
double speed(Trials& trials, const std::string& model, const std::string& name,
             DragonnRun run = {}) {
  return seconds_of(trials, model, kFull, {.ranks = run.ranks, .nic = run.nic}) /
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

/// The most that a NIC carries by the paper's figures of XML: full synchronization takes at least
/// DRAGONN's speedup times computing and encoding, and each NIC carries the ring's bytes once.
double most_of_nic(Trials& trials) {
  const results::Outcome& full = dragonn_trained(trials, "xml", kFull);
  const Json& speedups = trials.claim("dragonn.speedup.full").at("values");
  const Json& encoding = trials.claim("dragonn.encode.512MB").at("values");
  const double seconds =
      speedups.at("xml").at("dragonn").get<double>() *
      (full.training->mean.computation.value() + 1e-3 * encoding.at("dragonn").get<double>());
  const double bytes = 4 * static_cast<double>(full.result_components);
  return 2 * (kDragonnRanks - 1.0) / kDragonnRanks * bytes / seconds;
}

void bert_of_dragonn(Trials& trials, ClaimPage& page) {
  const double nic = most_of_nic(trials);
  const auto over_dgc = [&](DragonnRun run) {
    return seconds_of(trials, kBert, kDgc, run) / seconds_of(trials, kBert, kDragonn, run);
  };
  const auto note = [&](double there) {
    return fmt::format(
        "8 sequences of 128 tokens, at ViT's operations a second (assumed); {:.3g} times at the "
        "{:.3g} GB/s that XML's figures leave a NIC at most",
        there, nic / 1e9);
  };
  page.number("over dgc", "/values/dgc", over_dgc({}), Basis::predicted,
              note(over_dgc({.nic = nic})))
      .against("no effect", 1);
  page.number("over full", "/values/full", speed(trials, kBert, kDragonn), Basis::predicted,
              note(speed(trials, kBert, kDragonn, {.nic = nic})))
      .against(null_speed_name(kBert), null_speed(trials, kBert));
}

/// "We expect that DRAGONN will become more beneficial in faster networks": the calibrated rate, the
/// line of 25 Gb/s, and 100 Gb/s.
void faster_networks(Trials& trials, ClaimPage& page) {
  const std::array<Nic, 3> rates{Nic(), 3.125e9, 1.25e10};
  std::vector<std::int64_t> compressed;
  for (const std::string model : kDragonnModels) {
    std::vector<double> leads;
    for (const Nic& nic : rates) {
      leads.push_back(seconds_of(trials, model, kDgc, {.nic = nic}) /
                      seconds_of(trials, model, kDragonn, {.nic = nic}));
      if (model != "resnet50") continue;
      const results::Outcome& run = dragonn_trained(trials, model, kDragonn, {.nic = nic});
      compressed.push_back(run.compressed_tensors.value_or(0));
    }
    page.order(model + ": DRAGONN's lead over DGC grows with the network's speed",
               clearly_less(leads[0], leads[1]) && clearly_less(leads[1], leads[2]),
               fmt::format("{:.3g}, {:.3g}, {:.3g} times at the calibrated rate, 25 and 100 Gb/s",
                           leads[0], leads[1], leads[2]));
  }
  page.order("ResNet-50: faster networks compress fewer tensors",
             compressed[1] < compressed[0] && compressed[2] < compressed[1],
             fmt::format("{} of 161", fmt::join(compressed, ", ")));
}

/// What a row of Table 1 counts on a GPU.
void table1_of_dragonn(Trials& trials, ClaimPage& page) {
  constexpr std::int64_t kComponents = 1'024'000;
  const auto work = [&](const std::string& name) {
    Json point = system(trials, name);
    point.update({{"ranks", 2}, {"components", kComponents}, {"density", kDragonnDensity}});
    return *trials.outcome(point).selection;
  };
  const results::SelectionSummary hashing = work(kHashing);
  page.order("hashing: d comparisons, and a hash for each of l values",
             hashing.work.compared == kComponents && hashing.work.hashed >= hashing.most &&
                 hashing.work.hashed < kComponents / 100,
             fmt::format("{} and {}, of which {} keep their slots", hashing.work.compared,
                         hashing.work.hashed, hashing.most),
             Basis::formula);
  const results::SelectionSummary threshold = work(kDgc);
  page.order("threshold: a prefix sum over all d besides",
             threshold.work.compared == kComponents &&
                 threshold.work.prefix_summed == kComponents && hashing.work.prefix_summed == 0,
             fmt::format("{} and {}", threshold.work.compared, threshold.work.prefix_summed),
             Basis::formula);
}

/// What sparse decoding saves of XML's synchronization, here and by the paper's ratios, and how fast
/// dense decoding would write zeros (4 bytes a component and rank) and add (12) by the latter.
std::string saved_by_decoding(Trials& trials, const ClaimPage& page) {
  const results::Outcome& run = dragonn_trained(trials, "xml", kHashing);
  const double saved =
      synchronization(trials, "xml", kHashing) - synchronization(trials, "xml", kDragonn);
  const Json& speeds = trials.claim("dragonn.speedup.full").at("values").at("xml");
  const double all = page.paper("/values/xml/1");
  const double dgc = speeds.at("dgc").get<double>();
  const double computing = run.training->mean.computation.value();
  const double full = computing * (all - 1) / (all / speeds.at("dragonn").get<double>() - 1 / dgc);
  const double reported = (full / dgc - computing) * (1 / page.paper("/values/xml/0") - 1 / all);
  const std::int64_t n = workloads::read_model(workloads::kModels.file("xml")).components;
  const double rate = 16.0 * kDragonnRanks * static_cast<double>(n) /
                      (reported + decoding(trials, true, n, kDragonnRanks));
  return fmt::format(
      "sparse decoding saves {:.3g} ms, and {:.3g} ms by the paper's ratios, for which dense "
      "decoding would move {:.3g} GB/s",
      1e3 * saved, 1e3 * reported, rate / 1e9);
}

void parts(Trials& trials, ClaimPage& page) {
  for (const std::string model : kDragonnModels) {
    const double dgc = synchronization(trials, model, kDgc);
    page.number(model + ", hashing alone", fmt::format("/values/{}/0", model),
                dgc / synchronization(trials, model, kHashing))
        .against("no effect", 1);
    page.number(model + ", all of it", fmt::format("/values/{}/1", model),
                dgc / synchronization(trials, model, kDragonn), Basis::predicted,
                model == "xml" ? saved_by_decoding(trials, page) : "")
        .against("as hashing alone", page.paper(fmt::format("/values/{}/0", model)));
  }
}

void bins(Trials& trials, ClaimPage& page) {
  const auto empty = [&](double slots) {
    const results::Row& row =
        trials.run({{"scheme", "dragonn"},
                    {"ranks", 2},
                    {"components", 10'240'000},
                    {"k", 10'240},
                    {"iterations", 1},
                    {"input", {{"profile", "vgg16"}}},
                    {"options", {{"slots", slots}, {"sample", 1}, {"tensor_selection", false}}}});
    const results::SelectionSummary& selection = *row.outcome->selection;
    const auto most = static_cast<double>(selection.sent_most);
    return 1 - static_cast<double>(selection.most) / most;
  };
  const auto check = [&](const std::string& what, double slots, double lemma, double low,
                         double high) {
    const double share = empty(slots);
    page.stated(what, lemma, share).against("the lemma", std::exp(-1 / slots));
    page.order(fmt::format("{}: between {:g} and {:g}", what, low, high),
               share >= low && share <= high, fmt::format("{:.4g}", share));
  };
  check("as many slots as values", 1, 0.368, 0.36, 0.38);
  check("half as many", 0.5, 0.135, 0.13, 0.14);
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
  const double wait = horovod_wait(trials);
  const auto beaten_from = [&](double more) {
    return first_size(trials,
                      [more](const Overheads& o) { return clearly_less(o.dgc + more, o.full); });
  };
  page.stated("bytes from which DGC beats full synchronization", std::exp2(21), beaten_from(0),
              Basis::predicted,
              fmt::format("{:.4g} if DGC waits for Horovod twice, which the paper does not say",
                          beaten_from(wait)))
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
          {"dragonn.faster", faster_networks},
          {"dragonn.table1", table1_of_dragonn},
          {"dragonn.bins", bins},
          {"dragonn.crossover", crossover}};
}

}  // namespace thinwire::studies
