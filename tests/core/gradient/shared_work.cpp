#include "sim/core/gradient/shared_work.hpp"

#include <doctest/doctest.h>

#include <array>
#include <vector>

#include "tests/support/bodies.hpp"

namespace thinwire::inline gradient {

using test::BodyCount;
using test::counted_message;
using test::number_of;

TEST_CASE("Shared work is computed once for equal inputs in any order") {
  BodyCount count;
  SharedWork shared(10);
  const Message a = counted_message(count, Words(1));
  const Message b = counted_message(count, Words(2));
  int made = 0;
  const auto ask = [&](std::string_view operation, const std::vector<Message>& inputs) {
    return number_of(
        shared.once(operation, inputs, [&] { return counted_message(count, Words(1), ++made); }));
  };
  CHECK(ask("sum", {a, b}) == 1);
  CHECK(ask("sum", {b, a}) == 1);
  CHECK(ask("join", {a, b}) == 2);  // another operation
  CHECK(ask("sum", {a}) == 3);      // other inputs
  CHECK(ask("sum", {a, b}) == 1);
  CHECK(made == 3);
  CHECK(shared.computed() == 3);
}

TEST_CASE("Shared work tells parts and lengths of one body apart") {
  BodyCount count;
  SharedWork shared(10);
  const Message whole = counted_message(count, Words(4));
  Message part = whole;
  part.payload.last = 2;
  Message shorter = whole;
  shorter.words = Words(2);
  for (const Message& input : {whole, part, shorter, whole, part}) {
    static_cast<void>(shared.once("sum", std::array{input}, [&] { return Message{}; }));
  }
  CHECK(shared.computed() == 3);
}

TEST_CASE("Shared work forgets what nobody asked for and keeps what is in use") {
  BodyCount count;
  std::vector<Message> inputs;
  for (int i = 0; i < 100; ++i) inputs.push_back(counted_message(count, Words(1)));
  constexpr std::size_t kCapacity = 8;
  SharedWork shared(kCapacity);
  BodyCount results;
  const auto ask = [&](std::size_t i) {
    return shared.once("sum", std::array{inputs[i]},
                       [&] { return counted_message(results, Words(1)); });
  };
  // Input 0 is asked for all the time, and never computed again.
  for (std::size_t i = 1; i < inputs.size(); ++i) {
    static_cast<void>(ask(0));
    static_cast<void>(ask(i));
  }
  CHECK(shared.computed() == inputs.size());
  CHECK(results.most <= static_cast<int>(2 * kCapacity) + 1);
  // Input 1 has long been forgotten, the last ones have not.
  static_cast<void>(ask(99));
  CHECK(shared.computed() == inputs.size());
  static_cast<void>(ask(1));
  CHECK(shared.computed() == inputs.size() + 1);
}

TEST_CASE("A result stays while fewer others than the capacity have come") {
  BodyCount count;
  std::vector<Message> inputs;
  for (int i = 0; i < 8; ++i) inputs.push_back(counted_message(count, Words(1)));
  for (std::size_t before = 0; before < 8; ++before) {
    SharedWork shared(8);
    const auto ask = [&](const Message& input) {
      static_cast<void>(shared.once("sum", std::array{input}, [] { return Message{}; }));
    };
    std::vector<Message> earlier;
    for (std::size_t i = 0; i < before; ++i) {
      earlier.push_back(counted_message(count, Words(1)));
      ask(earlier.back());
    }
    for (const Message& input : inputs) ask(input);  // inputs[0], and 7 others after it
    const std::size_t computed = shared.computed();
    ask(inputs[0]);
    CHECK(shared.computed() == computed);
  }
}

TEST_CASE("Shared work that is cleared holds nothing and computes anew") {
  BodyCount count;
  SharedWork shared(2);
  std::vector<Message> inputs;
  for (int i = 0; i < 4; ++i) inputs.push_back(counted_message(count, Words(1)));
  BodyCount results;
  const auto ask = [&](const Message& input) {
    static_cast<void>(
        shared.once("sum", std::array{input}, [&] { return counted_message(results, Words(1)); }));
  };
  for (const Message& input : inputs) ask(input);
  CHECK(results.living == 4);  // two generations of two
  shared.clear();
  CHECK(results.living == 0);
  ask(inputs[3]);
  CHECK(shared.computed() == 5);
}

TEST_CASE("Inputs of shared work live as long as its result") {
  BodyCount count;
  {
    SharedWork shared(4);
    {
      const Message input = counted_message(count, Words(1));
      static_cast<void>(shared.once("sum", std::array{input}, [] { return Message{}; }));
    }
    CHECK(count.living == 1);
    for (int i = 0; i < 20; ++i) {
      const Message input = counted_message(count, Words(1));
      static_cast<void>(shared.once("sum", std::array{input}, [] { return Message{}; }));
    }
    CHECK(count.living <= 8);
    CHECK(shared.computed() == 21);  // no address of a dead body was taken for a living one
  }
  CHECK(count.living == 0);
}

TEST_CASE("Shared work may ask for other shared work while it is made") {
  BodyCount count;
  SharedWork shared(2);
  const Message input = counted_message(count, Words(1));
  const std::array inputs{input};
  const Message outer = shared.once("outer", inputs, [&] {
    return shared.once("inner", inputs, [&] { return counted_message(count, Words(1), 5); });
  });
  CHECK(number_of(outer) == 5);
  CHECK(shared.computed() == 2);
}

TEST_CASE("Shared work that fails is not remembered") {
  BodyCount count;
  SharedWork shared(2);
  const Message input = counted_message(count, Words(1));
  const std::array inputs{input};
  CHECK_THROWS_AS(static_cast<void>(shared.once("sum", inputs, []() -> Message { throw 1; })), int);
  const Message result =
      shared.once("sum", inputs, [&] { return counted_message(count, Words(1), 9); });
  CHECK(number_of(result) == 9);
}

TEST_CASE("Shared work by a known fingerprint ignores which inputs carry it") {
  BodyCount count;
  SharedWork shared(4);
  const Fingerprint what{1, 2};
  for (int i = 0; i < 3; ++i) {
    const std::array inputs{counted_message(count, Words(1))};
    static_cast<void>(shared.once("sum", what, inputs, [] { return Message{}; }));
  }
  CHECK(shared.computed() == 1);
}

}  // namespace thinwire::inline gradient
