// A scheme's view of a training iteration: when gradients are ready, the price of local work, and
// what a rank remembers of its gradients.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>

#include "sim/core/base/units.hpp"
#include "sim/core/gradient/space.hpp"
#include "sim/core/kernel/task.hpp"
#include "sim/core/kernel/work_prices.hpp"

namespace thinwire::algorithms {

/// When the components from `first` on are ready, in seconds since the backward pass began.
struct ReadyAt {
  std::int64_t first = 0;
  Seconds time;
  /// Components of activations that tensor-parallel ranks then sum, before the pass goes on.
  std::int64_t summed = 0;
};

/// Sums so many components of activations among the ranks that share the layers of a model.
using SumActivations = std::function<Task<void>(std::int64_t components)>;

/// What a rank keeps of a gradient that it does not send, in buffers of n components.
enum class Feedback : std::uint8_t {
  none,      ///< nothing: not priced
  residual,  ///< error feedback (Ok-Topk, Algorithm 2)
  momentum,  ///< memory momentum correction (DGC, ICLR 2018, section 3; DRAGONN, section 5)
};

/// The buffers of n components that a rank keeps.
[[nodiscard]] int buffers_of(Feedback feedback);
/// The time in seconds to add what is kept to the gradient of `components` components. The buffers
/// are read and written by the operators of the published codes, 4 bytes at the price of `scan` each
/// time: `residual` adds it to the gradient and copies the sum (Ok-Topk, 5 times in 2 operators);
/// `momentum` scales the velocity, adds the gradient to it and adds it to the accumulator (DGC, 8
/// times in 3 operators).
[[nodiscard]] Seconds remembering(const WorkPrices& prices, Feedback feedback,
                                  std::int64_t components);
/// The time in seconds to set the `sent` components of the residual, or of velocity and accumulator
/// (momentum factor masking), to zero.
[[nodiscard]] Seconds forgetting(const WorkPrices& prices, Feedback feedback, std::int64_t sent);

/// The backward pass of one rank, which makes the gradient ready from its end to its beginning.
class TrainingStep {
 public:
  /// `ready` is ordered from the gradient's end to its beginning and ends with component 0. Both
  /// `ready` and `prices` must outlive this object. Without `sum` no activations are summed.
  TrainingStep(std::span<const ReadyAt> ready, const WorkPrices& prices, GradientSpace space,
               Feedback feedback = Feedback::none, SumActivations sum = {})
      : ready_(ready), prices_(prices), space_(space), feedback_(feedback), sum_(std::move(sum)) {}

  /// What the backward pass does next: `time` seconds of work, and then a sum of activations if
  /// `summed` is not 0.
  struct Piece {
    Seconds time;
    std::int64_t summed = 0;
  };
  /// The next piece on the way to the components from `first` on, which end with the piece that
  /// sums nothing. The caller must do it.
  [[nodiscard]] Piece next(std::int64_t first) {
    Piece piece;
    Seconds reached = spent_;
    while (piece.summed == 0 && done_ < ready_.size() &&
           (done_ == 0 || ready_[done_ - 1].first > first)) {
      reached = std::max(reached, ready_[done_].time);
      if (sum_) piece.summed = ready_[done_].summed;
      ++done_;
    }
    piece.time = Seconds(reached.value() - spent_.value());
    spent_ = reached;
    return piece;
  }
  [[nodiscard]] Task<void> sum(std::int64_t components) const { return sum_(components); }
  [[nodiscard]] const WorkPrices& prices() const { return prices_; }
  [[nodiscard]] const GradientSpace& space() const { return space_; }
  [[nodiscard]] Feedback feedback() const { return feedback_; }

 private:
  std::span<const ReadyAt> ready_;
  const WorkPrices& prices_;
  GradientSpace space_;
  Feedback feedback_;
  SumActivations sum_;
  std::size_t done_ = 0;  ///< parts
  Seconds spent_;
};

}  // namespace thinwire::algorithms
