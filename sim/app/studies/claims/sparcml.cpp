// The claims of SparCML (SC 2019): Piz Daint, and the clusters Greina with InfiniBand and with
// Gigabit Ethernet. Its library is C++, so α and β are the platforms' own; vectors are summed by a
// host core (device xc50_cpu).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "sim/app/experiment/compare.hpp"
#include "sim/app/studies/claims/trials.hpp"

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

void bounds(Trials& trials, ClaimPage& page) {
  for (const char* scheme :
       {"ssar_recursive_double", "ssar_split_allgather", "dsar_split_allgather", "ring_sparse"}) {
    const experiment::Verdict verdict =
        compare(trials.run({{"scheme", scheme}, {"ranks", 64}}), 1e-9).verdict;
    page.order(fmt::format("{} stays within its bounds", scheme),
               verdict == experiment::Verdict::exact || verdict == experiment::Verdict::inside,
               name_of(verdict), Basis::formula);
  }
}

/// The seconds of an allreduce of 16M components; each rank has random ones.
double random_allreduce(Trials& trials, const std::string& system, const std::string& scheme,
                        int ranks, double density) {
  Json point = place(trials, system);
  const bool dense = scheme.starts_with("dense");
  point["scheme"] = dense ? scheme : scheme + "+random_k";
  point["ranks"] = ranks;
  point["components"] = 16'777'216;
  point["density"] = density;
  point["iterations"] = 1;
  return trials.outcome(point).time().value();
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
             gige("ssar_recursive_double", little) < others,
             fmt::format("{:.3g} times the next, 17 components of 16M each",
                         gige("ssar_recursive_double", little) / others));
  const auto lead = [&](int ranks) {
    return daint("ssar_split_allgather", ranks) / daint("ssar_recursive_double", ranks);
  };
  page.order("and loses its lead as P grows", lead(32) < lead(8) && lead(8) < lead(4),
             fmt::format("SSAR_Split_allgather takes {:.3g}, {:.3g}, {:.3g} times its time at P = "
                         "4, 8, 32",
                         lead(4), lead(8), lead(32)));
  const double sparse =
      gige("ssar_split_allgather", 0.00781) / gige("dsar_split_allgather", 0.00781);
  page.order("SSAR_Split_allgather beats DSAR_Split_allgather while the result is sparse",
             sparse < 1, fmt::format("{:.3g} times", sparse));
  const double ring = std::min(daint("dense_ring", 2), daint("ring_sparse", 2));
  const double best = std::min({daint("ssar_recursive_double", 2), daint("ssar_split_allgather", 2),
                                daint("dsar_split_allgather", 2)});
  page.order("a ring wins on a fast network at few nodes", ring < best,
             fmt::format("P = 2: {:.3g} times the best other", ring / best));
  const double gain = daint("dense_rabenseifner", 64) / daint("dsar_split_allgather", 64);
  page.order("DSAR_Split_allgather gains a constant factor", gain > 1 && gain < 4,
             fmt::format("P = 64: {:.3g} times as fast as dense", gain));
}

void max_speedup(Trials& trials, ClaimPage& page) {
  // Each of 64 ranks has half of all components, so the result is dense.
  const Json machine = {{"alpha_s", 0}, {"beta_s_per_word", 1e-9}};
  const auto time = [&](const char* scheme) {
    return trials
        .outcome({{"scheme", scheme},
                  {"ranks", 64},
                  {"density", 0.05},
                  {"input", {{"overlap", 0.0}}},
                  {"machine", machine}})
        .time()
        .value();
  };
  const double gain = time("dense_rabenseifner") / time("dsar_split_allgather");
  page.order("no more than 4 times as fast as dense", gain <= 4 && gain > 1,
             fmt::format("{:.3g} times", gain), Basis::formula);
}

/// The number of distinct features in that many samples.
double distinct(const Trials& trials, const std::string& data, double samples) {
  return trials.assumed(data, "features_per_sample") *
         std::pow(std::max(1.0, samples), trials.calibrated("sparcml.vocabulary_exponent"));
}

/// The seconds of communication in a pass over the data.
double pass(Trials& trials, const Json& row, bool sparse) {
  const std::string data = row.at("data") == "Webspam" ? "webspam" : "url";
  const int ranks = row.at("P").get<int>();
  const double batch = trials.calibrated("sparcml.samples_per_exchange");
  const auto components = row.at("N").get<double>();
  const double mine = std::min(components, distinct(trials, data, batch / ranks));
  const double all = std::min(components, distinct(trials, data, batch));
  Json point = place(trials, row.at("system").get<std::string>());
  std::string scheme = "dense_rabenseifner";
  if (sparse) {
    scheme = row.at("algorithm").get<std::string>();
    std::ranges::transform(scheme, scheme.begin(), [](char c) {
      return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    point["k"] = std::llround(mine);
    // The overlap is such that all ranks together have `all` components.
    point["input"] = {{"overlap", std::clamp((ranks - all / mine) / (ranks - 1), 0.0, 1.0)}};
  } else {
    point["density"] = 0.01;
    point["input"] = {{"overlap", 0.2}};
  }
  point["scheme"] = scheme;
  point["ranks"] = ranks;
  point["workload"] = {{"model", data}, {"device", "xc50_cpu"}};
  const double exchanges = trials.assumed(data, "samples") / batch;
  return exchanges * trials.train(point).mean.communication.value();
}

void table2(Trials& trials, ClaimPage& page) {
  const Json& rows = trials.claim("sparcml.table2.comm").at("rows");
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Json& row = rows.at(i);
    const std::string name = fmt::format("{}, {}, P = {}", row.at("system").get<std::string>(),
                                         row.at("data").get<std::string>(), row.at("P").get<int>());
    const bool gige = name == "Greina GigE, Webspam, P = 8";
    const bool daint = name == "Piz Daint, Webspam, P = 8";
    const double dense = pass(trials, row, false);
    const double sparse = pass(trials, row, true);
    page.number(name + ", dense, s", fmt::format("/rows/{}/dense_s", i), dense,
                gige || daint ? Basis::calibrated : Basis::predicted,
                gige    ? "sets the samples between allreduces"
                : daint ? "sets a core's sum"
                        : "");
    page.number(name + ", sparse, s", fmt::format("/rows/{}/sparse_s", i), sparse,
                gige ? Basis::calibrated : Basis::predicted,
                gige ? "sets how many features samples share" : "");
    page.order(name + ": sparse is faster", sparse < dense,
               fmt::format("{:.3g} times as fast", dense / sparse),
               gige ? Basis::calibrated : Basis::predicted);
  }
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
  // SparCML's kernels select out of buckets of 512 in one pass: a comparison and a compaction.
  const double sparse = epoch({{"scheme", "ssar_split_allgather+hard_threshold"}});
  page.number("dense, s", "/values/dense_s", dense, Basis::calibrated,
              "sets ResNet-50's computing time on the P100");
  page.number("sparse, s", "/values/sparse_s", sparse);
  page.order("sparse is hardly faster", sparse < dense && sparse > 0.75 * dense,
             fmt::format("{:.3g} times dense", sparse / dense));
}

}  // namespace

ClaimChecks sparcml_claims() {
  return {{"sparcml.bounds", bounds},
          {"sparcml.fig3.order", figure3},
          {"sparcml.dsar.maxspeedup", max_speedup},
          {"sparcml.table2.comm", table2},
          {"sparcml.resnet50", resnet50}};
}

}  // namespace thinwire::studies
