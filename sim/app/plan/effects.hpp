// Refuses settings and options of schemes that are given and would be ignored.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "algorithms/scheme.hpp"
#include "sim/app/plan/point.hpp"
#include "sim/core/base/json.hpp"

namespace thinwire::plan {

/// Leaves out the options that the scheme of a point lacks and that another of `schemes`, those of
/// all runs of a command or a sweep, has. `point` is a config.
void leave_options_to_others(Json& point, const std::set<std::string>& schemes);

/// What the runs of a command or a sweep are given. It has an effect if it changes one of them.
/// Values that are the default ask for nothing, and pass. So does a complete point, as rows have
/// it.
class GivenSettings {
 public:
  /// `given` is the config, or a part of it, that `point` was made of.
  void add(const Json& given, const Point& point);

  struct Idle {
    std::string path;  ///< "input.overlap", "options.tau"
    std::string why;   ///< and what to do
  };
  /// The first setting or option that changes none of the runs.
  [[nodiscard]] std::optional<Idle> idle() const;
  /// Throws InputError if there is one.
  void check(const std::string& origin) const;

 private:
  void note(const std::string& path, const std::string& why);

  std::map<std::string, std::string> idle_;  // path and why
  std::set<std::string> effective_;          // paths
  std::set<std::string> known_;              // paths of options that a scheme has
  std::set<std::string> unknown_;            // paths of options that a scheme lacks
  std::map<std::string, algorithms::SchemeInfo> schemes_;
};

}  // namespace thinwire::plan
