// Messages whose posts tell their end, against the loop in which every message is made of events.
#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/core/base/random.hpp"
#include "sim/core/kernel/exchange.hpp"
#include "sim/core/kernel/network.hpp"
#include "sim/core/kernel/rounds.hpp"
#include "sim/machine/networks/alphabeta/alphabeta.hpp"
#include "tests/support/approx.hpp"

namespace thinwire::networks {

namespace {

/// All times are multiples, in seconds, which add up without rounding: what happens at one time in
/// one loop does so in the other.
constexpr double kTick = 0x1p-20;

/// What a strand does next. Requests are known by the number of their post on the strand.
struct PlannedStep {
  enum class Kind : std::uint8_t {
    send,
    receive,
    work,
    work_beside,
    wait,
    wait_any,
    sendrecv,
    exchange,
    rounds,
    start
  };
  Kind kind;
  int peer = 0;
  int from = 0;  ///< of a sendrecv
  int tag = 0;
  int count = 0;  ///< words of a message; steps under way in an exchange; what rounds are drawn by
  double seconds = 0;
  std::vector<std::size_t> posts = {};  ///< that are waited for, unless they have been
};
using Plan = std::vector<PlannedStep>;

/// The programs of all ranks, on both strands. Lengths and works are few, so that much happens at
/// one time. In each round ranks post, and then wait for some of what they have posted so far: no
/// round waits for a later one.
class RandomPlans {
 public:
  RandomPlans(std::uint64_t seed, int ranks, bool two_strands)
      : seed_(seed),
        ranks_(ranks),
        strands_(two_strands ? 2 : 1),
        plans_(count()),
        open_(count()),
        posted_(count()) {
    for (int round = 0; round < kRounds; ++round) {
      if (round == 5 && two_strands) start_all();
      add_round(round > 5 && two_strands ? pick(2) : 0);
    }
    for (std::size_t strand = 0; strand < count(); ++strand) wait(strand, open_[strand], false);
  }

  [[nodiscard]] const Plan& of(Rank rank, bool second) const {
    return plans_[at(rank.value(), second ? 1 : 0)];
  }

 private:
  using Kind = PlannedStep::Kind;
  static constexpr int kRounds = 30;

  [[nodiscard]] std::size_t count() const { return static_cast<std::size_t>(ranks_ * strands_); }
  [[nodiscard]] std::size_t at(int rank, int strand) const {
    return static_cast<std::size_t>(strand * ranks_ + rank);
  }
  int pick(int below) {
    return static_cast<int>(random_bits(seed_, drawn_++) % static_cast<std::uint64_t>(below));
  }
  int words() { return 128 * pick(3) * (pick(3) == 0 ? 7 : 1); }

  void start_all() {
    for (int rank = 0; rank < ranks_; ++rank) {
      if (pick(4) == 0) add(at(rank, 0), {.kind = Kind::work, .seconds = kTick * pick(9)});
      post(at(rank, 0), {.kind = Kind::start});
    }
  }
  void add(std::size_t strand, PlannedStep step) { plans_[strand].push_back(std::move(step)); }
  void post(std::size_t strand, PlannedStep step) {
    open_[strand].push_back(posted_[strand]++);
    add(strand, std::move(step));
  }
  void message(int strand, int from, int to) {
    if (from == to) return;
    const bool receive_first = pick(2) == 0;
    const int tag = pick(2);
    const PlannedStep receive{.kind = Kind::receive, .peer = from, .tag = tag};
    if (receive_first) post(at(to, strand), receive);
    post(at(from, strand), {.kind = Kind::send, .peer = to, .tag = tag, .count = words()});
    if (!receive_first) post(at(to, strand), receive);
  }
  void wait(std::size_t strand, std::vector<std::size_t> posts, bool any) {
    if (posts.empty()) return;
    add(strand, {.kind = any ? Kind::wait_any : Kind::wait, .posts = std::move(posts)});
  }

  void add_round(int strand) {
    for (int rank = 0; rank < ranks_; ++rank) {
      if (pick(3) == 0) {
        add(at(rank, strand), {.kind = Kind::work, .seconds = kTick * pick(4)});
      }
    }
    if (pick(3) == 0) {
      const int rank = pick(ranks_);
      post(at(rank, strand), {.kind = Kind::work_beside, .seconds = kTick * pick(9)});
    }
    const int shift = 1 + pick(ranks_ - 1);
    switch (pick(8)) {
      case 0:
        if (strand == 0) return pick(2) == 0 ? add_exchange() : add_rounds();
        [[fallthrough]];
      case 1:
        return add_sendrecv(strand, shift);
      case 2:  // some of the ranks
        for (int rank = 0; rank < ranks_; ++rank) {
          if (pick(2) == 0) message(strand, rank, (rank + shift) % ranks_);
        }
        break;
      case 3:  // anybody to anybody
        for (int i = 0; i < ranks_; ++i) message(strand, pick(ranks_), pick(ranks_));
        break;
      default:
        for (int rank = 0; rank < ranks_; ++rank) message(strand, rank, (rank + shift) % ranks_);
    }
    for (int rank = 0; rank < ranks_; ++rank) wait_for_some(at(rank, strand));
  }
  void add_exchange() {
    const int under_way = 1 + 3 * pick(2);
    for (int rank = 0; rank < ranks_; ++rank) {
      add(at(rank, 0), {.kind = Kind::exchange, .count = under_way});
    }
  }
  /// Of all ranks, or of those with even numbers apart from the others.
  void add_rounds() {
    const int groups = ranks_ > 3 ? 1 + pick(2) : 1;
    const int drawn_by = pick(1000);
    for (int rank = 0; rank < ranks_; ++rank) {
      add(at(rank, 0), {.kind = Kind::rounds, .peer = groups, .count = drawn_by});
    }
  }
  /// Some post the two, and wait for them later.
  void add_sendrecv(int strand, int shift) {
    for (int rank = 0; rank < ranks_; ++rank) {
      const int to = (rank + shift) % ranks_;
      const int from = (rank + ranks_ - shift) % ranks_;
      const int length = words();
      if (pick(4) != 0) {
        add(at(rank, strand),
            {.kind = Kind::sendrecv, .peer = to, .from = from, .tag = 2, .count = length});
        continue;
      }
      post(at(rank, strand), {.kind = Kind::receive, .peer = from, .tag = 2});
      post(at(rank, strand), {.kind = Kind::send, .peer = to, .tag = 2, .count = length});
    }
  }
  void wait_for_some(std::size_t strand) {
    std::vector<std::size_t>& open = open_[strand];
    switch (pick(6)) {
      case 0:
        return;
      case 1: {  // half of them
        std::vector<std::size_t> some;
        std::erase_if(open, [&](std::size_t post) {
          if (pick(2) == 0) return false;
          some.push_back(post);
          return true;
        });
        return wait(strand, std::move(some), false);
      }
      case 2:  // one after the other, the last first
        for (; !open.empty(); open.pop_back()) wait(strand, {open.back()}, false);
        return;
      case 3:
        return wait(strand, open, true);  // for the first
      default:
        return wait(strand, std::exchange(open, {}), false);
    }
  }

  std::uint64_t seed_;
  std::uint64_t drawn_ = 0;
  int ranks_;
  int strands_;
  std::vector<Plan> plans_;                     ///< by rank; the second strands' plans follow
  std::vector<std::vector<std::size_t>> open_;  ///< posts that are not waited for, likewise
  std::vector<std::size_t> posted_;             ///< how many posts, likewise
};

/// Sends as many words as follow from its rank and its peer.
class PlannedPart final : public ExchangePart {
 public:
  explicit PlannedPart(Rank rank) : rank_(rank) {}
  [[nodiscard]] Message outgoing(Rank to) override {
    return {{}, Words(128 * ((3 * rank_.value() + to.value()) % 4))};
  }
  [[nodiscard]] Seconds incoming(Rank from, Message /*message*/) override {
    return Seconds(from.value() % 3 == 0 ? kTick : 0);
  }

 private:
  Rank rank_;
};

/// Rounds of any kind, with pieces and works that differ.
class PlannedRounds final : public RoundsPart {
 public:
  PlannedRounds(int drawn_by, int members) : drawn_by_(drawn_by) {
    auto pick = [drawn_by, drawn = 0](int below) mutable {
      return static_cast<int>(random_bits(drawn_by, 1, drawn++) %
                              static_cast<std::uint64_t>(below));
    };
    const bool is_power = std::has_single_bit(static_cast<unsigned>(members));
    for (int left = 1 + pick(3); left > 0; --left) {
      Rounds rounds{.distance = 1 + pick(members - 1),
                    .piece = pick(2 * members) - members,
                    .next_piece = pick(5) - 2,
                    .sums = pick(2) == 0};
      if (is_power && pick(2) == 0) {
        rounds.flips = true;
        rounds.piece = 0;
        rounds.next_piece = 0;
      } else if (pick(2) == 0) {
        rounds.distance = 1;
        rounds.next_distance = 1;
        rounds.count = members - 1;
      } else {
        rounds.count = 1 + pick(2 * members);
      }
      rounds_.push_back(rounds);
    }
  }
  [[nodiscard]] std::span<const Rounds> rounds() const override { return rounds_; }
  [[nodiscard]] Message piece(std::size_t at, int piece) const override {
    return {{}, Words(128 * ((3 * piece + drawn_by_ + static_cast<int>(at)) % 4))};
  }
  [[nodiscard]] Seconds work(std::size_t /*at*/, const Message& received) const override {
    return Seconds(kTick * static_cast<double>(received.words.value() % 3));
  }

 private:
  int drawn_by_;
  std::vector<Rounds> rounds_;
};

/// What a rank sees: its clock after each wait, and the words that it receives.
using Seen = std::vector<double>;

Task<void> follow(Communicator& comm, const RandomPlans& plans, bool second, Seen& seen,
                  Seen* seen_by_second) {
  using Kind = PlannedStep::Kind;
  std::vector<std::optional<Request>> requests;  // by post; none if it has been waited for
  for (const PlannedStep& step : plans.of(comm.rank(), second)) {
    std::vector<std::size_t> left;
    std::vector<Request> waited;
    for (const std::size_t post : step.posts) {
      if (!requests[post]) continue;
      left.push_back(post);
      waited.push_back(*requests[post]);
    }
    const Message message{{}, Words(step.count)};
    switch (step.kind) {
      case Kind::send:
        requests.push_back(comm.isend(Rank(step.peer), Tag(step.tag), message));
        break;
      case Kind::receive:
        requests.push_back(comm.irecv(Rank(step.peer), Tag(step.tag)));
        break;
      case Kind::work:
        co_await comm.compute(Seconds(step.seconds));
        break;
      case Kind::work_beside:
        requests.push_back(comm.start_work(Seconds(step.seconds)));
        break;
      case Kind::start:
        requests.push_back(comm.start([&plans, seen_by_second](Communicator& strand) {
          return follow(strand, plans, true, *seen_by_second, nullptr);
        }));
        break;
      case Kind::exchange: {
        PlannedPart part(comm.rank());
        co_await comm.exchange(part, Tag(9), step.count);
        break;
      }
      case Kind::rounds: {
        const int group = comm.rank().value() % step.peer;
        const int members = (comm.size() - group + step.peer - 1) / step.peer;
        const PlannedRounds part(step.count, members);
        co_await comm.rounds_among({.first = group, .count = members, .stride = step.peer}, part,
                                   Tag(8));
        break;
      }
      case Kind::sendrecv: {
        const Message received =
            co_await comm.sendrecv(Rank(step.peer), message, Rank(step.from), Tag(step.tag));
        seen.push_back(static_cast<double>(received.words.value()));
        break;
      }
      case Kind::wait:
        for (const Message& received : co_await comm.wait_all(waited)) {
          seen.push_back(static_cast<double>(received.words.value()));
        }
        break;
      case Kind::wait_any: {
        if (waited.empty()) break;
        const auto first = co_await comm.wait_any(waited);
        requests[left[first.position]].reset();
        seen.push_back(static_cast<double>(first.position));
        seen.push_back(static_cast<double>(first.message.words.value()));
        break;
      }
    }
    seen.push_back(comm.now().value());
  }
}

/// What all ranks see on both strands, and when they end.
std::vector<Seen> seen_on(AlphaBetaNetwork& network, const RandomPlans& plans, int ranks) {
  std::vector<Seen> seen(2 * static_cast<std::size_t>(ranks));
  const RunReport report = network.run(ranks, [&](Communicator& comm) {
    const auto rank = static_cast<std::size_t>(comm.rank().value());
    return follow(comm, plans, false, seen[rank], &seen[static_cast<std::size_t>(ranks) + rank]);
  });
  for (const RankReport& rank : report.ranks) seen.push_back({rank.finished.value()});
  return seen;
}

/// The largest relative difference; infinite if the two have not seen as much.
double difference(const std::vector<Seen>& a, const std::vector<Seen>& b) {
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i].size() != b[i].size()) return HUGE_VAL;
    for (std::size_t j = 0; j < a[i].size(); ++j) {
      most = std::max(most, std::abs(a[i][j] - b[i][j]) / std::max(1e-9, std::abs(b[i][j])));
    }
  }
  return most;
}

}  // namespace

TEST_CASE("A message shares its port with what its rank's second strand sends later") {
  // The first message has its port to itself for 4 s, and shares it until it is complete.
  AlphaBetaNetwork network(alpha_beta(Seconds(0), Seconds(1)));
  const Tag tag(0);
  const auto of = [](int words) { return Message{{}, Words(words)}; };
  const auto second_of_first = [&](Communicator& comm) -> Task<void> {
    co_await comm.wait(comm.irecv(Rank(2), tag));
    co_await comm.wait(comm.isend(Rank(2), tag, of(10)));
  };
  const auto second_of_last = [&](Communicator& comm) -> Task<void> {
    co_await comm.wait(comm.isend(Rank(0), tag, of(4)));
    co_await comm.wait(comm.irecv(Rank(0), tag));
  };
  const auto program = [&](Communicator& comm) -> Task<void> {
    if (comm.rank() == Rank(0)) {
      const Request send = comm.isend(Rank(1), tag, of(10));
      const Request started = comm.start(second_of_first);
      co_await comm.wait(send);
      CHECK(comm.now() == Seconds(16));
      co_await comm.wait(started);
      CHECK(comm.now() == Seconds(20));
    } else if (comm.rank() == Rank(1)) {
      co_await comm.wait(comm.irecv(Rank(0), tag));
    } else {
      co_await comm.wait(comm.start(second_of_last));
    }
  };
  network.run(3, program);
}

TEST_CASE("Phases are in the order of simulated time, however far strands run ahead") {
  AlphaBetaNetwork network(alpha_beta(Seconds(0), Seconds(1)));
  const auto program = [](Communicator& comm) -> Task<void> {
    const Rank peer(comm.rank().value() ^ 1);
    const bool late = comm.rank().value() < 2;
    const Message message{{}, Words(late ? 10 : 1)};
    co_await comm.sendrecv(peer, message, peer, Tag(0));
    if (!late) co_await comm.sendrecv(peer, message, peer, Tag(0));
    const auto phase = comm.phase(late ? "late" : "early");
    co_await comm.sendrecv(peer, message, peer, Tag(0));
  };
  const RunReport report = network.run(4, program);
  CHECK(report.phases == std::vector<std::string>{"other", "early", "late"});
  CHECK(report.ranks[0].by_phase[2].time == Seconds(10));
  CHECK(report.ranks[3].by_phase[1].time == Seconds(1));
}

TEST_CASE(
    "Ranks that wait for others at an exchange have begun it when these have messages under way") {
  // Ranks 0 and 1 come at once, and have much for one another; the others come while rank 2 sends to
  // rank 3.
  class Part final : public ExchangePart {
   public:
    explicit Part(Rank rank) : rank_(rank) {}
    [[nodiscard]] Message outgoing(Rank to) override {
      return {{}, Words(rank_.value() < 2 && to.value() < 2 ? 1000 : 10)};
    }
    [[nodiscard]] Seconds incoming(Rank /*from*/, Message /*message*/) override {
      return Seconds(0);
    }

   private:
    Rank rank_;
  };
  std::vector<double> ends;
  for (const bool events_alone : {false, true}) {
    AlphaBetaNetwork network(alpha_beta(Seconds(0), Seconds(1)));
    if (events_alone) network.use_events_alone();
    const auto program = [](Communicator& comm) -> Task<void> {
      std::vector<Request> requests;
      for (int tag = 0; tag < 2 && comm.rank() == Rank(2); ++tag) {
        requests.push_back(comm.isend(Rank(3), Tag(tag), {{}, Words(1200 + tag)}));
      }
      for (int tag = 0; tag < 2 && comm.rank() == Rank(3); ++tag) {
        requests.push_back(comm.irecv(Rank(2), Tag(tag)));
      }
      if (!requests.empty()) {
        co_await comm.wait(requests.front());
        requests.erase(requests.begin());
      }
      Part part(comm.rank());
      co_await comm.exchange(part, Tag(9), 3);
      co_await comm.wait_all(requests);
    };
    for (const RankReport& rank : network.run(4, program).ranks) {
      ends.push_back(rank.finished.value());
    }
  }
  for (std::size_t rank = 0; rank < 4; ++rank) {
    CHECK(ends[rank] == test::approx(ends[rank + 4]).epsilon(1e-12));
  }
}

TEST_CASE("Ends that follow from posts are those that events have, on random schedules") {
  const LogGP plain = alpha_beta(Seconds(2 * kTick), Seconds(kTick / 256));
  LogGP latent = plain;
  latent.latency = Seconds(3 * kTick);
  latent.overhead = Seconds(kTick);
  HostCosts announced;
  announced.handshake = true;
  announced.handshake_time = Seconds(kTick);
  double most = 0;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    CAPTURE(seed);
    const int ranks = 2 + static_cast<int>(seed % 9);
    const RandomPlans plans(seed, ranks, seed % 4 == 3);
    const LogGP& machine = seed % 5 == 4 ? latent : plain;
    const HostCosts host = seed % 7 == 6 ? announced : HostCosts{};
    AlphaBetaNetwork network(machine, host);
    AlphaBetaNetwork events(machine, host);
    events.use_events_alone();
    const double found = difference(seen_on(network, plans, ranks), seen_on(events, plans, ranks));
    CHECK(found <= 1e-12);
    most = std::max(most, found);
  }
  MESSAGE("largest relative difference of a time: ", most);
}

}  // namespace thinwire::networks
