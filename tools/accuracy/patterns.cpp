#include "tools/accuracy/patterns.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <deque>
#include <memory>
#include <numeric>
#include <utility>

#include "sim/core/base/random.hpp"

namespace thinwire::accuracy {

namespace {

constexpr Tag kTag(0);
constexpr int kPermutations = 8;

Message message_to(const Communicator& comm, Rank to, const PatternMessages& messages) {
  return {messages.payload, messages.lengths(comm.rank(), to)};
}

Task<void> send(Communicator& comm, Rank to, const PatternMessages& messages) {
  const Request sent = comm.isend(to, kTag, message_to(comm, to, messages));
  co_await comm.wait(sent);
}

Task<void> receive(Communicator& comm, Rank from) {
  const Request received = comm.irecv(from, kTag);
  co_await comm.wait(received);
}

Task<void> exchange(Communicator& comm, Rank to, Rank from, const PatternMessages& messages) {
  Message message = message_to(comm, to, messages);
  co_await comm.sendrecv(to, std::move(message), from, kTag);
}

Task<void> ring(Communicator& comm, const PatternMessages& messages) {
  const int size = comm.size();
  const Rank right((comm.rank().value() + 1) % size);
  const Rank left((comm.rank().value() + size - 1) % size);
  for (int round = 1; round < size; ++round) co_await exchange(comm, right, left, messages);
}

Task<void> recursive_doubling(Communicator& comm, const PatternMessages& messages) {
  const int rank = comm.rank().value();
  const auto core = static_cast<int>(std::bit_floor(static_cast<unsigned>(comm.size())));
  const int extra = comm.size() - core;
  const bool folds = rank < 2 * extra;
  if (folds && rank % 2 == 0) {
    co_await send(comm, Rank(rank + 1), messages);
    co_await receive(comm, Rank(rank + 1));
    co_return;
  }
  if (folds) co_await receive(comm, Rank(rank - 1));
  const int among = folds ? rank / 2 : rank - extra;
  for (int distance = 1; distance < core; distance *= 2) {
    const int other = among ^ distance;
    const Rank partner(other < extra ? 2 * other + 1 : other + extra);
    co_await exchange(comm, partner, partner, messages);
  }
  if (folds) co_await send(comm, Rank(rank - 1), messages);
}

struct Exchange {
  Request sent;
  Request received;
};

Task<void> oldest(Communicator& comm, std::deque<Exchange>& under_way) {
  const Exchange first = under_way.front();
  under_way.pop_front();
  co_await comm.wait(first.received);
  co_await comm.wait(first.sent);
}

Task<void> rotated(Communicator& comm, const PatternMessages& messages, std::size_t in_flight) {
  const int size = comm.size();
  const int rank = comm.rank().value();
  std::deque<Exchange> under_way;
  for (int step = 1; step < size; ++step) {
    if (under_way.size() == in_flight) co_await oldest(comm, under_way);
    const Rank to((rank + step) % size);
    const Request received = comm.irecv(Rank((rank - step + size) % size), kTag);
    const Request sent = comm.isend(to, kTag, message_to(comm, to, messages));
    under_way.push_back({.sent = sent, .received = received});
  }
  while (!under_way.empty()) co_await oldest(comm, under_way);
}

template <std::size_t kInFlight>
Task<void> rotated(Communicator& comm, const PatternMessages& messages) {
  return rotated(comm, messages, kInFlight);
}

template <Task<void> (*kRun)(Communicator& comm, const PatternMessages& messages)>
RankProgram program(int /*ranks*/, const PatternMessages& messages) {
  return [messages](Communicator& comm) { return kRun(comm, messages); };
}

/// The destination and the source of every rank.
struct Permutation {
  std::vector<int> to;
  std::vector<int> from;
};

std::vector<Permutation> permutations(int ranks, std::uint64_t seed) {
  std::vector<Permutation> all;
  for (int round = 0; round < kPermutations; ++round) {
    Permutation one;
    one.to.resize(static_cast<std::size_t>(ranks));
    std::iota(one.to.begin(), one.to.end(), 0);
    for (std::size_t i = one.to.size(); i > 1; --i) {
      std::swap(one.to[i - 1], one.to[random_bits(seed, round, i) % i]);
    }
    one.from.resize(one.to.size());
    for (std::size_t i = 0; i < one.to.size(); ++i) {
      one.from[static_cast<std::size_t>(one.to[i])] = static_cast<int>(i);
    }
    all.push_back(std::move(one));
  }
  return all;
}

Task<void> random_permutation(Communicator& comm, const PatternMessages& messages,
                              const std::vector<Permutation>& rounds) {
  const auto rank = static_cast<std::size_t>(comm.rank().value());
  for (const Permutation& round : rounds) {
    if (round.to[rank] == comm.rank().value()) continue;
    co_await exchange(comm, Rank(round.to[rank]), Rank(round.from[rank]), messages);
  }
}

Task<void> incast(Communicator& comm, const PatternMessages& messages) {
  if (comm.rank().value() > 0) {
    co_await send(comm, Rank(0), messages);
    co_return;
  }
  std::vector<Request> all;
  for (int from = 1; from < comm.size(); ++from) all.push_back(comm.irecv(Rank(from), kTag));
  co_await comm.wait_all(all);
}

std::int64_t all_pairs(int ranks) { return std::int64_t{ranks} * (ranks - 1); }

}  // namespace

Words MessageLengths::operator()(Rank from, Rank to) const {
  if (least_ == most_) return least_;
  const double share = to_unit(random_bits(seed_, from.value(), to.value()));
  const auto least = static_cast<double>(least_.value());
  const auto most = static_cast<double>(most_.value());
  return Words(std::llround(least * std::pow(most / least, share)));
}

const std::vector<Pattern>& all_patterns() {
  static const std::vector<Pattern> patterns{
      {.name = "ring",
       .summary = "P-1 rounds to the right neighbour",
       .program = program<ring>,
       .messages = all_pairs},
      {.name = "recursive_doubling",
       .summary = "log2 P exchanges at distances 1, 2, 4 ...",
       .program = program<recursive_doubling>,
       .messages =
           [](int ranks) {
             return std::int64_t{ranks} * std::bit_width(static_cast<unsigned>(ranks));
           }},
      {.name = "rotated_1",
       .summary = "all-to-all by rotation, one step under way",
       .program = program<rotated<1>>,
       .messages = all_pairs},
      {.name = "rotated_4",
       .summary = "the same, 4 steps under way",
       .program = program<rotated<4>>,
       .messages = all_pairs,
       .in_flight = 4},
      {.name = "rotated_16",
       .summary = "the same, 16 steps under way",
       .program = program<rotated<16>>,
       .messages = all_pairs,
       .in_flight = 16},
      {.name = "random_permutation",
       .summary = "8 rounds to a random partner",
       .program = [](int ranks, const PatternMessages& messages) -> RankProgram {
         const auto rounds =
             std::make_shared<const std::vector<Permutation>>(permutations(ranks, messages.seed));
         return [messages, rounds](Communicator& comm) {
           return random_permutation(comm, messages, *rounds);
         };
       },
       .messages = [](int ranks) { return std::int64_t{ranks} * kPermutations; }},
      {.name = "incast",
       .summary = "all ranks to rank 0",
       .program = program<incast>,
       .messages = [](int ranks) { return std::int64_t{ranks} - 1; }}};
  return patterns;
}

const Pattern* pattern_named(std::string_view name) {
  const auto found = std::ranges::find(all_patterns(), name, &Pattern::name);
  return found == all_patterns().end() ? nullptr : &*found;
}

}  // namespace thinwire::accuracy
