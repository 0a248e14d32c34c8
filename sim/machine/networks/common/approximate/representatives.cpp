#include "sim/machine/networks/common/approximate/representatives.hpp"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sim/core/base/errors.hpp"
#include "sim/core/base/random.hpp"
#include "sim/core/kernel/forwarding.hpp"
#include "sim/machine/networks/common/complaints.hpp"
#include "sim/machine/networks/common/event_loop.hpp"

namespace thinwire::networks {

namespace {

/// Who sent a message to whom, and who received it as whose, in the names of P ranks.
struct Meeting {
  Rank sender;
  Rank to;
  Rank receiver;
  Rank from;
};

/// The renaming that turns the sender's message into the message of the rank `from`. Throws
/// SimulationError if there is none.
Renaming renaming_of(const Meeting& met, int ranks) {
  const auto distance = [ranks](Rank a, Rank b) { return (b.value() - a.value() + ranks) % ranks; };
  if (distance(met.sender, met.to) == distance(met.from, met.receiver)) {
    return {.kind = Renaming::Kind::shift, .by = distance(met.sender, met.from), .ranks = ranks};
  }
  const auto flipped = [](Rank a, Rank b) { return a.value() ^ b.value(); };
  if (flipped(met.sender, met.to) == flipped(met.from, met.receiver)) {
    return {.kind = Renaming::Kind::flip, .by = flipped(met.sender, met.from), .ranks = ranks};
  }
  throw SimulationError(
      "this schedule is not symmetric, so no ranks stand for others: rank {} sends to rank {} when "
      "rank {} receives from rank {}; run all ranks",
      met.sender.value(), met.to.value(), met.receiver.value(), met.from.value());
}

/// Pairs the messages between representatives with their receives, in the order in which both are
/// posted, as the network does.
class Meetings {
 public:
  explicit Meetings(FewRanks few) : few_(few) {}

  [[nodiscard]] const FewRanks& few() const { return few_; }

  void sent(Rank sender, Rank to, Strand strand, Tag tag) {
    Queue& queue = queues_[{image(sender), image(to), tag, strand}];
    if (queue.holds_sends || queue.empty()) {
      queue.holds_sends = true;
      queue.waiting.push_back(static_cast<std::uint32_t>(to.value()));
      return;
    }
    Receive& receive = receives_[queue.pop()];
    receive.renaming = renaming_of({sender, to, receive.receiver, receive.from}, few_.ranks);
  }

  /// Returns the index of the receive, for taken().
  std::uint32_t posted(Rank receiver, Rank from, Strand strand, Tag tag) {
    const std::uint32_t index = acquire();
    receives_[index] = {.receiver = receiver, .from = from};
    Queue& queue = queues_[{image(from), image(receiver), tag, strand}];
    if (!queue.holds_sends || queue.empty()) {
      queue.holds_sends = false;
      queue.waiting.push_back(index);
    } else {
      const Rank to(static_cast<std::int32_t>(queue.pop()));
      receives_[index].renaming =
          renaming_of({few_.representative(from), to, receiver, from}, few_.ranks);
    }
    return index;
  }

  /// The renaming of a message that has been received.
  Renaming taken(std::uint32_t index) {
    free_.push_back(index);
    return receives_[index].renaming;
  }

 private:
  struct Key {
    Rank sender;
    Rank receiver;
    Tag tag;
    Strand strand;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const {
      return random_bits(static_cast<std::uint64_t>(key.sender.value()), key.receiver.value(),
                         key.tag.value(), static_cast<int>(key.strand));
    }
  };
  /// Sends, by the rank that they are for, or receives, by index: never both.
  struct Queue {
    std::vector<std::uint32_t> waiting;
    std::size_t first = 0;
    bool holds_sends = false;

    [[nodiscard]] bool empty() const { return first == waiting.size(); }
    std::uint32_t pop() {
      const std::uint32_t front = waiting[first++];
      if (empty()) {
        waiting.clear();
        first = 0;
      }
      return front;
    }
  };
  struct Receive {
    Rank receiver;
    Rank from;
    Renaming renaming = {};
  };

  std::uint32_t acquire() {
    if (free_.empty()) {
      receives_.emplace_back();
      return static_cast<std::uint32_t>(receives_.size() - 1);
    }
    const std::uint32_t index = free_.back();
    free_.pop_back();
    return index;
  }

  /// The representative of a rank, as a rank of the network.
  [[nodiscard]] Rank image(Rank rank) const { return Rank(few_.image(rank)); }

  FewRanks few_;
  std::unordered_map<Key, Queue, Hash> queues_;
  std::vector<Receive> receives_;
  std::vector<std::uint32_t> free_;
};

/// One strand of a rank that runs, as one of P ranks.
class Representative final : public ForwardingCommunicator {
 public:
  Representative(Communicator& parent, Strand strand, Meetings& meetings, const Renamer& renamer)
      : ForwardingCommunicator(parent, meetings.few().name(parent.rank().value()),
                               meetings.few().ranks),
        on_network_(dynamic_cast<LoopRank&>(parent)),
        strand_(strand),
        meetings_(meetings),
        renamer_(renamer) {}

  [[nodiscard]] Request isend(Rank to, Tag tag, Message message) override {
    return isend_between({.from = rank(), .to = to}, to, tag, std::move(message));
  }
  [[nodiscard]] Request irecv(Rank from, Tag tag) override {
    check_peer(*this, from);
    const std::uint32_t index = meetings_.posted(rank(), from, strand_, tag);
    const Request request = parent().irecv(Rank(few().image(from)), tag);
    receives_.emplace(request.token, index);
    return request;
  }
  /// With the highest bit first. Representatives of ranks with the same low bits, whose own pieces
  /// differ, meet at small distances. The largest messages should be those that differ, as among
  /// neighbours that hold halves of the gradient. Where ranks have places, messages still go as far
  /// as if the lowest bit came first, from the place of the rank's group of parts.
  [[nodiscard]] Task<void> double_among(Members members, DoublingPart& part, Tag tag) override {
    const int stands_for = members.count / static_cast<int>(few().running_among(members).size());
    if (stands_for == 1) return ForwardingCommunicator::double_among(members, part, tag);
    return double_from_far(members, members.count / stands_for, part, tag);
  }

 protected:
  Message finish(Request request) override {
    Message message = ForwardingCommunicator::finish(request);
    const auto found = receives_.find(request.token);
    if (found == receives_.end()) return message;
    const Renaming renaming = meetings_.taken(found->second);
    receives_.erase(found);
    if (renaming.changes_nothing()) return message;
    return renamer_.renamed(std::move(message), renaming);
  }
  [[nodiscard]] Request start_program(StartedProgram program) override {
    return start_on_parent([&meetings = meetings_, &renamer = renamer_,
                            program = std::move(program)](Communicator& strand) {
      return run_on_second(strand, meetings, renamer, program);
    });
  }

 private:
  [[nodiscard]] const FewRanks& few() const { return meetings_.few(); }
  [[nodiscard]] Request isend_between(const Ends& ends, Rank to, Tag tag, Message message) {
    check_peer(*this, to);
    meetings_.sent(rank(), to, strand_, tag);
    return on_network_.isend_between(ends, Rank(few().image(to)), tag, std::move(message));
  }
  Task<void> double_from_far(Members members, int running, DoublingPart& part, Tag tag) {
    const int own = members.number_of(rank());
    const bool has_place = few().which == FewRanks::Which::first;
    const auto place = static_cast<int>(
        group_of(static_cast<std::uint32_t>(own % running), static_cast<std::uint32_t>(running)));
    for (int width = 1; width < members.count; width *= 2) {
      const int distance = members.count / (2 * width);
      const Rank peer = members.at(own ^ distance);
      const Ends ends = has_place ? Ends{.from = members.at(place), .to = members.at(place ^ width)}
                                  : Ends{.from = rank(), .to = peer};
      const Request receive = irecv(peer, tag);
      const std::array both{receive, isend_between(ends, peer, tag, part.outgoing())};
      std::vector<Message> received = co_await wait_all(both);
      part.incoming(std::move(received.front()), (own & distance) == 0);
    }
  }
  static Task<Message> run_on_second(Communicator& strand, Meetings& meetings,
                                     const Renamer& renamer, StartedProgram program) {
    Representative second(strand, Strand::second, meetings, renamer);
    co_return co_await program(second);
  }

  LoopRank& on_network_;
  Strand strand_;
  Meetings& meetings_;
  const Renamer& renamer_;
  std::unordered_map<std::uint64_t, std::uint32_t> receives_;  ///< under way, by request
};

Task<void> run_as(Communicator& strand, Meetings& meetings, const Renamer& renamer,
                  const RankProgram& program) {
  Representative comm(strand, Strand::main, meetings, renamer);
  co_await program(comm);
}

/// What to do where ranks may have folded in: their pairs are like the others as long as the pairs
/// that they meet fold in, too.
std::string most_that_fold(int ranks) {
  const auto core = static_cast<int>(std::bit_floor(static_cast<unsigned>(ranks)));
  if (core == ranks) return "run all ranks";
  const int most = 2 * ranks - 3 * core;
  if (most < 2) return "run all ranks, or a number of ranks nearer to the next power of two";
  return fmt::format("run all ranks; where {} of them fold in, a power of two up to {} may do",
                     ranks - core, most);
}

}  // namespace

RunReport RepresentativesNetwork::run(int ranks, const RankProgram& program) {
  Meetings meetings(few_);
  network_->record(timeline());
  const auto refuse = [ranks](const SimulationError& error) {
    throw SimulationError("this schedule is not symmetric, so no ranks stand for others; {} ({})",
                          most_that_fold(ranks), error.what());
  };
  try {
    return network_->run(few_.running, [&](Communicator& strand) {
      return run_as(strand, meetings, *renamer_, program);
    });
  } catch (const DeadlockError& error) {
    refuse(error);
  } catch (const UnmatchedError& error) {
    refuse(error);
  }
  return {};
}

}  // namespace thinwire::networks
