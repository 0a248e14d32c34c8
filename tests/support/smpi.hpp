// Simulations on SMPI, each in a child process that returns its results as numbers.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sim/core/base/child_process.hpp"
#include "sim/machine/networks/alphabeta/alphabeta.hpp"
#include "sim/machine/networks/smpi/smpi.hpp"
#include "tests/support/temporary_folder.hpp"
#include "topologies/loading/placement.hpp"
#include "topologies/loading/shipped.hpp"

namespace thinwire::test {

using Doubles = std::vector<double>;

/// Converts doubles to bytes and back without loss.
[[nodiscard]] inline std::string packed(std::span<const double> numbers) {
  std::string text(numbers.size_bytes(), '\0');
  if (!numbers.empty()) std::memcpy(text.data(), numbers.data(), text.size());
  return text;
}

[[nodiscard]] inline Doubles unpacked(const std::string& text) {
  Doubles numbers(text.size() / sizeof(double));
  if (!numbers.empty()) std::memcpy(numbers.data(), text.data(), text.size());
  return numbers;
}

/// A platform and the placement of the ranks on its hosts (block if empty).
struct SmpiPlace {
  std::string platform;  ///< path
  int ranks = 2;
  std::vector<topologies::HostIndex> hosts = {};
  networks::SmpiSettings settings = {};
};

/// Creates the network in a child process, calls `work` there and returns its text.
[[nodiscard]] inline ChildOutcome text_on_smpi(
    const SmpiPlace& place, const std::function<std::string(networks::SmpiNetwork&)>& work) {
  std::optional<networks::SmpiNetwork> network;
  return in_child_process(
      {.subject = place.platform,
       .prepare =
           [&] {
             network.emplace(place.platform, place.settings);
             network->connect(place.hosts.empty()
                                  ? thinwire::topologies::place(network->platform().hosts(),
                                                                place.ranks, "block")
                                  : place.hosts);
           },
       .run = [&] { return work(*network); }},
      place.settings.verbose);
}

/// Creates the network in a child process, calls `work` there and returns its numbers.
[[nodiscard]] inline Doubles on_smpi(const SmpiPlace& place,
                                     const std::function<Doubles(networks::SmpiNetwork&)>& work) {
  return unpacked(text_on_smpi(place, [&](networks::SmpiNetwork& network) {
                    return packed(work(network));
                  }).text);
}

[[nodiscard]] inline Doubles finished_of(const RunReport& report) {
  Doubles finished;
  for (const RankReport& rank : report.ranks) finished.push_back(rank.finished.value());
  return finished;
}

/// Forwards runs, and records when each rank of each run ended.
class Timed final : public Network {
 public:
  explicit Timed(Network& network) : network_(network) {}
  RunReport run(int ranks, const RankProgram& program) override {
    RunReport report = network_.run(ranks, program);
    const Doubles finished = finished_of(report);
    times_.insert(times_.end(), finished.begin(), finished.end());
    return report;
  }
  [[nodiscard]] const Doubles& times() const { return times_; }

 private:
  Network& network_;
  Doubles times_;
};

/// The times at which the ranks' programs ended.
[[nodiscard]] inline Doubles times_on_smpi(const SmpiPlace& place, const RankProgram& program) {
  return on_smpi(place, [&](networks::SmpiNetwork& network) {
    return finished_of(network.run(place.ranks, program));
  });
}

/// A file with a platform's XML that is removed by the destructor.
class PlatformFile {
 public:
  explicit PlatformFile(const std::string& xml) : path_(folder_.write("platform.xml", xml)) {}
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  TemporaryFolder folder_;
  std::string path_;
};

/// Checks that `times(network)` are as long on SMPI as on the α-β machine with α = 2 µs and β = 0.4 ns,
/// whose ports the platform `alphabeta` has.
inline void check_same_on_smpi(int ranks, const std::function<Doubles(Network&)>& times) {
  const Doubles smpi =
      on_smpi({.platform = topologies::kPlatforms.file("alphabeta"), .ranks = ranks}, times);
  networks::AlphaBetaNetwork machine(networks::alpha_beta(Seconds(2e-6), Seconds(0.4e-9)));
  const Doubles formula = times(machine);
  REQUIRE(smpi.size() == formula.size());
  for (std::size_t i = 0; i < smpi.size(); ++i) {
    CAPTURE(i);
    CHECK(smpi[i] == doctest::Approx(formula[i]).epsilon(1e-6));
  }
}

}  // namespace thinwire::test
