#include "topologies/analysis/survey.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "sim/core/base/random.hpp"

namespace thinwire::topologies {

namespace {

constexpr std::uint64_t kSurveySeed = 1;
constexpr std::size_t kSurveyProbes = 8;

class Surveyor {
 public:
  Surveyor(const RouteTable& table, const SurveyLimits& limits, const SurveyVisitor& visitor)
      : table_(table), limits_(limits), visitor_(visitor) {
    survey_.used.resize(table.links.size());
    survey_.loopback.resize(table.links.size());
  }

  Survey run() {
    const auto hosts = static_cast<HostIndex>(table_.hosts.size());
    if (hosts <= limits_.all_pairs_up_to) {
      for (HostIndex from = 0; from < hosts; ++from) {
        for (HostIndex to = 0; to < hosts; ++to) ask(from, to);
      }
      survey_.all_pairs = true;
    } else {
      ask_probes();
      ask_neighbours();
      ask_classes();
      ask_at_random();
    }
    find_loopbacks();
    finish();
    return std::move(survey_);
  }

 private:
  void ask(HostIndex from, HostIndex to) {
    if (from == to) return;
    ++asked_;
    const std::optional<Route> route = table_.route(from, to);
    if (!route) {
      survey_.unreachable.emplace_back(from, to);
      return;
    }
    for (const LinkIndex link : route->links) {
      if (!survey_.used[link]) new_links_ = true;
      survey_.used[link] = true;
    }
    survey_.pairs.push_back(
        {from, to, static_cast<std::uint32_t>(route->links.size()), route->latency.value()});
    visitor_.route(from, to, *route);
  }

  void ask_both(HostIndex a, HostIndex b) {
    ask(a, b);
    ask(b, a);
  }

  [[nodiscard]] HostIndex random_host(std::uint64_t counter) const {
    return static_cast<HostIndex>(random_bits(kSurveySeed, counter) % table_.hosts.size());
  }

  void ask_probes() {
    for (std::size_t probe = 0; probe < kSurveyProbes; ++probe) {
      const HostIndex to = random_host(probe);
      for (HostIndex host = 0; host < table_.hosts.size(); ++host) ask_both(host, to);
    }
  }

  void ask_neighbours() {
    for (HostIndex host = 0; host + 1 < table_.hosts.size(); ++host) ask_both(host, host + 1);
    std::unordered_map<std::string_view, std::vector<HostIndex>> nodes;
    for (HostIndex host = 0; host < table_.hosts.size(); ++host) {
      for (const HostIndex other : nodes[table_.hosts[host].node]) ask_both(host, other);
      nodes[table_.hosts[host].node].push_back(host);
    }
  }

  void ask_classes() {
    std::unordered_map<std::size_t, HostIndex> firsts;
    std::vector<HostIndex> representatives;
    for (HostIndex host = 0; host < table_.hosts.size(); ++host) {
      if (firsts.try_emplace(visitor_.class_of(host), host).second) representatives.push_back(host);
    }
    for (std::size_t step = 1; step < representatives.size(); ++step) {
      if (asked_ + representatives.size() > limits_.most_pairs) return;
      for (std::size_t i = 0; i < representatives.size(); ++i) {
        ask(representatives[i], representatives[(i + step) % representatives.size()]);
      }
    }
    // If routes depend on the destination (fat trees), one host of a class is not enough.
    for (const HostIndex representative : representatives) {
      if (asked_ + 2 * table_.hosts.size() > limits_.most_pairs) return;
      for (HostIndex host = 0; host < table_.hosts.size(); ++host) ask_both(representative, host);
    }
  }

  void ask_at_random() {
    constexpr std::size_t kBatch = 50'000;
    std::uint64_t counter = kSurveyProbes;
    do {
      if (std::ranges::find(survey_.used, false) == survey_.used.end()) return;
      if (asked_ + 2 * kBatch > limits_.most_pairs) return;
      new_links_ = false;
      for (std::size_t i = 0; i < kBatch; ++i) {
        const HostIndex from = random_host(counter++);
        ask_both(from, random_host(counter++));
      }
    } while (new_links_);
  }

  void find_loopbacks() {
    for (HostIndex host = 0; host < table_.hosts.size(); ++host) {
      const std::optional<Route> route = table_.route(host, host);
      if (!route) continue;
      for (const LinkIndex link : route->links) survey_.loopback[link] = true;
    }
    for (LinkIndex link = 0; link < table_.links.size(); ++link) {
      if (table_.links[link].name == "__loopback__") survey_.loopback[link] = true;
      if (survey_.used[link]) survey_.loopback[link] = false;
    }
  }

  /// Sorts the pairs and removes duplicates.
  void finish() {
    const auto key = [](const SurveyedPair& pair) { return std::tuple(pair.from, pair.to); };
    std::ranges::sort(survey_.pairs, {}, key);
    const auto same = [&](const SurveyedPair& a, const SurveyedPair& b) {
      return key(a) == key(b);
    };
    survey_.pairs.erase(std::unique(survey_.pairs.begin(), survey_.pairs.end(), same),
                        survey_.pairs.end());
  }

  const RouteTable& table_;
  const SurveyLimits& limits_;
  const SurveyVisitor& visitor_;
  Survey survey_;
  std::size_t asked_ = 0;
  bool new_links_ = false;
};

}  // namespace

Survey survey_routes(const RouteTable& table, const SurveyLimits& limits,
                     const SurveyVisitor& visitor) {
  return Surveyor(table, limits, visitor).run();
}

}  // namespace thinwire::topologies
