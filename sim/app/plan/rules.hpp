// What a run cannot be asked for: the table of contradictions. Which settings a run reads is said
// beside each setting, in settings.cpp.
#pragma once

#include <span>
#include <string>

#include "algorithms/scheme.hpp"
#include "sim/app/plan/point.hpp"
#include "sim/app/plan/request.hpp"

namespace thinwire::plan {

/// What a rule looks at.
struct Facts {
  const Request& request;
  const Point& point;
};

/// A contradiction: an error, whose pointer names `setting`.
struct Rule {
  const char* setting;
  bool (*applies)(const Facts& facts);
  const char* text;  ///< what is wrong, and what to do; {} stands for `of`
  std::string (*of)(const Facts& facts) = nullptr;

  /// "WHERE: /setting: text"
  [[nodiscard]] std::string complaint(const Facts& facts) const;
};

[[nodiscard]] std::span<const Rule> rules();

}  // namespace thinwire::plan
