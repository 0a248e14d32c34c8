// Small lists of whole numbers that schemes agree on: sizes of buffers, boundaries of regions.
#pragma once

#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "sim/core/kernel/message.hpp"

namespace thinwire::inline gradient {

/// Immutable and shared. On the wire one word a number. A list may be a part of a whole one, and
/// then knows where in it.
class Numbers {
 public:
  explicit Numbers(std::vector<std::int64_t> numbers)
      : body_(make_ref<const NumbersBody>(std::move(numbers))) {}
  /// The part of a list of `whole` numbers that begins at position `first`.
  Numbers(std::vector<std::int64_t> numbers, std::int64_t first, std::int64_t whole)
      : body_(make_ref<const NumbersBody>(std::move(numbers), first, whole)) {}
  [[nodiscard]] static Numbers from(const Payload& payload) { return Numbers(payload); }

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
