// A scheme's view of a training iteration: when gradients are ready, the price of local work, and
// what a rank remembers of its gradients.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "sim/core/base/units.hpp"
#include "sim/core/gradient/space.hpp"
#include "sim/core/kernel/work_prices.hpp"

namespace thinwire::algorithms {

/// When the components from `first` on are ready, in seconds since the backward pass began.
struct ReadyAt {
  std::int64_t first = 0;
  Seconds time;
};

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
  /// `ready` and `prices` must outlive this object.
  TrainingStep(std::span<const ReadyAt> ready, const WorkPrices& prices, GradientSpace space,
               Feedback feedback = Feedback::none)
      : ready_(ready), prices_(prices), space_(space), feedback_(feedback) {}

  /// The seconds of the backward pass that remain until all components from `first` on are ready.
  /// The caller must spend them.
  [[nodiscard]] Seconds until_ready(std::int64_t first) {
    Seconds reached = spent_;
    for (const ReadyAt& part : ready_) {
      reached = std::max(reached, part.time);
      if (part.first <= first) break;
    }
    const Seconds left(reached.value() - spent_.value());
    spent_ = reached;
    return left;
  }
  [[nodiscard]] const WorkPrices& prices() const { return prices_; }
  [[nodiscard]] const GradientSpace& space() const { return space_; }
  [[nodiscard]] Feedback feedback() const { return feedback_; }

 private:
  std::span<const ReadyAt> ready_;
  const WorkPrices& prices_;
  GradientSpace space_;
  Feedback feedback_;
  Seconds spent_;
};

}  // namespace thinwire::algorithms
