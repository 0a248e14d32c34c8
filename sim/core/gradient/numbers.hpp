// Short lists of integers that schemes exchange: sizes of buffers, boundaries of regions.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <typeinfo>
#include <utility>
#include <vector>

#include "sim/core/gradient/fingerprint.hpp"
#include "sim/core/kernel/message.hpp"

namespace thinwire::inline gradient {

/// An immutable, shared list; one word per number on the wire. A list may be a part of a whole
/// list, and then knows its position in it.
///
/// A list may be deferred: it is made when somebody first looks at it. A sum with a deferred list is
/// deferred too, and is made without the lists that it sums. So P ranks can add a list of P numbers
/// each without P² numbers in memory.
class Numbers {
 public:
  using Make = std::function<std::vector<std::int64_t>()>;

  explicit Numbers(std::vector<std::int64_t> numbers)
      : body_(make_ref<const NumbersBody>(std::move(numbers))) {}
  /// A part, beginning at position `first`, of a list of `whole` numbers.
  Numbers(std::vector<std::int64_t> numbers, std::int64_t first, std::int64_t whole)
      : body_(make_ref<const NumbersBody>(std::move(numbers), first, whole)) {}
  /// A deferred list of `size` numbers.
  [[nodiscard]] static Numbers deferred(std::int64_t size, Make make);
  /// The sum of two lists or of the same part of two lists, element by element.
  [[nodiscard]] static Numbers sum(const Numbers& a, const Numbers& b);
  [[nodiscard]] static Numbers from(const Payload& payload) { return Numbers(payload); }
  /// Whether a payload is a list of numbers.
  [[nodiscard]] static bool holds(const Payload& payload) {
    const Body* body = payload.body.get();
    return body != nullptr && typeid(*body) == typeid(NumbersBody);
  }

  [[nodiscard]] std::span<const std::int64_t> all() const { return body_->all(); }
  [[nodiscard]] std::int64_t operator[](std::size_t i) const { return body_->all()[i]; }
  [[nodiscard]] std::size_t size() const { return body_->size; }
  [[nodiscard]] bool is_deferred() const { return body_->deferred != nullptr; }
  [[nodiscard]] std::int64_t first() const { return body_->first; }
  [[nodiscard]] std::int64_t whole() const { return body_->whole; }
  /// The sum, the largest number (0 of an empty list), and a fingerprint of the numbers, which equal
  /// lists at different addresses share. They are computed once for all ranks that hold the list.
  [[nodiscard]] std::int64_t total() const { return body_->summary().total; }
  [[nodiscard]] std::int64_t largest() const { return body_->summary().largest; }
  [[nodiscard]] Fingerprint contents() const { return body_->summary().contents; }
  [[nodiscard]] Message message() const {
    return {{body_, 0, 0}, Words(static_cast<std::int64_t>(size()))};
  }

 private:
  struct NumbersBody;
  /// How a deferred list is made: by the function, or as the sum of two others.
  struct Deferred {
    Make make = {};
    Ref<const NumbersBody> a = {};
    Ref<const NumbersBody> b = {};
  };
  struct Summary {
    std::int64_t total = 0;
    std::int64_t largest = 0;
    Fingerprint contents;
  };
  struct NumbersBody final : Body {
    explicit NumbersBody(std::vector<std::int64_t> n)
        : numbers(std::move(n)),
          size(numbers.size()),
          whole(static_cast<std::int64_t>(numbers.size())) {}
    NumbersBody(std::vector<std::int64_t> n, std::int64_t f, std::int64_t w)
        : numbers(std::move(n)), size(numbers.size()), first(f), whole(w) {}
    NumbersBody(Deferred d, std::size_t s, std::int64_t f, std::int64_t w)
        : deferred(std::make_unique<Deferred>(std::move(d))), size(s), first(f), whole(w) {}

    [[nodiscard]] const std::vector<std::int64_t>& all() const {
      if (deferred) make();
      return numbers;
    }
    void make() const;
    [[nodiscard]] const Summary& summary() const {
      if (!known) summarise();
      return *known;
    }
    void summarise() const;

    mutable std::vector<std::int64_t> numbers;
    mutable std::unique_ptr<Deferred> deferred;  // null: `numbers` are there
    mutable std::unique_ptr<const Summary> known;
    std::size_t size;
    std::int64_t first = 0;
    std::int64_t whole;
  };
  explicit Numbers(const Payload& payload)
      : body_(static_cast<const NumbersBody*>(payload.body.get())) {}

  [[nodiscard]] static Numbers of(Ref<const NumbersBody> body) {
    return Numbers(Payload{std::move(body), 0, 0});
  }

  Ref<const NumbersBody> body_;
};

}  // namespace thinwire::inline gradient
