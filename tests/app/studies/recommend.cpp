#include "sim/app/studies/recommend.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "sim/app/run/simulate.hpp"
#include "sim/app/studies/recommend/confidence.hpp"
#include "sim/app/studies/recommend/simulations.hpp"
#include "sim/core/base/errors.hpp"
#include "sim/core/base/files.hpp"
#include "sim/core/base/json_node.hpp"
#include "sim/machine/workloads/device.hpp"
#include "sim/machine/workloads/model.hpp"
#include "tests/support/approx.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/temporary_folder.hpp"

namespace thinwire::studies {

namespace {

using test::contains;
using test::error_of;

results::Row simulated(const Json& point) {
  results::Row row = run::simulate_point("test", plan::point_from(point, "test"));
  CAPTURE(row.reason);
  REQUIRE(row.outcome);
  return row;
}

const Crossover& crossover_in(const Recommendation& result, const std::string& along, bool up) {
  return *std::ranges::find_if(result.crossovers, [&](const Crossover& crossover) {
    return crossover.along == along && crossover.up == up;
  });
}

const Candidate& candidate_in(const Recommendation& result, const std::string& scheme) {
  return *std::ranges::find_if(result.ranked, [&](const Candidate& candidate) {
    return candidate.row.point.scheme == scheme;
  });
}

}  // namespace

TEST_CASE("Where no density is left there is none to look for, and P stays whole") {
  const RecommendSettings settings{
      .point = {{"ranks", 10}, {"density", 0}, {"workload", {{"model", "vgg16"}}}},
      .schemes = {"topka", "dense_ovlp"},
      .most_ranks = 20};
  const Recommendation none = recommend(settings);
  CHECK(crossover_in(none, "density", false).looked_to == 0);
  CHECK(crossover_in(none, "density", true).looked_to == 0);
  CHECK(crossover_in(none, "density", true).ended == "there is no such value to try");
  CHECK(crossover_in(none, "ranks", true).looked_to == 20);
  const double fewer = crossover_in(none, "ranks", false).looked_to;
  CHECK(fewer == std::round(fewer));
}

TEST_CASE("What is recommended is the fastest of all that were simulated" *
          doctest::test_suite("large")) {
  const RecommendSettings settings{
      .point = {{"ranks", 8}, {"workload", {{"model", "resnet50"}}}, {"platform", "gige_star"}},
      .schemes = {"topka", "dense_ovlp", "gtopk"},
      .most_ranks = 16};
  const Recommendation result = recommend(settings);
  REQUIRE(result.ranked.size() == 3);
  double last = 0;
  for (const Candidate& candidate : result.ranked) {
    const double time = simulated({{"scheme", candidate.row.point.scheme->name},
                                   {"ranks", 8},
                                   {"platform", "gige_star"},
                                   {"network", "links"},
                                   {"workload", {{"model", "resnet50"}}}})
                            .outcome->training->mean.total()
                            .value();
    CHECK(candidate.row.outcome->training->mean.total().value() == time);
    CHECK(time >= last);
    last = time;
    CHECK(candidate.dominant);
  }
  // Where a crossover is told of, its winner wins, and just before it does not.
  const Crossover& crossover = crossover_in(result, "density", true);
  if (!crossover.winner.empty()) {
    const auto time = [&](const std::string& scheme, double density) {
      return simulated({{"scheme", scheme},
                        {"ranks", 8},
                        {"density", density},
                        {"platform", "gige_star"},
                        {"network", "links"},
                        {"workload", {{"model", "resnet50"}}}})
          .outcome->training->mean.total()
          .value();
    };
    const std::string first = result.contenders.front();
    CHECK(time(crossover.winner, crossover.at) <= 1.05 * time(first, crossover.at));
    CHECK(time(crossover.winner, crossover.at / 2) >= time(first, crossover.at / 2));
  }
}

TEST_CASE("A faster network moves the advice to the dense scheme, at the factor that is told") {
  const Json given = {{"ranks", 8}, {"workload", {{"model", "vgg16"}, {"device", "h100"}}}};
  const Recommendation result =
      recommend({.point = given, .schemes = {"dense_rabenseifner", "topka"}, .most_ranks = 16});
  REQUIRE(result.contenders.size() == 2);
  CHECK(result.contenders.front() == "topka");
  const Crossover& faster = crossover_in(result, "beta", false);
  CHECK(faster.winner == "dense_rabenseifner");
  const auto time = [&](const std::string& scheme, double factor) {
    Json point = given;
    point["scheme"] = scheme;
    point["machine"]["beta_s_per_word"] = factor * 4e-10;
    return simulated(point).outcome->training->mean.total().value();
  };
  const double dense = time("dense_rabenseifner", faster.at);
  CHECK(dense <= 1.05 * time("topka", faster.at));
  CHECK(time("dense_rabenseifner", 2 * faster.at) > 1.05 * time("topka", 2 * faster.at));
  CHECK(faster.gain == test::approx(time("topka", faster.at) / dense));
  CHECK(crossover_in(result, "beta", true).winner.empty());
  CHECK(crossover_in(result, "beta", true).looked_to == 16);
}

TEST_CASE("On a platform, the factor of β is the factor of one over all bandwidths") {
  const Json given = {{"ranks", 8},
                      {"platform", "fat_tree"},
                      {"workload", {{"model", "vgg16"}, {"device", "h100"}}}};
  const Recommendation result =
      recommend({.point = given, .schemes = {"dense_rabenseifner", "topka"}, .most_ranks = 16});
  REQUIRE(result.contenders.front() == "topka");
  const Crossover& faster = crossover_in(result, "beta", false);
  const Crossover& slower = crossover_in(result, "beta", true);
  CHECK(slower.winner.empty());
  const auto gain = [&](double factor) {
    const auto time = [&](const char* scheme) {
      Json point = given;
      point["scheme"] = scheme;
      point["network"] = "links";
      point["bandwidth_factor"] = 1 / factor;
      return simulated(point).outcome->training->mean.total().value();
    };
    return time("topka") / time("dense_rabenseifner");
  };
  // The slower the network, the more a sparse sum gains; the dense one wins at the factor told.
  CHECK(gain(16) < gain(1));
  CHECK(gain(1) < gain(1.0 / 16));
  CHECK(faster.winner == "dense_rabenseifner");
  CHECK(faster.gain == test::approx(gain(faster.at)));
}

TEST_CASE("A platform brings its congestion, and NCCL where its nodes have several GPUs") {
  const auto names = [](const Json& more) {
    Json point = {{"ranks", 4}, {"workload", {{"model", "vgg16"}, {"device", "h100"}}}};
    point.update(more);
    const Recommendation result =
        recommend({.point = point, .all = true, .crossovers = false, .jobs = 2});
    std::vector<std::string> all{result.ranked.front().row.point.network->name};
    for (const Candidate& candidate : result.ranked) {
      all.push_back(candidate.row.point.scheme->name);
    }
    return all;
  };
  const auto has = [](const std::vector<std::string>& all, const char* name) {
    return std::ranges::find(all, name) != all.end();
  };
  const std::vector<std::string> nodes = names({{"platform", "nvlink_ib"}});
  CHECK(nodes.front() == "links");
  CHECK(nodes.size() == 31);
  CHECK(has(nodes, "nccl_tree"));
  CHECK(has(nodes, "dense_auto_ovlp"));
  CHECK(has(nodes, "hierarchical_split_allgather"));
  CHECK(!has(nodes, "dense_in_network"));
  const std::vector<std::string> switches = names({{"platform", "dgx_h100_nvls"}});
  CHECK(switches.size() == 32);
  CHECK(has(switches, "dense_in_network"));
  const std::vector<std::string> flat = names({{"platform", "gige_star"}});
  CHECK(flat.front() == "links");
  CHECK(flat.size() == 23);
  CHECK(!has(flat, "nccl_ring"));
  const std::vector<std::string> none = names(Json::object());
  CHECK(none.front() == "alphabeta");
  CHECK(none.size() == 23);
}

TEST_CASE("What ends early is slower, and moves neither the advice nor the contenders" *
          doctest::test_suite("large")) {
  for (const auto& [platform, density_of] :
       {std::pair{"nvlink_ib", DensityOf::rank}, {"gige_star", DensityOf::sum}}) {
    CAPTURE(platform);
    const Json point = {{"ranks", 8},
                        {"platform", platform},
                        {"workload", {{"model", "vgg16"}, {"device", "h100"}}}};
    RecommendSettings settings{
        .point = point, .all = true, .crossovers = false, .density_of = density_of, .jobs = 2};
    const Recommendation whole = recommend(settings);
    CHECK(whole.slower.empty());
    settings.all = false;
    std::size_t told = 0;
    settings.forecast = [&](const Forecast& forecast) { told = forecast.candidates.size(); };
    const Recommendation quick = recommend(settings);
    const auto simulated = std::ranges::count_if(
        quick.ranked, [](const Candidate& candidate) { return candidate.row.outcome.has_value(); });
    CHECK(told == static_cast<std::size_t>(simulated) + quick.slower.size());
    CHECK(!quick.slower.empty());
    REQUIRE(quick.advice() != nullptr);
    CHECK(quick.advice()->row.point.scheme == whole.advice()->row.point.scheme->name);
    CHECK(quick.contenders == whole.contenders);
    for (const Candidate& candidate : quick.ranked) {
      CHECK(time_of(candidate.row) ==
            time_of(candidate_in(whole, candidate.row.point.scheme->name).row));
    }
    for (const Slower& slower : quick.slower) {
      CAPTURE(slower.scheme);
      CHECK(time_of(candidate_in(whole, slower.scheme).row) > slower.over_s);
    }
  }
}

TEST_CASE("Few chunks rule out no scheme that is fast enough" * doctest::test_suite("large")) {
  const Json given = {{"ranks", 16},
                      {"platform", "dgx_h100"},
                      {"network", "links"},
                      {"workload", {{"model", "bert"}, {"device", "h100"}}}};
  for (const char* scheme : {"dense_double_tree", "nccl_tree", "dense_auto_ovlp"}) {
    CAPTURE(scheme);
    Json point = given;
    point["scheme"] = scheme;
    const double time = time_of(simulated(point));
    const auto ruled_out = [&](double limit) {
      std::vector<Attempt> attempts = attempts_of({scheme}, given);
      rule_out({.point = given, .jobs = 2}, attempts,
               {.give_up_after = [&](const Attempt&) { return limit; }});
      return attempts.front().over_s.has_value();
    };
    CHECK(!ruled_out(time));
    CHECK(ruled_out(0.4 * time));
  }
}

TEST_CASE("Times are too close to call within the usual error of their communication") {
  const auto candidate = [](const char* network, double communication) {
    Candidate one;
    one.row.point =
        plan::point_from({{"network", network}, {"workload", {{"model", "vgg16"}}}}, "test");
    one.row.outcome.emplace().training.emplace().mean = {
        .computation = Seconds(1), .sparsification = {}, .communication = Seconds(communication)};
    return one;
  };
  for (const char* network : {"links", "alphabeta"}) {
    const double share = usual_error(candidate(network, 1).row).share;
    CHECK(too_close(candidate(network, 1), candidate(network, 1 / (1 - 0.99 * share))));
    CHECK(!too_close(candidate(network, 1), candidate(network, 1 / (1 - 1.01 * share))));
  }
  // Both compute alike: of a second each, only the hundredths are in doubt.
  CHECK(!too_close(candidate("links", 0.01), candidate("links", 0.02)));
}

TEST_CASE("The usual errors are in the table of measured machines") {
  struct Line {
    std::string error;
    int rows;
  };
  const auto median_of = [](const std::string& gpu, const std::string& predictor) {
    std::vector<Line> lines;
    std::ifstream table(THINWIRE_SOURCE_DIR "/results/measured/validation.txt");
    const std::string what = predictor == "simulation" ? "simulation" : "plain formula";
    for (std::string text; std::getline(table, text);) {
      std::istringstream words(text);
      std::string machine;
      std::string of_gpus;
      std::string basis;
      std::string collective;
      words >> machine >> of_gpus >> basis >> collective >> std::ws;
      if (basis != "predicted" || collective != "allreduce") continue;
      if (!gpu.empty() && of_gpus != gpu) continue;
      const std::size_t at = text.find(what);
      if (at == std::string::npos) continue;
      Line line;
      std::istringstream(text.substr(at + what.size())) >> line.rows >> line.error;
      lines.push_back(line);
    }
    std::vector<int> errors;  // in percent, one for each row
    for (const Line& line : lines) {
      errors.insert(errors.end(), static_cast<std::size_t>(line.rows), std::stoi(line.error));
    }
    REQUIRE(!errors.empty());
    std::ranges::sort(errors);
    return errors[(errors.size() - 1) / 2];
  };
  results::Row row;
  const auto percent = [&](const char* network, int node) {
    row.point.network = network;
    row.outcome.emplace().machine.node = node;
    return std::lround(100 * usual_error(row).share);
  };
  CHECK(percent("links", 1) == median_of("no", "simulation"));
  CHECK(percent("links", 8) == median_of("yes", "simulation"));
  CHECK(percent("alphabeta", 1) == median_of("", "plain formula"));
}

TEST_CASE("What does not fit into the memory is not advised") {
  const Json large = {{"ranks", 2}, {"workload", {{"model", "llama_7b"}, {"device", "h100"}}}};
  CHECK(contains(error_of<InputError>([&] {
                   static_cast<void>(recommend({.point = large, .schemes = {"dense_ring"}}));
                 }),
                 "llama_7b does not fit on h100: 6.738e+09 components"));
  // 270 MB, of which 16 bytes a component leave 34 MB; the residual takes 59.
  const test::TemporaryFolder folder;
  Json device = read_json(workloads::kDevices.file("h100"));
  device["memory"]["bytes"] = 270'000'000;
  write_text(folder.path("h100.json"), device.dump());
  const Json point = {{"ranks", 4},
                      {"workload", {{"model", "vgg16"}, {"device", folder.path("h100.json")}}}};
  const RecommendSettings settings{
      .point = point, .schemes = {"topka", "dense_rabenseifner"}, .crossovers = false};
  const Recommendation result = recommend(settings);
  const Candidate& sparse = candidate_in(result, "topka");
  CHECK(!sparse.fits);
  // The residual, k entries, and k entries of each of three others.
  CHECK(sparse.memory_bytes == test::approx(4 * 14728266.0 + 4 * 8 * 294565.0).epsilon(1e-4));
  CHECK(result.ranked.back().row.point.scheme == "topka");
  REQUIRE(result.advice() != nullptr);
  CHECK(result.advice()->row.point.scheme == "dense_rabenseifner");
  RecommendSettings less = settings;
  less.state_bytes = 12;
  CHECK(candidate_in(recommend(less), "topka").fits);
}

TEST_CASE("What is reported to converge worse is not advised, though it is the fastest") {
  const Json point = {{"ranks", 16}, {"workload", {{"model", "bert"}, {"device", "h100"}}}};
  const Recommendation result =
      recommend({.point = point, .schemes = {"cltk", "dense_ring"}, .crossovers = false});
  CHECK(result.ranked.front().row.point.scheme == "cltk");
  CHECK(result.ranked.front().convergence.convergence == algorithms::Convergence::worse);
  REQUIRE(result.advice() != nullptr);
  CHECK(result.advice()->row.point.scheme == "dense_ring");
}

TEST_CASE("Less than 5% is no reason to leave the dense sum") {
  const auto advice = [](double beta) {
    const Json point = {{"ranks", 4},
                        {"machine", {{"beta_s_per_word", beta}}},
                        {"workload", {{"model", "resnet50"}, {"device", "a100"}}}};
    const Recommendation result =
        recommend({.point = point, .schemes = {"topka", "dense_ring"}, .crossovers = false});
    CHECK(result.ranked.front().row.point.scheme == "topka");
    return result.advice()->row.point.scheme->name;
  };
  CHECK(advice(2e-10) == "dense_ring");  // 7.7 ms of 209
  CHECK(advice(4e-10) == "topka");       // 15.3 ms of 216
}

TEST_CASE("A dense scheme that takes exactly as long as the one advised is no crossover") {
  // On two ranks, the ring is Rabenseifner's algorithm.
  const Recommendation result =
      recommend({.point = {{"ranks", 2},
                           {"machine", {{"beta_s_per_word", 2e-10}}},
                           {"workload", {{"model", "resnet50"}, {"device", "a100"}}}},
                 .schemes = {"topka", "dense_ring", "dense_rabenseifner"},
                 .most_ranks = 4});
  REQUIRE(result.ranked.front().row.point.scheme == "topka");
  REQUIRE(result.contenders.size() == 3);
  REQUIRE(result.contenders.front() == "dense_ring");
  for (const Crossover& crossover : result.crossovers) {
    if (crossover.along == "ranks") continue;  // on four, Rabenseifner's algorithm is the faster
    CAPTURE(crossover.along);
    CHECK(crossover.winner != "dense_rabenseifner");
  }
}

TEST_CASE("From a small density the search goes up, and not below what is looked at") {
  const RecommendSettings settings{
      .point = {{"ranks", 8},
                {"density", 2e-6},
                {"workload", {{"model", "vgg16"}, {"device", "h100"}}}},
      .schemes = {"topka", "dense_ring"},
      .most_ranks = 16};
  const Recommendation result = recommend(settings);
  const Crossover& up = crossover_in(result, "density", true);
  CHECK(up.winner == "dense_ring");
  CHECK(up.at > 1e-3);
  CHECK(crossover_in(result, "density", false).ended == "there is no such value to try");
}

TEST_CASE("Only schemes that keep something of the gradient need memory for it") {
  const RecommendSettings settings{
      .point = {{"ranks", 8}, {"workload", {{"model", "vgg16"}, {"device", "h100"}}}},
      .schemes = {"qsgd", "quantised_alltoall", "dense_ring", "signsgd", "topka"},
      .crossovers = false};
  const Recommendation result = recommend(settings);
  for (const char* scheme : {"qsgd", "quantised_alltoall", "dense_ring"}) {
    CAPTURE(std::string(scheme));
    CHECK(candidate_in(result, scheme).memory_bytes == 0);
  }
  const double residual = 4 * 14'728'266.0;
  CHECK(candidate_in(result, "signsgd").memory_bytes == residual);
  CHECK(candidate_in(result, "topka").memory_bytes > residual);
}

TEST_CASE("With the density of the sum, all sums have as many components") {
  const Json point = {{"ranks", 8}, {"workload", {{"model", "vgg16"}, {"device", "h100"}}}};
  RecommendSettings settings{
      .point = point, .schemes = {"topka", "gtopk", "cltk", "dense_ring"}, .crossovers = false};
  const Recommendation by_rank = recommend(settings);
  settings.density_of = DensityOf::sum;
  const Recommendation by_sum = recommend(settings);
  const double wanted = candidate_in(by_rank, "topka").sum_density;
  CHECK(candidate_in(by_rank, "cltk").sum_density == test::approx(0.02).epsilon(0.01));
  CHECK(wanted > 0.03);
  for (const char* scheme : {"topka", "gtopk", "cltk"}) {
    CAPTURE(scheme);
    CHECK(candidate_in(by_sum, scheme).sum_density == test::approx(wanted).epsilon(0.02));
  }
  CHECK(candidate_in(by_sum, "topka").density_factor == 1);
  CHECK(candidate_in(by_sum, "cltk").density_factor == test::approx(wanted / 0.02).epsilon(0.01));
  settings.schemes = {"cltk"};
  CHECK(
      contains(error_of<InputError>([&] { static_cast<void>(recommend(settings)); }), "add topka"));
}

TEST_CASE("A recommendation says what it rests on, and what took no part") {
  const RecommendSettings settings{
      .point = {{"ranks", 64}, {"platform", "gige_star"}, {"workload", {{"model", "vgg16"}}}},
      .schemes = {"topka", "dense_ring"},
      .most_ranks = 128};
  const Recommendation result = recommend(settings);
  std::string all;
  for (const Remark& remark : result.assumptions) {
    all += remark.what + ": " + remark.value + "\n";
  }
  const double computing =
      workloads::compute_on(workloads::read_model(workloads::kModels.file("vgg16")), "p100")
          .time.value();
  CHECK(contains(all,
                 fmt::format("computing: {:.4g} s for 16 images per rank: calibrated", computing)));
  for (const char* part :
       {"model: VGG-16 on CIFAR-10: 14728266 components", "device: p100: NVIDIA Tesla P100",
        "ranks: 64, placement block", "network: links, platform gige_star: messages share links",
        "no advice to add ports", "density: 0.02, k = 294565", "precision: values of 32 bits",
        "kept: residual", "memory: 0.236 GB of 16 GB"}) {
    CAPTURE(part);
    CHECK(contains(all, part));
  }
  // The platform has 64 hosts.
  const Crossover& more = crossover_in(result, "ranks", true);
  CHECK(more.looked_to == 0);
  CHECK(contains(more.ended, "128"));
}

TEST_CASE("The bits of values and indexes change what is sent and held, and are told") {
  RecommendSettings settings{
      .point = {{"ranks", 4}, {"platform", "gige_star"}, {"workload", {{"model", "vgg16"}}}},
      .schemes = {"topka", "dense_ring"},
      .crossovers = false};
  const Recommendation whole = recommend(settings);
  settings.point["gradient"] = {{"value_bits", 16}, {"index_bits", 64}};
  const Recommendation half = recommend(settings);
  const auto words = [](const Recommendation& result, const std::string& scheme) {
    return static_cast<double>(candidate_in(result, scheme).row.outcome->words_received.max);
  };
  CHECK(words(half, "dense_ring") == test::approx(words(whole, "dense_ring") / 2).epsilon(1e-5));
  CHECK(words(half, "topka") == test::approx(words(whole, "topka") * 2.5 / 2).epsilon(1e-5));
  const auto beyond_residual = [&](const Recommendation& result) {
    return candidate_in(result, "topka").memory_bytes - 4.0 * 14'728'266;
  };
  CHECK(beyond_residual(half) == test::approx(beyond_residual(whole) * 2.5 / 2).epsilon(1e-5));
  const auto precision = [](const Recommendation& result) {
    return std::ranges::find(result.assumptions, "precision", &Remark::what)->value;
  };
  CHECK(precision(whole) == "values of 32 bits, indexes of 32 bits");
  CHECK(precision(half) == "values of 16 bits, indexes of 64 bits; what is kept has 32");
}

TEST_CASE("With all latencies times two and half the bandwidths, everything takes twice as long") {
  for (const char* platform : {"nvlink_ib", "gige_star"}) {
    for (const char* network : {"alphabeta", "links", "smpi"}) {
      CAPTURE(platform);
      CAPTURE(network);
      Json point = {{"scheme", "dense_rabenseifner"},
                    {"components", 1000},
                    {"ranks", 12},
                    {"platform", platform},
                    {"network", network}};
      const double once = simulated(point).outcome->time().value();
      point["latency_factor"] = 2;
      const double slow = simulated(point).outcome->time().value();
      point["bandwidth_factor"] = 0.5;
      const results::Row twice = simulated(point);
      CHECK(slow > 1.3 * once);
      CHECK(slow < 2 * once);
      CHECK(twice.outcome->time().value() == test::approx(2 * once).epsilon(1e-6));
      CHECK(plan::to_json(twice.point).at("latency_factor") == 2);
    }
  }
  const auto complaint = [](const Json& point) {
    return error_of<InputError>([&] { static_cast<void>(plan::point_from(point, "test")); });
  };
  CHECK(contains(complaint({{"latency_factor", 2}}), "/latency_factor: there is no platform"));
  CHECK(contains(complaint({{"platform", "gige_star"},
                            {"network", "smpi"},
                            {"packets", true},
                            {"bandwidth_factor", 2}}),
                 "/bandwidth_factor: packets have"));
}

TEST_CASE("A recommendation knows what dominates") {
  const auto dominant = [](const Json& more) {
    Json point = {{"ranks", 16}, {"workload", {{"model", "vgg16"}}}};
    point.update(more);
    return *recommend({.point = point, .schemes = {more.at("scheme")}, .crossovers = false})
                .ranked.front()
                .dominant;
  };
  CHECK(dominant({{"scheme", "topka"}}) == Dominant::sparsification);  // exact top-k on a P100
  CHECK(dominant({{"scheme", "oktopk"}}) == Dominant::computation);
  CHECK(dominant({{"scheme", "dense_ring"}, {"machine", {{"beta_s_per_word", 1e-7}}}}) ==
        Dominant::bandwidth);
  CHECK(dominant({{"scheme", "dense_ring"}, {"machine", {{"alpha_s", 0.1}}}}) == Dominant::latency);
}

}  // namespace thinwire::studies
