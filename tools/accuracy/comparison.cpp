#include "tools/accuracy/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace thinwire::accuracy {

namespace {

double ratio_of(double part, double whole) {
  if (part == whole) return 1;
  return whole > 0 ? part / whole : std::numeric_limits<double>::infinity();
}

struct Grouping {
  const char* by;
  std::string (*value)(const Cell& cell);
};

const std::vector<Grouping>& groupings() {
  static const std::vector<Grouping> all{
      {"all", [](const Cell&) { return std::string("all"); }},
      {"platform", [](const Cell& cell) { return cell.platform; }},
      {"pattern", [](const Cell& cell) { return cell.pattern; }},
      {"size", [](const Cell& cell) { return cell.size; }},
      {"ranks", [](const Cell& cell) { return std::to_string(cell.ranks); }}};
  return all;
}

}  // namespace

std::optional<double> CellComparison::ratio() const {
  if (!status.empty()) return std::nullopt;
  return ratio_of(judged->time_s, reference->time_s);
}

std::optional<double> CellComparison::error() const {
  const std::optional<double> r = ratio();
  return r ? std::optional(std::abs(*r - 1)) : std::nullopt;
}

std::optional<double> CellComparison::congestion() const {
  if (!reference || !reference->alphabeta_s) return std::nullopt;
  return ratio_of(reference->time_s, *reference->alphabeta_s);
}

CellComparison compare(const Cell& cell, std::optional<Measurement> reference,
                       std::optional<Measurement> judged) {
  CellComparison result{.cell = cell};
  result.reference = std::move(reference);
  result.judged = std::move(judged);
  const auto settle = [&](const char* status, const std::string& reason) {
    if (!result.status.empty()) return;
    result.status = status;
    result.reason = reason;
  };
  if (const auto restriction = restriction_of(cell)) settle("skipped", *restriction);
  for (const std::optional<Measurement>* side : {&result.reference, &result.judged}) {
    const char* const which = side == &result.reference ? "the reference" : "the judged network";
    if (!*side) {
      settle("missing", fmt::format("not measured yet on {}", which));
    } else if ((*side)->status != CellStatus::ok) {
      settle(name_of((*side)->status),
             fmt::format("{}: {}", (*side)->side.network, (*side)->reason));
    }
  }
  if (result.status.empty() && (result.reference->messages != result.judged->messages ||
                                result.reference->words != result.judged->words)) {
    settle("stale", fmt::format("{} messages of {} words on the reference, {} of {} here; measure "
                                "it again with --force",
                                result.reference->messages, result.reference->words,
                                result.judged->messages, result.judged->words));
  }
  return result;
}

Errors errors_of(std::vector<double> errors) {
  if (errors.empty()) return {};
  std::ranges::sort(errors);
  const std::size_t count = errors.size();
  const std::size_t ninth = (9 * count + 9) / 10;  // ceil(0.9 count)
  return {.cells = count,
          .median = (errors[(count - 1) / 2] + errors[count / 2]) / 2,
          .percentile = errors[ninth - 1],
          .worst = errors.back(),
          .large = static_cast<std::size_t>(
              std::ranges::count_if(errors, [](double e) { return e > kLargeError; }))};
}

std::vector<ErrorGroup> error_groups(const std::vector<CellComparison>& cells) {
  std::vector<ErrorGroup> groups;
  for (const Grouping& grouping : groupings()) {
    std::vector<std::pair<std::string, std::vector<double>>> by_value;
    for (const CellComparison& one : cells) {
      const std::optional<double> error = one.error();
      if (!error) continue;
      const std::string value = grouping.value(one.cell);
      auto found = std::ranges::find_if(by_value, [&](const auto& g) { return g.first == value; });
      if (found == by_value.end()) {
        by_value.emplace_back(value, std::vector<double>());
        found = by_value.end() - 1;
      }
      found->second.push_back(*error);
    }
    for (auto& [value, errors] : by_value) {
      groups.emplace_back() = {grouping.by, value, errors_of(std::move(errors))};
    }
  }
  return groups;
}

std::vector<CellComparison> large_errors(const std::vector<CellComparison>& cells) {
  std::vector<CellComparison> large;
  for (const CellComparison& one : cells) {
    if (one.error().value_or(0) > kLargeError) large.push_back(one);
  }
  std::ranges::stable_sort(large, [](const CellComparison& a, const CellComparison& b) {
    return *a.error() > *b.error();
  });
  return large;
}

}  // namespace thinwire::accuracy
