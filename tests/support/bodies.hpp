// Payloads that count their instances, to detect leaks and lifetimes that are longer than needed.
#pragma once

#include <algorithm>

#include "sim/core/kernel/message.hpp"

namespace thinwire::test {

struct BodyCount {
  int living = 0;
  int most = 0;
};

class CountedBody final : public Body {
 public:
  explicit CountedBody(BodyCount& count, int number = 0) : number_(number), count_(count) {
    ++count_.living;
    count_.most = std::max(count_.most, count_.living);
  }
  CountedBody(const CountedBody&) = delete;
  CountedBody& operator=(const CountedBody&) = delete;
  ~CountedBody() override { --count_.living; }

  [[nodiscard]] int number() const { return number_; }

 private:
  int number_;
  BodyCount& count_;
};

[[nodiscard]] inline Message counted_message(BodyCount& count, Words words, int number = 0) {
  return {{make_ref<const CountedBody>(count, number), 0, 0}, words};
}

[[nodiscard]] inline int number_of(const Message& message) {
  return static_cast<const CountedBody&>(*message.payload.body).number();
}

/// A message of the given length without a payload.
[[nodiscard]] inline Message empty_message(std::int64_t words) { return {{}, Words(words)}; }

}  // namespace thinwire::test
