#include "sim/core/kernel/communicator.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace thinwire::inline kernel {

Task<void> Communicator::exchange(ExchangePart& part, Tag tag, int under_way) {
  /// It is small: thousands of ranks have many steps under way, which exceed the cache.
  struct Step {
    Request send;
    Request receive;
  };
  const int count = size() - 1;
  const int most = std::max(1, std::min(under_way, count));
  std::vector<Step> steps(static_cast<std::size_t>(most));
  int posted = 0;
  const auto post_until = [&](int last) {
    for (; posted < std::min(last, count); ++posted) {
      const ExchangePeers peers = peers_in_step(rank(), size(), posted);
      Step& step = steps[static_cast<std::size_t>(posted % most)];
      step.receive = irecv(peers.from, tag);
      step.send = isend(peers.to, tag, part.outgoing(peers.to));
    }
  };
  post_until(most);
  for (int done = 0; done < count; ++done) {
    const Step& step = steps[static_cast<std::size_t>(done % most)];
    Message message = co_await wait(step.receive);
    co_await wait(step.send);
    const int next = done + 1 + most;
    if (most > 1) post_until(next);
    const Rank from = peers_in_step(rank(), size(), done).from;
    co_await compute(part.incoming(from, std::move(message)));
    post_until(next);
  }
}

Task<void> Communicator::double_among(Members members, DoublingPart& part, Tag tag) {
  const int own = members.number_of(rank());
  for (int distance = 1; distance < members.count; distance *= 2) {
    const Rank peer = members.at(own ^ distance);
    Message message = co_await sendrecv(peer, part.outgoing(), peer, tag);
    part.incoming(std::move(message), (own & distance) == 0);
  }
}

Task<void> Communicator::rounds_among(Members members, const RoundsPart& part, Tag tag) {
  const int own = members.number_of(rank());
  for (std::size_t at = 0; at < part.rounds().size(); ++at) {
    const Rounds& rounds = part.rounds()[at];
    for (int round = 0; round < rounds.count; ++round) {
      const ExchangePeers peers = rounds.peers(own, round, members.count);
      const int sent = rounds.sent(own, round, members.count);
      const Message received = co_await sendrecv(members.at(peers.to.value()), part.piece(at, sent),
                                                 members.at(peers.from.value()), tag);
      if (rounds.sums) co_await compute(part.work(at, received));
    }
  }
}

}  // namespace thinwire::inline kernel
