#include "sim/core/base/complaints.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace thinwire::inline base {

InputErrors::InputErrors(std::vector<std::string> lines)
    : InputError(fmt::format("{}", fmt::join(lines, "\n"))), lines_(std::move(lines)) {}

void Complaints::add(std::string line) {
  if (std::ranges::find(lines_, line) == lines_.end()) lines_.push_back(std::move(line));
}

void Complaints::check() const {
  if (lines_.size() == 1) throw InputError(lines_.front());
  if (!lines_.empty()) throw InputErrors(lines_);
}

}  // namespace thinwire::inline base
