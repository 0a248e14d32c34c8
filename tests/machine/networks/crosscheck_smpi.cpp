// Our collectives against SMPI's own, which others wrote: the same algorithm on the same platform
// must take the same time.
//
//   crosscheck_smpi [RANKS ...] [PLATFORM ...]     a row for each platform, collective and P
//
// Where both go the same way step by step the ratio is 1 to six digits, and the program exits with
// 1 where it is not. Where SMPI's goes another way than ours at that P, the row is for reading
// only.
#include <fmt/format.h>
#include <smpi/smpi.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/collectives/allgather.hpp"
#include "algorithms/collectives/allreduce.hpp"
#include "algorithms/collectives/alltoall.hpp"
#include "algorithms/collectives/reduce_scatter.hpp"
#include "sim/core/base/child_process.hpp"
#include "sim/core/gradient/dense_block.hpp"
#include "sim/core/gradient/reduction.hpp"
#include "sim/core/gradient/stream.hpp"
#include "sim/machine/networks/smpi/smpi.hpp"
#include "topologies/loading/placement.hpp"
#include "topologies/loading/shipped.hpp"

namespace {

using namespace thinwire;

constexpr int kWords = 835'584;  // 2^14 x 3 x 17: all P below divide it
constexpr double kEqual = 1e-6;
constexpr double kTolerance = 5e-3;

struct Collective {
  std::string name;
  std::string setting;  ///< what SMPI calls it
  RankProgram ours;
  RankProgram theirs;
  std::function<bool(int ranks)> applies;  ///< do both go the same way at this P?
};

struct Result {
  double ours = 0;
  double theirs = 0;
};

void no_operation(void* /*in*/, void* /*inout*/, int* /*count*/, MPI_Datatype* /*type*/) {}

/// The schedule of an allreduce or a reduce-scatter.
using Allreduce = Task<Message> (*)(Communicator&, Message, const Reduction&);

/// Open MPI's segments, as SMPI has them: 1 MiB.
Task<Message> ring_segmented(Communicator& comm, Message mine, const Reduction& reduction) {
  return algorithms::allreduce_ring_segmented(comm, std::move(mine), reduction, Words(1 << 18));
}

/// All ranks pass the same block: only its length matters here.
class Gradient {
 public:
  Task<void> reduce(Communicator& comm, Allreduce allreduce) {
    co_await allreduce(comm, mine_, reduction_);
  }

 private:
  GradientSpace space_{.components = kWords, .granule = 1};
  SharedWork shared_{1024};
  GradientReduction reduction_{shared_, Seconds(0), space_};
  Message mine_ = message_of(Stream(DenseBlock(0, std::vector<float>(kWords))), space_);
};

/// MPI's own collectives send from any buffers, and no network has to learn of the end of a message.
void send_any_buffers() {
  smpi_comm_set_copy_data_callback([](smx_activity_t, void*, size_t) {});
}

Task<void> smpi_allreduce() {
  send_any_buffers();
  static std::vector<float> from(kWords);
  static std::vector<float> to(kWords);
  MPI_Op operation = MPI_OP_NULL;
  MPI_Op_create(no_operation, 1, &operation);
  MPI_Allreduce(from.data(), to.data(), kWords, MPI_FLOAT, operation, MPI_COMM_WORLD);
  MPI_Op_free(&operation);
  co_return;
}

Task<void> smpi_reduce_scatter(Communicator& comm) {
  send_any_buffers();
  static std::vector<float> from(kWords);
  static std::vector<float> to(kWords);
  const int ranks = comm.size();
  const std::vector<int> counts(static_cast<std::size_t>(ranks), kWords / ranks);
  MPI_Op operation = MPI_OP_NULL;
  MPI_Op_create(no_operation, 1, &operation);
  MPI_Reduce_scatter(from.data(), to.data(), counts.data(), MPI_FLOAT, operation, MPI_COMM_WORLD);
  MPI_Op_free(&operation);
  co_return;
}

using Alltoall = std::function<Task<std::vector<Message>>(Communicator&, std::vector<Message>)>;

Task<void> our_alltoall(Communicator& comm, Alltoall alltoall) {
  const DenseBlock block(0, std::vector<float>(1));
  const Message message{block.payload(), Words(kWords / comm.size())};
  std::vector<Message> blocks(static_cast<std::size_t>(comm.size()), message);
  co_await alltoall(comm, std::move(blocks));
}

Task<void> smpi_alltoall(Communicator& comm) {
  send_any_buffers();
  static std::vector<float> from(kWords);
  static std::vector<float> to(kWords);
  const int words = kWords / comm.size();
  MPI_Alltoall(from.data(), words, MPI_FLOAT, to.data(), words, MPI_FLOAT, MPI_COMM_WORLD);
  co_return;
}

/// The words that a rank contributes to an allgather: equal, or between half and one and a half.
int share(int rank, int ranks, bool equal) {
  const int mean = kWords / ranks;
  return equal ? mean : mean / 2 + (mean / ranks) * ((7 * rank + 3) % ranks);
}

Task<void> our_allgather(Communicator& comm, algorithms::AllgatherSchedule schedule, bool equal) {
  const int words = share(comm.rank().value(), comm.size(), equal);
  const DenseBlock block(0, std::vector<float>(1));
  const Message message{block.payload(), Words(words)};
  co_await schedule(comm, message);
}

Task<void> smpi_allgather(Communicator& comm, bool equal) {
  send_any_buffers();
  static std::vector<float> from(kWords);
  static std::vector<float> to(2 * kWords);
  const int ranks = comm.size();
  const int mine = share(comm.rank().value(), ranks, equal);
  if (equal) {
    MPI_Allgather(from.data(), mine, MPI_FLOAT, to.data(), mine, MPI_FLOAT, MPI_COMM_WORLD);
    co_return;
  }
  std::vector<int> counts;
  for (int rank = 0; rank < ranks; ++rank) counts.push_back(share(rank, ranks, equal));
  std::vector<int> begins(counts.size());
  std::exclusive_scan(counts.begin(), counts.end(), begins.begin(), 0);
  MPI_Allgatherv(from.data(), mine, MPI_FLOAT, to.data(), counts.data(), begins.data(), MPI_FLOAT,
                 MPI_COMM_WORLD);
}

bool power_of_two(int ranks) { return std::has_single_bit(static_cast<unsigned>(ranks)); }
bool no_power_of_two(int ranks) { return !power_of_two(ranks); }
bool even(int ranks) { return ranks % 2 == 0; }
bool any(int /*ranks*/) { return true; }

std::vector<Collective> collectives() {
  const auto ours = [](Allreduce allreduce) {
    return [allreduce, gradient = std::make_shared<Gradient>()](Communicator& comm) {
      return gradient->reduce(comm, allreduce);
    };
  };
  const auto theirs = [](Communicator& /*comm*/) { return smpi_allreduce(); };
  const auto gather = [](bool equal,
                         algorithms::AllgatherSchedule schedule = algorithms::allgather) {
    return [=](Communicator& comm) { return our_allgather(comm, schedule, equal); };
  };
  const auto exchange = [](Alltoall alltoall) {
    return [alltoall](Communicator& comm) { return our_alltoall(comm, alltoall); };
  };
  const Alltoall all_at_once = [](Communicator& comm, std::vector<Message> blocks) {
    return algorithms::alltoall_linear(comm, std::move(blocks));
  };
  const Alltoall bruck = [](Communicator& comm, std::vector<Message> blocks) {
    return algorithms::alltoall_bruck(comm, std::move(blocks));
  };
  const auto their_gather = [](bool equal) {
    return [equal](Communicator& comm) { return smpi_allgather(comm, equal); };
  };
  return {
      {"allreduce_rabenseifner", "smpi/allreduce:rab_rdb", ours(algorithms::allreduce_rabenseifner),
       theirs, any},
      {"allreduce_recursive_doubling", "smpi/allreduce:rdb",
       ours(algorithms::allreduce_recursive_doubling), theirs, any},
      {"allreduce_ring", "smpi/allreduce:lr", ours(algorithms::allreduce_ring), theirs, any},
      {"allgather", "smpi/allgather:rdb", gather(true), their_gather(true), power_of_two},
      {"allgather", "smpi/allgather:bruck", gather(true), their_gather(true), no_power_of_two},
      {"allgatherv", "smpi/allgatherv:mpich_rdb", gather(false), their_gather(false), power_of_two},
      {"allgatherv", "smpi/allgatherv:ompi_bruck", gather(false), their_gather(false),
       no_power_of_two},
      {"allreduce_ring_segmented", "smpi/allreduce:ompi_ring_segmented", ours(ring_segmented),
       theirs, any},
      {"allgather_bruck", "smpi/allgather:bruck", gather(true, algorithms::allgather_bruck),
       their_gather(true), any},
      {"allgather_ring", "smpi/allgather:NTSLR", gather(true, algorithms::allgather_ring),
       their_gather(true), any},
      {"allgather_neighbor_exchange", "smpi/allgather:ompi_neighborexchange",
       gather(true, algorithms::allgather_neighbor_exchange), their_gather(true), even},
      {"reduce_scatter_ring", "smpi/reduce_scatter:ompi_ring",
       ours(algorithms::reduce_scatter_ring), smpi_reduce_scatter, any},
      {"reduce_scatter_halving", "smpi/reduce_scatter:ompi_basic_recursivehalving",
       ours(algorithms::reduce_scatter_recursive_halving), smpi_reduce_scatter, any},
      {"reduce_scatter_pairwise", "smpi/reduce_scatter:mpich_pair",
       ours(algorithms::reduce_scatter_pairwise), smpi_reduce_scatter, any},
      {"alltoall_pairwise", "smpi/alltoall:ring", exchange(algorithms::alltoall_pairwise),
       smpi_alltoall, any},
      {"alltoall_linear", "smpi/alltoall:basic_linear", exchange(all_at_once), smpi_alltoall, any},
      {"alltoall_bruck", "smpi/alltoall:bruck", exchange(bruck), smpi_alltoall, any},
  };
}

Result compare(const std::string& platform, const Collective& collective, int ranks) {
  Result result;
  const ChildOutcome child = in_child_process(
      {.subject = platform, .run = [&] {
         networks::SmpiNetwork network(
             topologies::kPlatforms.file(platform),
             {.more = {collective.setting, "smpi/send-is-detached-thresh:0"}});
         if (std::cmp_less(network.platform().hosts().size(), ranks)) return std::string();
         network.connect(topologies::place(network.platform().hosts(), ranks, "block"));
         const double ours = network.run(ranks, collective.ours).makespan().value();
         const double theirs = network.run(ranks, collective.theirs).makespan().value();
         return fmt::format("{} {}", ours, theirs);
       }});
  if (!child.text.empty()) {
    char* end = nullptr;
    result.ours = std::strtod(child.text.c_str(), &end);
    result.theirs = std::strtod(end, nullptr);
  }
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<int> rank_counts;
  std::vector<std::string> platforms;
  for (int i = 1; i < argc; ++i) {
    if (std::atoi(argv[i]) > 0) {
      rank_counts.push_back(std::atoi(argv[i]));
    } else {
      platforms.emplace_back(argv[i]);
    }
  }
  if (rank_counts.empty()) rank_counts = {2, 3, 8, 12, 16, 17, 48, 64};
  if (platforms.empty()) platforms = topologies::kPlatforms.names();
  int compared = 0;
  int equal = 0;
  int disagreements = 0;
  fmt::print("{:<14} {:<30} {:<48} {:>5} {:>14} {:>14} {:>9}\n", "platform", "ours", "SMPI's",
             "ranks", "ours_s", "smpi_s", "ratio");
  for (const std::string& platform : platforms) {
    for (const Collective& collective : collectives()) {
      for (const int ranks : rank_counts) {
        if (!collective.applies(ranks)) continue;
        const Result result = compare(platform, collective, ranks);
        if (result.theirs == 0) continue;  // fewer hosts than ranks
        const double ratio = result.ours / result.theirs;
        ++compared;
        if (std::abs(ratio - 1) <= kEqual) ++equal;
        const bool agrees = std::abs(ratio - 1) <= kTolerance;
        if (!agrees) ++disagreements;
        fmt::print("{:<14} {:<30} {:<48} {:>5} {:>14.8g} {:>14.8g} {:>9.6f}{}\n", platform,
                   collective.name, collective.setting, ranks, result.ours, result.theirs, ratio,
                   agrees ? "" : "  DISAGREES");
      }
    }
  }
  fmt::print("{} of {} equal to {}, {} off by more than {}\n", equal, compared, kEqual,
             disagreements, kTolerance);
  return disagreements == 0 && compared > 0 ? 0 : 1;
}
