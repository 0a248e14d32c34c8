#include "algorithms/collectives/direct_exchange.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "algorithms/collectives/tags.hpp"
#include "sim/core/base/errors.hpp"

namespace thinwire::algorithms {

namespace {

/// A message under way, in its halves if it has them.
struct Pending {
  Request half;
  Request whole;
};

struct Arrived {
  Rank from;
  Message message;
};

/// The messages of one rank: posted, waited for and taken in.
class Messages {
 public:
  Messages(Communicator& comm, Exchange& exchange, bool halves)
      : comm_(comm), exchange_(exchange), halves_(halves) {}

  [[nodiscard]] Pending receive(Rank from) {
    Pending pending;
    if (halves_) pending.half = comm_.irecv(from, kExchangeTag);
    pending.whole = comm_.irecv(from, kExchangeTag);
    return pending;
  }

  [[nodiscard]] Pending send(Rank to) {
    Pending pending;
    Message message = exchange_.outgoing(to);
    if (halves_) {
      Exchange::Halves halves = exchange_.halves(std::move(message));
      pending.half = comm_.isend(to, kExchangeTag, std::move(halves.first));
      message = std::move(halves.second);
    }
    pending.whole = comm_.isend(to, kExchangeTag, std::move(message));
    return pending;
  }

  Task<void> received(Pending pending, Rank from) {
    Message half;
    if (halves_) half = co_await comm_.wait(pending.half);
    Message message = co_await comm_.wait(pending.whole);
    if (halves_) message = exchange_.joined({std::move(half), std::move(message)});
    arrived_.push_back({from, std::move(message)});
  }

  Task<void> sent(Pending pending) {
    if (halves_) co_await comm_.wait(pending.half);
    co_await comm_.wait(pending.whole);
  }

  /// Processes what has arrived.
  Task<void> take_in() {
    for (Arrived& one : arrived_) {
      co_await comm_.compute(exchange_.incoming(one.from, std::move(one.message)));
    }
    arrived_.clear();
  }

 private:
  Communicator& comm_;
  Exchange& exchange_;
  bool halves_;
  std::vector<Arrived> arrived_;
};

/// The steps of a rank: in step s it sends to rank + 1 + s and receives from rank - 1 - s.
class RotatedSteps {
 public:
  RotatedSteps(const Communicator& comm, Messages& messages, int bucket)
      : rank_(comm.rank().value()),
        size_(comm.size()),
        messages_(messages),
        under_way_(static_cast<std::size_t>(bucket)) {}

  [[nodiscard]] int count() const { return size_ - 1; }
  void post(int step) {
    Step& at = of(step);
    at.receive = messages_.receive(from(step));
    at.send = messages_.send(Rank((rank_ + 1 + step) % size_));
  }
  Task<void> complete(int step) {
    const Step at = of(step);
    co_await messages_.received(at.receive, from(step));
    co_await messages_.sent(at.send);
  }

 private:
  /// It is small: thousands of ranks have many pending steps, which exceed the cache.
  struct Step {
    Pending send;
    Pending receive;
  };
  [[nodiscard]] Rank from(int step) const { return Rank((rank_ - 1 - step + size_) % size_); }
  Step& of(int step) { return under_way_[static_cast<std::size_t>(step) % under_way_.size()]; }

  int rank_;
  int size_;
  Messages& messages_;
  std::vector<Step> under_way_;
};

/// The steps of a rank without rotation: in step s all other ranks send to rank s.
class StepsByRank {
 public:
  StepsByRank(const Communicator& comm, Messages& messages, int bucket)
      : rank_(comm.rank().value()),
        size_(comm.size()),
        messages_(messages),
        sends_(static_cast<std::size_t>(bucket)) {}

  [[nodiscard]] int count() const { return size_; }
  void post(int step) {
    if (step != rank_) {
      of(step) = messages_.send(Rank(step));
      return;
    }
    for (int from = 0; from < size_; ++from) {
      if (from != rank_) receives_.push_back(messages_.receive(Rank(from)));
    }
  }
  Task<void> complete(int step) {
    if (step != rank_) {
      co_await messages_.sent(of(step));
      co_return;
    }
    for (int from = 0; from < size_; ++from) {
      if (from == rank_) continue;
      const auto at = static_cast<std::size_t>(from < rank_ ? from : from - 1);
      co_await messages_.received(receives_[at], Rank(from));
    }
  }

 private:
  Pending& of(int step) { return sends_[static_cast<std::size_t>(step) % sends_.size()]; }

  int rank_;
  int size_;
  Messages& messages_;
  std::vector<Pending> sends_;
  std::vector<Pending> receives_;
};

/// Runs all steps with up to `order.bucket` pending at a time. Received messages are processed while
/// later steps are in flight; with one step at a time nothing overlaps.
template <class Steps>
Task<void> in_steps(const Communicator& comm, Messages& messages, ExchangeOrder order) {
  const int bucket = std::clamp(order.bucket, 1, comm.size());
  const int first = order.counts_itself ? std::max(1, bucket - 1) : bucket;
  Steps steps(comm, messages, bucket);
  const int count = steps.count();
  int posted = 0;
  const auto post_until = [&](int last) {
    for (; posted < std::min(last, count); ++posted) steps.post(posted);
  };
  post_until(first);
  for (int done = 0; done < count;) {
    const int together = order.sliding ? 1 : (done == 0 ? first : bucket);
    for (const int end = std::min(count, done + together); done < end; ++done) {
      co_await steps.complete(done);
    }
    if (bucket > 1) post_until(done + bucket);
    co_await messages.take_in();
    post_until(done + bucket);
  }
}

/// Exchanges in which ranks wait for whole buckets, send halves, or all turn to the same rank at once.
Task<void> exchange_in_steps(Communicator& comm, Exchange& exchange, ExchangeOrder order) {
  Messages messages(comm, exchange, order.halves);
  if (order.rotated) {
    co_await in_steps<RotatedSteps>(comm, messages, order);
  } else {
    co_await in_steps<StepsByRank>(comm, messages, order);
  }
}

}  // namespace

Exchange::Halves Exchange::halves(Message /*message*/) const {
  throw SimulationError("the messages of this exchange have no halves");
}

Message Exchange::joined(Halves /*halves*/) const {
  throw SimulationError("the messages of this exchange have no halves");
}

Task<void> direct_exchange(Communicator& comm, Exchange& exchange, ExchangeOrder order) {
  const bool one_by_one = order.sliding && !order.counts_itself && !order.halves;
  if (order.rotated && one_by_one) {
    return comm.exchange(exchange, kExchangeTag, std::clamp(order.bucket, 1, comm.size()));
  }
  return exchange_in_steps(comm, exchange, order);
}

}  // namespace thinwire::algorithms
