// Several child processes at once, whose outcomes are taken in the order of their start.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "sim/core/base/child_process.hpp"

namespace thinwire::inline base {

/// The number of processes that run at once by default: that of the processors.
[[nodiscard]] int default_processes();

/// Child processes of which at most some run at once.
class Children {
 public:
  /// `most`, at least 1, may run at once; the limits are those of each.
  explicit Children(int most, const ChildLimits& limits = {}, bool verbose = false)
      : most_(static_cast<std::size_t>(most)), limits_(limits), verbose_(verbose) {}

  /// Starts one more child, which becomes the last; waits until fewer than `most` run. If no
  /// process can be had beside those that run, there are fewer at once from now on. Throws
  /// SimulationError if no process can be had at all, and as ChildProcess::wait does.
  void start(const ChildWork& work);
  /// The number of children that were started.
  [[nodiscard]] std::size_t size() const { return children_.size(); }
  /// Whether child `i` has ended; does not wait.
  [[nodiscard]] bool has_ended(std::size_t i) { return children_.at(i)->advance(); }
  /// Waits until child `i` has ended. Throws as ChildProcess::wait does.
  const ChildProcess& ended(std::size_t i);

 private:
  [[nodiscard]] std::size_t running();
  /// Waits until less than `count` children run.
  void wait_for_fewer_than(std::size_t count);

  std::size_t most_;
  ChildLimits limits_;
  bool verbose_;
  std::vector<std::unique_ptr<ChildProcess>> children_;
};

}  // namespace thinwire::inline base
