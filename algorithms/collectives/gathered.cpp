#include "algorithms/collectives/gathered.hpp"

#include <array>
#include <vector>

#include "algorithms/collectives/allgather.hpp"

namespace thinwire::algorithms {

namespace {

template <class Make>
Message once(std::string_view operation, const Concatenation& gathered, SharedWork& shared,
             Make make) {
  const std::array inputs{gathered.message()};
  return shared.once(operation, gathered.contents(), inputs, make);
}

std::vector<SparseVector> vectors_of(const Concatenation& gathered) {
  std::vector<SparseVector> vectors;
  for (const Message& message : gathered.by_rank()) {
    vectors.push_back(SparseVector::from(message.payload));
  }
  return vectors;
}

}  // namespace

SparseVector sum_of_gathered(const Concatenation& gathered, SharedWork& shared) {
  const Message result = once("sum of gathered", gathered, shared, [&] {
    return Message{sum(vectors_of(gathered)).payload(), Words(0)};
  });
  return SparseVector::from(result.payload);
}

SparseVector concatenation_of_gathered(const Concatenation& gathered, SharedWork& shared) {
  const Message result = once("concatenation of gathered", gathered, shared, [&] {
    return Message{concatenate(vectors_of(gathered)).payload(), Words(0)};
  });
  return SparseVector::from(result.payload);
}

Numbers numbers_of_gathered(const Concatenation& gathered, SharedWork& shared) {
  const Message result = once("numbers of gathered", gathered, shared, [&] {
    std::vector<std::int64_t> all;
    for (const Message& message : gathered.by_rank()) {
      const auto numbers = Numbers::from(message.payload).all();
      all.insert(all.end(), numbers.begin(), numbers.end());
    }
    return Numbers(std::move(all)).message();
  });
  return Numbers::from(result.payload);
}

DenseBlock sum_of_gathered_blocks(const Concatenation& gathered, SharedWork& shared) {
  const Message result = once("sum of gathered blocks", gathered, shared, [&] {
    std::vector<DenseBlock> blocks;
    for (const Message& message : gathered.by_rank()) {
      blocks.push_back(DenseBlock::from(message.payload));
    }
    return Message{sum(blocks).payload(), Words(0)};
  });
  return DenseBlock::from(result.payload);
}

Stream stream_of_gathered(const Concatenation& gathered, const Reduction& reduction) {
  const int count = gathered.pieces();
  return stream_from(reduction.join(gathered, {{0, count}, count}).payload);
}

Task<Numbers> allgather_sizes(Communicator& comm, std::int64_t mine, SharedWork& shared) {
  const Message size = Numbers({mine}).message();
  const Concatenation all = co_await allgather(comm, size);
  co_return numbers_of_gathered(all, shared);
}

}  // namespace thinwire::algorithms
