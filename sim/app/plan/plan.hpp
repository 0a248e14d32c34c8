// What will run. resolve() settles everything that a request leaves open; after it nothing reads
// JSON, looks up a scheme or a network, or asks whether a value was given. A platform, a trace, a
// model or a device is still a name or a path then: its file is read in the process that runs.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sim/app/plan/point.hpp"
#include "sim/app/plan/request.hpp"
#include "sim/app/plan/sparsity.hpp"

namespace thinwire::plan {

/// What becomes of a value that somebody gave. Of several runs the highest holds.
enum class Use : std::uint8_t {
  left_out,  ///< it is not in the plan: the network, the model, the input or the scheme has no such
             ///< thing
  standard,  ///< it is the default, which asks for nothing
  idle,      ///< it is in the plan and changes nothing
  read
};

/// A setting or an option that somebody gave.
struct Given {
  std::string path;  ///< "input.overlap", "options.tau"
  Origin origin = Origin::config;
  Use use = Use::read;
  std::string why = {};  ///< why the run does not read it, and what to do

  /// "it changes nothing here: ..."
  [[nodiscard]] std::string reason() const;
  /// "/input/overlap: ..."
  [[nodiscard]] std::string complaint() const;
};

class Plan {
 public:
  Plan(Point point, Sparsity sparsity, std::vector<Given> given);

  [[nodiscard]] const Point& point() const { return point_; }
  [[nodiscard]] Sparsity sparsity() const { return sparsity_; }
  /// What was given by a config, a grid or flags; of a complete point only what is left out.
  [[nodiscard]] const std::vector<Given>& given() const { return given_; }

 private:
  Point point_;
  Sparsity sparsity_;
  std::vector<Given> given_;
};

/// Throws InputError with every contradiction of the request, each as check_point does.
[[nodiscard]] Plan resolve(Request request);

/// What the runs of a command or a sweep are given. It is read if one of them reads it.
class Usage {
 public:
  void add(const Plan& plan);
  /// What no run reads, by path.
  [[nodiscard]] std::vector<Given> unread() const;
  /// Throws InputError, which begins with `where`, if there is any.
  void check(const std::string& where) const;

 private:
  std::map<std::string, Given> given_;
};

}  // namespace thinwire::plan
