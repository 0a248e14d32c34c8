#include "sim/machine/workloads/parallel.hpp"

#include <fmt/format.h>

#include <charconv>
#include <string_view>

#include "sim/core/base/errors.hpp"
#include "sim/core/base/printable.hpp"

namespace thinwire::workloads {

namespace {

constexpr int kMostInGroup = 1 << 20;

/// The `size` ranks with consecutive numbers of which `rank` is one.
Members side_by_side(Rank rank, int size) {
  return {.first = rank.value() - rank.value() % size, .count = size, .stride = 1};
}

/// Of `ranks` ranks those whose numbers differ from that of `rank` by multiples of `distance`.
Members apart(Rank rank, int distance, int ranks) {
  return {.first = rank.value() % distance, .count = ranks / distance, .stride = distance};
}

}  // namespace

bool Parallel::divides(int ranks) const {
  return ranks % tensor == 0 && (data == 0 || data == ranks / tensor);
}

Members Parallel::tensor_group(Rank rank, int ranks) const {
  return data_first ? apart(rank, ranks / tensor, ranks) : side_by_side(rank, tensor);
}

Members Parallel::data_group(Rank rank, int ranks) const {
  return data_first ? side_by_side(rank, ranks / tensor) : apart(rank, tensor, ranks);
}

Parallel parallel_from(const std::string& text) {
  const auto refuse = [&] {
    throw InputError(
        fmt::format("'{}' is not valid; expected the ranks of a tensor-parallel and of a "
                    "data-parallel group, as in tp=8,dp=32 or tp=8",
                    excerpt(text)));
  };
  Parallel parallel;
  bool tensor = false;
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::string_view word = rest.substr(0, rest.find(','));
    rest.remove_prefix(word.size());
    if (rest.size() == 1) refuse();  // a comma at the end
    if (!rest.empty()) rest.remove_prefix(1);
    const std::string_view key = word.substr(0, word.find('=') + 1);
    int size = 0;
    const auto [end, error] =
        std::from_chars(word.data() + key.size(), word.data() + word.size(), size);
    if (error != std::errc() || end != word.data() + word.size() || size < 1 ||
        size > kMostInGroup) {
      refuse();
    }
    if (key == "tp=" && !tensor) {
      tensor = true;
      parallel.tensor = size;
    } else if (key == "dp=" && parallel.data == 0) {
      parallel.data = size;
      parallel.data_first = !tensor;
    } else {
      refuse();
    }
  }
  if (!tensor) parallel.data_first = false;  // there is one group
  return parallel;
}

std::string text_of(const Parallel& parallel) {
  if (parallel == Parallel{}) return {};
  std::string tensor = fmt::format("tp={}", parallel.tensor);
  if (parallel.data == 0) return tensor;
  return parallel.data_first ? fmt::format("dp={},{}", parallel.data, tensor)
                             : fmt::format("{},dp={}", tensor, parallel.data);
}

}  // namespace thinwire::workloads
