// How values of one kind are cut, summed and joined: all that an allreduce schedule needs to know
// of its operands. One schedule thus serves dense blocks, sparse vectors and lists of numbers.
#pragma once

#include <span>

#include "sim/core/base/units.hpp"
#include "sim/core/gradient/concatenation.hpp"
#include "sim/core/gradient/shared_work.hpp"
#include "sim/core/gradient/space.hpp"
#include "sim/core/gradient/stream.hpp"
#include "sim/core/kernel/work_prices.hpp"

namespace thinwire::inline gradient {

/// A half-open range of the pieces into which a whole value is cut.
struct PieceRange {
  int first = 0;
  int last = 0;
};

/// The pieces in `range` of a value that is cut into `of` pieces; by default the whole value.
struct Part {
  PieceRange range = {0, 1};
  int of = 1;
};

/// A sum and its cost.
struct Summed {
  Message message;
  Seconds work;  ///< local time of the rank that computes the sum
};

/// γ: seconds per reduced word, that is, per word of values that is added to others.
struct Gamma {
  Seconds word;   ///< dense values
  Seconds entry;  ///< sparse values, which have to be found first
  Seconds merge;  ///< an entry of either of two sorted lists that are merged
  /// A component that is set to zero where a sparse sum becomes dense. If it is free, as on the
  /// papers' machine, so are the entries that are then written.
  Seconds zero;

  Gamma() = default;
  // NOLINTNEXTLINE(google-explicit-constructor)
  Gamma(Seconds all) : word(all), entry(all), merge(all) {}
  explicit Gamma(const WorkPrices& prices)
      : word(prices.reduce.element),
        entry(prices.scatter.element),
        merge(prices.merge.element),
        zero(prices.scan.element) {}
};

/// A kind of values, with its sum.
class Reduction {
 public:
  Reduction(SharedWork& shared, Gamma gamma) : shared_(shared), gamma_(gamma) {}
  Reduction(const Reduction&) = delete;
  Reduction& operator=(const Reduction&) = delete;
  virtual ~Reduction() = default;

  /// a + b, which both hold `part`. Commutative to the last bit, so that two ranks that sum the
  /// same two values agree.
  [[nodiscard]] Summed sum(const Message& a, const Message& b, Part part = {}) const;
  /// The same when other ranks compute the same sum: the simulator computes it once.
  [[nodiscard]] Summed shared_sum(const Message& a, const Message& b, Part part = {}) const;
  /// The pieces `wanted` of a value that was cut into `pieces` pieces and holds at least those.
  [[nodiscard]] virtual Message cut(const Message& held, PieceRange wanted, int pieces) const = 0;
  /// Whether a value has nothing but a length, and its pieces have lengths that add up to it.
  [[nodiscard]] virtual bool has_length_alone(const Message& /*value*/) const { return false; }
  /// The cost of adding such a value to another one of the same length.
  [[nodiscard]] Seconds work_on(const Message& value) const { return work(value, value, value); }
  /// Joins values of consecutive pieces to `whole`. Shared: other ranks join the same values.
  [[nodiscard]] Message join(std::span<const Message> parts, Part whole = {}) const;
  /// The same of the pieces of a concatenation, which are in order by their ranks. It looks at the
  /// pieces only where no other rank has joined the same ones.
  [[nodiscard]] Message join(const Concatenation& pieces, Part whole) const;

 protected:
  [[nodiscard]] virtual Message compute_sum(const Message& a, const Message& b,
                                            Part part) const = 0;
  [[nodiscard]] virtual Message compute_join(std::span<const Message> parts, Part whole) const = 0;
  /// The cost of adding `b` to `a`, which makes `sum`.
  [[nodiscard]] virtual Seconds work(const Message& a, const Message& b,
                                     const Message& sum) const = 0;
  [[nodiscard]] const Gamma& gamma() const { return gamma_; }
  [[nodiscard]] SharedWork& shared() const { return shared_; }

 private:
  SharedWork& shared_;
  Gamma gamma_;
};

/// Gradients, dense or sparse, as streams: sums switch to dense at δ of their part. Messages have
/// the format's marker in front. A piece is a range of components. The pieces are as equal as
/// possible, so pieces of a dense gradient differ in length by at most one word. The reduced value may
/// be a range of a gradient.
class GradientReduction final : public Reduction {
 public:
  GradientReduction(SharedWork& shared, Gamma gamma, GradientSpace space, StreamFormat format = {})
      : GradientReduction(shared, gamma, space,
                          ComponentRange{.first = 0, .last = space.components}) {
    format_ = format;
  }
  GradientReduction(SharedWork& shared, Gamma gamma, GradientSpace space, ComponentRange range)
      : Reduction(shared, gamma), space_(space), range_(range) {}
  /// Like `other`, but if the gradient is cut into as many pieces as `places` has, piece places[i]
  /// takes the place of piece i. For few ranks that stand for all. `places` must outlive the
  /// reduction.
  GradientReduction(const GradientReduction& other, std::span<const std::int32_t> places)
      : GradientReduction(other.shared(), other.gamma(), other.space_, other.range_) {
    format_ = other.format_;
    places_ = places;
  }
  [[nodiscard]] Message cut(const Message& held, PieceRange wanted, int pieces) const override;
  [[nodiscard]] bool has_length_alone(const Message& value) const override;

 protected:
  [[nodiscard]] Message compute_sum(const Message& a, const Message& b, Part part) const override;
  [[nodiscard]] Message compute_join(std::span<const Message> parts, Part whole) const override;
  [[nodiscard]] Seconds work(const Message& a, const Message& b, const Message& sum) const override;

 private:
  /// The words of a dense piece.
  [[nodiscard]] Words dense_words(std::int64_t begin, std::int64_t end) const {
    return space_.value_words(end - begin) + Words(format_.marker);
  }
  /// The component at which piece `piece` of `pieces` begins.
  [[nodiscard]] std::int64_t begin_of(int piece, int pieces) const {
    return range_.first + part_begin(range_.length(), pieces, piece);
  }
  /// The components of some pieces.
  [[nodiscard]] ComponentRange components_of(PieceRange wanted, int pieces) const {
    if (std::cmp_equal(places_.size(), pieces) && wanted.last == wanted.first + 1) {
      wanted.first = places_[static_cast<std::size_t>(wanted.first)];
      wanted.last = wanted.first + 1;
    }
    return {begin_of(wanted.first, pieces), begin_of(wanted.last, pieces)};
  }

  GradientSpace space_;
  ComponentRange range_;
  StreamFormat format_;
  std::span<const std::int32_t> places_;
};

/// Lists of numbers, added element by element; a piece is a range of elements.
class NumbersReduction final : public Reduction {
 public:
  explicit NumbersReduction(SharedWork& shared) : Reduction(shared, Seconds(0)) {}
  [[nodiscard]] Message cut(const Message& held, PieceRange wanted, int pieces) const override;

 protected:
  [[nodiscard]] Message compute_sum(const Message& a, const Message& b, Part part) const override;
  [[nodiscard]] Message compute_join(std::span<const Message> parts, Part whole) const override;
  [[nodiscard]] Seconds work(const Message& /*a*/, const Message& /*b*/,
                             const Message& /*sum*/) const override {
    return Seconds(0);
  }
};

}  // namespace thinwire::inline gradient
