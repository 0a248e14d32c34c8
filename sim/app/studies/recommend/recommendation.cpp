#include "sim/app/studies/recommend/recommendation.hpp"

#include <algorithm>

namespace thinwire::studies {

const Candidate* Recommendation::advice() const {
  const auto found = std::ranges::find_if(ranked, &Candidate::is_advisable);
  if (found == ranked.end()) return nullptr;
  const auto dense = std::ranges::find_if(ranked, [](const Candidate& candidate) {
    return candidate.is_advisable() && is_lossless(candidate);
  });
  const bool as_fast =
      dense != ranked.end() && time_of(dense->row) <= kWorthwhile * time_of(found->row);
  return as_fast ? &*dense : &*found;
}

}  // namespace thinwire::studies
