// Programs that start others, for all networks. They record their observations in a Seen, since
// coroutines cannot contain test macros.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

#include "algorithms/collectives/allreduce.hpp"
#include "sim/core/gradient/numbers.hpp"
#include "sim/core/gradient/reduction.hpp"
#include "sim/core/kernel/network.hpp"

namespace thinwire::test {

/// The parameters of a program that computes while its started allreduces run.
struct Overlap {
  int ranks = 2;
  std::int64_t words = 64;  ///< per allreduce
  int started = 1;
  double compute = 0;        ///< seconds, after starting
  std::int64_t message = 0;  ///< words that the program itself sends to the next rank, in between
  bool waits = true;
};

struct Seen {
  std::vector<Message> sums;       ///< in the order of starting
  double sent = -1;                ///< when the program's own message arrived
  double waited = -1;              ///< when it continued after waiting
  std::vector<double> ended = {};  ///< when the started programs ended
};

/// Starts allreduces of lists of numbers, one program each.
class Overlapped {
 public:
  explicit Overlapped(const Overlap& given)
      : given_(given), seen_(static_cast<std::size_t>(given.ranks)) {}

  [[nodiscard]] RunReport run(Network& network) {
    return network.run(given_.ranks, [this](Communicator& comm) {
      return program(comm, seen_[static_cast<std::size_t>(comm.rank().value())]);
    });
  }
  /// Runs the same allreduces one after another in the ranks' own programs.
  [[nodiscard]] RunReport run_plainly(Network& network) {
    return network.run(given_.ranks, [this](Communicator& comm) { return plain(comm); });
  }

  [[nodiscard]] const std::vector<Seen>& seen() const { return seen_; }
  /// Whether every rank has every sum, in the order of starting.
  [[nodiscard]] bool right() const {
    const std::int64_t p = given_.ranks;
    for (const Seen& seen : seen_) {
      if (std::cmp_not_equal(seen.sums.size(), given_.started)) return false;
      for (int i = 0; i < given_.started; ++i) {
        const thinwire::Numbers numbers =
            thinwire::Numbers::from(seen.sums[static_cast<std::size_t>(i)].payload);
        if (std::cmp_not_equal(numbers.size(), given_.words)) return false;
        for (const std::int64_t number : numbers.all()) {
          if (number != p * (p - 1) / 2 + p * 1000 * i) return false;
        }
      }
    }
    return true;
  }

 private:
  [[nodiscard]] Message mine(Rank rank, int i) const {
    return thinwire::Numbers(std::vector<std::int64_t>(static_cast<std::size_t>(given_.words),
                                                       rank.value() + std::int64_t{1000} * i))
        .message();
  }

  Task<Message> reduce(Communicator& strand, Message message, Seen& seen) {
    const auto phase = strand.phase("allreduce");
    Message sum =
        co_await algorithms::allreduce_rabenseifner(strand, std::move(message), reduction_);
    seen.ended.push_back(strand.now().value());
    co_return sum;
  }

  Task<void> program(Communicator& comm, Seen& seen) {
    std::vector<Request> started;
    for (int i = 0; i < given_.started; ++i) {
      started.push_back(
          comm.start([this, &seen, message = mine(comm.rank(), i)](Communicator& strand) {
            return reduce(strand, message, seen);
          }));
    }
    {
      const auto phase = comm.phase("compute");
      co_await comm.compute(Seconds(given_.compute));
    }
    if (given_.message > 0) {
      const int rank = comm.rank().value();
      const Message words{.payload = {}, .words = Words(given_.message)};
      co_await comm.sendrecv(Rank((rank + 1) % given_.ranks), words,
                             Rank((rank + given_.ranks - 1) % given_.ranks), Tag(1));
      seen.sent = comm.now().value();
    }
    if (!given_.waits) co_return;
    seen.sums = co_await comm.wait_all(started);
    seen.waited = comm.now().value();
  }

  Task<void> plain(Communicator& comm) {
    for (int i = 0; i < given_.started; ++i) {
      co_await algorithms::allreduce_rabenseifner(comm, mine(comm.rank(), i), reduction_);
    }
  }

  Overlap given_;
  std::vector<Seen> seen_;
  SharedWork shared_{1024};
  NumbersReduction reduction_{shared_};
};

inline Task<void> fails(Communicator& strand, int rank, const char* text) {
  co_await strand.compute(Seconds(1e-6));
  if (strand.rank() == Rank(rank)) throw std::range_error(text);
}

/// The started program of one rank throws; the others' programs may wait for its messages.
struct Failing {
  bool waits = true;
  bool catches = false;
  bool others_need_it = false;
};

inline Task<void> fails_in_ring(Communicator& strand, int rank, const char* text) {
  const int size = strand.size();
  co_await fails(strand, rank, text);
  const Message message{.payload = {}, .words = Words(3)};
  co_await strand.sendrecv(Rank((strand.rank().value() + 1) % size), message,
                           Rank((strand.rank().value() + size - 1) % size), Tag(2));
}

inline Task<void> starts_failing(Communicator& comm, Failing given, const char* text, int& caught) {
  const Request started = comm.start([given, text](Communicator& strand) {
    return given.others_need_it ? fails_in_ring(strand, 1, text) : fails(strand, 1, text);
  });
  const Request next = comm.start([](Communicator& strand) { return fails(strand, -1, ""); });
  co_await comm.compute(Seconds(1e-5));
  if (!given.waits) co_return;
  try {
    co_await comm.wait(started);
  } catch (const std::range_error&) {
    if (!given.catches) throw;
    ++caught;
  }
  co_await comm.wait(next);
}

/// The ranks start programs that wait for the next rank's, which sends nothing.
inline Task<void> only_receives(Communicator& strand) {
  const Rank next((strand.rank().value() + 1) % strand.size());
  co_await strand.wait(strand.irecv(next, Tag(5)));
}

inline Task<void> starts_deadlock(Communicator& comm, bool waits) {
  const Request started = comm.start([](Communicator& strand) { return only_receives(strand); });
  if (waits) co_await comm.wait(started);
}

inline Task<void> starts_again(Communicator& strand) {
  co_await strand.wait(strand.start([](Communicator& s) { return fails(s, -1, ""); }));
}

inline Task<void> starts_what_starts(Communicator& comm) {
  co_await comm.wait(comm.start([](Communicator& strand) { return starts_again(strand); }));
}

/// Uses the same tag as the main programs; `first` is the number of the first message.
inline Task<void> exchange_numbers(Communicator& comm, int first, std::vector<std::int64_t>& got) {
  const Rank peer(1 - comm.rank().value());
  for (int i = first; i < first + 3; ++i) {
    const Message mine = thinwire::Numbers({i}).message();
    const Message theirs = co_await comm.sendrecv(peer, mine, peer, Tag(0));
    got.push_back(thinwire::Numbers::from(theirs.payload)[0]);
  }
}

struct Exchanged {
  std::vector<std::int64_t> main = {};
  std::vector<std::int64_t> second = {};
};

inline Task<void> exchange_on_both(Communicator& comm, Exchanged& got) {
  const Request started = comm.start(
      [&got](Communicator& strand) { return exchange_numbers(strand, 100, got.second); });
  co_await exchange_numbers(comm, 0, got.main);
  co_await comm.wait(started);
}

/// Sends on the second strand a message that only a main program would receive.
inline Task<void> sends_only(Communicator& strand) {
  if (strand.rank() != Rank(0)) co_return;
  co_await strand.compute(Seconds(1e-6));
  static_cast<void>(strand.isend(Rank(1), Tag(4), Message{.payload = {}, .words = Words(7)}));
}

inline Task<void> starts_unreceived(Communicator& comm) {
  static_cast<void>(comm.start([](Communicator& strand) { return sends_only(strand); }));
  co_await comm.compute(Seconds(1));
}

}  // namespace thinwire::test
