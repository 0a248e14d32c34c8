#include "sim/machine/networks/common/representatives.hpp"

#include <fmt/format.h>

#include <bit>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sim/core/base/errors.hpp"
#include "sim/core/base/random.hpp"
#include "sim/core/kernel/forwarding.hpp"
#include "sim/machine/networks/common/complaints.hpp"

namespace thinwire::networks {

namespace {

/// Who sent a message to whom, and who received it as whose, in the names of P ranks.
struct Meeting {
  Rank sender;
  Rank to;
  Rank receiver;
  Rank from;
};

/// The renaming that makes the image of the sender's message that of the rank `from`. Throws
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
  throw SimulationError(fmt::format(
      "this schedule is not symmetric, so no ranks stand for others: rank {} sends to rank {} when "
      "rank {} receives from rank {}; run all ranks",
      met.sender.value(), met.to.value(), met.receiver.value(), met.from.value()));
}

/// Pairs the messages between representatives with their receives, in the order in which both are
/// posted, as the network does.
class Meetings {
 public:
  Meetings(int ranks, int representatives, Representatives which)
      : ranks_(ranks), representatives_(representatives), which_(which) {}

  /// The representative of a rank: which of those that run.
  [[nodiscard]] Rank image(Rank rank) const { return Rank(rank.value() % representatives_); }
  /// The rank that a representative is.
  [[nodiscard]] Rank name(Rank image) const {
    if (which_ == Representatives::first) return image;
    return representative_of(image.value(), ranks_, representatives_);
  }
  [[nodiscard]] Representatives which() const { return which_; }
  [[nodiscard]] int ranks() const { return ranks_; }
  [[nodiscard]] int representatives() const { return representatives_; }

  void sent(Rank sender, Rank to, Strand strand, Tag tag) {
    Queue& queue = queues_[{image(sender), image(to), tag, strand}];
    if (queue.holds_sends || queue.empty()) {
      queue.holds_sends = true;
      queue.waiting.push_back(static_cast<std::uint32_t>(to.value()));
      return;
    }
    Receive& receive = receives_[queue.pop()];
    receive.renaming = renaming_of({sender, to, receive.receiver, receive.from}, ranks_);
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
      receives_[index].renaming = renaming_of({name(image(from)), to, receiver, from}, ranks_);
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

  int ranks_;
  int representatives_;
  Representatives which_;
  std::unordered_map<Key, Queue, Hash> queues_;
  std::vector<Receive> receives_;
  std::vector<std::uint32_t> free_;
};

/// One strand of a rank that runs, as one of P ranks.
class Representative final : public ForwardingCommunicator {
 public:
  Representative(Communicator& parent, Strand strand, Meetings& meetings, const Renamer& renamer)
      : ForwardingCommunicator(parent, meetings.name(parent.rank()), meetings.ranks()),
        strand_(strand),
        meetings_(meetings),
        renamer_(renamer) {}

  [[nodiscard]] int stands_for() const override {
    return meetings_.ranks() / meetings_.representatives();
  }
  [[nodiscard]] Rank representative(Rank rank) const override {
    return meetings_.name(meetings_.image(rank));
  }
  [[nodiscard]] bool have_places() const override {
    return meetings_.which() == Representatives::first;
  }
  [[nodiscard]] Request isend(Rank to, Tag tag, Message message) override {
    return isend_between({.from = rank(), .to = to}, to, tag, std::move(message));
  }
  [[nodiscard]] Request isend_between(const Ends& ends, Rank to, Tag tag,
                                      Message message) override {
    check_peer(*this, to);
    meetings_.sent(rank(), to, strand_, tag);
    return parent().isend_between(ends, meetings_.image(to), tag, std::move(message));
  }
  [[nodiscard]] Request irecv(Rank from, Tag tag) override {
    check_peer(*this, from);
    const std::uint32_t index = meetings_.posted(rank(), from, strand_, tag);
    const Request request = parent().irecv(meetings_.image(from), tag);
    receives_.emplace(request.token, index);
    return request;
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
  static Task<Message> run_on_second(Communicator& strand, Meetings& meetings,
                                     const Renamer& renamer, StartedProgram program) {
    Representative second(strand, Strand::second, meetings, renamer);
    co_return co_await program(second);
  }

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

}  // namespace

Rank representative_of(int remainder, int ranks, int representatives) {
  if (!std::has_single_bit(static_cast<unsigned>(ranks))) return Rank(remainder);
  const std::int64_t stood_for = ranks / representatives;
  const std::int64_t turn = remainder * stood_for / representatives;
  return Rank(static_cast<std::int32_t>(remainder + turn * representatives));
}

namespace {

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
  if (ranks % representatives_ != 0) {
    throw InputError(
        fmt::format("{} representatives do not divide {} ranks", representatives_, ranks));
  }
  Meetings meetings(ranks, representatives_, which_);
  network_->record(timeline());
  const auto refuse = [ranks](const SimulationError& error) {
    throw SimulationError(
        fmt::format("this schedule is not symmetric, so no ranks stand for others; {} ({})",
                    most_that_fold(ranks), error.what()));
  };
  try {
    return network_->run(representatives_, [&](Communicator& strand) {
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
