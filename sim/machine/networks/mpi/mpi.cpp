#include "sim/machine/networks/mpi/mpi.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <climits>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <thread>
#include <utility>

#include "sim/core/base/errors.hpp"
#include "sim/machine/networks/mpi/launcher.hpp"
#include "sim/machine/networks/mpi/strands.hpp"

namespace thinwire::networks {

namespace {

/// "Open MPI v4.1.4", "MPICH 4.0.2": the first line up to the first comma.
std::string library_version() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  std::string line(text.data(), static_cast<std::size_t>(length));
  line = line.substr(0, line.find_first_of(",\n"));
  std::replace(line.begin(), line.end(), '\t', ' ');
  constexpr std::string_view kWord = " Version:";
  if (const std::size_t word = line.find(kWord); word != std::string::npos) {
    line.erase(word, line.find_first_not_of(' ', word + kWord.size()) - word - 1);
  }
  return line;
}

// A report as text, in numbers of 8 bytes and names. All processes have the same byte order.

template <class T>
void put(std::string& text, const T& value) {
  text.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

template <class T>
T get(std::string_view& text) {
  T value;
  std::memcpy(&value, text.data(), sizeof(value));
  text.remove_prefix(sizeof(value));
  return value;
}

std::string text_of(const RankReport& report, const std::vector<std::string>& names) {
  std::string text;
  put(text, report.finished);
  put(text, report.by_phase.size());
  for (std::size_t i = 0; i < report.by_phase.size(); ++i) {
    put(text, names[i].size());
    text += names[i];
    put(text, report.by_phase[i]);
  }
  return text;
}

/// Ranks may enter phases in different orders, so the report has them in the order of its names.
RankReport report_of(std::string_view text, PhaseNames& names) {
  RankReport report{.finished = get<Seconds>(text), .by_phase = {}};
  const auto phases = get<std::size_t>(text);
  for (std::size_t i = 0; i < phases; ++i) {
    const auto length = get<std::size_t>(text);
    const std::size_t at = names.index_of(text.substr(0, length));
    text.remove_prefix(length);
    if (at >= report.by_phase.size()) report.by_phase.resize(at + 1);
    report.by_phase[at] = get<Traffic>(text);
  }
  return report;
}

}  // namespace

MpiSession::MpiSession(int& argc, char**& argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SINGLE, &provided);  // decision 23: no threads
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (const MpiLauncher& launcher : kMpiLaunchers) {
    const int started = number_in_environment(launcher.size, 1);
    if (size > 1 || started == 1) continue;
    const std::string own = library_version();
    MPI_Finalize();
    throw InputError(
        "{} processes were started by the mpirun of {}, but this program is built with {}, under "
        "which each is alone; use its mpirun",
        started, launcher.library, own);
  }
}

MpiSession::~MpiSession() {
  if (mpi_runs()) MPI_Finalize();
}

MpiNetwork::MpiNetwork(MPI_Comm comm, const WireFormat& format) : transport_(comm, format) {
  MPI_Comm_dup(comm, &comm_);
  MPI_Comm_rank(comm_, &rank_);
  MPI_Comm_size(comm_, &size_);
}

MpiNetwork::~MpiNetwork() {
  if (mpi_runs()) MPI_Comm_free(&comm_);
}

RunReport MpiNetwork::run(int ranks, const RankProgram& program) {
  if (ranks != size_) {
    throw InputError("{} ranks are to run, and there are {} processes", ranks, size_);
  }
  transport_.forget_counts();
  MpiRun run(Rank(rank_), size_, transport_);
  {
    // Making the program reads the rank's gradient, and is not timed.
    Task<void> task = program(run.main());
    MPI_Barrier(comm_);
    run.begin(task);
    run.advance(true);
  }
  RankReport own{.finished = run.finished(), .by_phase = run.main().books().by_phase()};
  add_phases(own.by_phase, run.second().books().by_phase());

  // Each process says first what is wrong, so that all fail alike.
  for (const std::string& complaint : gather(unmatched())) {
    if (!complaint.empty()) throw UnmatchedError(complaint);
  }
  if (const std::size_t left = transport_.drain(); left > 0) {
    throw UnmatchedError("{} receives were posted and complete, and nobody waited for them", left);
  }
  PhaseNames names;
  RunReport report;
  for (const std::string& text : gather(text_of(own, run.names().all()))) {
    report.ranks.push_back(report_of(text, names));
  }
  report.phases = names.all();
  return report;
}

struct MpiNetwork::Alone {
  Alone(Rank rank, int size, MpiTransport& transport, const RankProgram& program)
      : run(rank, size, transport), task(program(run.main())) {
    run.begin(task);
  }
  MpiRun run;
  Task<void> task;
};

void MpiNetwork::start(const RankProgram& program) {
  alone_ = std::make_unique<Alone>(Rank(rank_), size_, transport_, program);
}

bool MpiNetwork::advance(bool wait) {
  if (!alone_) return true;
  if (!alone_->run.advance(wait)) return false;
  static_cast<void>(transport_.drain());
  alone_.reset();
  return true;
}

/// Compares what the others have sent here with the receives that were posted.
std::string MpiNetwork::unmatched() const {
  const auto size = static_cast<std::size_t>(size_);
  std::vector<std::int64_t> arrived(size);
  std::string complaint;
  for (const Strand strand : {Strand::main, Strand::second}) {
    const std::size_t begin = static_cast<std::size_t>(strand) * size;
    MPI_Alltoall(transport_.sent().data() + begin, 1, MPI_INT64_T, arrived.data(), 1, MPI_INT64_T,
                 comm_);
    for (std::size_t from = 0; from < size; ++from) {
      const std::int64_t posted = transport_.posted()[begin + from];
      if (posted == arrived[from] || !complaint.empty()) continue;
      complaint = fmt::format("rank {} sent {} messages to rank {}{}, which posted {} receives",
                              from, arrived[from], rank_,
                              strand == Strand::second ? " from what it started" : "", posted);
    }
  }
  return complaint;
}

std::vector<std::string> MpiNetwork::gather(const std::string& text) {
  const auto own = static_cast<int>(text.size());
  std::vector<int> lengths(static_cast<std::size_t>(size_));
  MPI_Allgather(&own, 1, MPI_INT, lengths.data(), 1, MPI_INT, comm_);
  std::vector<int> begins;
  std::int64_t total = 0;
  for (const int length : lengths) {
    begins.push_back(static_cast<int>(total));
    total += length;
    if (total > INT_MAX) {
      throw SimulationError("the reports of all processes exceed 2 GiB, which MPI cannot gather");
    }
  }
  std::string all(static_cast<std::size_t>(total), '\0');
  if (total > 0) {
    MPI_Allgatherv(text.data(), own, MPI_CHAR, all.data(), lengths.data(), begins.data(), MPI_CHAR,
                   comm_);
  }
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    texts.push_back(
        all.substr(static_cast<std::size_t>(begins[i]), static_cast<std::size_t>(lengths[i])));
  }
  return texts;
}

std::string MpiNetwork::from_first(const std::string& text) {
  const auto broadcast = [this](void* data, int bytes) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Ibcast(data, bytes, MPI_BYTE, 0, comm_, &request);
    for (int done = 0; done == 0;) {
      MPI_Test(&request, &done, MPI_STATUS_IGNORE);
      if (done == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  };
  std::string result = text;
  auto length = static_cast<std::int64_t>(text.size());
  broadcast(&length, sizeof(length));
  result.resize(static_cast<std::size_t>(length));
  if (length > 0) broadcast(result.data(), static_cast<int>(length));
  return result;
}

std::string MpiNetwork::library() const { return library_version(); }

std::string MpiNetwork::host() const {
  std::array<char, MPI_MAX_PROCESSOR_NAME> name{};
  int length = 0;
  MPI_Get_processor_name(name.data(), &length);
  return {name.data(), static_cast<std::size_t>(length)};
}

Seconds MpiNetwork::library_allreduce(std::span<const float> mine, std::span<float> sum) {
  MPI_Barrier(comm_);
  const double begin = MPI_Wtime();
  MPI_Allreduce(mine.data(), sum.data(), static_cast<int>(mine.size()), MPI_FLOAT, MPI_SUM, comm_);
  return Seconds(MPI_Wtime() - begin);
}

}  // namespace thinwire::networks
