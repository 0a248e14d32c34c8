// Small lists of whole numbers that schemes agree on: sizes of buffers, boundaries of regions.
#pragma once

#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "sim/core/message.hpp"

namespace thinwire {

/// Immutable and shared. On the wire one word a number.
class Numbers {
 public:
  explicit Numbers(std::vector<std::int64_t> numbers)
      : body_(make_ref<const NumbersBody>(std::move(numbers))) {}
  [[nodiscard]] static Numbers from(const Payload& payload) { return Numbers(payload); }

  [[nodiscard]] std::span<const std::int64_t> all() const { return body_->numbers; }
  [[nodiscard]] std::int64_t operator[](std::size_t i) const { return body_->numbers[i]; }
  [[nodiscard]] std::size_t size() const { return body_->numbers.size(); }
  [[nodiscard]] std::int64_t total() const {
    return std::accumulate(all().begin(), all().end(), std::int64_t{0});
  }
  [[nodiscard]] Message message() const {
    return {{body_, 0, 0}, Words(static_cast<std::int64_t>(size()))};
  }

 private:
  struct NumbersBody final : Body {
    explicit NumbersBody(std::vector<std::int64_t> n) : numbers(std::move(n)) {}
    std::vector<std::int64_t> numbers;
  };
  explicit Numbers(const Payload& payload)
      : body_(static_cast<const NumbersBody*>(payload.body.get())) {}

  Ref<const NumbersBody> body_;
};

}  // namespace thinwire
