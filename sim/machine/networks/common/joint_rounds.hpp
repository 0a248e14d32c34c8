// Rounds of all members of a group at once. Members that have posted nothing else join them, and wait.
// When all have joined, nothing but the messages of the rounds can enter a port of theirs before its
// owner has taken all its rounds, and these share none. So all rounds are taken here, as vectors
// (round_times.hpp). The members then go on, each from its own time, which is no earlier than the last
// of them has come: only rounds in which each member needs all others are taken so.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "sim/core/kernel/in_switches.hpp"
#include "sim/core/kernel/ledger.hpp"
#include "sim/core/kernel/rounds.hpp"
#include "sim/machine/networks/common/complaints.hpp"
#include "sim/machine/networks/common/round_times.hpp"
#include "sim/machine/networks/common/under_way.hpp"

namespace thinwire::networks {

/// The rounds that groups of ranks come to. A `Poster` is a rank (posting.hpp).
template <class Fabric, class Poster>
class JointRounds {
 public:
  /// `all` outlives it.
  explicit JointRounds(const UnderWay<Fabric>& all)
      : all_(all), applies_(Fabric::kOnlyPorts && all.host.noise == Seconds(0)) {}

  /// A rank that comes to rounds, and where it looks, when it goes on, whether they have been taken.
  struct Joined {
    Poster* rank;
    bool* taken;
  };
  /// Whether a rank joins. `clear`: nothing else of it is under way. Where one does not, no rank of the
  /// run joins any longer.
  [[nodiscard]] bool joins(const Joined& joining, const Members& members, const RoundsPart& part,
                           Tag tag, bool clear) {
    if (!applies_ || members.count == 1 || members.list != nullptr) return false;
    // Even if others have come: these may be earlier rounds, which they have taken one by one.
    if (!needs_all(part.rounds(), members.count)) return false;
    const Key key = std::tuple_cat(members.key(), std::tuple(tag.value()));
    auto found = groups_.find(key);
    applies_ = clear;
    if (!applies_) return false;
    if (found == groups_.end()) {
      found = groups_.emplace(key, Group{.joined = {}, .part = &part}).first;
      found->second.joined.resize(static_cast<std::size_t>(members.count));
    }
    Group& group = found->second;
    group.joined[static_cast<std::size_t>(members.number_of(joining.rank->rank()))] = joining;
    if (++group.count == members.count) {
      complete_.push_back(std::move(group));
      groups_.erase(found);
    }
    return true;
  }
  /// Whether the members of some group have all joined, or will not. `more`: there are other events to
  /// wait for.
  [[nodiscard]] bool ends(bool more) const {
    return !complete_.empty() || (!groups_.empty() && (!applies_ || !more));
  }
  /// Takes all rounds of groups whose members have all joined. Where not all will, each takes its own
  /// from when it came, with the time set back to then, since events have been handled until now, but
  /// of none of its ports. Calls `go_on` for each rank.
  template <class GoOn>
  void end(double& now, const GoOn& go_on) {
    for (const Group& group : complete_) take(group);
    applies_ = applies_ && !complete_.empty();
    for (const Group& group : std::exchange(complete_, {})) {
      for (const Joined& joined : group.joined) go_on(joined.rank->rank());
    }
    if (applies_) return;
    for (const auto& [key, group] : std::exchange(groups_, {})) {
      for (const Joined& joined : group.joined) {
        if (joined.rank == nullptr) continue;
        now = std::min(now, joined.rank->clock());
        go_on(joined.rank->rank());
      }
    }
  }

 private:
  struct Group {
    std::vector<Joined> joined;  ///< by number among the members
    const RoundsPart* part;      ///< of the first that has joined; the others' parts are equal
    int count = 0;
  };
  using Key = std::tuple<int, int, int, const std::int32_t*, int>;
  /// Pieces as they travel, each twice: those from any one on follow one another.
  struct Pieces {
    std::vector<std::int64_t> words;
    std::vector<double> on_ports;
    std::vector<double> work;  ///< none if it takes no time
  };

  [[nodiscard]] Pieces pieces_of(const RoundsPart& part, std::size_t at, std::size_t count) const {
    Pieces pieces;
    const bool sums = part.rounds()[at].sums;
    bool works = false;
    for (std::size_t piece = 0; piece < count; ++piece) {
      const std::size_t like = piece & static_cast<std::size_t>(part.rounds()[at].tells);
      if (like != piece) {
        pieces.words.push_back(pieces.words[like]);
        pieces.on_ports.push_back(pieces.on_ports[like]);
        if (sums) pieces.work.push_back(pieces.work[like]);
        continue;
      }
      const Message message = part.piece(at, static_cast<int>(piece));
      pieces.words.push_back(message.words.value());
      pieces.on_ports.push_back(all_.fabric.uncontended({}, message.words));
      if (!sums) continue;
      pieces.work.push_back(part.work(at, message).value());
      works = works || pieces.work.back() != 0;
    }
    if (!works) pieces.work.clear();
    const auto again = [](auto& all) {
      all.reserve(2 * all.size());
      all.insert(all.end(), all.begin(), all.end());
    };
    again(pieces.words);
    again(pieces.on_ports);
    again(pieces.work);
    return pieces;
  }

  /// need_all(), which is not asked again for the rounds that were asked for last.
  [[nodiscard]] bool needs_all(std::span<const Rounds> all, int members) {
    if (asked_.members != members || !std::ranges::equal(asked_.all, all)) {
      asked_ = {
          .all = {all.begin(), all.end()}, .members = members, .need = need_all(all, members)};
    }
    return asked_.need;
  }
  /// Whether each member needs all others to take these rounds to their end. A sufficient condition.
  [[nodiscard]] static bool need_all(std::span<const Rounds> all, int members) {
    std::array<int, 31> independent =
        {};  // bits that are flipped, of which none is a sum of others
    std::size_t count = 0;
    for (const Rounds& rounds : all) {
      if (rounds.flips) {
        int bits = rounds.distance;
        for (std::size_t i = 0; i < count; ++i) bits = std::min(bits, bits ^ independent[i]);
        if (bits != 0) independent[count++] = bits;
      } else if (rounds.distance == 1 && (rounds.next_distance & 1) == rounds.next_distance &&
                 2 * std::int64_t{rounds.count} + 1 >= members) {
        return true;  // on both sides it meets the nearest, or those that have met them
      }
    }
    return (std::int64_t{1} << count) >= members;
  }

  void take(const Group& group) const {
    const std::size_t count = group.joined.size();
    std::vector<double> clocks;
    for (const Joined& joined : group.joined) clocks.push_back(joined.rank->clock());
    const auto& host = all_.host;
    RoundTimes times(std::move(clocks),
                     {.overhead = host.overhead.value(),
                      .latency = all_.fabric.latency({}, {}, {}) + host.latency.value(),
                      .handshake = host.handshake,
                      .handshake_time = host.handshake_time.value()});
    std::vector<Traffic> traffic(count);
    for (std::size_t at = 0; at < group.part->rounds().size(); ++at) {
      const Rounds& rounds = group.part->rounds()[at];
      const Pieces pieces = pieces_of(*group.part, at, count);
      for (int round = 0; round < rounds.count; ++round) {
        const auto first = static_cast<std::size_t>(rounds.sent(0, round, static_cast<int>(count)));
        const std::span<const double> work(pieces.work);
        times.take(rounds, round, std::span(pieces.on_ports).subspan(first, count),
                   work.empty() ? work : work.subspan(first, count));
      }
      add_traffic(traffic, rounds, pieces.words);
    }
    for (std::size_t number = 0; number < count; ++number) {
      if (!std::isfinite(times.clocks()[number])) throw_time_overflow();
      group.joined[number].rank->goes_on(times.clocks()[number], traffic[number]);
      *group.joined[number].taken = true;
    }
  }

  /// Adds what the members send and receive in rounds. `words` are the words of the pieces, twice.
  static void add_traffic(std::vector<Traffic>& traffic, const Rounds& rounds,
                          std::span<const std::int64_t> words) {
    const std::size_t count = traffic.size();
    const std::vector<std::int64_t> sent = sums_of(words, rounds.piece, rounds.next_piece, rounds);
    std::vector<std::int64_t> received;
    if (!rounds.flips) {
      received = sums_of(words, rounds.piece - rounds.distance,
                         rounds.next_piece - rounds.next_distance, rounds);
    }
    for (std::size_t member = 0; member < count; ++member) {
      Traffic& of = traffic[member];
      of.messages_sent += rounds.count;
      of.messages_received += rounds.count;
      of.words_sent += Words(sent[member]);
      of.words_received +=
          Words(rounds.flips ? sent[member ^ static_cast<std::size_t>(rounds.distance)]
                             : received[member]);
    }
  }
  /// The words of the pieces m + first, m + first + next, ... of each member m, one for each round.
  [[nodiscard]] static std::vector<std::int64_t> sums_of(std::span<const std::int64_t> words,
                                                         std::int64_t first, std::int64_t next,
                                                         const Rounds& rounds) {
    const auto count = static_cast<std::int64_t>(words.size() / 2);
    const auto within = [count](std::int64_t piece) { return ((piece % count) + count) % count; };
    const auto at = [&](std::int64_t piece) { return words[static_cast<std::size_t>(piece)]; };
    std::vector<std::int64_t> sums(static_cast<std::size_t>(count));
    if (next == 0) {
      for (std::int64_t member = 0; member < count; ++member) {
        sums[static_cast<std::size_t>(member)] = rounds.count * at(within(member + first));
      }
      return sums;
    }
    if (std::abs(next) != 1) {
      for (int round = 0; round < rounds.count; ++round) {
        const std::int64_t begin = within(first + next * round);
        for (std::int64_t member = 0; member < count; ++member) {
          sums[static_cast<std::size_t>(member)] += at(begin + member);
        }
      }
      return sums;
    }
    // Pieces that follow one another: the next member's are the same but for one at each end.
    const std::int64_t lowest = next > 0 ? first : first - (rounds.count - 1);
    std::int64_t sum = 0;
    for (int round = 0; round < rounds.count; ++round) sum += at(within(lowest + round));
    for (std::int64_t member = 0; member < count; ++member) {
      sums[static_cast<std::size_t>(member)] = sum;
      sum += at(within(lowest + member + rounds.count)) - at(within(lowest + member));
    }
    return sums;
  }

  struct Asked {
    std::vector<Rounds> all = {};
    int members = 0;
    bool need = false;
  };

  const UnderWay<Fabric>& all_;
  bool applies_;
  Asked asked_;
  std::map<Key, Group> groups_;  ///< of which some have joined
  std::vector<Group> complete_;  ///< of which all have
};

}  // namespace thinwire::networks
