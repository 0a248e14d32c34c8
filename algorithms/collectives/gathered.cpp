#include "algorithms/collectives/gathered.hpp"

#include <array>
#include <vector>

namespace thinwire {

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

}  // namespace thinwire
