#include "algorithms/collectives/alltoall.hpp"

#include <algorithm>
#include <utility>

#include "algorithms/collectives/direct_exchange.hpp"
#include "algorithms/collectives/tags.hpp"
#include "sim/core/gradient/concatenation.hpp"

namespace thinwire::algorithms {

namespace {

std::size_t index_of(Rank rank) { return static_cast<std::size_t>(rank.value()); }

/// The blocks of one rank in a direct exchange.
class BlockExchange final : public Exchange {
 public:
  BlockExchange(std::vector<Message> blocks, Rank own)
      : blocks_(std::move(blocks)), received_(blocks_.size()) {
    received_[index_of(own)] = std::move(blocks_[index_of(own)]);
  }

  [[nodiscard]] Message outgoing(Rank to) override { return std::move(blocks_[index_of(to)]); }
  [[nodiscard]] Seconds incoming(Rank from, Message message) override {
    received_[index_of(from)] = std::move(message);
    return Seconds(0);
  }
  [[nodiscard]] std::vector<Message> take_received() { return std::move(received_); }

 private:
  std::vector<Message> blocks_;
  std::vector<Message> received_;
};

}  // namespace

Task<std::vector<Message>> alltoall_pairwise(Communicator& comm, std::vector<Message> blocks) {
  return alltoall_linear(comm, std::move(blocks), 1);
}

Task<std::vector<Message>> alltoall_linear(Communicator& comm, std::vector<Message> blocks,
                                           int in_flight) {
  BlockExchange exchange(std::move(blocks), comm.rank());
  const ExchangeOrder order{.bucket = in_flight > 0 ? in_flight : std::max(1, comm.size() - 1)};
  co_await direct_exchange(comm, exchange, order);
  co_return exchange.take_received();
}

Task<std::vector<Message>> alltoall_bruck(Communicator& comm, std::vector<Message> blocks,
                                          Seconds copy_per_word, Seconds buffer) {
  const int rank = comm.rank().value();
  const int size = comm.size();
  double words = 0;
  for (const Message& block : blocks) words += static_cast<double>(block.words.value());
  co_await comm.compute(copy_per_word * words + buffer);
  // Position i first holds the block for rank + i, and in the end the block of rank - i.
  std::rotate(blocks.begin(), blocks.begin() + rank, blocks.end());
  for (int distance = 1; distance < size; distance *= 2) {
    const Rank to((rank + distance) % size);
    const Rank from((rank + size - distance) % size);
    std::vector<Concatenation::Piece> leaving;
    for (int i = distance; i < size; ++i) {
      if ((i & distance) == 0) continue;
      leaving.push_back({Rank(i), std::move(blocks[static_cast<std::size_t>(i)])});
    }
    Message joined = Concatenation::of(std::move(leaving)).message();
    const auto sent = static_cast<double>(joined.words.value());
    co_await comm.compute(copy_per_word * sent);
    const Message received = co_await comm.sendrecv(to, std::move(joined), from, kAlltoallTag);
    co_await comm.compute(copy_per_word * static_cast<double>(received.words.value()));
    std::vector<Message> arrived = Concatenation::from(received.payload).by_rank();
    auto next = arrived.begin();
    for (int i = distance; i < size; ++i) {
      if ((i & distance) != 0) blocks[static_cast<std::size_t>(i)] = std::move(*next++);
    }
  }
  co_await comm.compute(copy_per_word * words);
  std::reverse(blocks.begin(), blocks.end());
  std::rotate(blocks.begin(), blocks.end() - (rank + 1), blocks.end());
  co_return blocks;
}

int bruck_blocks(int ranks, int distance) {
  const int whole = ranks / (2 * distance) * distance;
  return whole + std::clamp(ranks % (2 * distance) - distance, 0, distance);
}

}  // namespace thinwire::algorithms
