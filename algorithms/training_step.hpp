// A scheme's view of a training iteration: when gradients are ready, and the price of local work.
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

/// The backward pass of one rank, which makes the gradient ready from its end to its beginning.
class TrainingStep {
 public:
  /// `ready` is ordered from the gradient's end to its beginning and ends with component 0. Both
  /// `ready` and `prices` must outlive this object.
  TrainingStep(std::span<const ReadyAt> ready, const WorkPrices& prices, GradientSpace space)
      : ready_(ready), prices_(prices), space_(space) {}

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

 private:
  std::span<const ReadyAt> ready_;
  const WorkPrices& prices_;
  GradientSpace space_;
  Seconds spent_;
};

}  // namespace thinwire::algorithms
