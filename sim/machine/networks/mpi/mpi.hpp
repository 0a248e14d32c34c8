// Real processes that send real bytes by MPI: one process for each rank.
//
// One thread does everything: both strands of the rank are coroutines, which an event loop resumes
// when MPI has completed what they wait for (docs/decisions/0023-mpi.md). The loop runs, and MPI
// makes progress, when a strand waits: local work on one strand holds up the other. Strands have
// communicators of their own. The ranks start after a barrier, and the time of each counts from
// there. Ledgers are kept as on the other networks.
#pragma once

#include <mpi.h>

#include <memory>
#include <string>

#include "sim/core/kernel/wire_format.hpp"
#include "sim/machine/networks/mpi/process_network.hpp"
#include "sim/machine/networks/mpi/transport.hpp"

namespace thinwire::networks {

/// MPI from its initialisation to its end, in a program that has no other.
class MpiSession {
 public:
  /// Throws InputError if the processes were started by another MPI library's mpirun, under which
  /// each of them would be alone.
  MpiSession(int& argc, char**& argv);
  MpiSession(const MpiSession&) = delete;
  MpiSession& operator=(const MpiSession&) = delete;
  ~MpiSession();
};

/// The processes of an MPI communicator as a network.
class MpiNetwork final : public ProcessNetwork {
 public:
  /// All processes of `comm` construct it together. `format` must outlive it; `comm` is duplicated.
  /// It may be destroyed after MPI_Finalize.
  MpiNetwork(MPI_Comm comm, const WireFormat& format);
  MpiNetwork(const MpiNetwork&) = delete;
  MpiNetwork& operator=(const MpiNetwork&) = delete;
  ~MpiNetwork() override;

  void wait_as(const WaitingSettings& waiting) { transport_.wait_as(waiting); }

  /// Throws InputError unless there are `ranks` processes. A timeline gets nothing.
  RunReport run(int ranks, const RankProgram& program) override;

  /// Starts the program of this rank alone: without a barrier before it and a report after it. The
  /// programs of the other ranks run whenever those start theirs. There is one at a time.
  void start(const RankProgram& program);
  /// Continues it, and if `wait` waits for its end. Returns whether it has ended. Messages make
  /// progress here and nowhere else. Rethrows its exceptions.
  bool advance(bool wait);

  /// For collectives of all processes that are no messages of a program.
  [[nodiscard]] MPI_Comm comm() const { return comm_; }
  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return size_; }
  [[nodiscard]] std::vector<std::string> gather(const std::string& text) override;
  [[nodiscard]] std::string from_first(const std::string& text) override;
  [[nodiscard]] std::string library() const override;
  [[nodiscard]] std::string host() const override;
  [[nodiscard]] Seconds library_allreduce(std::span<const float> mine,
                                          std::span<float> sum) override;

 private:
  struct Alone;
  [[nodiscard]] std::string unmatched() const;

  MPI_Comm comm_ = MPI_COMM_NULL;  // for what is no message of a program
  int rank_ = 0;
  int size_ = 1;
  MpiTransport transport_;
  std::unique_ptr<Alone> alone_;  // the program that start() has started
};

}  // namespace thinwire::networks
