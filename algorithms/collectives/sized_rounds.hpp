// Rounds of values that have nothing but lengths, so that no member needs what it receives.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "sim/core/gradient/reduction.hpp"
#include "sim/core/kernel/rounds.hpp"

namespace thinwire::algorithms {

/// The part that each rank brings to rounds of pieces. In rounds that sum, members add a piece that they
/// receive to their own.
class SizedRounds final : public RoundsPart {
 public:
  /// The piece as it travels in rounds[at].
  using PieceOf = std::function<Message(std::size_t at, int piece)>;

  /// `reduction` outlives it, and so does what `piece_of` refers to.
  SizedRounds(const Reduction& reduction, std::vector<Rounds> rounds, PieceOf piece_of)
      : reduction_(reduction), rounds_(std::move(rounds)), piece_of_(std::move(piece_of)) {}

  [[nodiscard]] std::span<const Rounds> rounds() const override { return rounds_; }
  [[nodiscard]] Message piece(std::size_t at, int piece) const override {
    return piece_of_(at, piece);
  }
  [[nodiscard]] Seconds work(std::size_t /*at*/, const Message& received) const override {
    return reduction_.work_on(received);
  }

 private:
  const Reduction& reduction_;
  std::vector<Rounds> rounds_;
  PieceOf piece_of_;
};

}  // namespace thinwire::algorithms
