#include "sim/app/studies/recommend/recommendation.hpp"

namespace thinwire::studies {

const Candidate* advised(const std::vector<const Candidate*>& candidates) {
  const auto take_faster = [](const Candidate*& best, const Candidate* other) {
    if (best == nullptr || time_of(other->row) < time_of(best->row)) best = other;
  };
  const Candidate* fastest = nullptr;
  const Candidate* dense = nullptr;
  for (const Candidate* const candidate : candidates) {
    take_faster(fastest, candidate);
    if (is_lossless(*candidate)) take_faster(dense, candidate);
  }
  const bool as_fast =
      dense != nullptr && time_of(dense->row) <= kWorthwhile * time_of(fastest->row);
  return as_fast ? dense : fastest;
}

const Candidate* Recommendation::advice() const {
  std::vector<const Candidate*> advisable;
  for (const Candidate& candidate : ranked) {
    if (candidate.is_advisable()) advisable.push_back(&candidate);
  }
  return advised(advisable);
}

}  // namespace thinwire::studies
