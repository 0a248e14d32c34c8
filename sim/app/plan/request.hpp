// What somebody asks for: the settings of a point, each with where it comes from.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "sim/core/base/json.hpp"

namespace thinwire::plan {

/// Where a value comes from; a later one goes over an earlier one.
enum class Origin : std::uint8_t {
  model,
  row,  ///< a complete point, as rows have it: it need not say what it does not read
  config,
  options_of,  ///< of a sweep
  grid,
  flag
};

/// The values of a request as a config, and the origin of each. What nobody gives has its default.
class Request {
 public:
  /// `where` begins error messages: the file or the command.
  Request(Json values, Origin origin, std::string where);

  /// Sets a value by its dotted path ("input.overlap"), in place of an earlier one. k replaces a density
  /// that comes from an earlier origin, and density replaces such a k. Throws InputError if a
  /// part of the path is a value other than an object.
  void give(const std::string& path, const Json& value, Origin origin);

  /// Takes `values`, a config that has been made of values(); what is new in it comes from a model.
  void complete(Json values);

  [[nodiscard]] const Json* find(const std::string& path) const;
  [[nodiscard]] bool has(const std::string& path) const { return find(path) != nullptr; }
  [[nodiscard]] Origin origin_of(const std::string& path) const;
  [[nodiscard]] const Json& values() const { return values_; }
  [[nodiscard]] const std::string& where() const { return where_; }

 private:
  Json values_;
  Origin first_;  ///< of what was given first
  std::map<std::string, Origin> later_;
  std::string where_;
};

}  // namespace thinwire::plan
