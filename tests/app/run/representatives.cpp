#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <vector>

#include "sim/app/plan/approximate.hpp"
#include "sim/app/plan/point.hpp"
#include "sim/app/run/simulate.hpp"
#include "sim/app/run/simulation.hpp"
#include "sim/core/base/errors.hpp"
#include "sim/core/gradient/concatenation.hpp"
#include "sim/core/kernel/group.hpp"
#include "sim/machine/networks/alphabeta/alphabeta.hpp"
#include "sim/machine/networks/common/approximate/representatives.hpp"
#include "sim/machine/networks/counting/counting.hpp"
#include "tests/support/approx.hpp"
#include "tests/support/links.hpp"
#include "tests/support/temporary_folder.hpp"

namespace thinwire::run {

namespace {

Json given(const std::string& scheme, int ranks, int few) {
  return {{"scheme", scheme},
          {"ranks", ranks},
          {"approximate", few},
          {"input", {{"profile", "bert"}, {"statistical", true}}}};
}

results::Outcome outcome_of(const Json& json) {
  return Simulation(plan::point_from(json, "test")).run();
}

/// Runs a program on `few` of `ranks` ranks with α = 1 and β = 0.
RunReport run_few(int ranks, int few, const RankProgram& program) {
  networks::RepresentativesNetwork network(
      std::make_unique<networks::AlphaBetaNetwork>(networks::alpha_beta(Seconds(1), Seconds(0))),
      {.ranks = ranks, .running = few}, std::make_unique<ConcatenationRenamer>());
  return network.run(ranks, program);
}

}  // namespace

TEST_CASE("representatives: dense schemes take the time of all ranks" *
          doctest::test_suite("large")) {
  for (const char* scheme : {"dense_ring", "dense_rabenseifner", "dense_recursive_doubling",
                             "hierarchical_ring", "dense_ovlp"}) {
    CAPTURE(scheme);
    const results::Outcome all = outcome_of(given(scheme, 64, 0));
    for (const int few : {8, 64}) {  // at least a node
      const results::Outcome of_few = outcome_of(given(scheme, 64, few));
      CHECK(of_few.time().value() == test::approx(all.time().value()).epsilon(1e-6));
      CHECK(of_few.messages_sent.mean == all.messages_sent.mean);
      CHECK(of_few.result_components == all.result_components);
      CHECK(of_few.ranks_agree);
    }
  }
}

TEST_CASE("representatives: sparse schemes take nearly the time of all ranks") {
  const auto check = [](const char* scheme, int ranks, double tolerance) {
    CAPTURE(scheme);
    CAPTURE(ranks);
    const results::Outcome all = outcome_of(given(scheme, ranks, 0));
    const results::Outcome few = outcome_of(given(scheme, ranks, 16));
    CHECK(few.time().value() == test::approx(all.time().value()).epsilon(tolerance));
    CHECK(few.mean_time().value() == test::approx(all.mean_time().value()).epsilon(tolerance));
    CHECK(few.ranks_agree);
  };
  for (const char* scheme : {"topka", "ssar_recursive_double", "dragonn", "hard_threshold"}) {
    check(scheme, 64, 0.02);
  }
  check("ssar_recursive_double", 112, 0.02);  // ranks fold in
}

TEST_CASE("representatives: a sparse ring whose parts stay sparse waits for the fullest of them" *
          doctest::test_suite("large")) {
  for (const int ranks : {48, 64, 256}) {
    for (const double density : {0.0001, 0.001}) {
      CAPTURE(ranks);
      CAPTURE(density);
      const auto time = [&](int few) {
        Json json = given("ring_sparse", ranks, few);
        json["density"] = density;
        const results::Outcome outcome = outcome_of(json);
        CHECK(outcome.ranks_agree);
        return outcome.time().value();
      };
      CHECK(time(16) == test::approx(time(0)).epsilon(0.025));
    }
  }
}

TEST_CASE("representatives: as many as there are ranks change nothing") {
  for (const char* scheme : {"topk_allreduce", "oktopk", "dsar_split_allgather"}) {
    CAPTURE(scheme);
    const results::Outcome all = outcome_of(given(scheme, 12, 0));
    const results::Outcome few = outcome_of(given(scheme, 12, 12));
    // All ranks take the steps of an exchange apart, and round in another order.
    CHECK(few.time().value() == test::approx(all.time().value()).epsilon(1e-12));
    CHECK(few.mean_time().value() == test::approx(all.mean_time().value()).epsilon(1e-12));
  }
}

TEST_CASE("representatives: ranks with uneven parts take nearly the time of all" *
          doctest::test_suite("large")) {
  const auto error_of = [](const Json& few, const Json& all) {
    return outcome_of(few).time().value() / outcome_of(all).time().value() - 1;
  };
  CHECK(std::abs(error_of(given("oktopk", 256, 64), given("oktopk", 256, 0))) < 0.02);
  CHECK(std::abs(error_of(given("oktopk", 112, 16), given("oktopk", 112, 0))) < 0.02);
  CHECK(std::abs(error_of(given("topkdsa", 256, 64), given("topkdsa", 256, 0))) < 0.02);
  CHECK(std::abs(error_of(given("dsar_split_allgather", 112, 16),
                          given("dsar_split_allgather", 112, 0))) < 0.001);
}

TEST_CASE("representatives: it is known which times are rough") {
  const auto is_rough = [](const char* scheme, int few) {
    return plan::represents_unequal_parts(plan::point_from(given(scheme, 256, few), "test"));
  };
  CHECK(is_rough("topkdsa", 64));
  CHECK(is_rough("hierarchical_oktopk", 64));
  CHECK_FALSE(is_rough("topkdsa", 0));
  CHECK(is_rough("oktopk", 32));
  CHECK(is_rough("ring_sparse", 32));
  CHECK_FALSE(is_rough("oktopk", 64));
  CHECK_FALSE(is_rough("topka", 32));
  const auto error_of = [](const char* scheme, int few, bool uneven) {
    return plan::approximation_error(plan::point_from(given(scheme, 256, few), "test"), uneven);
  };
  CHECK(error_of("topka", 16, false) == 0.03);
  CHECK(error_of("dgc", 16, true) == 0.25);
  CHECK(error_of("dgc", 64, true) == 0.03);
  CHECK(error_of("oktopk", 32, false) == 0.25);
}

TEST_CASE("representatives: whole nodes stand for others where nodes add parts" *
          doctest::test_suite("large")) {
  const auto check = [](const char* scheme, int ranks, int few, int node, double tolerance) {
    CAPTURE(scheme);
    CAPTURE(ranks);
    CAPTURE(few);
    Json json = given(scheme, ranks, 0);
    json["options"] = {{"node", node}};
    const results::Outcome all = outcome_of(json);
    json["approximate"] = few;
    const results::Outcome represented = outcome_of(json);
    CHECK(represented.time().value() == test::approx(all.time().value()).epsilon(tolerance));
    CHECK(represented.mean_time().value() ==
          test::approx(all.mean_time().value()).epsilon(tolerance));
    CHECK(represented.messages_sent.mean ==
          test::approx(all.messages_sent.mean).epsilon(tolerance));
    CHECK(represented.ranks_agree);
  };
  check("hierarchical_oktopk", 256, 64, 8, 0.04);
  check("hierarchical_split_allgather", 256, 64, 8, 0.03);
  check("hierarchical_split_allgather", 240, 120, 6, 0.03);  // 40 nodes, no power of two
  check("hierarchical_split_allgather", 96, 96, 8, 1e-12);
  check("hierarchical_oktopk", 96, 96, 8, 1e-12);
}

TEST_CASE("representatives: parts of nodes, or few nodes, stand for none that add in nodes") {
  const auto refuses = [](int ranks, int few, int node, const char* words) {
    CAPTURE(ranks);
    CAPTURE(few);
    for (const char* scheme : {"hierarchical_oktopk", "hierarchical_split_allgather"}) {
      Json json = given(scheme, ranks, few);
      json["options"] = {{"node", node}};
      CHECK_THROWS_WITH(static_cast<void>(outcome_of(json)), doctest::Contains(words));
    }
  };
  refuses(256, 64, 6, "do not divide 256 ranks");
  refuses(144, 72, 16, "a multiple of 16 from 128 on");
  refuses(128, 64, 16, "8 nodes or more");
}

TEST_CASE("representatives: one of few ranks has the fullest part of all") {
  const auto split_words = [](int representatives) {
    const results::Outcome outcome =
        outcome_of(given("dsar_split_allgather", 256, representatives));
    for (const auto& phase : outcome.phases) {
      if (phase.name == "split_and_reduce") return phase.words_received;
    }
    return Words(0);
  };
  const auto all = static_cast<double>(split_words(0).value());
  CHECK(static_cast<double>(split_words(8).value()) == test::approx(all).epsilon(0.01));
}

TEST_CASE("representatives: oktopk runs on a hundred thousand ranks" *
          doctest::test_suite("large")) {
  // Each rank of a direct exchange waits for P - 1 messages, with α = 2 µs, and the rest is short.
  const double time = outcome_of(given("oktopk", 100'000, 4)).time().value();
  CHECK(time > 99'999 * 2e-6);
  CHECK(time < 1.1 * 99'999 * 2e-6);
}

TEST_CASE("representatives: a ring of a hundred thousand ranks takes the time of its formula") {
  constexpr double kRanks = 100'000;
  constexpr double kComponents = 133'547'324;
  const double formula = 2 * (kRanks - 1) * (2e-6 + 4e-10 * kComponents / kRanks);
  const double time = outcome_of(given("dense_ring", 100'000, 2)).time().value();
  CHECK(time == test::approx(formula).epsilon(1e-3));
}

namespace {

/// On `links`; throws what the point is refused for.
results::Outcome on_links(const std::string& platform, const std::string& scheme, int ranks,
                          int representatives, const Json& more = Json::object()) {
  Json json = given(scheme, ranks, representatives);
  json.update(more);
  json["network"] = "links";
  json["platform"] = platform;
  const results::Row row = simulate_point("test", plan::point_from(json, "test"));
  if (!row.outcome) throw SimulationError(row.reason);
  return *row.outcome;
}

struct Represented {
  std::string family;
  std::map<std::string, std::string> parameters;
  int ranks;
  std::vector<int> representatives;
};

/// With numbers of ranks that fill whole groups, cells, pods or leaves.
const std::vector<Represented> kPlatforms{
    {"star", {{"hosts", "64"}}, 64, {4, 32, 64}},
    {"fat_tree", {{"children", "4,4,6"}, {"oversubscription", "2,2"}}, 64, {16, 32, 64}},
    {"fat_tree", {{"children", "8,12"}}, 96, {8, 24, 96}},
    {"dragonfly",
     {{"groups", "4"}, {"chassis", "2"}, {"routers", "8"}, {"nodes", "4"}, {"blue-cables", "16"}},
     256,
     {64, 128, 256}},
    {"dragonfly_plus",
     {{"cells", "4"}, {"leaves", "4"}, {"nodes", "4"}, {"spines", "4"}, {"global-cables", "4"}},
     64,
     {16, 32, 64}},
    {"nvlink_ib", {{"nodes", "12"}}, 64, {16, 64}}};

}  // namespace

TEST_CASE("representatives: on links, messages of equal lengths take the time of all ranks" *
          doctest::test_suite("large")) {
  for (const Represented& on : kPlatforms) {
    const test::PlatformFile file = test::made_platform(on.family, on.parameters);
    for (const char* scheme : {"dense_ring", "topka", "dense_rabenseifner"}) {
      const bool folds = on.ranks == 96;  // and so do representatives, not all of them in pairs
      if (folds && std::string(scheme) == "dense_rabenseifner") continue;
      CAPTURE(on.family);
      CAPTURE(scheme);
      const results::Outcome all = on_links(file.path(), scheme, on.ranks, 0);
      for (const int few : on.representatives) {
        CAPTURE(few);
        const results::Outcome represented = on_links(file.path(), scheme, on.ranks, few);
        CHECK(represented.time().value() == test::approx(all.time().value()).epsilon(1e-5));
        CHECK(represented.alphabeta_time->value() ==
              test::approx(all.alphabeta_time->value()).epsilon(1e-5));
      }
    }
  }
}

TEST_CASE("representatives: on links, exchanges of unequal parts are nearly as long" *
          doctest::test_suite("large")) {
  const test::PlatformFile file = test::made_platform(
      "dragonfly", {{"groups", "16"}, {"chassis", "2"}, {"routers", "4"}, {"nodes", "2"}});
  for (const char* scheme : {"oktopk", "ring_sparse"}) {
    CAPTURE(scheme);
    const results::Outcome all = on_links(file.path(), scheme, 256, 0);
    const results::Outcome few = on_links(file.path(), scheme, 256, 64);
    CHECK(few.time().value() == test::approx(all.time().value()).epsilon(0.03));
    CHECK(on_links(file.path(), scheme, 256, 256).time() == all.time());
  }
}

TEST_CASE("representatives: on links, whole nodes stand for others" *
          doctest::test_suite("large")) {
  const test::PlatformFile tree = test::made_platform("fat_tree", {{"children", "16,16"}});
  const test::PlatformFile nodes = test::made_platform("nvlink_ib", {{"nodes", "32"}});
  const Json of_four = {{"options", {{"node", 4}}}};
  for (const char* scheme : {"hierarchical_oktopk", "hierarchical_split_allgather"}) {
    CAPTURE(scheme);
    const double all = on_links(tree.path(), scheme, 256, 0, of_four).time().value();
    const double few = on_links(tree.path(), scheme, 256, 64, of_four).time().value();
    CHECK(few == test::approx(all).epsilon(0.05));
    // The platform says how many ranks a node has.
    const double in_nodes = on_links(nodes.path(), scheme, 256, 0).time().value();
    const double in_few = on_links(nodes.path(), scheme, 256, 128).time().value();
    CHECK(in_few == test::approx(in_nodes).epsilon(0.1));
  }
}

TEST_CASE("representatives: on links, groups of ranks take nearly the time of all ranks" *
          doctest::test_suite("large")) {
  const test::PlatformFile file = test::made_platform("star", {{"hosts", "64"}});
  for (const int teams : {1, 4, 8}) {
    CAPTURE(teams);
    const Json options = {{"options", {{"teams", teams}}}, {"components", 1'000'000}};
    const results::Outcome all = on_links(file.path(), "spardl", 64, 0, options);
    for (const int few : {16, 32}) {
      CAPTURE(few);
      const results::Outcome represented = on_links(file.path(), "spardl", 64, few, options);
      CHECK(represented.time().value() == test::approx(all.time().value()).epsilon(0.05));
    }
  }
}

TEST_CASE("representatives: on links, short messages and other placements take the time of all" *
          doctest::test_suite("large")) {
  const test::PlatformFile file = test::made_platform("nvlink_ib", {{"nodes", "8"}});
  for (const char* placement : {"block", "round_robin"}) {
    CAPTURE(placement);
    const Json more = {{"placement", placement}, {"components", 1 << 16}};
    const double all = on_links(file.path(), "dense_ring", 64, 0, more).time().value();
    const double few = on_links(file.path(), "dense_ring", 64, 32, more).time().value();
    CHECK(few == test::approx(all).epsilon(1e-5));
  }
}

TEST_CASE("representatives: on links, parts of groups do not stand for all ranks") {
  const auto refuses = [](const std::string& platform, int ranks, int few, const char* words) {
    CAPTURE(platform);
    CAPTURE(few);
    CHECK_THROWS_WITH(static_cast<void>(on_links(platform, "dense_ring", ranks, few)),
                      doctest::Contains(words));
  };
  refuses("aries_daint", 1024, 128,
          "the busiest link is busy 1.12 times as long in the run of all");
  refuses("aries_daint", 1024, 128, "the first group has 384");
  const test::PlatformFile tree =
      test::made_platform("fat_tree", {{"children", "8,8,4"}, {"oversubscription", "4,1"}});
  refuses(tree.path(), 256, 4, "the longest latency is");
  // Leaves of a pod have no such latencies as those at its edge: rings would be too fast.
  refuses(tree.path(), 256, 16, "the longest latency is");
}

TEST_CASE("representatives: on links, a group that is slow or far is not left out") {
  // Two clusters of 8 hosts; what one of them has is the argument.
  const auto refusal = [](const char* bandwidth, const char* latency) {
    const auto cluster = [](int i, const char* own_bandwidth, const char* own_latency) {
      return fmt::format(R"(<cluster id="c{0}" prefix="c{0}-" suffix="" radical="0-7" speed="1Gf"
        bw="10GBps" lat="{1}" sharing_policy="SPLITDUPLEX" bb_bw="{2}" bb_lat="1us"
        bb_sharing_policy="FATPIPE" router_id="r{0}"/>)",
                         i, own_latency, own_bandwidth);
    };
    const test::TemporaryFolder folder;
    const std::string path = folder.write(
        "two.xml", R"(<?xml version="1.0"?><!DOCTYPE platform SYSTEM
        "https://simgrid.org/simgrid.dtd"><platform version="4.1"><zone id="w" routing="Full">)" +
                       cluster(0, "100GBps", "10us") + cluster(1, bandwidth, latency) +
                       R"(<link id="b" bandwidth="200GBps" latency="1us" sharing_policy="FATPIPE"/>
        <zoneRoute src="c0" dst="c1" gw_src="r0" gw_dst="r1"><link_ctn id="b"/></zoneRoute>
        </zone></platform>)");
    try {
      static_cast<void>(on_links(path, "dense_recursive_doubling", 16, 8));
      return std::string();
    } catch (const InputError& error) {
      return std::string(error.what());
    }
  };
  CHECK(refusal("100GBps", "10us").empty());
  CHECK(refusal("1GBps", "10us").find("the busiest link is busy 10.00 times as long") !=
        std::string::npos);
  CHECK(refusal("100GBps", "12.4us").find("the longest latency is 1.") != std::string::npos);
}

TEST_CASE("representatives: schemes whose ranks differ are refused") {
  const auto refuses = [](const Json& json, const char* words) {
    CAPTURE(json.dump());
    CHECK_THROWS_WITH(static_cast<void>(plan::point_from(json, "test")), doctest::Contains(words));
  };
  refuses(given("topka", 100, 32), "divide 100");
  refuses(given("topka", 100, 1), "divide 100");
  refuses(given("topkdsa", 64, 8), "64 or more");
  refuses(given("topkdsa", 192, 64), "power of two");
  refuses(given("hierarchical_split_allgather", 64, 8), "64 or more");
  refuses(given("exdyna", 64, 8), "select differently");
  refuses(given("allgather_neighbor_exchange", 48, 3), "take a multiple of 2");
  refuses(given("nccl_tree", 24, 8), "32 chunks or more");  // no rank stands for others
  refuses(given("cltk", 64, 8), "select differently");
  refuses(given("reduce_scatter_ring", 64, 8), "end with different values");
  Json json = given("omnireduce", 64, 8);
  json["options"] = {{"contiguous", true}};
  refuses(json, "not busy for the same time");
  json = given("topka", 64, 8);
  json["input"] = Json::object();
  refuses(json, "statistical");
  json = given("topka", 64, 8);
  json["network"] = "smpi";
  json["platform"] = "fat_tree";
  refuses(json, "all ranks run on smpi");
  const auto refused_on_links = [&](const Json& links, const char* words) {
    Json on_links = given("topka", 64, 64);
    on_links["network"] = "links";
    on_links["platform"] = "aries_daint";
    on_links.update(links);
    refuses(on_links, words);
  };
  refused_on_links({{"placement", "random:1"}}, "take block or round_robin");
  refused_on_links({{"links", {{"routing", "ugal"}}}}, "leave out 'links.routing'");
  refused_on_links({{"links", {{"background_share", 0.5}}}}, "other jobs");
  refused_on_links({{"record", {{"links", true}}}}, "leave out 'record.links'");
  refused_on_links({{"machine", {{"one_way_bytes", 1000}, {"eager_bytes", 100}}}},
                   "wait for each other");
  refused_on_links({{"machine", {{"destinations", 8}, {"eager_bytes", 100}}}},
                   "wait for each other");
  json = given("topka", 64, 8);
  json["machine"]["noise_s"] = 1e-6;
  refuses(json, "slowest of many");
  CHECK_THROWS_WITH(static_cast<void>(outcome_of(given("gtopk", 64, 8))),
                    doctest::Contains("not symmetric"));
  CHECK_THROWS_WITH(static_cast<void>(outcome_of(given("gtopk", 64, 8))),
                    doctest::Contains("not symmetric"));
}

TEST_CASE("representatives: what a rank receives names the ranks of the message it stands for") {
  constexpr int kRanks = 24;
  const RunReport report = run_few(kRanks, 4, [](Communicator& comm) -> Task<void> {
    const int rank = comm.rank().value();
    const Message mine = Concatenation::of(comm.rank(), Message{}).message();
    for (const int distance : {1, 4, 7, 23}) {
      const Rank to((rank + distance) % kRanks);
      const Rank from((rank + kRanks - distance) % kRanks);
      const Message got = co_await comm.sendrecv(to, mine, from, Tag(0));
      CHECK(Concatenation::from(got.payload).in_order().front().from == from);
    }
    for (const int bits : {1, 4, 7}) {
      const Rank peer(rank ^ bits);
      const Message got = co_await comm.sendrecv(peer, mine, peer, Tag(1));
      CHECK(Concatenation::from(got.payload).in_order().front().from == peer);
    }
  });
  CHECK(report.ranks.size() == 4);
  CHECK(report.makespan() == Seconds(7));
  CHECK(report.ranks.front().total().messages_received == 7);
}

TEST_CASE("representatives: few ranks run in place of others, in groups too") {
  const networks::FewRanks few{.ranks = 24, .running = 4};
  CHECK(few.stands_for() == 6);
  CHECK(few.representative(Rank(3)) == Rank(3));
  CHECK(few.representative(Rank(22)) == Rank(2));
  const Members alike{.first = 1, .count = 12, .stride = 2};
  CHECK(few.running_among(alike).size() == 2);
  CHECK(few.representative_among(alike, 11) == 1);
  const Members beside{.first = 3, .count = 4, .stride = 1};
  CHECK(few.running_among(beside).size() == 4);
  CHECK(few.representative_among(beside, 1) == 1);  // rank 0 runs in place of rank 4
}

TEST_CASE("representatives: a group of a group has ranks of the network") {
  run_few(24, 4, [](Communicator& comm) -> Task<void> {
    Group alike(comm, {.first = comm.rank().value() % 2, .count = 12, .stride = 2});
    Group among(alike, {.first = alike.rank().value() % 3, .count = 4, .stride = 3});
    CHECK(among.members().at(1) == Rank(comm.rank().value() + 6));
    CHECK(among.members().number_of(comm.rank()) == 0);
    co_return;
  });
}

TEST_CASE("representatives: an exchange by doubling has the results of all ranks") {
  class Gathered final : public DoublingPart {
   public:
    explicit Gathered(Rank rank) : held_(Concatenation::of(rank, Message{})) {}
    [[nodiscard]] Message outgoing() override { return held_.message(); }
    void incoming(Message message, bool after) override {
      const Concatenation theirs = Concatenation::from(message.payload);
      held_ = after ? Concatenation::join(held_, theirs) : Concatenation::join(theirs, held_);
    }
    [[nodiscard]] std::vector<int> ranks() const {
      std::vector<int> ranks;
      for (const auto& piece : held_.in_order()) ranks.push_back(piece.from.value());
      std::ranges::sort(ranks);
      return ranks;
    }

   private:
    Concatenation held_;
  };
  std::vector<int> all(32);
  std::iota(all.begin(), all.end(), 0);
  const RunReport report = run_few(32, 4, [&all](Communicator& comm) -> Task<void> {
    Gathered gathered(comm.rank());
    co_await comm.exchange_by_doubling(gathered, Tag(0));
    CHECK(gathered.ranks() == all);
  });
  CHECK(report.makespan() == Seconds(5));
}

TEST_CASE("representatives: an asymmetric schedule is an error") {
  const auto to_next_pair = [](Communicator& comm) -> Task<void> {
    // Even ranks send up by 2 and odd ones by 6: remainders by 4 match, ranks do not.
    const int rank = comm.rank().value();
    const int distance = rank % 2 == 0 ? 2 : 6;
    const Rank from((rank + 8 - 2) % 8);
    static_cast<void>(co_await comm.sendrecv(Rank((rank + distance) % 8), Message{}, from, Tag(0)));
  };
  CHECK_THROWS_WITH_AS(static_cast<void>(run_few(8, 4, to_next_pair)),
                       doctest::Contains("not symmetric"), SimulationError);
  const auto to_first = [](Communicator& comm) -> Task<void> {
    if (comm.rank().value() == 0) {
      for (int from = 1; from < comm.size(); ++from) {
        co_await comm.wait(comm.irecv(Rank(from), Tag(0)));
      }
    } else {
      co_await comm.wait(comm.isend(Rank(0), Tag(0), Message{}));
    }
  };
  CHECK_THROWS_WITH_AS(static_cast<void>(run_few(8, 4, to_first)),
                       doctest::Contains("not symmetric"), SimulationError);
}

TEST_CASE("representatives: programs on the second strand meet the programs of others") {
  const RunReport report = run_few(8, 2, [](Communicator& comm) -> Task<void> {
    const auto exchange = [](Communicator& strand) -> Task<Message> {
      const int rank = strand.rank().value();
      const Message mine = Concatenation::of(strand.rank(), Message{}).message();
      co_return co_await strand.sendrecv(Rank((rank + 3) % 8), mine, Rank((rank + 5) % 8), Tag(0));
    };
    const Message got = co_await comm.wait(comm.start(exchange));
    const Rank from = Concatenation::from(got.payload).in_order().front().from;
    CHECK(from.value() == (comm.rank().value() + 5) % 8);
  });
  CHECK(report.makespan() == Seconds(1));
}

TEST_CASE("representatives: a network without a clock counts the steps of all ranks") {
  Json json = given("dense_ring", 64, 4);
  json["network"] = "counting";
  CHECK(outcome_of(json).steps == 2 * 63);
}

}  // namespace thinwire::run
