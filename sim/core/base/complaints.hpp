// Collects what is wrong with an input, so that all of it is told at once.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sim/core/base/errors.hpp"

namespace thinwire::inline base {

/// Several errors of one input. what() has a line for each.
class InputErrors : public InputError {
 public:
  explicit InputErrors(std::vector<std::string> lines);
  [[nodiscard]] const std::vector<std::string>& lines() const { return lines_; }

 private:
  std::vector<std::string> lines_;
};

/// What is wrong with an input, told together.
class Complaints {
 public:
  /// Each once.
  void add(std::string line);
  /// Calls `work` and adds the InputError that it throws. Returns whether it threw none.
  template <class Work>
  bool attempt(Work work) {
    try {
      work();
      return true;
    } catch (const InputErrors& errors) {
      for (const std::string& line : errors.lines()) add(line);
    } catch (const InputError& error) {
      add(error.what());
    }
    return false;
  }
  [[nodiscard]] std::size_t size() const { return lines_.size(); }
  /// Throws InputError if there is one complaint, InputErrors if there are several.
  void check() const;

 private:
  std::vector<std::string> lines_;
};

}  // namespace thinwire::inline base
