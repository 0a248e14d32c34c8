// Processor time per message on SimGrid, through the Communicator, each message with a payload.
//
//   bench_smpi [PLATFORM] [RANKS ...] [--in-flight B] [--spread S] [--links] [--plain] ...
//
// The pattern is a rotated all-to-all: in step s rank r sends to r + s, with up to B exchanges in
// flight. Prints one line per number of ranks, each from its own process: µs per message, the
// simulated time, and the peak memory. --plain runs the same by MPI_Sendrecv without Thinwire, for
// comparison.
#include <fmt/format.h>
#include <smpi/smpi.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "sim/core/base/child_process.hpp"
#include "sim/core/base/errors.hpp"
#include "sim/core/base/random.hpp"
#include "sim/core/gradient/dense_block.hpp"
#include "sim/machine/networks/smpi/smpi.hpp"
#include "topologies/loading/placement.hpp"
#include "topologies/loading/shipped.hpp"

namespace {

using namespace thinwire;

struct Pattern {
  double words = 250;  ///< mean
  double spread = 0;   ///< lengths are uniform in words (1 ± spread)
  std::size_t in_flight = 1;
};

class Exchanges {
 public:
  explicit Exchanges(const Pattern& pattern) : pattern_(pattern) {}

  Task<void> rotate(Communicator& comm) const {
    const int size = comm.size();
    const int rank = comm.rank().value();
    std::deque<std::pair<Request, Request>> under_way;
    for (int step = 1; step < size; ++step) {
      if (under_way.size() == pattern_.in_flight) co_await oldest(comm, under_way);
      const Rank to((rank + step) % size);
      const Rank from((rank - step + size) % size);
      const Request received = comm.irecv(from, Tag(0));
      under_way.emplace_back(comm.isend(to, Tag(0), {payload_, length(rank, to.value())}),
                             received);
    }
    while (!under_way.empty()) co_await oldest(comm, under_way);
  }

  /// The same with one exchange in flight, as in a plain SMPI program.
  static Task<void> rotate_plainly(Communicator& comm, int bytes) {
    static char nowhere;
    // No network has to learn of the ends of these messages.
    smpi_comm_set_copy_data_callback([](smx_activity_t, void*, size_t) {});
    const int size = comm.size();
    const int rank = comm.rank().value();
    for (int step = 1; step < size; ++step) {
      MPI_Sendrecv(&nowhere, bytes, MPI_BYTE, (rank + step) % size, 0, &nowhere, bytes, MPI_BYTE,
                   (rank - step + size) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    co_return;
  }

 private:
  static Task<void> oldest(Communicator& comm, std::deque<std::pair<Request, Request>>& under_way) {
    const auto [sent, received] = under_way.front();
    under_way.pop_front();
    co_await comm.wait(received);
    co_await comm.wait(sent);
  }

  [[nodiscard]] Words length(int from, int to) const {
    const double share =
        to_unit(random_bits(1, static_cast<std::uint64_t>(from), static_cast<std::uint64_t>(to)));
    return Words(
        static_cast<std::int64_t>(pattern_.words * (1 + pattern_.spread * (2 * share - 1))));
  }

  Pattern pattern_;
  Payload payload_ = DenseBlock(0, std::vector<float>(1)).payload();
};

double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

struct Way {
  networks::SmpiSettings settings;
  bool plain = false;
  int repeats = 1;
};

struct Measured {
  double per_message;  ///< processor seconds
  double simulated;    ///< seconds
};

Measured measured(const std::string& file, int ranks, const Pattern& pattern, const Way& way) {
  networks::SmpiNetwork network(file, way.settings);
  network.connect(place(network.platform().hosts(), ranks, "block"));
  const Exchanges exchanges(pattern);
  const auto program = [&](Communicator& comm) {
    return way.plain ? Exchanges::rotate_plainly(comm, static_cast<int>(4 * pattern.words))
                     : exchanges.rotate(comm);
  };
  const double begin = processor_seconds();
  const RunReport report = network.run(ranks, program);
  const double messages = static_cast<double>(ranks) * (ranks - 1);
  return {(processor_seconds() - begin) / messages, report.makespan().value()};
}

void measure(const std::string& platform, int ranks, const Pattern& pattern, const Way& way) {
  const std::string file = topologies::kPlatforms.file(platform);
  Measured least{HUGE_VAL, 0};
  double memory = 0;
  for (int i = 0; i < way.repeats; ++i) {
    const ChildOutcome child =
        in_child_process({.subject = file, .run = [&] {
                            const Measured one = measured(file, ranks, pattern, way);
                            return fmt::format("{} {}", one.per_message, one.simulated);
                          }});
    char* end = nullptr;
    const double per_message = std::strtod(child.text.c_str(), &end);
    if (per_message < least.per_message) least = {per_message, std::strtod(end, nullptr)};
    memory = std::max(memory, static_cast<double>(child.peak_rss_bytes));
  }
  fmt::print("{:<14} P = {:<5}{:>8.2f} us/message  {:.6g} s simulated  {:.0f} MB\n", platform,
             ranks, 1e6 * least.per_message, least.simulated, memory / 1e6);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Processor time a message on SimGrid: rotated all-to-all");
  std::string platform = "alphabeta";
  std::vector<int> rank_counts{256, 1024, 2048};
  Pattern pattern;
  Way way;
  double resolution = 0;
  app.add_option("platform", platform, "a shipped platform or an XML file")->capture_default_str();
  app.add_option("ranks", rank_counts, "numbers of ranks")
      ->check(CLI::Range(2, 1 << 20))
      ->capture_default_str();
  app.add_option("--words", pattern.words, "mean length")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--spread", pattern.spread, "0 to 1: lengths are uniform in words (1 +- spread)")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  app.add_option("--in-flight", pattern.in_flight, "exchanges that a rank has under way")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--time-resolution", resolution, "seconds; 0 is exact")->capture_default_str();
  app.add_option("--flows-per-port", way.settings.flows_per_port, "0: all")->capture_default_str();
  app.add_flag("--links", way.settings.record_links, "record every link");
  app.add_flag("--plain", way.plain, "MPI_Sendrecv instead of the Communicator, one under way");
  app.add_option("--repeat", way.repeats, "runs of which the quickest counts")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  if (way.plain) way.settings.more.emplace_back("smpi/send-is-detached-thresh:0");
  way.settings.time_resolution = Seconds(resolution);
  try {
    for (const int ranks : rank_counts) measure(platform, ranks, pattern, way);
  } catch (const std::runtime_error& error) {
    fmt::print(stderr, "bench_smpi: {}\n", error.what());
    return 1;
  }
  return 0;
}
