// Processor time a message on SimGrid: bench_smpi PLATFORM [RANKS ...].
//
// Rotated all-to-all of 1000 bytes, one message in flight a rank, through the Communicator, each
// message with a payload handle; then the same with every link recorded, to tell what that costs.
// Every line is a process of its own: µs a message, and the most memory that it held.
#include <fmt/format.h>

#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

#include "sim/core/child_process.hpp"
#include "sim/core/errors.hpp"
#include "sim/gradient/dense_block.hpp"
#include "sim/networks/smpi/smpi.hpp"
#include "topologies/placement.hpp"
#include "topologies/shipped.hpp"

namespace {

using namespace thinwire;

constexpr std::int64_t kWords = 250;

Task<void> rotate(Communicator& comm, Message message) {
  const int size = comm.size();
  const int rank = comm.rank().value();
  for (int step = 1; step < size; ++step) {
    const Rank to((rank + step) % size);
    const Rank from((rank - step + size) % size);
    co_await comm.sendrecv(to, message, from, Tag(0));
  }
}

double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

void measure(const std::string& platform, int ranks, bool record_links) {
  const std::string file = platform_file(platform);
  const ChildOutcome child = in_child_process(
      {.subject = file, .run = [&] {
         SmpiNetwork network(file, {.record_links = record_links});
         network.place(place(network.platform().hosts(), ranks, "block"));
         const Message message{DenseBlock(0, std::vector<float>(kWords)).payload(), Words(kWords)};
         const double begin = processor_seconds();
         const RunReport report =
             network.run(ranks, [&](Communicator& comm) { return rotate(comm, message); });
         const double messages = static_cast<double>(ranks) * (ranks - 1);
         return fmt::format("{:>8.2f} us/message  {:.6g} s simulated",
                            1e6 * (processor_seconds() - begin) / messages,
                            report.makespan().value());
       }});
  fmt::print("{:<14} P = {:<5}{:<16}{}  {:.0f} MB\n", platform, ranks,
             record_links ? "links recorded" : "", child.text,
             static_cast<double>(child.peak_rss_bytes) / 1e6);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "bench_smpi: wanted is a platform, as in: bench_smpi alphabeta 256 1024\n");
    return 2;
  }
  std::vector<int> rank_counts;
  for (int i = 2; i < argc; ++i) rank_counts.push_back(std::atoi(argv[i]));
  if (rank_counts.empty()) rank_counts = {256, 1024, 2048};
  try {
    for (const int ranks : rank_counts) {
      measure(argv[1], ranks, false);
      measure(argv[1], ranks, true);
    }
  } catch (const InputError& error) {
    fmt::print(stderr, "bench_smpi: {}\n", error.what());
    return 2;
  }
  return 0;
}
