// Collectives in switches on network links: what they take, and what they share.
#include <doctest/doctest.h>

#include <algorithm>
#include <exception>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/registry.hpp"
#include "sim/core/base/errors.hpp"
#include "sim/core/kernel/group.hpp"
#include "sim/machine/networks/links/links.hpp"
#include "tests/support/bodies.hpp"
#include "tests/support/conformance.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/links.hpp"
#include "tests/support/networks.hpp"

namespace thinwire::networks {

using test::contains;
using test::Doubles;
using test::empty_message;
using test::error_of;
using test::exactly;
using test::made_platform;
using test::PlatformFile;
using test::recorded_on_links;
using test::times_on_links;

namespace {

constexpr std::int64_t kSumWords = 1'000'000;
constexpr double kSumBytes = 4e6;

// Of the platforms below.
constexpr double kPort = 1e9;
constexpr double kCable = 1e-6;
constexpr double kPortGap = 2e-6;
constexpr double kSumming = 5e-6;

/// What a message takes on its links.
constexpr double kSumServed = kPortGap + kSumBytes / kPort;

std::map<std::string, std::string> figures_with(std::map<std::string, std::string> more) {
  more.insert(
      {{"bandwidth", "1GBps"}, {"latency", "1us"}, {"gap", "2us"}, {"reducing", "network"}});
  more.try_emplace("reducing-latency", "5us");
  return more;
}

InSwitches sum_of(std::int64_t words, ReducingLevel level = ReducingLevel::network) {
  return {.level = level,
          .tag = Tag(0),
          .message = empty_message(words),
          .function = [](std::span<const Message> sent) {
            return std::vector<Message>(sent.size(), sent.front());
          }};
}

Task<void> one_sum(Communicator& comm) { co_await comm.wait(comm.in_switches(sum_of(kSumWords))); }

Task<void> two_sums(Communicator& comm) {
  const std::vector<Request> both{comm.in_switches(sum_of(kSumWords)),
                                  comm.in_switches(sum_of(kSumWords))};
  co_await comm.wait_all(both);
}

/// Rank 1 posts a second later.
Task<void> late_sum(Communicator& comm) {
  if (comm.rank() == Rank(1)) co_await comm.compute(Seconds(1));
  co_await comm.wait(comm.in_switches(sum_of(kSumWords)));
}

/// And a message as long from rank 0 to rank 1.
Task<void> sum_and_message(Communicator& comm) {
  std::vector<Request> all{comm.in_switches(sum_of(kSumWords))};
  if (comm.rank() == Rank(0)) all.push_back(comm.isend(Rank(1), Tag(1), empty_message(kSumWords)));
  if (comm.rank() == Rank(1)) all.push_back(comm.irecv(Rank(0), Tag(1)));
  co_await comm.wait_all(all);
}

/// In nodes of four ranks.
Task<void> sum_in_nodes(Communicator& comm) {
  Group node(comm, {.first = comm.rank().value() / 4 * 4, .count = 4, .stride = 1});
  co_await node.wait(node.in_switches(sum_of(kSumWords, ReducingLevel::node)));
}

Task<void> sum_along_rails(Communicator& comm) {
  Group rail(comm, {.first = comm.rank().value() % 4, .count = 2, .stride = 4});
  co_await rail.wait(rail.in_switches(sum_of(kSumWords)));
}

Task<void> sum_of_all_in_a_node(Communicator& comm) {
  co_await comm.wait(comm.in_switches(sum_of(kSumWords, ReducingLevel::node)));
}

/// Sums vectors of the ranks' numbers from 1 on, and counts the components that are wrong.
Task<void> count_wrong(Communicator& comm, algorithms::Scheme& scheme, int& wrong) {
  const auto number = static_cast<float>(comm.rank().value() + 1);
  const DenseBlock own(0, std::vector<float>(997, number));
  Task<algorithms::Reduced> task = scheme.allreduce(comm, own, 1);
  const algorithms::Reduced reduced = co_await std::move(task);
  const auto sum = static_cast<float>(comm.size() * (comm.size() + 1) / 2);
  const auto values = std::get<DenseBlock>(reduced.sum).values();
  wrong += static_cast<int>(997 - std::ranges::count(values, sum));
}

void check_all(const Doubles& times, double wanted) {
  for (const double time : times) CHECK(time == exactly(wanted));
}

}  // namespace

TEST_CASE("A star's switch sums in the time of one message and its own latency") {
  const PlatformFile star = made_platform("star", figures_with({{"hosts", "23"}}));
  for (const int ranks : {2, 3, 7, 23}) {
    check_all(times_on_links({.platform = star.path(), .ranks = ranks}, one_sum),
              2 * kCable + kSumming + kSumServed);
  }
  check_all(times_on_links({.platform = star.path(), .ranks = 3}, late_sum),
            1 + 2 * kCable + kSumming + kSumServed);
  check_all(times_on_links({.platform = star.path(), .ranks = 1}, one_sum), 0);
}

TEST_CASE("A tree of switches sums in twice the latencies, though its leaves have one cable up") {
  const PlatformFile tree =
      made_platform("fat_tree", figures_with({{"children", "4,4"}, {"oversubscription", "4"}}));
  for (const int ranks : {5, 7, 12, 16}) {
    check_all(times_on_links({.platform = tree.path(), .ranks = ranks}, one_sum),
              4 * kCable + 2 * kSumming + kSumServed);
  }
  // A cable up and down for each of four leaves, and for each of 16 hosts.
  const auto run = recorded_on_links({.platform = tree.path(), .ranks = 16}, one_sum);
  CHECK(run.bytes() == 2 * 20 * kSumBytes);
  CHECK(run.most_bytes() == kSumBytes);
}

TEST_CASE("Sums at the same time, and other messages, share the ports") {
  const PlatformFile star =
      made_platform("star", figures_with({{"hosts", "8"}, {"reducing-latency", "0s"}}));
  check_all(times_on_links({.platform = star.path(), .ranks = 8}, two_sums),
            2 * kCable + 2 * kSumServed);
  check_all(times_on_links({.platform = star.path(), .ranks = 8}, sum_and_message),
            2 * kCable + 2 * kSumServed);
}

TEST_CASE("A slower switch occupies the links as long as it takes") {
  const PlatformFile star =
      made_platform("star", figures_with({{"hosts", "4"}, {"reducing-bandwidth", "400MBps"}}));
  check_all(times_on_links({.platform = star.path(), .ranks = 4}, one_sum),
            2 * kCable + kSumming + kPortGap + kSumBytes / 0.4e9);
  check_all(times_on_links({.platform = star.path(), .ranks = 4}, two_sums),
            2 * kCable + kSumming + 2 * (kPortGap + kSumBytes / 0.4e9));
}

TEST_CASE("NVSwitches sum inside nodes, and the network's switches along rails") {
  const std::map<std::string, std::string> figures{{"islands", "1"},
                                                   {"nodes", "2"},
                                                   {"gpus", "4"},
                                                   {"reducing", "both"},
                                                   {"reducing-latency", "1us"}};
  const PlatformFile rails = made_platform("rails", figures);
  check_all(times_on_links({.platform = rails.path(), .ranks = 8}, sum_in_nodes),
            2 * 85e-9 + 1e-6 + 0.3e-6 + kSumBytes / 450e9);
  check_all(times_on_links({.platform = rails.path(), .ranks = 8}, sum_along_rails),
            2 * 1.085e-6 + 1e-6 + 0.3e-6 + kSumBytes / 25e9);
  CHECK(contains(error_of<std::exception>([&] {
                   (void)times_on_links({.platform = rails.path(), .ranks = 8},
                                        sum_of_all_in_a_node);
                 }),
                 "no switch inside a node connects ranks 0 and 4"));
  CHECK(contains(error_of<std::exception>([&] {
                   (void)times_on_links({.platform = rails.path(), .ranks = 8}, one_sum);
                 }),
                 "sum for one rank of each node, and two are on "));
  const PlatformFile plain = made_platform("rails", {{"islands", "1"}, {"nodes", "2"}});
  CHECK(contains(error_of<std::exception>([&] {
                   (void)times_on_links({.platform = plain.path(), .ranks = 8}, sum_in_nodes);
                 }),
                 "no switch inside nodes sums on this network"));
}

TEST_CASE("dense_in_network sums right on links, on nodes that are full and that are not") {
  const std::map<std::string, std::string> figures{
      {"nodes", "4"}, {"gpus", "4"}, {"nics", "4"}, {"leaf-nodes", "2"}, {"reducing", "both"}};
  const algorithms::SchemeInfo& info = algorithms::find_scheme("dense_in_network");
  for (const char* const switches : {"both", "node", "network"}) {
    auto made = figures;
    made["reducing"] = switches;
    const PlatformFile platform = made_platform("nvlink_ib", made);
    for (const int ranks : {1, 3, 4, 7, 12, 16}) {
      const Doubles right =
          test::on_links({.platform = platform.path(), .ranks = ranks}, [&](LinksNetwork& network) {
            Doubles all;
            for (const std::int64_t chunks : {1, 3}) {
              SharedWork shared(64);
              algorithms::SchemeSetup setup{
                  .ranks = ranks,
                  .space = {.components = 997, .granule = 1},
                  .options = algorithms::Options(info.options,
                                                 {{"node", std::int64_t{4}}, {"chunks", chunks}}),
                  .shared = &shared,
                  .switches = network.platform().switches()};
              std::vector<std::unique_ptr<algorithms::Scheme>> schemes;
              for (int rank = 0; rank < ranks; ++rank) schemes.push_back(info.make(setup));
              int wrong = 0;
              network.run(ranks, [&](Communicator& comm) {
                const auto at = static_cast<std::size_t>(comm.rank().value());
                return count_wrong(comm, *schemes[at], wrong);
              });
              all.push_back(wrong);
            }
            return all;
          });
      CHECK(right == Doubles{0, 0});
    }
  }
}

}  // namespace thinwire::networks
