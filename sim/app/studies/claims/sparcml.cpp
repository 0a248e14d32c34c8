// The claims of SparCML (SC 2019): Piz Daint, and the clusters Greina with InfiniBand and with
// Gigabit Ethernet. Its library is C++, so α and β are the platforms' own; vectors are summed by a
// host core (device xc50_cpu). The linear classifiers of section 8.2 work in double precision.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sim/app/results/compare.hpp"
#include "sim/app/studies/claims/trials.hpp"
#include "sim/machine/workloads/device.hpp"
#include "sim/machine/workloads/iteration.hpp"
#include "sim/machine/workloads/model.hpp"

namespace thinwire::studies {

namespace {

/// The platform or machine of a system, as keys of a point.
Json place(const Trials& trials, const std::string& system) {
  if (system == "Piz Daint") return {{"platform", "aries_daint"}};
  if (system == "Greina GigE") return {{"platform", "gige_star"}};
  return {{"machine",
           {{"alpha_s", trials.assumed("greina_ib.alpha_s")},
            {"beta_s_per_word", trials.assumed("greina_ib.beta_s_per_word")}}}};
}

/// α and β of a system.
plan::Machine machine_of(Trials& trials, const std::string& system) {
  Json point = place(trials, system);
  point.update({{"scheme", "dense_ring"}, {"ranks", 2}, {"components", 2}});
  return trials.outcome(point).machine;
}

/// The device whose sums and merges have the prices of one core.
constexpr const char* kCore = "xc50_cpu";

bool is_dense(const std::string& scheme) { return scheme.starts_with("dense"); }

void bounds(Trials& trials, ClaimPage& page) {
  for (const char* scheme :
       {"ssar_recursive_double", "ssar_split_allgather", "dsar_split_allgather", "ring_sparse"}) {
    const results::Verdict verdict =
        compare(trials.run({{"scheme", scheme}, {"ranks", 64}}), 1e-9).verdict;
    page.order(fmt::format("{} stays within its bounds", scheme),
               verdict == results::Verdict::exact || verdict == results::Verdict::inside,
               name_of(verdict), Basis::formula);
  }
}

/// The seconds of an allreduce of 16M components; each rank has random ones. A core sums dense words
/// or merges sparse entries.
double random_allreduce(Trials& trials, const std::string& system, const std::string& scheme,
                        int ranks, double density) {
  const plan::Machine machine = machine_of(trials, system);
  const WorkPrices prices = trials.prices(kCore);
  const Price& work = is_dense(scheme) ? prices.reduce : prices.scatter;
  return trials
      .outcome({{"machine",
                 {{"alpha_s", machine.alpha.value()},
                  {"beta_s_per_word", machine.beta_per_word.value()},
                  {"gamma_s_per_word", work.element.value()}}},
                {"scheme", is_dense(scheme) ? scheme : scheme + "+random_k"},
                {"ranks", ranks},
                {"components", 16'777'216},
                {"density", density},
                {"iterations", 1}})
      .time()
      .value();
}

void figure3(Trials& trials, ClaimPage& page) {
  const auto daint = [&](const char* scheme, int ranks) {
    return random_allreduce(trials, "Piz Daint", scheme, ranks, 0.00781);
  };
  const auto gige = [&](const char* scheme, double density) {
    return random_allreduce(trials, "Greina GigE", scheme, 8, density);
  };
  const double little = 1e-6;
  const double others =
      std::min(gige("ssar_split_allgather", little), gige("dsar_split_allgather", little));
  page.order("SSAR_Recursive_double wins at small data",
             clearly_less(gige("ssar_recursive_double", little), others),
             fmt::format("{:.3g} times the next, 17 components of 16M each",
                         gige("ssar_recursive_double", little) / others));
  const auto lead = [&](int ranks) {
    return daint("ssar_split_allgather", ranks) / daint("ssar_recursive_double", ranks);
  };
  page.order("and loses its lead as P grows",
             clearly_less(lead(32), lead(8)) && clearly_less(lead(8), lead(4)),
             fmt::format("SSAR_Split_allgather takes {:.3g}, {:.3g}, {:.3g} times its time at P = "
                         "4, 8, 32",
                         lead(4), lead(8), lead(32)));
  const auto crossing = [&](double density) {
    return gige("ssar_split_allgather", density) / gige("dsar_split_allgather", density);
  };
  page.order("SSAR_Split_allgather beats DSAR_Split_allgather while the result is sparse",
             clearly_less(crossing(0.00781), 1),
             fmt::format("{:.3g} times, the result 6% full", crossing(0.00781)));
  page.order("and loses to it when the result is dense", clearly_less(1, crossing(0.125)),
             fmt::format("{:.3g} times, the result 66% full", crossing(0.125)));
  const double ring = std::min(daint("dense_ring", 2), daint("ring_sparse", 2));
  const double best = std::min({daint("ssar_recursive_double", 2), daint("ssar_split_allgather", 2),
                                daint("dsar_split_allgather", 2)});
  const auto over_split = [&](int ranks) {
    return daint("ring_sparse", ranks) / daint("ssar_split_allgather", ranks);
  };
  page.order("a ring wins on a fast network at few nodes", clearly_less(ring, best),
             fmt::format("P = 2: {:.3g} times the best other; P = 4 and 8: the sparse one takes "
                         "{:.3g} and {:.3g} times as long as SSAR_Split_allgather",
                         ring / best, over_split(4), over_split(8)));
  std::vector<double> of_ring;
  for (const int ranks : {16, 32, 64}) {
    of_ring.push_back(daint("dense_ring", ranks) / daint("ring_sparse", ranks));
  }
  page.order("and gives no speedup at many nodes", of_ring.back() < 1 + kClaimTolerance,
             fmt::format("P = 16, 32, 64: {:.3g} times as fast as a dense ring",
                         fmt::join(of_ring, ", ")));
  std::vector<double> gains;
  for (const int ranks : {8, 16, 32, 64}) {
    gains.push_back(daint("dense_rabenseifner", ranks) / daint("dsar_split_allgather", ranks));
  }
  const auto [least, most] = std::ranges::minmax(gains);
  page.order("DSAR_Split_allgather gains a constant factor",
             clearly_less(1, least) && most < 1.25 * least,
             fmt::format("P = 8 to 64: {:.3g} times as fast as dense", fmt::join(gains, ", ")));
}

/// The share of components in the reduced gradient of a convolutional network.
double reduced_density(Trials& trials, int ranks, double density) {
  const std::int64_t n = 272'474;  // ResNet-20 on CIFAR-10
  const auto& outcome = trials.outcome({{"scheme", "ssar_split_allgather"},
                                        {"ranks", ranks},
                                        {"components", n},
                                        {"density", density},
                                        {"input", {{"profile", "vgg16"}, {"statistical", true}}}});
  return static_cast<double>(outcome.result_components) / static_cast<double>(n);
}

void figure1(Trials& trials, ClaimPage& page) {
  const auto text = [&](double density) {
    return fmt::format("{:.3g} of the components at P = 4, {:.3g} at 16, {:.3g} at 64",
                       reduced_density(trials, 4, density), reduced_density(trials, 16, density),
                       reduced_density(trials, 64, density));
  };
  for (const double density : {0.05, 0.1}) {
    page.order(
        fmt::format("{:g}% a node become dense on many nodes", 100 * density),
        reduced_density(trials, 4, density) < 0.5 && reduced_density(trials, 64, density) > 0.5,
        text(density));
  }
  page.order("the density grows with P and with that of a node",
             reduced_density(trials, 4, 0.01) < reduced_density(trials, 16, 0.01) &&
                 reduced_density(trials, 16, 0.01) < reduced_density(trials, 16, 0.05),
             text(0.01));
}

void max_speedup(Trials& trials, ClaimPage& page) {
  const Json machine = {{"alpha_s", 0}, {"beta_s_per_word", 1e-9}};
  const auto gain = [&](double density, int bits) {
    const auto time = [&](Json point) {
      point.update({{"ranks", 64},
                    {"components", 1'048'576},
                    {"density", density},
                    {"input", {{"overlap", 0.0}}},
                    {"machine", machine}});
      return trials.outcome(point).time().value();
    };
    return time({{"scheme", "dense_rabenseifner"}}) /
           time({{"scheme", "dsar_split_allgather"}, {"options", {{"bits", bits}}}});
  };
  // The result is sent as n words, so κ is 1: the gain of density d is 2 / (1 + 2d) < 2.
  const std::vector<double> densities{0.05, 0.02, 0.01};
  bool as_formula = true;
  std::string gains;
  for (const double density : densities) {
    const double got = gain(density, 32);
    as_formula = as_formula && got < 2 && std::abs(got * (1 + 2 * density) / 2 - 1) < 0.01;
    gains += fmt::format("{}{:.4g} at {:g}%", gains.empty() ? "" : ", ", got, 100 * density);
  }
  page.order("the gain over dense is 2 / (1 + 2d), below 2/kappa = 2", as_formula, gains,
             Basis::formula);
  const double quantised = gain(0.01, 4);
  page.order("more than 4 times takes another technique: 4 bits", quantised > 4,
             fmt::format("{:.3g} times", quantised), Basis::formula);
}

/// The distinct features of so many samples, by Heaps' law through one sample and all of them.
double distinct(const Trials& trials, const std::string& data, double samples) {
  const double each = trials.assumed(data, "features_per_sample");
  const double growth =
      std::log(trials.assumed(data, "features") / each) / std::log(trials.assumed(data, "samples"));
  return each * std::pow(std::max(1.0, samples), growth);
}

/// A pass over a data set with linear classifiers in double precision.
struct Pass {
  std::string system;
  std::string data;  ///< webspam, url
  int ranks = 8;
  double samples_per_exchange = 0;  ///< of all ranks
  double share_of_pass = 1;         ///< of the components that a host passes over
  std::string scheme;
};

double exchanges_of(const Trials& trials, const Pass& pass) {
  return trials.assumed(pass.data, "samples") / pass.samples_per_exchange;
}

/// The words of 4 bytes of a double, or of an index and a double in relation to one and a float.
double widening(const Pass& pass) { return is_dense(pass.scheme) ? 2.0 : 1.5; }

/// The seconds that a host passes over all components in an exchange, at a calibrated price. What is
/// allocated for them (section 5.1) is mapped anew if it is large, and its pages touched first.
double passing(const Trials& trials, const Pass& pass) {
  constexpr double kPage = 4096;
  const double components = trials.assumed(pass.data, "features");
  const double bytes = 8 * components;
  const bool mapped = bytes > trials.assumed("sparcml.mmap_bytes");
  return pass.share_of_pass *
         (components * trials.calibrated("sparcml.pass_s_per_component") +
          (mapped ? bytes / kPage * trials.assumed("sparcml.page_touch_s") : 0));
}

/// The seconds of communication in a pass over the data.
double communication(Trials& trials, const Pass& pass) {
  const plan::Machine machine = machine_of(trials, pass.system);
  const WorkPrices prices = trials.prices(kCore);
  const double components = trials.assumed(pass.data, "features");
  const double sum =
      is_dense(pass.scheme) ? 2 * prices.reduce.element.value() : prices.scatter.element.value();
  Json point = {{"machine",
                 {{"alpha_s", machine.alpha.value()},
                  {"beta_s_per_word", widening(pass) * machine.beta_per_word.value()},
                  {"gamma_s_per_word", sum}}},
                {"scheme", pass.scheme},
                {"ranks", pass.ranks},
                {"components", std::llround(components)},
                {"iterations", 1}};
  if (is_dense(pass.scheme)) {
    point["density"] = 0.01;
  } else {
    const double mine = distinct(trials, pass.data, pass.samples_per_exchange / pass.ranks);
    const double all = distinct(trials, pass.data, pass.samples_per_exchange);
    point["k"] = std::llround(mine);
    // The overlap is such that all ranks together have `all` components.
    const double overlap = (pass.ranks - all / mine) / (pass.ranks - 1);
    point["input"] = {{"overlap", std::clamp(overlap, 0.0, 1.0)}};
  }
  return exchanges_of(trials, pass) *
         (trials.outcome(point).time().value() + passing(trials, pass));
}

/// What the α-β formula of the dense allreduce alone says, with the core's price of a sum.
double dense_formula(Trials& trials, const Pass& pass) {
  const plan::Machine machine = machine_of(trials, pass.system);
  const double words =
      trials.assumed(pass.data, "features") * (pass.ranks - 1.0) / pass.ranks * widening(pass);
  const double steps = 2 * std::log2(pass.ranks);
  return exchanges_of(trials, pass) *
         (steps * machine.alpha.value() + 2 * words * machine.beta_per_word.value() +
          words * trials.prices(kCore).reduce.element.value());
}

/// The seconds of computing in a pass: a price per feature of a sample. Nothing is simulated.
double computing(const Trials& trials, const Pass& pass) {
  return trials.assumed(pass.data, "samples") * trials.assumed(pass.data, "features_per_sample") /
         pass.ranks * trials.calibrated("sparcml.feature_s");
}

/// Row i of Table 2, dense or with its sparse algorithm. Batches are proportional to P (section 8.2).
Pass pass_of(const Trials& trials, const Json& row, bool sparse) {
  Pass pass{.system = row.at("system").get<std::string>(),
            .data = row.at("data") == "Webspam" ? "webspam" : "url",
            .ranks = row.at("P").get<int>(),
            .scheme = "dense_rabenseifner"};
  pass.samples_per_exchange = pass.ranks * trials.assumed("sparcml.samples_per_node");
  if (sparse) {
    pass.scheme = row.at("algorithm").get<std::string>();
    std::ranges::transform(pass.scheme, pass.scheme.begin(), [](char c) {
      return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
  }
  return pass;
}

std::string name_of_row(const Json& row) {
  return fmt::format("{}, {}, {}, P = {}", row.at("system").get<std::string>(),
                     row.at("data").get<std::string>(), row.at("model").get<std::string>(),
                     row.at("P").get<int>());
}

const char* const kBandwidth = "bandwidth alone";

/// What a pass takes by rule of three, from a calibrated row of Table 2: as long per component that
/// its exchanges have.
double by_rule_of_three(Trials& trials, const Pass& pass, const Pass& calibrated, double seconds) {
  const auto components = [&](const Pass& of) {
    return exchanges_of(trials, of) * trials.assumed(of.data, "features");
  };
  return seconds * components(pass) / components(calibrated);
}

/// A null model's answer.
struct NullModel {
  std::string name;
  double seconds = 0;
};

// The rows of Table 2 that set something.
constexpr std::size_t kFeatureRow = 4;  // dense computing: Piz Daint, Webspam, P = 8
constexpr std::size_t kPassRow = 5;     // sparse communication: Piz Daint, URL, P = 8
constexpr std::size_t kBatchRow = 8;    // dense communication: Greina with Ethernet, Webspam

/// The null model of a pass's communication: a calibrated row by the rule of three, and for dense
/// passes where no dense row is calibrated, the dense allreduce's formula besides.
NullModel null_of(Trials& trials, const Pass& pass) {
  const Json& rows = trials.claim("sparcml.table2.comm").at("rows");
  const bool dense_alone = is_dense(pass.scheme) && pass.system != "Greina GigE";
  const bool sparse = !is_dense(pass.scheme) || dense_alone;
  const Json& row = rows.at(sparse ? kPassRow : kBatchRow);
  const double scaled = by_rule_of_three(trials, pass, pass_of(trials, row, sparse),
                                         row.at(sparse ? "sparse_s" : "dense_s").get<double>());
  if (!dense_alone) return {"the calibrated row, by components", scaled};
  return {"formula, and the calibrated row, by components", dense_formula(trials, pass) + scaled};
}

/// Another reading of the batches on 32 nodes: 1,000 samples of all, and a host that passes over its
/// share of the components.
std::string other_reading(Trials& trials, Pass pass) {
  constexpr int kCalibratedNodes = 8;
  if (pass.ranks == kCalibratedNodes) return {};
  pass.samples_per_exchange = kCalibratedNodes * trials.assumed("sparcml.samples_per_node");
  pass.share_of_pass = static_cast<double>(kCalibratedNodes) / pass.ranks;
  return fmt::format("{:.3g} s with 1,000 samples in all and a pass that falls as 1/P",
                     communication(trials, pass));
}

void table2(Trials& trials, ClaimPage& page) {
  const Json& rows = trials.claim("sparcml.table2.comm").at("rows");
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::string name = name_of_row(rows.at(i));
    const Pass dense = pass_of(trials, rows.at(i), false);
    const Pass sparse = pass_of(trials, rows.at(i), true);
    const double slow = communication(trials, dense);
    const double fast = communication(trials, sparse);
    const auto number = [&](const Pass& pass, const std::string& kind, double seconds,
                            const char* sets) {
      const NullModel null = null_of(trials, pass);
      page.number(fmt::format("{}, {}, s", name, kind), fmt::format("/rows/{}/{}_s", i, kind),
                  seconds, sets == nullptr ? Basis::predicted : Basis::calibrated,
                  sets == nullptr ? other_reading(trials, pass) : sets)
          .against(null.name, null.seconds);
    };
    number(dense, "dense", slow,
           i == kBatchRow ? "chose between two readings of the batch" : nullptr);
    number(sparse, "sparse", fast,
           i == kPassRow ? "sets the host's pass over the components" : nullptr);
    page.order(name + ": sparse is faster", clearly_less(fast, slow),
               fmt::format("{:.3g} times as fast", slow / fast));
  }
}

/// A time of computing: total minus communication, so that no measurement counts twice. It is
/// arithmetic with a calibrated price: nothing is simulated.
void computing_number(const Trials& trials, ClaimPage& page, const Pass& pass,
                      const std::string& what, double paper, const char* sets = nullptr) {
  page.stated(what + ", computing, s", paper, computing(trials, pass),
              sets == nullptr ? Basis::formula : Basis::calibrated,
              sets == nullptr ? "the calibrated row, by features" : sets);
}

void table2_computing(Trials& trials, ClaimPage& page) {
  const Json& rows = trials.claim("sparcml.table2.comm").at("rows");
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (const std::string kind : {"dense", "sparse"}) {
      const bool sparse = kind == "sparse";
      const bool sets = i == kFeatureRow && !sparse;
      const std::string of_both = kind + "_s";
      computing_number(
          trials, page, pass_of(trials, rows.at(i), sparse),
          fmt::format("{}, {}", name_of_row(rows.at(i)), kind),
          page.paper(fmt::format("/rows/{}/{}", i, of_both)) - rows.at(i).at(of_both).get<double>(),
          sets ? "sets the price of a feature" : nullptr);
    }
  }
}

/// URL on 8 nodes: here a batch of 1,000 a node, as section 8.2 has it.
void spark(Trials& trials, ClaimPage& page) {
  const auto check = [&](const std::string& system, bool sparse, const std::string& key) {
    const Pass pass{.system = system,
                    .data = "url",
                    .ranks = 8,
                    .samples_per_exchange = 8 * trials.assumed("sparcml.spark_batch"),
                    .scheme = sparse ? "ssar_split_allgather" : "dense_rabenseifner"};
    const std::string what = fmt::format("{}, {}", system, sparse ? "sparse" : "dense");
    const NullModel null = null_of(trials, pass);
    page.number(what + ", communication, s", fmt::format("/values/{}_s", key),
                communication(trials, pass))
        .against(null.name, null.seconds);
    const double both = page.paper(fmt::format("/values/{}_total_s", key));
    computing_number(trials, page, pass, what, both - page.paper(fmt::format("/values/{}_s", key)));
  };
  check("Piz Daint", false, "daint_dense");
  check("Piz Daint", true, "daint_sparse");
  check("Greina GigE", false, "gige_dense");
  check("Greina GigE", true, "gige_sparse");
}

/// Coordinate descent on URL: each iteration an allgather of 100 coordinates of each of 8 nodes, or
/// of their parts of the model, in double precision. An epoch visits every coordinate once.
void coordinate_descent(Trials& trials, ClaimPage& page) {
  constexpr int kNodes = 8;
  constexpr double kEach = 100;
  const double components = trials.assumed("url", "features");
  const double iterations = components / (kEach * kNodes);
  const plan::Machine machine = machine_of(trials, "Piz Daint");
  const auto epoch = [&](double entries, double words_of_entry) {
    // topka gathers k pairs of two words of each rank.
    const auto& outcome =
        trials.outcome({{"machine",
                         {{"alpha_s", machine.alpha.value()},
                          {"beta_s_per_word", words_of_entry / 2 * machine.beta_per_word.value()}}},
                        {"scheme", "topka+random_k"},
                        {"ranks", kNodes},
                        {"components", std::llround(components)},
                        {"k", std::llround(entries)},
                        {"iterations", 1}});
    return iterations * outcome.time().value();
  };
  const double dense = epoch(components / kNodes, 2);
  const double sparse = epoch(kEach, 3);
  const double beta = machine.beta_per_word.value();
  // How many iterations, and what wait in each, would give both of the paper's numbers.
  const double reported = page.paper("/values/sparse_s");
  const double each = (dense - sparse) / iterations;
  const double needed = (page.paper("/values/dense_s") - reported) / each;
  const std::string note =
      fmt::format("{:.0f} iterations; {:.0f}, and {:.3g} ms of waiting in each, would give both",
                  iterations, needed, 1e3 * (reported / needed - sparse / iterations));
  page.number("dense allgather, s", "/values/dense_s", dense, Basis::predicted, note)
      .against(kBandwidth, iterations * 2 * components * (kNodes - 1) / kNodes * beta);
  page.number("sparse allgather, s", "/values/sparse_s", sparse)
      .against(kBandwidth, iterations * 3 * kEach * (kNodes - 1) * beta);
  page.order("sparse is faster", clearly_less(sparse, dense),
             fmt::format("{:.3g} times as fast", dense / sparse));
}

void resnet50(Trials& trials, ClaimPage& page) {
  constexpr int kRanks = 64;
  constexpr int kBatch = 4;
  const double iterations = trials.assumed("imagenet", "samples") / (kRanks * kBatch);
  const auto epoch = [&](const Json& scheme) {
    Json point = {{"ranks", kRanks},
                  {"platform", "aries_daint"},
                  {"density", 0.01},
                  {"workload", {{"model", "resnet50"}, {"device", "p100"}, {"staging", true}}}};
    point.update(scheme);
    return iterations * trials.train(point).mean.total().value();
  };
  const double dense = epoch({{"scheme", "dense_ovlp"}});
  // SparCML's kernels select out of buckets of 512 in one pass, which is priced as a scan: as many
  // are selected out of each, so it is known where they are written.
  // Layers are sent as soon as they are ready, with non-blocking calls, as in the baseline.
  Json by_layer = {{"scheme", "ssar_split_allgather+bucket_topk"}};
  by_layer["workload"] = {
      {"model", "resnet50"}, {"device", "p100"}, {"staging", true}, {"by_layer", true}};
  const double sparse = epoch(by_layer);
  page.number("dense, s", "/values/dense_s", dense, Basis::calibrated,
              "sets ResNet-50's computing time on the P100")
      .against("no effect", page.paper("/values/sparse_s"));
  page.number("sparse, s", "/values/sparse_s", sparse)
      .against("no effect", page.paper("/values/dense_s"));
  page.order("sparse is hardly faster", clearly_less(sparse, dense) && sparse > 0.75 * dense,
             fmt::format("{:.3g} times dense", sparse / dense));
}

/// What the formula says of a dense allreduce of a model's gradient on 64 P100, with its copies to
/// the host, which sums, and back.
double dense_formula(Trials& trials, const std::string& model) {
  constexpr double kRanks = 64;
  const auto n =
      static_cast<double>(workloads::read_model(workloads::kModels.file(model)).components);
  const WorkPrices prices = trials.prices("p100", true);
  const plan::Machine machine = machine_of(trials, "Piz Daint");
  return 2 * std::log2(kRanks) * machine.alpha.value() +
         n * (kRanks - 1) / kRanks *
             (2 * machine.beta_per_word.value() + prices.reduce.element.value()) +
         n * (prices.to_host.element.value() + prices.to_device.element.value());
}

/// The seconds of an iteration that are neither computing nor communication: what the calibrated
/// iteration of ResNet-50 takes beyond a public training of it, for as many images (the wide networks
/// train on the same images with the same framework).
double input_seconds(const Trials& trials, double images) {
  const workloads::Model model = workloads::read_model(workloads::kModels.file("resnet50"));
  const workloads::ModelCompute& iteration = workloads::compute_on(model, "p100");
  const double each = iteration.time.value() / static_cast<double>(iteration.batch);
  return images * (each - 1 / trials.assumed("p100.resnet50_images_per_s"));
}

/// Wide residual networks on 64 P100, one of 512 components selected. "four images in a batch" and
/// a "global batch size of 512" on 64 nodes fit each other with two batches in each exchange.
void wide_resnets(Trials& trials, ClaimPage& page) {
  constexpr double kGlobalBatch = 512;
  constexpr double kImages = 4;
  constexpr int kRanks = 64;
  constexpr double kBatches = kGlobalBatch / kImages / kRanks;
  const double slower =
      trials.assumed("p100.wide_resnets_share", "file") / trials.assumed("p100.wide_resnets_share");
  for (const std::string name : {"wide_resnet18", "wide_resnet34"}) {
    const std::string model = trials.retimed_model(name, "p100", slower);
    const auto iteration = [&](Json point, bool by_layer) {
      point.update(
          {{"ranks", kRanks},
           {"platform", "aries_daint"},
           {"workload",
            {{"model", model}, {"device", "p100"}, {"staging", true}, {"by_layer", by_layer}}}});
      return trials.train(point).mean;
    };
    const workloads::IterationParts dense = iteration({{"scheme", "dense_ovlp"}}, false);
    const workloads::IterationParts sparse =
        iteration({{"scheme", "ssar_split_allgather+bucket_topk"}, {"density", 1.0 / 512}}, true);
    // The last batch of an exchange is simulated; the others hide nothing.
    const double batch = input_seconds(trials, kImages) + dense.computation.value();
    const double others = kBatches * batch - dense.computation.value();
    const auto gain = [&](double other) {
      return (other + dense.total().value()) / (other + sparse.total().value());
    };
    page.number(
            name, "/values/" + name, gain(others), Basis::predicted,
            fmt::format("two batches of {:.3g} s, of which {:.3g} s compute; with exchange "
                        "{:.3g} s dense, {:.3g} s sparse; {:.3g} times as fast with one batch",
                        batch, dense.computation.value(), others + dense.total().value(),
                        others + sparse.total().value(), gain(batch - dense.computation.value())))
        .against("communication vanishes, none of it was hidden",
                 1 + dense_formula(trials, model) / (kBatches * batch));
  }
}

/// CNTK's tasks on 8 nodes: the computing time is not published, so that only what the reported
/// speedup requires of it can be told.
void cntk(Trials& trials, ClaimPage& page) {
  const Json& tasks = trials.claim("sparcml.cntk").at("tasks");
  for (std::size_t at = 0; at < tasks.size(); ++at) {
    const Json& task = tasks.at(at);
    const auto name = task.at("name").get<std::string>();
    const auto speedup = task.at("speedup").get<double>();
    const auto components = task.at("components").get<std::int64_t>();
    const WorkPrices prices = trials.prices("p100", true);
    const plan::Machine machine = machine_of(trials, "Piz Daint");
    const auto seconds = [&](Json point, const Price& sum, double sent, double received) {
      point.update({{"machine",
                     {{"alpha_s", machine.alpha.value()},
                      {"beta_s_per_word", machine.beta_per_word.value()},
                      {"gamma_s_per_word", sum.element.value()}}},
                    {"ranks", 8},
                    {"components", components},
                    {"density", task.at("of_512").get<double>() / 512},
                    {"iterations", 1}});
      return trials.outcome(point).time().value() + prices.to_host.of(std::llround(sent)).value() +
             prices.to_device.of(std::llround(received)).value();
    };
    const auto n = static_cast<double>(components);
    const double k = n * task.at("of_512").get<double>() / 512;
    const double dense = seconds({{"scheme", "dense_rabenseifner"}}, prices.reduce, n, n);
    if (task.contains("mb")) {
      page.at_most(name + ", MB that a node sends", fmt::format("/tasks/{}/mb", at), 8 * k / 1e6,
                   Basis::formula, "values and indexes of 4 bytes")
          .unit = "MB";
    }
    const double sparse =
        seconds({{"scheme", "ssar_split_allgather+bucket_topk"}}, prices.merge, 2 * k, 2 * 8 * k) +
        prices.scan.of(components).value();
    const double needed = (dense - speedup * sparse) / (speedup - 1);
    page.not_simulated(fmt::format("{}: {}x", name, speedup),
                       fmt::format("computing is not published: it would have to take {:.3g} ms "
                                   "(dense {:.3g} ms, sparse {:.3g} ms)",
                                   1e3 * needed, 1e3 * dense, 1e3 * sparse));
  }
  page.not_simulated("Hansards: 1.5x", "neither the model's size nor the nodes are published");
}

/// ASR: the baseline on 16 GPUs hardly communicates. With eight times the GPUs, an eighth of its
/// time is left.
void speech(Trials& /*trials*/, ClaimPage& page) {
  const double days = page.paper("/values/baseline_days") * 16 / 128;
  page.number("128 GPUs, days", "/values/sparse_days", days, Basis::formula,
              "linear scaling; the number of iterations is not published")
      .against("linear scaling", days);
}

}  // namespace

ClaimChecks sparcml_claims() {
  return {{"sparcml.bounds", bounds},
          {"sparcml.fig3.order", figure3},
          {"sparcml.dsar.maxspeedup", max_speedup},
          {"sparcml.fig1.density", figure1},
          {"sparcml.table2.comm", table2},
          {"sparcml.table2.computing", table2_computing},
          {"sparcml.spark", spark},
          {"sparcml.scd", coordinate_descent},
          {"sparcml.resnet50", resnet50},
          {"sparcml.wide_resnets", wide_resnets},
          {"sparcml.cntk", cntk},
          {"sparcml.asr", speech}};
}

}  // namespace thinwire::studies
