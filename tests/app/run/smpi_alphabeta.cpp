// SMPI against the α-β machine, on the platform that is the α-β machine. Both begin a message when
// send and receive are posted, and share a port among its messages. They differ in two things: SMPI
// gives what a message cannot use of a port to others (max-min), while a port of the α-β machine
// gives every message the same share; and SMPI's times are rounded to its precision.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "algorithms/registry.hpp"
#include "sim/app/run/simulate.hpp"
#include "sim/core/base/files.hpp"
#include "tests/support/approx.hpp"
#include "tests/support/sanitizers.hpp"
#include "tests/support/temporary_folder.hpp"
#include "topologies/loading/shipped.hpp"

namespace {

using namespace thinwire;
using namespace thinwire::plan;
using namespace thinwire::results;
using namespace thinwire::run;

std::vector<int> rank_counts() {
  if (test::kSanitized) return {3};  // a thread a rank
  return {1, 3, 8, 12, 17, 32};
}

/// platforms/alphabeta.xml with 64 of its 4096 hosts, which SimGrid loads sooner.
class FewHosts {
 public:
  FewHosts() {
    std::string xml = read_text(topologies::kPlatforms.file("alphabeta"));
    const std::string all = "0-4095";
    xml.replace(xml.find("radical=\"" + all) + 9, all.size(), "0-63");
    path_ = folder_.write("alphabeta.xml", xml);
  }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  test::TemporaryFolder folder_;
  std::string path_;
};
const std::string& few_hosts() {
  static const FewHosts platform;
  return platform.path();
}

struct Given {
  std::string scheme;
  int ranks = 1;
  std::int64_t components = 100'000;
  double density = 0.05;
  int iterations = 1;
  std::string options = "{}";
  std::string platform = few_hosts();
};

Row row_of(const Given& given, const char* network = "smpi") {
  const Json json{{"scheme", given.scheme},         {"network", network},
                  {"platform", given.platform},     {"ranks", given.ranks},
                  {"components", given.components}, {"density", given.density},
                  {"iterations", given.iterations}, {"options", Json::parse(given.options)}};
  Row row = simulate_point("test", point_from(json, "test"));
  REQUIRE(row.status == Status::ok);
  return row;
}

/// The share by which SMPI takes longer.
double excess(const Given& given) { return *row_of(given).outcome->congestion_factor() - 1; }

/// Whether ports hold several messages in a direct exchange of the scheme.
bool exchanges(const std::string& scheme) {
  return scheme.find("oktopk") != std::string::npos || scheme.find("split") != std::string::npos ||
         scheme == "topkdsa" || scheme == "alltoall_linear" || scheme == "zen" ||
         scheme == "omnireduce";
}

/// The most by which SMPI and the α-β machine may differ, as a share of the time. All that is more
/// than rounding comes from the two ways to share a port (docs/decisions/0009-rendezvous.md).
double most_difference(const std::string& scheme, int ranks) {
  // Channels are out of step, and a later message of one puts the others into another order: a
  // millionth of the lengths moves their times by 4% on either network. Seen: 3.3e-2 on 23 ranks.
  if (scheme.ends_with("nccl_ring") || scheme.starts_with("dense_auto")) return 4e-2;
  if (scheme == "nccl_tree") return 3e-2;  // seen: 2.2e-2 on 23 ranks
  // On nodes of 8, 8 and 7, the ranks without a rail are ahead of the others. Seen: 1.5e-2.
  if (scheme == "hierarchical_oktopk" && ranks == 23) return 2e-2;
  return exchanges(scheme) ? 1e-3 : 1e-6;  // seen: 4.9e-4, and 3e-8
}

/// Checks that a point takes the same time on SMPI and in the α-β machine.
void check_same(Json point) {
  point["network"] = "smpi";
  point["platform"] = few_hosts();
  // The second iteration of these has a part of the schedule of the first, and takes SMPI seconds.
  const auto scheme = point["scheme"].get<std::string>();
  const bool again = scheme.find("oktopk") != std::string::npos && point.value("ranks", 0) < 64;
  point["iterations"] = again ? 2 : 1;
  CAPTURE(point.dump());
  const Row row = simulate_point("test", point_from(point, "test"));
  REQUIRE(row.status == Status::ok);
  CHECK(std::abs(*row.outcome->congestion_factor() - 1) < most_difference(scheme, row.point.ranks));
}

constexpr std::array kRanks{8, 23, 32, 64};
/// Every ring of NCCL has pieces of equal length with each of these numbers of ranks.
constexpr int kComponents = 117'760;

void check_profile(const std::string& profile) {
  for (const int ranks : kRanks) {
    for (const algorithms::SchemeInfo& info : algorithms::all_schemes()) {
      if (info.dense) continue;
      if (ranks >= 32 && profile != "vgg16") continue;  // one will do, which take longest
      check_same({{"scheme", info.name},
                  {"ranks", ranks},
                  {"input", {{"profile", profile}, {"statistical", true}}}});
    }
  }
}

/// A trace has the gradients of 16 ranks.
void check_trace(const char* trace, int ranks) {
  for (const algorithms::SchemeInfo& info : algorithms::all_schemes()) {
    if (info.dense) continue;
    check_same({{"scheme", info.name}, {"ranks", ranks}, {"input", {{"trace", trace}}}});
  }
}

}  // namespace

TEST_CASE("with one message in flight, SMPI is the alpha-beta machine") {
  for (const char* scheme :
       {"dense_rabenseifner", "dense_ring", "dense_recursive_doubling", "topka"}) {
    for (const int ranks : rank_counts()) {
      for (const std::int64_t components : {1000, 100'000}) {
        CAPTURE(std::string(scheme));
        CAPTURE(ranks);
        CAPTURE(components);
        // Seen: 5e-14.
        CHECK(std::abs(excess({scheme, ranks, components})) < 1e-9);
      }
    }
  }
}

TEST_CASE("with buckets on the second strand, SMPI is the alpha-beta machine") {
  for (const int ranks : rank_counts()) {
    for (const char* options : {R"({"bucket_words":25600})", R"({"bucket_words":6400})"}) {
      CAPTURE(ranks);
      CAPTURE(std::string(options));
      const Given given{
          .scheme = "dense_ovlp", .ranks = ranks, .components = 102'400, .options = options};
      // Seen: 3e-14.
      CHECK(std::abs(excess(given)) < 1e-9);
    }
  }
}

TEST_CASE("oktopk on SMPI takes what it takes in the alpha-beta machine, in every variant" *
          doctest::test_suite("large")) {
  for (const int ranks : rank_counts()) {
    for (const char* options :
         {"{}", R"({"bucket":1})", R"({"sliding":false})", R"({"rotation":false})"}) {
      for (const int iterations : {1, 2}) {
        for (const std::int64_t components : {2000, 100'000}) {
          CAPTURE(ranks);
          CAPTURE(std::string(options));
          CAPTURE(iterations);
          CAPTURE(components);
          const Given given{.scheme = "oktopk",
                            .ranks = ranks,
                            .components = components,
                            .iterations = iterations,
                            .options = options};
          // Without rotation all send to one rank at a time. Seen: 7.7e-3, otherwise 7e-5.
          const bool rotated = std::string(options).find("rotation") == std::string::npos;
          CHECK(std::abs(excess(given)) < (rotated ? 1e-4 : 1e-2));
        }
      }
    }
  }
}

TEST_CASE("every dense scheme takes the same time on SMPI and alphabeta" *
          doctest::test_suite("large")) {
  for (const int ranks : kRanks) {
    for (const algorithms::SchemeInfo& info : algorithms::all_schemes()) {
      if (!info.dense || info.in_switches) continue;  // SimGrid's switches only forward
      check_same({{"scheme", info.name}, {"ranks", ranks}, {"components", kComponents}});
    }
  }
}

TEST_CASE("blocks and packed entries take the same time on SMPI and alphabeta" *
          doctest::test_suite("large")) {
  for (const int ranks : kRanks) {
    for (const char* scheme : {"omnireduce", "sparseloco"}) {
      check_same({{"scheme", scheme}, {"ranks", ranks}, {"components", kComponents}});
    }
  }
}

TEST_CASE("every sparse scheme takes the same time on SMPI and alphabeta with vgg16's gradients" *
          doctest::test_suite("large")) {
  check_profile("vgg16");
}
TEST_CASE("every sparse scheme takes the same time on SMPI and alphabeta with lstm's gradients" *
          doctest::test_suite("large")) {
  check_profile("lstm");
}
TEST_CASE("every sparse scheme takes the same time on SMPI and alphabeta with bert's gradients" *
          doctest::test_suite("large")) {
  check_profile("bert");
}

TEST_CASE("every sparse scheme takes the same time on SMPI and alphabeta on recorded trainings" *
          doctest::test_suite("large")) {
  check_trace("cnn_all", 8);
  check_trace("cnn_oktopk", 16);
  check_trace("lstm_all", 16);
  check_trace("lstm_oktopk", 8);
}

TEST_CASE("NCCL's channels in step take the same time on SMPI and alphabeta") {
  // All messages have the same length, and all nodes 8 ranks, so the channels stay in step. Seen:
  // 1.6e-8. On 23 and on 64 ranks they do not.
  for (const int ranks : {8, 16, 32}) {
    CAPTURE(ranks);
    CHECK(std::abs(excess({.scheme = "nccl_ring", .ranks = ranks, .components = kComponents})) <
          1e-6);
  }
}

TEST_CASE("a scheme sends the same messages on SMPI as in the alpha-beta machine") {
  for (const char* scheme : {"dense_rabenseifner", "dense_ring", "dense_recursive_doubling",
                             "dense_ovlp", "topka", "oktopk"}) {
    const Given given{.scheme = scheme, .ranks = 12, .components = 5000, .iterations = 2};
    const Outcome smpi = *row_of(given).outcome;
    const Outcome alphabeta = *row_of(given, "alphabeta").outcome;
    CAPTURE(std::string(scheme));
    CHECK(smpi.words_sent.max == alphabeta.words_sent.max);
    CHECK(smpi.words_sent.mean == alphabeta.words_sent.mean);
    CHECK(smpi.words_received.max == alphabeta.words_received.max);
    CHECK(smpi.messages_sent.max == alphabeta.messages_sent.max);
    CHECK(smpi.messages_sent.mean == alphabeta.messages_sent.mean);
    CHECK(smpi.messages_received.max == alphabeta.messages_received.max);
    CHECK(smpi.result_components == alphabeta.result_components);
    CHECK(*smpi.alphabeta_time == alphabeta.time());
    CHECK(smpi.machine.alpha == alphabeta.machine.alpha);
    CHECK(smpi.machine.beta_per_word == alphabeta.machine.beta_per_word);
  }
}

TEST_CASE("a platform's end-to-end figures follow from its XML") {
  const Machine machine =
      row_of({.scheme = "topka", .ranks = 8, .platform = "alphabeta"}).outcome->machine;
  CHECK(machine.alpha.value() == test::approx(2e-6).epsilon(1e-12));
  CHECK(machine.beta_per_word.value() == test::approx(4e-10).epsilon(1e-12));
}
