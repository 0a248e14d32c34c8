// Short lists of integers that schemes exchange: sizes of buffers, boundaries of regions.
#pragma once

#include <cstdint>
#include <numeric>
#include <span>
#include <typeinfo>
#include <vector>

#include "sim/core/kernel/message.hpp"

namespace thinwire::inline gradient {

/// An immutable, shared list; one word per number on the wire. A list may be a part of a whole
/// list, and then knows its position in it.
class Numbers {
 public:
  explicit Numbers(std::vector<std::int64_t> numbers)
      : body_(make_ref<const NumbersBody>(std::move(numbers))) {}
  /// A part, beginning at position `first`, of a list of `whole` numbers.
  Numbers(std::vector<std::int64_t> numbers, std::int64_t first, std::int64_t whole)
      : body_(make_ref<const NumbersBody>(std::move(numbers), first, whole)) {}
  [[nodiscard]] static Numbers from(const Payload& payload) { return Numbers(payload); }
  /// Whether a payload is a list of numbers.
  [[nodiscard]] static bool holds(const Payload& payload) {
    const Body* body = payload.body.get();
    return body != nullptr && typeid(*body) == typeid(NumbersBody);
  }

  [[nodiscard]] std::span<const std::int64_t> all() const { return body_->numbers; }
  [[nodiscard]] std::int64_t operator[](std::size_t i) const { return body_->numbers[i]; }
  [[nodiscard]] std::size_t size() const { return body_->numbers.size(); }
  [[nodiscard]] std::int64_t first() const { return body_->first; }
  [[nodiscard]] std::int64_t whole() const { return body_->whole; }
  [[nodiscard]] std::int64_t total() const {
    return std::accumulate(all().begin(), all().end(), std::int64_t{0});
  }
  [[nodiscard]] Message message() const {
    return {{body_, 0, 0}, Words(static_cast<std::int64_t>(size()))};
  }

 private:
  struct NumbersBody final : Body {
    explicit NumbersBody(std::vector<std::int64_t> n)
        : numbers(std::move(n)), whole(static_cast<std::int64_t>(numbers.size())) {}
    NumbersBody(std::vector<std::int64_t> n, std::int64_t f, std::int64_t w)
        : numbers(std::move(n)), first(f), whole(w) {}
    std::vector<std::int64_t> numbers;
    std::int64_t first = 0;
    std::int64_t whole;
  };
  explicit Numbers(const Payload& payload)
      : body_(static_cast<const NumbersBody*>(payload.body.get())) {}

  Ref<const NumbersBody> body_;
};

}  // namespace thinwire::inline gradient
