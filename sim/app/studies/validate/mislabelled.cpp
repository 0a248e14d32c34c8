#include "sim/app/studies/validate/mislabelled.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>

#include "sim/app/studies/validate/known_algorithms.hpp"

namespace thinwire::studies {

namespace {

constexpr double kSameTime = 0.02;
constexpr double kOtherTime = 1.5;
constexpr std::size_t kFewestSizes = 4;

/// The rows of an algorithm in a test.
struct NamedRows {
  std::vector<MeasuredRow*> rows;
  SchemeOfRow scheme;
};

using Times = std::multimap<std::int64_t, double>;  ///< seconds by size

bool took_the_same(const MeasuredRow& row, const Times& times) {
  const auto [first, last] = times.equal_range(row.elements);
  return std::any_of(first, last, [&row](const auto& other) {
    return std::abs(row.seconds - other.second) <= kSameTime * other.second;
  });
}

/// Whether the time of a size that the library ran, too, is its time at three of four sizes.
bool took_the_time_of(const NamedRows& named, const Times& chosen) {
  std::size_t sizes = 0;
  std::size_t same = 0;
  for (const MeasuredRow* row : named.rows) {
    if (!chosen.contains(row->elements)) continue;
    ++sizes;
    if (took_the_same(*row, chosen)) ++same;
  }
  return sizes >= kFewestSizes && 4 * same >= 3 * sizes;
}

/// Whether the other rows of the same scheme took another time at one size.
bool differs_from(const NamedRows& named, const NamedRows& other) {
  return std::ranges::any_of(named.rows, [&other](const MeasuredRow* row) {
    return std::ranges::any_of(other.rows, [row](const MeasuredRow* one) {
      return one->elements == row->elements && (one->seconds >= kOtherTime * row->seconds ||
                                                row->seconds >= kOtherTime * one->seconds);
    });
  });
}

void mark_in(std::map<std::string, NamedRows>& test, const Times& chosen) {
  for (auto& [name, named] : test) {
    if (named.scheme.scheme.empty() || !took_the_time_of(named, chosen)) continue;
    for (const auto& [other_name, other] : test) {
      if (&other == &named || other.scheme.scheme != named.scheme.scheme ||
          other.scheme.options != named.scheme.options || took_the_time_of(other, chosen) ||
          !differs_from(named, other)) {
        continue;
      }
      for (MeasuredRow* row : named.rows) {
        row->not_as_named = fmt::format(
            "took the times of what the library chose, and {} in the same test did not: it did not "
            "run what it was told",
            other.rows.front()->algorithm);
      }
      break;
    }
  }
}

}  // namespace

bool is_of_the_library(const MeasuredRow& row) {
  return row.algorithm.starts_with("default_") || row.algorithm.starts_with("non_blocking_");
}

void mark_mislabelled(std::vector<MeasuredRow>& rows) {
  std::map<std::string, std::map<std::string, NamedRows>> tests;
  std::map<std::string, Times> chosen;
  for (MeasuredRow& row : rows) {
    if (row.point) continue;
    const std::string test =
        fmt::format("{}\n{}\n{}\n{} {} {} {}\n{}", row.machine, row.run, row.test, row.nodes,
                    row.tasks_per_node, row.collective, row.gpu, row.library);
    if (is_of_the_library(row)) {
      chosen[test].emplace(row.elements, row.seconds);
      continue;
    }
    NamedRows& named = tests[test][fmt::format("{} {}", row.algorithm, row.segment)];
    if (named.rows.empty()) named.scheme = scheme_of(row);
    named.rows.push_back(&row);
  }
  for (auto& [test, named] : tests) mark_in(named, chosen[test]);
}

}  // namespace thinwire::studies
