// An allreduce for MPI programs, by any scheme: made once, and called in each iteration on the
// gradient of this process. docs/how-to/measure-on-mpi.md says what travels, and
// examples/mpi_training is a program that uses it.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>

#include "algorithms/options.hpp"
#include "sim/core/base/errors.hpp"
#include "sim/core/base/units.hpp"
#include "sim/core/gradient/stream.hpp"

namespace thinwire::mpi {

/// A gradient, or its sum with the residual, has a NaN or an infinity on one of the processes.
class NotFiniteError : public InputError {
 public:
  using InputError::InputError;
};

/// What to compute, the same on all processes.
struct AllreduceSettings {
  std::string scheme = "oktopk";  ///< a scheme, or SCHEME+SPARSIFIER: see 'thinwire list schemes'
  std::map<std::string, algorithms::OptionValue> options = {};  ///< those that are not the defaults
  std::int64_t components = 0;                                  ///< n, the length of a gradient
  double density = 0.01;                                        ///< k/n, for sparse schemes
  /// Whether what did not contribute to a sum is added to the next gradient (error feedback).
  bool error_feedback = true;
  std::uint64_t seed = 1;  ///< of random draws
  /// The network's costs per message and per word, for schemes that decide by them (DRAGONN).
  Seconds alpha{2e-6};
  Seconds beta_per_word{4e-10};
};

/// The allreduce of one process. Not to be used by several threads at once. Exceptions
/// of the constructor, and NotFiniteError, are thrown on all processes. Any other exception is thrown on
/// this process alone, and the other processes wait for it: end them by MPI_Abort.
class Allreduce {
 public:
  /// All processes of `comm` make it together, after MPI_Init; it keeps a duplicate of `comm`.
  /// Throws InputError on all processes if there is no such scheme, if it is no allreduce, if it
  /// cannot run there, or if the settings of two processes differ. It may be destroyed after
  /// MPI_Finalize.
  Allreduce(MPI_Comm comm, const AllreduceSettings& settings);
  Allreduce(const Allreduce&) = delete;
  Allreduce& operator=(const Allreduce&) = delete;
  ~Allreduce();

  /// Sums the gradients of all processes, of `components` floats each. Returns the sum, dense or
  /// sparse, the same on all of them; it stays valid until the next call. Throws InputError for a
  /// gradient of another length.
  ///
  /// NaN and infinity: schemes that send all values as they are (`dense_ring`, ...) sum them as
  /// MPI_Allreduce does. All others throw NotFiniteError on every process, where one of them has
  /// such a value: the gradients of this call are dropped everywhere, the residual is as before,
  /// the scheme begins anew as in its first iteration, and the next call runs as usual.
  const Stream& sum(std::span<const float> gradient);

  /// The same without waiting. The gradient may be changed at once. One sum at a time.
  void start(std::span<const float> gradient);
  /// Continues, and returns whether the sum is there. Messages make progress only in test() and
  /// wait(), so a program that computes meanwhile calls test() now and then. Both throw
  /// NotFiniteError as sum() does.
  [[nodiscard]] bool test();
  /// Waits for the sum.
  const Stream& wait();

  /// What of this process's gradient and residual went into the last sum: the coordinates of a
  /// sparse one; values, if the scheme sends approximate ones; empty if it is all of it.
  [[nodiscard]] const Stream& contributed() const;

  /// What did not contribute so far and is added to the next gradient, for a checkpoint of the
  /// training: `components` floats of this process, or none without error feedback and with schemes
  /// that send all. Valid until the next call. Throws SimulationError while a sum runs.
  [[nodiscard]] std::span<const float> residual() const;
  /// Continues from a checkpoint: every process calls it between the same sums, with its own
  /// residual. What the scheme keeps itself, such as thresholds and boundaries, begins anew as in
  /// its first iteration. Throws InputError for another length and for values that are not finite,
  /// SimulationError while a sum runs.
  void restore(std::span<const float> residual);

 private:
  class State;
  std::unique_ptr<State> state_;
};

/// Adds `factor` times a sum to `vector`, which has all components. Throws InputError, and adds
/// nothing, if the sum has a component beyond its end.
void add_to(std::span<float> vector, const Stream& sum, float factor = 1);

}  // namespace thinwire::mpi
