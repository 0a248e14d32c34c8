// Reads measured times of collectives: a CSV of one row per point, the text output of nccl-tests, of
// the OSU micro-benchmarks and of the Intel MPI Benchmarks (IMB), and the rows of 'thinwire measure'.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "sim/app/plan/point.hpp"

namespace thinwire::studies {

/// One measured point.
struct MeasuredRow {
  std::string machine;
  std::string run;   ///< the job
  std::string test;  ///< the number of the test in the job
  int nodes = 1;
  int tasks_per_node = 1;
  std::string collective;  ///< allreduce, allgather, reduce_scatter, alltoall, ping_pong
  std::string library;
  std::string algorithm;     ///< as the library or the benchmark names it; empty: not named
  bool gpu = false;          ///< the buffers were in GPU memory
  std::string device = {};   ///< the GPU, "NVIDIA H100 80GB HBM3"; empty: not named
  std::int64_t segment = 0;  ///< bytes per segment; 0: not segmented
  /// Words of 4 bytes of the whole vector: of an allreduce the vector, of an allgather the result,
  /// of a reduce-scatter each rank's input, of an all-to-all what a rank sends in all, with its own
  /// block. 0 if the vector is no whole number of words.
  std::int64_t elements = 0;
  double seconds = 0;
  double seconds_min = 0;         ///< of the repetitions; 0: not known
  std::string place;              ///< "FILE:LINE"
  std::string not_as_named = {};  ///< why the algorithm is not the one that is named; empty: it is
  bool of_first_ranks = false;    ///< other ranks of the run may have waited meanwhile
  /// What was measured, of a row of 'thinwire measure'; null for others, which are dense collectives
  /// that their names and sizes describe.
  std::shared_ptr<const plan::Point> point = nullptr;

  /// How many components each rank selects; 0 of a dense collective.
  [[nodiscard]] std::int64_t selected() const;
};

/// A file of measured rows, and what its text does not say.
struct MeasuredFile {
  std::string path;
  /// By the names of the columns of the CSV; not for a CSV.
  std::map<std::string, std::string> facts = {};
  /// What holds where neither the text nor the user says it: the machine of a description.
  std::map<std::string, std::string> otherwise = {};

  /// A fact, or nothing if it is not given.
  [[nodiscard]] std::string fact(const std::string& name) const;
};

/// Reads "FILE[,KEY=VALUE...]". A run that is not said is named after the file. Throws InputError for a key that is no fact, and one that comes
/// twice.
[[nodiscard]] MeasuredFile measured_file(const std::string& argument);

/// The rows of a file, whose format is recognised by its content. Throws InputError that names the
/// file, the line and the column: a column that is missing, a value that is not right, a unit that
/// is not known; and for facts that are missing or contradict the file.
///
/// CSV: machine, run, test, nodes, tasks_per_node, collective, library, gpu (yes, no), algorithm,
/// segment (may be empty), elements and seconds_median are needed. seconds_min is read if it is
/// there, other columns are ignored.
/// nccl-tests: the out-of-place time; nodes and tasks per node come from the list of ranks.
/// OSU: the average latency over the ranks; the sizes of allgather and alltoall are the
/// size of one rank's block. The latency of two ranks is doubled, since a ping-pong goes both ways.
/// Rows of 'thinwire measure': the median of the slowest rank. Rows of simulations and rows without
/// a result, which such a file may hold too, are left out. The machine is a fact; run and test may be.
/// IMB: the time of the slowest process, t_max; tables of other benchmarks are skipped. Nodes follow
/// from the fact tasks_per_node. The sizes of Allgather and Alltoall are the size of one block.
[[nodiscard]] std::vector<MeasuredRow> read_measured(const MeasuredFile& file);
/// The rows of all files, given as measured_file() takes them. Throws InputError for one that is
/// given twice, whose rows would count twice. Mislabelled rows are marked. `machine`, if any, is what texts are of that do not say
/// it.
[[nodiscard]] std::vector<MeasuredRow> read_all_measured(const std::vector<std::string>& arguments,
                                                         const std::string& machine = {});

/// The names of the collectives.
[[nodiscard]] const std::vector<std::string>& known_collectives();
/// The name of a collective as it is known here: "allreduce" for "AllReduce" and "all_reduce"; other
/// names stay.
[[nodiscard]] std::string known_collective(const std::string& name);
/// "yes" for "true", "no" for "false"; others stay.
[[nodiscard]] std::string yes_or_no(const std::string& flag);

}  // namespace thinwire::studies
