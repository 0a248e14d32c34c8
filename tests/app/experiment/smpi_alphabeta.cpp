// SMPI against the α-β machine, on the platform that is the α-β machine. Both begin a message when
// send and receive are posted, and share a port among its messages. They differ in two things: SMPI
// divides a flow's rate by what its other port allows (max-min), while a port of the α-β machine
// gives every message its share; and SMPI's times are rounded to its precision.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "algorithms/registry.hpp"
#include "sim/app/experiment/simulate.hpp"
#include "tests/support/sanitizers.hpp"

namespace {

using namespace thinwire;
using namespace thinwire::experiment;

std::vector<int> rank_counts() {
  if (test::kSanitized) return {3};  // a thread a rank
  return {1, 3, 8, 12, 17, 32};
}

struct Given {
  std::string scheme;
  int ranks = 1;
  std::int64_t components = 100'000;
  double density = 0.05;
  int iterations = 1;
  std::string options = "{}";
};

Row row_of(const Given& given, const char* network = "smpi") {
  const Json json{{"scheme", given.scheme},         {"network", network},
                  {"platform", "alphabeta"},        {"ranks", given.ranks},
                  {"components", given.components}, {"density", given.density},
                  {"iterations", given.iterations}, {"options", Json::parse(given.options)}};
  Row row = simulate_point("test", point_from(json, "test"));
  REQUIRE(row.status == Status::ok);
  return row;
}

/// The share by which SMPI takes longer.
double excess(const Given& given) { return *row_of(given).outcome->congestion_factor() - 1; }

/// Whether times of NCCL's protocol pass beside other work of a rank, which on SMPI comes first.
bool works_beside(const std::string& scheme) {
  return scheme.starts_with("nccl_") || scheme.starts_with("dense_auto");
}

/// Checks that a point takes the same time on SMPI and in the α-β machine.
void check_same(Json point) {
  point["network"] = "smpi";
  point["platform"] = "alphabeta";
  const Row row = simulate_point("test", point_from(point, "test"));
  REQUIRE(row.status == Status::ok);
  // Ports hold several messages in the direct exchange of these schemes. Seen: 1.4e-4; 3e-8 for all
  // others.
  const bool exchanges = row.point.scheme.find("oktopk") != std::string::npos ||
                         row.point.scheme.find("split") != std::string::npos ||
                         row.point.scheme == "topkdsa" || row.point.scheme == "alltoall_linear" ||
                         row.point.scheme == "zen" || row.point.scheme == "omnireduce";
  double tolerance = exchanges ? 1e-3 : 1e-6;
  if (works_beside(row.point.scheme)) tolerance = 1e-2;  // seen: 8e-3 on 8 ranks
  // On nodes of 8, 8 and 7, the ranks without a rail are ahead of the others. Seen: 1.5e-2.
  if (row.point.scheme == "hierarchical_oktopk" && row.point.ranks == 23) tolerance = 2e-2;
  CHECK(std::abs(*row.outcome->congestion_factor() - 1) < tolerance);
}

void check_profile(const char* profile, const std::vector<int>& all_ranks) {
  for (const int ranks : all_ranks) {
    for (const algorithms::SchemeInfo& info : algorithms::all_schemes()) {
      if (info.in_switches) continue;                               // SimGrid's only forward
      if (info.dense && std::string(profile) != "vgg16") continue;  // they take no notice of it
      if (info.needs_entries) continue;
      // On 32 ranks they differ by 4%, and SMPI takes a minute for the tree's messages.
      if (works_beside(info.name) && ranks > 8) continue;
      CAPTURE(std::string(profile));
      CAPTURE(ranks);
      CAPTURE(info.name);
      check_same({{"scheme", info.name},
                  {"ranks", ranks},
                  {"input", {{"profile", profile}, {"statistical", true}}}});
    }
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

TEST_CASE("every scheme takes the same time on SMPI and alphabeta with vgg16's gradients" *
          doctest::test_suite("large")) {
  check_profile("vgg16", {8, 32});
}
TEST_CASE("every sparse scheme takes the same time on SMPI and alphabeta with lstm's gradients" *
          doctest::test_suite("large")) {
  check_profile("lstm", {23});
}
TEST_CASE("every sparse scheme takes the same time on SMPI and alphabeta with bert's gradients" *
          doctest::test_suite("large")) {
  check_profile("bert", {32});
}

TEST_CASE("every sparse scheme takes the same time on SMPI and alphabeta on recorded trainings" *
          doctest::test_suite("large")) {
  for (const char* trace : {"cnn_oktopk", "lstm_all"}) {
    for (const algorithms::SchemeInfo& info : algorithms::all_schemes()) {
      if (info.dense) continue;
      CAPTURE(std::string(trace));
      CAPTURE(info.name);
      check_same({{"scheme", info.name}, {"input", {{"trace", trace}}}});
    }
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

TEST_CASE("a platform's end-to-end figures are those of its XML") {
  const Machine machine = row_of(Given{"topka", 8}).outcome->machine;
  CHECK(machine.alpha.value() == doctest::Approx(2e-6).epsilon(1e-12));
  CHECK(machine.beta_per_word.value() == doctest::Approx(4e-10).epsilon(1e-12));
}
