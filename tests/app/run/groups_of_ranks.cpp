// Groups of ranks: tensor and data parallelism in one run, against formulas by hand where nothing is
// congested, and against SimGrid where groups share NICs.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sim/app/results/compare.hpp"
#include "sim/app/run/simulate.hpp"
#include "sim/app/run/simulation.hpp"
#include "sim/core/base/errors.hpp"
#include "sim/machine/workloads/device.hpp"
#include "tests/support/approx.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/sanitizers.hpp"
#include "tests/support/temporary_folder.hpp"
#include "topologies/generators/family.hpp"

namespace thinwire::run {

namespace {

using test::approx;
using test::contains;
using test::error_of;

results::Row row_of(const Json& point) {
  results::Row row = simulate_point("test", plan::point_from(point, "test"));
  CAPTURE(row.reason);
  REQUIRE(row.outcome);
  return row;
}

std::string refusal(const Json& point) {
  return error_of<InputError>([&] { static_cast<void>(plan::point_from(point, "test")); });
}

constexpr double kComputing = 0.024;  // seconds
constexpr std::int64_t kComponents = 9216 + 27'648;
/// Components that the tensor-parallel ranks sum, in the order of the passes.
constexpr std::array<std::int64_t, 4> kSums{960, 720, 240, 480};

/// Two layers, whose matrices and sums tensor-parallel groups of 2, 3, 4, 6, 8 ranks can divide.
class SmallModel {
 public:
  SmallModel() {
    const Json first = {
        {"name", "first"},      {"tensors", {9216}},       {"rows", {96}},
        {"forward_flops", 100}, {"forward_sum", kSums[0]}, {"backward_sum", kSums[3]}};
    const Json second = {{"name", "second"},        {"tensors", {27'648}},
                         {"rows", {288}},           {"forward_flops", 300},
                         {"forward_sum", kSums[1]}, {"backward_sum", kSums[2]}};
    std::ofstream(path()) << Json{
        {"format", 1},
        {"name", "small"},
        {"summary", "two layers"},
        {"source", "a test"},
        {"components", kComponents},
        {"gradients", {{"profile", "bert"}, {"source", "assumed"}}},
        {"density", {{"value", 0.01}, {"source", "assumed"}}},
        {"sample", "sequence"},
        {"layers_source", "a test"},
        {"layers", {first, second}},
        {"compute",
         {{{"device", "p100"}, {"batch", 1}, {"seconds", kComputing}, {"source", "a test"}}}}};
  }
  [[nodiscard]] std::string path() const { return folder_.path("small.json"); }

 private:
  test::TemporaryFolder folder_;
};

Json training(const SmallModel& model, const std::string& parallel) {
  Json point = {
      {"scheme", "dense_ring"}, {"parallel", parallel}, {"workload", {{"model", model.path()}}}};
  if (!parallel.starts_with("tp=1,")) point["tensor_scheme"] = "dense_ring";
  return point;
}

/// Two nodes of 8 GPUs, of which 8 / `nics` share a NIC.
std::string two_nodes(const test::TemporaryFolder& folder, const std::string& nics) {
  const topologies::Family& family = topologies::family("nvlink_ib");
  return folder.write("nodes" + nics + ".xml",
                      make_platform(family, {{"nodes", "2"}, {"gpus", "8"}, {"nics", nics}}));
}

}  // namespace

TEST_CASE("Without congestion an iteration in groups takes what a formula by hand says") {
  const SmallModel model;
  const double gamma =
      workloads::read_device(workloads::kDevices.file("p100")).prices(false).reduce.element.value();
  for (const char* parallel : {"tp=1,dp=8", "tp=2,dp=4", "tp=4,dp=3", "tp=8,dp=2", "tp=6,dp=1",
                               "tp=3,dp=4", "dp=4,tp=2", "dp=2,tp=8"}) {
    for (const char* network : {"alphabeta", "links"}) {
      CAPTURE(parallel);
      CAPTURE(network);
      Json point = training(model, parallel);
      point["network"] = network;
      if (std::string_view(network) == "links") point["platform"] = "gige_star";
      const results::Row row = row_of(point);
      const double alpha = row.outcome->machine.alpha.value();
      const double beta = row.outcome->machine.beta_per_word.value();
      const auto ring = [&](int ranks, std::int64_t words) {
        const double of_rank = static_cast<double>(words) / ranks;
        return (ranks - 1) * (2 * (alpha + of_rank * beta) + of_rank * gamma);
      };
      const int tensor = row.point.parallel.tensor;
      const int data = row.point.data_ranks();
      CHECK(row.point.ranks == tensor * data);
      CHECK(row.point.space.components == kComponents / tensor);
      double sums = 0;
      for (const std::int64_t words : kSums) sums += ring(tensor, words);
      const workloads::IterationParts& parts = row.outcome->training->mean;
      CHECK(parts.computation.value() == approx(kComputing / tensor).epsilon(1e-9));
      CHECK(parts.tensor_parallel.value() == approx(tensor > 1 ? sums : 0).epsilon(1e-9));
      if (data > 1) {
        CHECK(parts.communication.value() ==
              approx(ring(data, kComponents / tensor)).epsilon(1e-9));
      }
      CHECK(row.outcome->time().value() ==
            approx(kComputing / tensor + sums + ring(data, kComponents / tensor)).epsilon(1e-9));
      CHECK(row.outcome->training->samples_per_s ==
            approx(data / row.outcome->time().value()).epsilon(1e-9));
    }
  }
}

TEST_CASE("Data-parallel groups that share NICs wait for each other, as on SimGrid") {
  const test::TemporaryFolder folder;
  // Rank i of both nodes form a group: each has a NIC of its own, or shares it with another group.
  for (const auto& [nics, slowdown] : {std::pair("8", 1.0), std::pair("4", 1.9989)}) {
    std::vector<double> times;
    for (const char* network : {"links", "smpi"}) {
      if (test::kSanitized && std::string_view(network) == "smpi") continue;
      CAPTURE(nics);
      CAPTURE(network);
      const results::Row row = row_of({{"scheme", "dense_ring"},
                                       {"parallel", "tp=8,dp=2"},
                                       {"components", 25'000'000},
                                       {"network", network},
                                       {"platform", two_nodes(folder, nics)}});
      // Two messages of half the gradient: 50 MB at 25 GB/s, after an α of 2.47 µs.
      CHECK(row.outcome->alphabeta_time->value() == approx(2 * (2.47e-6 + 2e-3)).epsilon(1e-6));
      CHECK(*row.outcome->congestion_factor() == approx(slowdown).epsilon(1e-4));
      CHECK(row.outcome->words_sent.max == 25'000'000);
      times.push_back(row.outcome->time().value());
    }
    CHECK(times.front() == approx(times.back()).epsilon(1e-6));
  }
}

TEST_CASE("A training in groups takes as long on links as on SimGrid") {
  if (test::kSanitized) return;  // a thread a rank
  const SmallModel model;
  const test::TemporaryFolder folder;
  const std::string platform = two_nodes(folder, "4");
  for (const char* scheme : {"dense_ring", "dense_ovlp", "topka", "oktopk"}) {
    for (const char* parallel : {"tp=8,dp=2", "tp=2,dp=8", "dp=4,tp=4"}) {
      CAPTURE(scheme);
      CAPTURE(parallel);
      Json point = training(model, parallel);
      point["scheme"] = scheme;
      point["platform"] = platform;
      point["network"] = "links";
      const results::Row links = row_of(point);
      point["network"] = "smpi";
      const results::Row smpi = row_of(point);
      CHECK(links.outcome->time().value() == approx(smpi.outcome->time().value()).epsilon(1e-3));
      CHECK(links.outcome->training->mean.tensor_parallel.value() ==
            approx(smpi.outcome->training->mean.tensor_parallel.value()).epsilon(1e-2));
      CHECK(links.outcome->words_sent.max == smpi.outcome->words_sent.max);
    }
  }
}

TEST_CASE("Groups of a file equal the groups of a layout whose ranks a placement has moved") {
  const SmallModel model;
  const test::TemporaryFolder folder;
  // Rank i of the layout is rank 5 i mod 16 of the file.
  std::string tensor = "# a tensor-parallel group a line\n";
  std::string data;
  std::array<std::string, 16> hosts;
  for (int i = 0; i < 16; ++i) {
    hosts.at(static_cast<std::size_t>(i)) = "gpu-" + std::to_string(5 * i % 16) + "\n";
  }
  for (int group = 0; group < 4; ++group) {
    tensor += "tp";
    data += "dp";
    for (int i = 0; i < 4; ++i) {
      tensor += " " + std::to_string(5 * (4 * group + i) % 16);
      data += "\t" + std::to_string(5 * (group + 4 * i) % 16);
    }
    tensor += "  # its ranks\r\n";
    data += "\n\n";
  }
  std::string placement;
  for (const std::string& host : hosts) placement += host;
  for (const char* scheme : {"dense_ring", "dense_recursive_doubling", "oktopk", "gtopk"}) {
    for (const char* network : {"links", "smpi", "alphabeta"}) {
      if (test::kSanitized && std::string_view(network) == "smpi") continue;
      CAPTURE(scheme);
      CAPTURE(network);
      Json point = training(model, "tp=4,dp=4");
      point["scheme"] = scheme;
      point["network"] = network;
      point["platform"] = two_nodes(folder, "4");
      point["placement"] = folder.write("hosts.txt", placement);
      const results::Row layout = row_of(point);
      point.erase("placement");
      for (const std::string& text : {tensor + data, tensor, data}) {
        point["parallel"] = folder.write("groups.txt", text);
        const results::Row listed = row_of(point);
        CHECK(listed.outcome->time().value() ==
              approx(layout.outcome->time().value()).epsilon(1e-9));
        CHECK(listed.outcome->training->mean.tensor_parallel.value() ==
              approx(layout.outcome->training->mean.tensor_parallel.value()).epsilon(1e-9));
        CHECK(listed.outcome->words_sent.max == layout.outcome->words_sent.max);
        CHECK(compare(listed, 1e-9).formula_high == compare(layout, 1e-9).formula_high);
      }
    }
  }
}

TEST_CASE("Groups of a file at any distances take what a formula by hand says") {
  const test::TemporaryFolder folder;
  const std::string path = folder.write("groups.txt", "dp 0 1 4 7\ndp 6 2 3 5\n");
  for (const char* network : {"alphabeta", "links"}) {
    CAPTURE(network);
    Json point = {
        {"scheme", "dense_ring"}, {"parallel", path}, {"components", 4000}, {"network", network}};
    if (std::string_view(network) == "links") point["platform"] = "gige_star";
    const results::Row row = row_of(point);
    CHECK(row.point.ranks == 8);
    const plan::Machine& machine = row.outcome->machine;
    CHECK(row.outcome->time().value() ==
          approx(6 * (machine.alpha.value() + 1000 * machine.beta_per_word.value())).epsilon(1e-9));
  }
}

TEST_CASE("A file of groups that cannot be is refused with its line") {
  const test::TemporaryFolder folder;
  const auto refused = [&](const std::string& text) {
    return refusal({{"scheme", "oktopk"}, {"parallel", folder.write("groups.txt", text)}});
  };
  CHECK(contains(refused("tp 0 1\n\npp 2 3\n"),
                 "groups.txt:3: 'pp 2 3': expected tp or dp, and the ranks of a group"));
  CHECK(contains(refused("tp 0 1\ntp\n"), "groups.txt:2: 'tp': expected"));
  CHECK(contains(refused("tp 0 1\ntp 2 x\n"), "groups.txt:2: 'x' is no rank"));
  CHECK(contains(refused("tp 0 1\ntp 2 -3\n"), "groups.txt:2: '-3' is no rank"));
  CHECK(contains(refused("tp 0 1\ntp 2 3 4\n"),
                 "groups.txt:2: 3 ranks, but the tensor-parallel group of line 1 has 2"));
  CHECK(contains(refused("# first\ndp 0 1\ndp 1 2\n"),
                 "groups.txt:3: rank 1 is in a data-parallel group before, in line 2"));
  CHECK(contains(refused("dp 0 0\n"), "groups.txt:1: rank 0 is in a data-parallel group before"));
  CHECK(contains(refused("dp 0 1\ndp 3 4\n"), "rank 2 of 5 is in no data-parallel group"));
  CHECK(contains(refused("tp 0 1\ntp 2 3\ndp 0 2\n"), "rank 1 of 4 is in no data-parallel group"));
  CHECK(
      contains(refused("tp 0 1\ntp 2 3\ndp 0 2\ndp 3 1\ndp 4 5\n"), "rank 4 of 6 is in no tensor"));
  CHECK(contains(refused("tp 0 1\ntp 2 3\ndp 0 1\ndp 2 3\n"),
                 "ranks 0 and 1 of line 3 are in one tensor-parallel group, too"));
  CHECK(contains(refused("tp 0 1\ntp 2 3\ndp 0\ndp 1\ndp 2\ndp 3\n"),
                 "groups of tp=2 and dp=1 make 2 ranks, but there are 4"));
  CHECK(contains(refused("# nothing\n"), "it has no groups"));
  CHECK(contains(refusal({{"scheme", "oktopk"}, {"parallel", "./none"}}), "./none"));
  const std::string pairs = folder.write("pairs.txt", "tp 0 3\ntp 1 2\n");
  CHECK(contains(refusal({{"scheme", "oktopk"}, {"ranks", 8}, {"parallel", pairs}}),
                 "tp=2 times dp=2 are not the 8 ranks"));
  // A point comes back as it went, and its key knows what the file says.
  const Json given = {{"scheme", "oktopk"}, {"parallel", pairs}};
  const plan::Point point = plan::point_from(given, "test");
  CHECK(to_json(plan::point_from(to_json(point), "test")) == to_json(point));
  const std::string key = key_of(point);
  static_cast<void>(folder.write("pairs.txt", "tp 0 1\ntp 2 3\n"));
  CHECK(key_of(plan::point_from(given, "test")) != key);
}

TEST_CASE("Each group does what a run of its ranks alone does, on all networks") {
  for (const char* scheme : {"oktopk", "gtopk", "dense_recursive_doubling", "allgather_ring"}) {
    for (const char* network : {"alphabeta", "counting"}) {
      CAPTURE(scheme);
      CAPTURE(network);
      Json point = {{"scheme", scheme}, {"ranks", 4}, {"components", 40'000}, {"network", network}};
      const results::Row alone = row_of(point);
      for (const char* parallel : {"tp=3,dp=4", "dp=4,tp=3"}) {
        point["ranks"] = 12;
        point["parallel"] = parallel;
        const results::Row grouped = row_of(point);
        CHECK(grouped.outcome->time() == alone.outcome->time());
        CHECK(grouped.outcome->steps == alone.outcome->steps);
        CHECK(grouped.outcome->words_sent.max == alone.outcome->words_sent.max);
        CHECK(grouped.outcome->words_sent.mean == approx(alone.outcome->words_sent.mean));
        CHECK(compare(grouped, 1e-9).verdict == compare(alone, 1e-9).verdict);
        CHECK(compare(grouped, 1e-9).formula_high == compare(alone, 1e-9).formula_high);
        if (!alone.outcome->selection) continue;
        CHECK(grouped.outcome->selection->total == alone.outcome->selection->total);
      }
    }
  }
}

TEST_CASE("A timeline shows the sums of activations as phases in the passes") {
  const SmallModel model;
  Simulation simulation(plan::point_from(training(model, "tp=2,dp=2"), "test"));
  static_cast<void>(simulation.run({.ranks = {Rank(0)}, .last = false}));
  const auto& marks = simulation.timeline()->tracks().begin()->second.marks();
  const auto begins = [&](const std::string& name) {
    return std::ranges::count_if(
        marks, [&](const auto& mark) { return mark.begins && mark.name == name; });
  };
  CHECK(begins("tensor_parallel") == std::ssize(kSums));
  CHECK(begins("forward") == 1);
}

TEST_CASE("Groups that cannot be are refused with the reason") {
  const SmallModel model;
  const Json plain = {{"scheme", "oktopk"}, {"ranks", 12}, {"parallel", "tp=4"}};
  CHECK(plan::point_from(plain, "test").data_ranks() == 3);
  const auto with = [&](const char* key, const Json& value) {
    Json point = plain;
    point[key] = value;
    return refusal(point);
  };
  CHECK(contains(with("parallel", "tp=5"), "/parallel: tp=5 does not divide 12 ranks"));
  CHECK(contains(with("parallel", "tp=4,dp=4"), "tp=4 times dp=4 are not the 12 ranks"));
  for (const char* text : {"tp", "tp=0", "tp=2,tp=2", "pp=4", "tp=2,", "tp=2;dp=2", "tp=-1", "="}) {
    CAPTURE(text);
    CHECK(contains(with("parallel", text), "as in tp=8,dp=32"));
  }
  CHECK(contains(with("scheme", "alltoall_pairwise"), "groups are for an allreduce"));
  CHECK(contains(with("tensor_scheme", "dense_ring"), "no activations are summed"));
  Json trained = training(model, "tp=2,dp=4");
  trained["tensor_scheme"] = "oktopk";
  CHECK(contains(refusal(trained), "/tensor_scheme: oktopk is no dense allreduce"));
  trained = training(model, "tp=2,dp=4");
  trained["workload"]["local_steps"] = 4;
  CHECK(contains(refusal(trained), "leave out 'local_steps'"));
  trained["workload"] = {{"model", "vgg16"}};
  CHECK(contains(refusal(trained), "does not say which activations"));
  // A point comes back as it went.
  const plan::Point point = plan::point_from(training(model, "dp=4,tp=2"), "test");
  CHECK(point.ranks == 8);
  CHECK(to_json(plan::point_from(to_json(point), "test")) == to_json(point));
}

}  // namespace thinwire::run
