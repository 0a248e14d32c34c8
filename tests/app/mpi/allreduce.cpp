// The allreduce for MPI programs, against sums that are made one by one. Run by mpirun; the
// gradients of all processes are known to each.
#include "sim/app/mpi/allreduce.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <cmath>
#include <cstdio>
#include <exception>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sim/core/base/errors.hpp"
#include "sim/core/base/random.hpp"
#include "tests/support/leaks.hpp"

namespace thinwire {

namespace {

constexpr int kComponents = 500;

struct Processes {
  int rank = 0;
  int size = 1;
};

void demand(bool right, const std::string& what) {
  if (!right) throw SimulationError(what);
}

/// Whole numbers, so that sums are exact in any order.
std::vector<float> gradient_of_process(int rank, int iteration) {
  std::vector<float> values;
  for (int i = 0; i < kComponents; ++i) {
    values.push_back(static_cast<float>(random_bits(5, rank, iteration, i) % 2001) - 1000);
  }
  return values;
}

std::vector<float> as_vector(const Stream& sum) {
  std::vector<float> values(kComponents);
  mpi::add_to(values, sum);
  return values;
}

/// A dense sum, waited for and asked for.
void dense(Processes processes, const char* scheme) {
  mpi::Allreduce allreduce(MPI_COMM_WORLD, {.scheme = scheme, .components = kComponents});
  for (int iteration = 1; iteration <= 4; ++iteration) {
    std::vector<float> wanted(kComponents);
    for (int rank = 0; rank < processes.size; ++rank) {
      const std::vector<float> one = gradient_of_process(rank, iteration);
      for (int i = 0; i < kComponents; ++i) {
        wanted[static_cast<std::size_t>(i)] += one[static_cast<std::size_t>(i)];
      }
    }
    const std::vector<float> own = gradient_of_process(processes.rank, iteration);
    if (iteration % 2 == 0) {
      allreduce.start(own);
      while (!allreduce.test()) {
      }
      demand(allreduce.test(), "what has ended stays so");
    }
    const Stream& sum = iteration % 2 == 0 ? allreduce.wait() : allreduce.sum(own);
    demand(as_vector(sum) == wanted, fmt::format("{}: a dense sum", scheme));
  }
}

/// What contributed makes up the sums, and the rest stays in the residual: over all iterations,
/// sums and residuals add up to the gradients.
void sparse(Processes processes, const char* scheme, bool feedback) {
  mpi::Allreduce allreduce(
      MPI_COMM_WORLD,
      {.scheme = scheme, .components = kComponents, .density = 0.05, .error_feedback = feedback});
  std::vector<std::vector<float>> residuals(static_cast<std::size_t>(processes.size),
                                            std::vector<float>(kComponents));
  for (int iteration = 1; iteration <= 5; ++iteration) {
    const Stream& sum = allreduce.sum(gradient_of_process(processes.rank, iteration));
    // Each tells which of its coordinates contributed.
    std::vector<int> mine(kComponents);
    for (const Entry& entry : std::get<SparseVector>(allreduce.contributed()).entries()) {
      mine[entry.coordinate] = 1;
    }
    std::vector<int> all(static_cast<std::size_t>(kComponents * processes.size));
    MPI_Allgather(mine.data(), kComponents, MPI_INT, all.data(), kComponents, MPI_INT,
                  MPI_COMM_WORLD);
    std::vector<float> wanted(kComponents);
    for (int rank = 0; rank < processes.size; ++rank) {
      std::vector<float>& residual = residuals[static_cast<std::size_t>(rank)];
      const std::vector<float> gradient = gradient_of_process(rank, iteration);
      for (std::size_t i = 0; i < kComponents; ++i) {
        const float accumulated = (feedback ? residual[i] : 0) + gradient[i];
        const bool sent = all[static_cast<std::size_t>(rank) * kComponents + i] != 0;
        if (sent) wanted[i] += accumulated;
        residual[i] = sent ? 0 : accumulated;
      }
    }
    demand(as_vector(sum) == wanted,
           fmt::format("{}: a sparse sum, iteration {}", scheme, iteration));
  }
}

template <class Call>
void refuses(Call call, const char* what) {
  try {
    call();
  } catch (const InputError&) {
    return;
  }
  throw SimulationError(fmt::format("{} is not refused", what));
}

void all_of(Processes processes) {
  for (const char* scheme : {"dense_ring", "dense_rabenseifner", "dense_ovlp"}) {
    dense(processes, scheme);
  }
  for (const char* scheme : {"oktopk", "topka", "dragonn", "exdyna", "topkdsa"}) {
    for (const bool feedback : {true, false}) sparse(processes, scheme, feedback);
  }
  const auto make = [](const mpi::AllreduceSettings& settings) {
    const mpi::Allreduce allreduce(MPI_COMM_WORLD, settings);
  };
  refuses([&] { make({.scheme = "oktopkk", .components = 5}); }, "an unknown scheme");
  refuses([&] { make({.scheme = "alltoall_bruck", .components = 5}); }, "no allreduce");
  refuses([&] { make({.components = 0}); }, "no components");
  refuses([&] { make({.components = 5, .density = 2}); }, "a density of 2");
  refuses([&] { make({.options = {{"tau", std::int64_t{0}}}, .components = 5}); }, "tau 0");
  mpi::Allreduce five(MPI_COMM_WORLD, {.scheme = "dense_ring", .components = 5});
  refuses([&] { five.start(std::vector<float>(4)); }, "a shorter gradient");
}

}  // namespace

}  // namespace thinwire

int main(int argc, char** argv) {
  {
    const thinwire::test::IgnoredLeaks starting;
    MPI_Init(&argc, &argv);
  }
  thinwire::Processes processes;
  MPI_Comm_rank(MPI_COMM_WORLD, &processes.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &processes.size);
  try {
    thinwire::all_of(processes);
  } catch (const std::exception& error) {
    fmt::print(stderr, "rank {}: {}\n", processes.rank, error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  thinwire::test::check_leaks();
  MPI_Finalize();
  return 0;
}
