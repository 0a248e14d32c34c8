// Links with fair sharing against a simulator that goes from event to event over all links and
// keeps what each still has to serve of each flow.
#include "sim/machine/networks/common/fair_links.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "sim/core/base/errors.hpp"
#include "sim/core/base/random.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/networks.hpp"
#include "tests/support/sanitizers.hpp"

namespace thinwire::networks {

using test::exactly;

namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

struct GivenFlow {
  double begin = 0;  ///< ascending
  std::vector<topologies::LinkIndex> links = {};
  double bytes = 1;
};

struct GivenCase {
  std::vector<double> bandwidths;
  std::vector<GivenFlow> flows;
};

void begin(FairLinks& links, double now, FlowIndex flow, const GivenFlow& given) {
  links.set_links(flow, given.links);
  links.begin(now, flow, given.bytes);
}

/// When each flow is through. Events come in windows so many seconds long, and the indexes of flows
/// that are through are used again.
std::vector<double> simulated(const GivenCase& given, double window = 0) {
  EventWindow events;
  FairLinks links(given.bandwidths, events);
  const auto arrival = static_cast<std::uint32_t>(given.bandwidths.size());
  for (const GivenFlow& flow : given.flows) {
    events.push({.time = flow.begin, .who = arrival});
  }
  std::vector<double> ends(given.flows.size(), -1);
  std::size_t begun = 0;
  std::vector<std::size_t> given_of;  // by FlowIndex
  std::vector<FlowIndex> free;
  while (events.open(window)) {
    Event event{};
    while (events.has_next()) {
      event = events.next();
      if (event.who == arrival) {
        if (free.empty()) {
          free.push_back(static_cast<FlowIndex>(given_of.size()));
          given_of.emplace_back();
        }
        const FlowIndex flow = free.back();
        free.pop_back();
        given_of[flow] = begun;
        begin(links, event.time, flow, given.flows[begun++]);
      } else {
        links.handle_event(event.time, event.who);
      }
      for (const FlowIndex flow : links.completed(event.time)) {
        ends[given_of[flow]] = event.time;
        free.push_back(flow);
      }
    }
  }
  return ends;
}

/// The same without virtual time, heaps or anything else that is clever.
class Oracle {
 public:
  explicit Oracle(const GivenCase& given) : given_(given), ends_(given.flows.size(), -1) {
    for (const GivenFlow& flow : given.flows) {
      left_.emplace_back(flow.links.size(), flow.bytes);
    }
  }

  std::vector<double> run() {
    std::size_t begun = 0;
    while (true) {
      while (begun < left_.size() && given_.flows[begun].begin <= now_) ++begun;
      double arrival = kNever;
      if (begun < left_.size()) arrival = given_.flows[begun].begin;
      if (!advance(begun, arrival)) return ends_;
    }
  }

 private:
  /// Flow i, at the place of its route that it has in `place`.
  [[nodiscard]] double rate(std::size_t i, std::size_t place,
                            const std::vector<double>& flows) const {
    const topologies::LinkIndex link = given_.flows[i].links[place];
    return given_.bandwidths[link] / flows[link];
  }

  /// Up to the next end at a link, or to the next arrival; false where there is neither.
  bool advance(std::size_t begun, double arrival) {
    std::vector<double> flows(given_.bandwidths.size());
    for (std::size_t i = 0; i < begun; ++i) {
      for (std::size_t place = 0; place < left_[i].size(); ++place) {
        if (left_[i][place] > 0) flows[given_.flows[i].links[place]] += 1;
      }
    }
    double step = kNever;
    double* first = nullptr;
    for (std::size_t i = 0; i < begun; ++i) {
      for (std::size_t place = 0; place < left_[i].size(); ++place) {
        if (left_[i][place] == 0) continue;
        const double needed = left_[i][place] / rate(i, place, flows);
        if (needed < step) {
          step = needed;
          first = &left_[i][place];
        }
      }
    }
    if (first == nullptr && arrival == kNever) return false;
    if (now_ + step >= arrival) {
      step = arrival - now_;
      first = nullptr;
    }
    for (std::size_t i = 0; i < begun; ++i) {
      for (std::size_t place = 0; place < left_[i].size(); ++place) {
        double& left = left_[i][place];
        if (left == 0) continue;
        left = std::max(left - step * rate(i, place, flows), 0.0);
        // What rounding leaves of flows that end together.
        if (&left == first || left < 1e-13 * given_.flows[i].bytes) left = 0;
      }
    }
    now_ = first == nullptr ? arrival : now_ + step;
    for (std::size_t i = 0; i < begun; ++i) {
      if (ends_[i] >= 0) continue;
      if (std::ranges::all_of(left_[i], [](double left) { return left == 0; })) ends_[i] = now_;
    }
    return true;
  }

  const GivenCase& given_;
  std::vector<std::vector<double>> left_;  ///< bytes by flow and place
  std::vector<double> ends_;
  double now_ = 0;
};

/// Figures that are often equal, so that many things happen at the same time.
struct Kind {
  bool sizes_differ = true;
  bool arrivals_differ = true;
  bool crowded = true;  ///< else most flows meet no other one on most of their links
};

GivenCase random_case(std::uint64_t seed, const Kind& kind) {
  std::uint64_t counter = 0;
  const auto draw = [&](std::uint64_t below) { return random_bits(seed, counter++) % below; };
  const auto unit = [&] { return to_unit(random_bits(seed, counter++)); };
  GivenCase given;
  const std::uint64_t links = kind.crowded ? 1 + draw(8) : 16;
  for (std::uint64_t i = 0; i < links; ++i) {
    given.bandwidths.push_back(draw(2) == 0 ? 1e9 : 1e9 * (0.1 + 10 * unit()));
  }
  const std::uint64_t flows = kind.crowded ? 1 + draw(24) : 100;
  for (std::uint64_t i = 0; i < flows; ++i) {
    GivenFlow& flow = given.flows.emplace_back();
    std::vector<topologies::LinkIndex> all;
    for (topologies::LinkIndex link = 0; link < links; ++link) all.push_back(link);
    const std::uint64_t length = 1 + draw(std::min<std::uint64_t>(6, links));
    for (std::uint64_t place = 0; place < length; ++place) {
      const auto at = static_cast<std::ptrdiff_t>(draw(all.size()));
      flow.links.push_back(all[static_cast<std::size_t>(at)]);
      all.erase(all.begin() + at);
    }
    flow.bytes = kind.sizes_differ ? 1e4 * std::pow(1e3, unit()) : 1e6;
    flow.begin = kind.arrivals_differ ? 1e-3 * static_cast<double>(draw(16)) / 4 + 1e-3 * unit()
                                      : 1e-3 * static_cast<double>(draw(3));
    if (!kind.crowded) flow.begin = 1e-3 * static_cast<double>(i);
  }
  std::ranges::sort(given.flows, {}, &GivenFlow::begin);
  return given;
}

/// The largest relative difference of an end, over random cases.
double worst_difference(const Kind& kind, std::uint64_t cases) {
  double worst = 0;
  for (std::uint64_t seed = 0; seed < cases; ++seed) {
    const GivenCase given = random_case(seed, kind);
    const std::vector<double> wanted = Oracle(given).run();
    const double window = 0.3 * static_cast<double>(seed % 3) * std::ranges::max(wanted);
    const std::vector<double> got = simulated(given, window);
    for (std::size_t i = 0; i < got.size(); ++i) {
      const double difference = std::abs(got[i] / wanted[i] - 1);
      if (!(difference <= worst)) worst = difference;  // NaN too
    }
  }
  return worst;
}

constexpr std::uint64_t kCases = test::kSanitized ? 300 : 2000;

}  // namespace

TEST_CASE("Flows on shared links end when an event-by-event simulation of every link says so") {
  CHECK(worst_difference({}, kCases) < 1e-9);
}

TEST_CASE("Flows that meet no other one on most of their links end when they should") {
  CHECK(worst_difference({.crowded = false}, kCases / 10) < 1e-9);
  CHECK(worst_difference({.sizes_differ = false, .crowded = false}, kCases / 10) < 1e-9);
}

TEST_CASE("Flows of equal sizes, in lockstep or not, end when they should") {
  CHECK(worst_difference({.sizes_differ = false, .arrivals_differ = false}, kCases) < 1e-9);
  CHECK(worst_difference({.sizes_differ = false}, kCases) < 1e-9);
  CHECK(worst_difference({.arrivals_differ = false}, kCases) < 1e-9);
}

TEST_CASE("A link that always has work carries its bandwidth times the time") {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    GivenCase given = random_case(seed, {});
    double total = 0;
    for (GivenFlow& flow : given.flows) {
      if (std::ranges::find(flow.links, 0U) == flow.links.end()) flow.links.push_back(0);
      flow.begin *= 1e-3;  // long before the link has served anything
      total += flow.bytes;
    }
    // All others are so fast that none is anybody's last link.
    for (double& bandwidth : given.bandwidths) bandwidth = 1e13;
    given.bandwidths[0] = 1e6;
    CAPTURE(seed);
    const std::vector<double> ends = simulated(given);
    CHECK(std::ranges::max(ends) == exactly(given.flows.front().begin + total / 1e6));
  }
}

TEST_CASE("A flow that waits for another link leaves its share to the others") {
  // The first flow has bytes / 1e6 seconds to go on link 1, whoever else is on link 0.
  const GivenCase given{.bandwidths = {2e6, 1e6}, .flows = {{0, {0, 1}, 4e6}, {0, {0}, 6e6}}};
  const std::vector<double> ends = simulated(given);
  CHECK(ends[0] == exactly(4));
  CHECK(ends[1] == exactly(5));  // half of link 0 until it has served the first flow, then all
}

TEST_CASE("A flow that crosses a link twice needs it twice, and one without bytes no time") {
  CHECK(simulated({.bandwidths = {1e6}, .flows = {{0, {0, 0}, 1e6}}})[0] == exactly(2));
  const std::vector<double> ends =
      simulated({.bandwidths = {1e6, 2e6}, .flows = {{0, {0}, 1e6}, {0.5, {0, 1}, 0}}});
  CHECK(ends[0] == exactly(1));
  CHECK(ends[1] == 0.5);
}

TEST_CASE("The most links that a flow can have") {
  GivenCase given;
  GivenFlow flow{.bytes = 1e6};
  for (topologies::LinkIndex link = 0; link < FairLinks::kMostLinks; ++link) {
    given.bandwidths.push_back(1e6 * (1 + link));
    flow.links.push_back(link);
  }
  given.flows = {flow, flow};
  const std::vector<double> ends = simulated(given);
  CHECK(ends[0] == exactly(2));
  CHECK(ends[1] == exactly(2));
}

TEST_CASE("More flows than a share can name are refused") {
  EventWindow events;
  const std::vector<double> bandwidths{1e6};
  FairLinks links(bandwidths, events);
  const std::vector<topologies::LinkIndex> route{0};
  CHECK(test::error_of<SimulationError>([&] { links.set_links(kMostFlows, route); }) ==
        "too many messages are under way at once");
}

TEST_CASE("An estimate is how long a link would serve a flow if all stayed as it is") {
  EventWindow events;
  const std::vector<double> bandwidths{1e6, 1e6};
  FairLinks links(bandwidths, events);
  CHECK(links.estimate(0, 0, 1e6) == exactly(1));
  for (FlowIndex flow = 0; flow < 3; ++flow) begin(links, 0, flow, {0, {0}, 1e6});
  CHECK(links.estimate(0, 0, 1e6) == exactly(4));
  CHECK(links.estimate(0, 1, 1e6) == exactly(1));
  CHECK(links.estimate(2.9, 0, 5e5) == exactly(2));
  CHECK(links.estimate(3.1, 0, 5e5) == exactly(0.5));  // all have gone
}

}  // namespace thinwire::networks
