// Small runs on links against SimGrid's own.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "algorithms/registry.hpp"
#include "tests/machine/networks/links/patterns.hpp"
#include "tests/support/approx.hpp"
#include "tests/support/conformance.hpp"
#include "tests/support/links.hpp"
#include "tests/support/sanitizers.hpp"
#include "tests/support/schemes.hpp"

namespace thinwire::networks {

using test::Doubles;
using test::PlatformFile;
using test::SchemeRanks;

namespace {

constexpr int kRanks = test::kSanitized ? 8 : 16;  // on SMPI a thread a rank

/// A platform with the figures of aries_daint or fat_tree, and fewer hosts: it is loaded often.
struct Small {
  PlatformFile file;
  topologies::HostIndex hosts;

  /// Ranks in four groups, or under four leaves, far from one another.
  [[nodiscard]] std::vector<topologies::HostIndex> apart() const {
    std::vector<topologies::HostIndex> chosen;
    for (topologies::HostIndex rank = 0; rank < kRanks; ++rank) {
      chosen.push_back(rank / 4 * (hosts / 4) + rank % 4);
    }
    return chosen;
  }
};

Small aries() {
  return {test::made_platform("dragonfly", {{"groups", "4"}, {"chassis", "2"}}), 512};
}
Small fat_tree() { return {test::made_platform("fat_tree", {{"children", "16,16"}}), 256}; }

/// The makespan of a scheme's second iteration.
double time_of(Network& network, const std::string& scheme) {
  const algorithms::SchemeInfo& info = algorithms::find_scheme(scheme);
  const GradientSpace space{.components = 100'000, .granule = 1};
  SchemeRanks ranks(info, kRanks, space, 1000);
  const auto gradient = [&](int rank) -> algorithms::LocalGradient {
    if (info.dense) return test::dense_gradient(100'000, rank);
    return test::shaped_gradient(test::Shape::random, 100'000, kRanks, rank, 1, 3000);
  };
  double time = 0;
  for (int iteration = 1; iteration <= 2; ++iteration) {
    time = ranks.run(network, iteration, gradient).report.makespan().value();
  }
  return time;
}

/// Time on links over time on SMPI, of each scheme. Without `hosts` in the order of the hosts.
void check_ratios(const Small& platform, const std::vector<topologies::HostIndex>& hosts,
                  const std::vector<std::string>& schemes, double bound) {
  const auto times = [&](Network& network) {
    Doubles all;
    for (const std::string& scheme : schemes) all.push_back(time_of(network, scheme));
    return all;
  };
  const std::string path = platform.file.path();
  const Doubles links = test::on_links({.platform = path, .ranks = kRanks, .hosts = hosts}, times);
  const Doubles smpi = test::on_smpi({.platform = path, .ranks = kRanks, .hosts = hosts}, times);
  for (std::size_t i = 0; i < schemes.size(); ++i) {
    CAPTURE(platform.hosts);
    CAPTURE(schemes[i]);
    CHECK(links[i] / smpi[i] == test::approx(1).epsilon(bound));
  }
}

/// The makespan on links over that on SMPI.
double ratio(const Small& platform, const std::vector<topologies::HostIndex>& hosts,
             const RankProgram& program) {
  const std::string path = platform.file.path();
  return std::ranges::max(test::times_on_links({path, kRanks, hosts, {}}, program)) /
         std::ranges::max(test::times_on_smpi({path, kRanks, hosts, {}}, program));
}

/// Both networks' bytes by link.
void check_same_links(const Small& platform, const RankProgram& program) {
  const std::string path = platform.file.path();
  const std::vector<topologies::HostIndex> hosts = platform.apart();
  const test::RecordedRun links =
      test::recorded_on_links({.platform = path, .ranks = kRanks, .hosts = hosts}, program);
  const test::RecordedRun smpi =
      test::recorded_on_smpi({.platform = path, .ranks = kRanks, .hosts = hosts}, program);
  CHECK(links.links.size() > kRanks);
  CHECK(links.bytes_by_link() == smpi.bytes_by_link());
}

}  // namespace

TEST_CASE("Schemes with one message in flight take SMPI's time on links, to 1e-3") {
  const std::vector<std::string> schemes{"dense_recursive_doubling", "dense_rabenseifner", "topka",
                                         "dense_ring"};
  for (const auto make : {aries, fat_tree}) {
    const Small platform = make();
    check_ratios(platform, platform.apart(), schemes, 1e-3);
    check_ratios(platform, {}, schemes, 1e-3);
  }
}

TEST_CASE("Schemes with several messages in flight take SMPI's time within a group, to a tenth") {
  for (const auto make : {aries, fat_tree}) check_ratios(make(), {}, {"oktopk", "gtopk"}, 0.1);
}

TEST_CASE("Many to one takes SMPI's time on links: what shared a link need not queue once more") {
  for (const auto make : {aries, fat_tree}) {
    const Small platform = make();
    for (const std::int64_t words : {250, 1'000'000}) {
      const RankProgram program = [&](Communicator& comm) { return test::incast(comm, words); };
      // Over routes of unequal latency, SimGrid's shares are unequal.
      CHECK(ratio(platform, platform.apart(), program) == test::approx(1).epsilon(0.1));
      CHECK(ratio(platform, {}, program) == test::approx(1).epsilon(1e-3));
    }
  }
}

TEST_CASE("Minimal routes are SimGrid's: each link carries the bytes that SMPI says") {
  for (const int window : {1, 4}) {
    const RankProgram program = [&](Communicator& comm) {
      return test::all_to_all(comm, 5000, window);
    };
    check_same_links(aries(), program);
    check_same_links(fat_tree(), program);
  }
}

}  // namespace thinwire::networks
