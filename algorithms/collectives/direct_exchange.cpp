#include "algorithms/collectives/direct_exchange.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "algorithms/collectives/tags.hpp"
#include "sim/core/base/errors.hpp"

namespace thinwire::algorithms {

namespace {

/// The peers of a rank in one step.
struct Peers {
  std::optional<Rank> to;
  std::optional<Rank> from;
};

/// A pending step. It is small: thousands of ranks have many pending steps, which exceed the cache.
struct Step {
  Request send;
  Request receive;
};

struct Arrived {
  Rank from;
  Message message;
};

/// Runs `count` steps with up to `order.bucket` pending at a time. Received messages are processed
/// while later steps are in flight; with one step at a time nothing overlaps.
template <class PeersAt>
Task<void> in_steps(Communicator& comm, Exchange& exchange, ExchangeOrder order, int count,
                    PeersAt peers_at) {
  const int bucket = std::max(1, std::min(order.bucket, count));
  const int first = order.counts_itself ? std::max(1, bucket - 1) : bucket;
  const auto at = [bucket](int step) { return static_cast<std::size_t>(step % bucket); };
  std::vector<Step> under_way(static_cast<std::size_t>(bucket));
  std::vector<Step> first_halves(order.halves ? under_way.size() : 0);
  std::vector<Arrived> arrived;
  int posted = 0;
  const auto post_until = [&](int last) {
    for (; posted < std::min(last, count); ++posted) {
      Step& step = under_way[at(posted)];
      const Peers peers = peers_at(posted);
      if (const auto from = peers.from) {
        if (order.halves) first_halves[at(posted)].receive = comm.irecv(*from, kExchangeTag);
        step.receive = comm.irecv(*from, kExchangeTag);
      }
      if (const auto to = peers.to) {
        Message message = exchange.outgoing(*to);
        if (order.halves) {
          Exchange::Halves halves = exchange.halves(std::move(message));
          first_halves[at(posted)].send = comm.isend(*to, kExchangeTag, std::move(halves.first));
          message = std::move(halves.second);
        }
        step.send = comm.isend(*to, kExchangeTag, std::move(message));
      }
    }
  };
  post_until(first);
  for (int done = 0; done < count;) {
    const int together = order.sliding ? 1 : (done == 0 ? first : bucket);
    for (const int end = std::min(count, done + together); done < end; ++done) {
      const Step& step = under_way[at(done)];
      const Peers peers = peers_at(done);
      if (peers.from) {
        Message half;
        if (order.halves) half = co_await comm.wait(first_halves[at(done)].receive);
        Message message = co_await comm.wait(step.receive);
        if (order.halves) message = exchange.joined({std::move(half), std::move(message)});
        arrived.push_back({*peers.from, std::move(message)});
      }
      if (peers.to) {
        if (order.halves) co_await comm.wait(first_halves[at(done)].send);
        co_await comm.wait(step.send);
      }
    }
    if (bucket > 1) post_until(done + bucket);
    for (Arrived& one : arrived) {
      co_await comm.compute(exchange.incoming(one.from, std::move(one.message)));
    }
    arrived.clear();
    post_until(done + bucket);
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
  const int rank = comm.rank().value();
  const int size = comm.size();
  const bool one_by_one = order.sliding && !order.counts_itself && !order.halves;
  if (order.rotated && one_by_one && comm.takes_exchanges()) {
    co_await comm.exchange(exchange, kExchangeTag, std::clamp(order.bucket, 1, size));
    co_return;
  }
  if (order.rotated) {
    const auto shifted = [rank, size](int step) {
      return Peers{.to = Rank((rank + 1 + step) % size),
                   .from = Rank((rank - 1 - step + size) % size)};
    };
    co_await in_steps(comm, exchange, order, size - 1, shifted);
    co_return;
  }
  if (order.all_at_once) {
    order.bucket = std::max(1, size - 1);
    const auto in_order = [rank](int step) {
      const Rank peer(step < rank ? step : step + 1);
      return Peers{.to = peer, .from = peer};
    };
    co_await in_steps(comm, exchange, order, size - 1, in_order);
    co_return;
  }
  const auto send_from = [](int first) {
    return [first](int step) { return Peers{.to = Rank(first + step), .from = {}}; };
  };
  const auto receive = [rank](int step) {
    return Peers{.to = {}, .from = Rank(step < rank ? step : step + 1)};
  };
  co_await in_steps(comm, exchange, order, rank, send_from(0));
  co_await in_steps(comm, exchange, order, size - 1, receive);
  co_await in_steps(comm, exchange, order, size - 1 - rank, send_from(rank + 1));
}

}  // namespace thinwire::algorithms
