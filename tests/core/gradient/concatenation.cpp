#include "sim/core/gradient/concatenation.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "tests/support/bodies.hpp"

namespace thinwire::inline gradient {

using test::BodyCount;
using test::counted_message;
using test::number_of;

namespace {

std::vector<int> numbers_of(const Concatenation& all) {
  std::vector<int> numbers;
  for (const Message& message : all.by_rank()) numbers.push_back(number_of(message));
  return numbers;
}

Concatenation joined(const std::vector<Concatenation>& leaves, const std::vector<int>& order) {
  Concatenation all = leaves[static_cast<std::size_t>(order.front())];
  for (std::size_t i = 1; i < order.size(); ++i) {
    all = Concatenation::join(all, leaves[static_cast<std::size_t>(order[i])]);
  }
  return all;
}

}  // namespace

TEST_CASE("Joined pieces are listed by rank and their words add up") {
  BodyCount count;
  {
    const Concatenation a = Concatenation::of(Rank(2), counted_message(count, Words(5), 20));
    const Concatenation b = Concatenation::of(Rank(0), counted_message(count, Words(7), 10));
    const Concatenation both = Concatenation::join(a, b);
    CHECK(both.pieces() == 2);
    CHECK(both.message().words == Words(12));
    CHECK(numbers_of(both) == std::vector{10, 20});
    CHECK(numbers_of(Concatenation::from(both.message().payload)) == std::vector{10, 20});
    CHECK(count.living == 2);
  }
  CHECK(count.living == 0);
}

TEST_CASE("The first pieces of a concatenation are those that were joined first") {
  BodyCount count;
  std::vector<Concatenation> leaves;
  for (int i = 0; i < 13; ++i) {
    leaves.push_back(Concatenation::of(Rank(i), counted_message(count, Words(i + 1), i)));
  }
  // Trees of several forms: a list, and halves joined.
  std::vector<int> order(leaves.size());
  std::iota(order.begin(), order.end(), 0);
  const Concatenation list = joined(leaves, order);
  std::vector<Concatenation> halves = leaves;
  while (halves.size() > 1) {
    std::vector<Concatenation> next;
    for (std::size_t i = 0; i + 1 < halves.size(); i += 2) {
      next.push_back(Concatenation::join(halves[i], halves[i + 1]));
    }
    if (halves.size() % 2 == 1) next.push_back(halves.back());
    halves = std::move(next);
  }
  // Both, of nodes that hold several pieces.
  std::vector<Concatenation::Piece> front;
  std::vector<Concatenation::Piece> back;
  for (int i = 0; i < 13; ++i) {
    (i < 5 ? front : back).push_back({Rank(i), counted_message(count, Words(i + 1), i)});
  }
  const Concatenation flat = Concatenation::join(Concatenation::of(front), Concatenation::of(back));
  for (const Concatenation& all : {list, halves.front(), flat}) {
    for (int m = 1; m <= all.pieces(); ++m) {
      CAPTURE(m);
      const Concatenation first = all.first(m);
      std::vector<int> expected(static_cast<std::size_t>(m));
      std::iota(expected.begin(), expected.end(), 0);
      CHECK(first.pieces() == m);
      CHECK(numbers_of(first) == expected);
      CHECK(first.message().words == Words(m * (m + 1) / 2));
    }
  }
}

TEST_CASE("Hundreds of thousands of pieces that are joined one by one need no deep stack") {
  BodyCount count;
  {
    constexpr int kPieces = 300'000;
    Concatenation all = Concatenation::of(Rank(0), counted_message(count, Words(1), 0));
    for (int rank = 1; rank < kPieces; ++rank) {
      all = Concatenation::join(
          all, Concatenation::of(Rank(rank), counted_message(count, Words(1), rank)));
      if (rank == kPieces / 2) {
        all = all.renamed({.kind = Renaming::Kind::shift, .by = 1, .ranks = kPieces});
      }
    }
    CHECK(all.pieces() == kPieces);
    const auto pieces = all.in_order();
    CHECK(pieces.front().from == Rank(1));
    CHECK(pieces.back().from == Rank(kPieces - 1));
    CHECK(count.living == kPieces);
  }
  CHECK(count.living == 0);
}

TEST_CASE("The contents of a concatenation do not depend on the order of joining") {
  BodyCount count;
  std::vector<Concatenation> leaves;
  for (int i = 0; i < 9; ++i) {
    leaves.push_back(Concatenation::of(Rank(i), counted_message(count, Words(3), i)));
  }
  std::vector<int> order(leaves.size());
  std::iota(order.begin(), order.end(), 0);
  const Fingerprint contents = joined(leaves, order).contents();
  std::mt19937_64 generator(3);
  for (int draw = 0; draw < 20; ++draw) {
    std::shuffle(order.begin(), order.end(), generator);
    CHECK(joined(leaves, order).contents() == contents);
  }
  CHECK_FALSE(joined(leaves, order).first(8).contents() == contents);
}

TEST_CASE("The contents of a concatenation tell ranks and messages apart") {
  BodyCount count;
  const Message message = counted_message(count, Words(3));
  const Message other = counted_message(count, Words(3));
  Message longer = message;
  longer.words = Words(4);
  Message part = message;
  part.payload.last = 1;
  const Fingerprint contents = Concatenation::of(Rank(1), message).contents();
  CHECK(Concatenation::of(Rank(1), message).contents() == contents);
  CHECK_FALSE(Concatenation::of(Rank(2), message).contents() == contents);
  CHECK_FALSE(Concatenation::of(Rank(1), other).contents() == contents);
  CHECK_FALSE(Concatenation::of(Rank(1), longer).contents() == contents);
  CHECK_FALSE(Concatenation::of(Rank(1), part).contents() == contents);
  // Two ranks that swap their messages.
  const auto pair = [&](const Message& a, const Message& b) {
    return Concatenation::join(Concatenation::of(Rank(0), a), Concatenation::of(Rank(1), b));
  };
  CHECK_FALSE(pair(message, other).contents() == pair(other, message).contents());
}

}  // namespace thinwire::inline gradient
