// Ascending numbers in half the memory of a list: thousands of ranks have thousands each.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace thinwire::inline gradient {

/// Numbers, each at least the one before. Those in one cache line are stored as what they exceed the
/// first by. If somewhere that is too much for 16 bits, all are stored as they are.
class Ascending {
 public:
  explicit Ascending(std::span<const std::uint32_t> numbers) {
    lines_.reserve((numbers.size() + kInLine - 1) / kInLine);
    for (std::size_t i = 0; i < numbers.size(); i += kInLine) {
      const auto here = numbers.subspan(i, std::min(kInLine, numbers.size() - i));
      if (here.back() - here.front() > std::numeric_limits<std::uint16_t>::max()) {
        lines_ = {};
        wide_.assign(numbers.begin(), numbers.end());
        return;
      }
      Line line{.first = here.front(), .beyond = {}};
      for (std::size_t j = 0; j < here.size(); ++j) {
        line.beyond[j] = static_cast<std::uint16_t>(here[j] - line.first);
      }
      lines_.push_back(line);
    }
  }

  [[nodiscard]] std::uint32_t operator[](std::size_t i) const {
    if (!wide_.empty()) return wide_[i];
    const Line& line = lines_[i / kInLine];
    return line.first + line.beyond[i % kInLine];
  }
  /// The memory that holds a number.
  [[nodiscard]] const void* address(std::size_t i) const {
    if (!wide_.empty()) return &wide_[i];
    return &lines_[i / kInLine];
  }

 private:
  static constexpr std::size_t kInLine = 30;
  struct alignas(64) Line {
    std::uint32_t first;
    std::array<std::uint16_t, kInLine> beyond;
  };

  std::vector<Line> lines_;
  std::vector<std::uint32_t> wide_;
};

}  // namespace thinwire::inline gradient
