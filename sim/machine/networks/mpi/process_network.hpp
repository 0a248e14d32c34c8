// A network of real processes, one for each rank. It runs the program of its own rank alone, moves
// real bytes, and reads the clock of the machine.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "sim/core/base/units.hpp"
#include "sim/core/kernel/network.hpp"

namespace thinwire::networks {

/// How a rank waits for messages, in seconds.
struct WaitingSettings {
  double limit = 0;  ///< a rank at which nothing arrives for so long throws DeadlockError; 0: never
  /// Sleep between looks for messages, which leaves the processor to ranks on the same core; 0: look
  /// again at once.
  double pause = 0;
};

/// run() takes the program of this process's rank, and all processes call it together. It
/// returns the same report on all of them. Local work takes the time that it takes, so compute()
/// does nothing. After an exception the processes are out of step, so the only thing left to do is
/// to end them all.
class ProcessNetwork : public Network {
 public:
  [[nodiscard]] virtual int rank() const = 0;
  /// P, the number of processes.
  [[nodiscard]] virtual int size() const = 0;
  /// The texts of all processes, by rank. All call it together.
  [[nodiscard]] virtual std::vector<std::string> gather(const std::string& text) = 0;
  /// The text of rank 0, for which the others wait without keeping a processor busy.
  [[nodiscard]] virtual std::string from_first(const std::string& text) = 0;
  /// The library that moves the bytes, and its version, in one line.
  [[nodiscard]] virtual std::string library() const = 0;
  [[nodiscard]] virtual std::string host() const = 0;
  /// Sums a vector of all processes by the library's own allreduce, and returns the time that this
  /// took here, from the common start on. `sum` is as long as `mine`.
  [[nodiscard]] virtual Seconds library_allreduce(std::span<const float> mine,
                                                  std::span<float> sum) = 0;
};

}  // namespace thinwire::networks
