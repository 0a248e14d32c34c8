// The cells of a table that a program of tests prints: schemes on numbers of ranks.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/registry.hpp"

namespace thinwire::test {

struct ChosenCells {
  std::vector<int> ranks;
  std::vector<algorithms::SchemeInfo> schemes;
  bool named = false;  ///< the arguments name the schemes

  [[nodiscard]] std::size_t count() const { return ranks.size() * schemes.size(); }
};

/// The arguments after the first are numbers of ranks and names of schemes. Without numbers `ranks`
/// are chosen, without names all schemes that `is_default` takes. Throws InputError for a scheme that
/// does not exist.
[[nodiscard]] inline ChosenCells chosen_cells(
    int argc, char** argv, std::vector<int> ranks,
    const std::function<bool(const algorithms::SchemeInfo&)>& is_default) {
  ChosenCells chosen;
  for (int i = 2; i < argc; ++i) {
    const int number = std::atoi(argv[i]);
    if (number > 0) {
      chosen.ranks.push_back(number);
    } else {
      chosen.schemes.push_back(algorithms::find_scheme(argv[i]));
    }
  }
  if (chosen.ranks.empty()) chosen.ranks = std::move(ranks);
  chosen.named = !chosen.schemes.empty();
  if (chosen.named) return chosen;
  for (const algorithms::SchemeInfo& scheme : algorithms::all_schemes()) {
    if (is_default(scheme)) chosen.schemes.push_back(scheme);
  }
  return chosen;
}

}  // namespace thinwire::test
