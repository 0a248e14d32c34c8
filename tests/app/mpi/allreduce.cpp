// The allreduce for MPI programs, against sums that are made one by one. Run by mpirun; the
// gradients of all processes are known to each.
#include <thinwire/mpi/allreduce.hpp>

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <limits>
#include <memory>
#include <span>
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

/// Entries that contributed are in the sums, and the rest stays in the residual: over all iterations,
/// sums and residuals add up to the gradients.
void sparse(Processes processes, const char* scheme, bool feedback) {
  mpi::Allreduce allreduce(
      MPI_COMM_WORLD,
      {.scheme = scheme, .components = kComponents, .density = 0.05, .error_feedback = feedback});
  std::vector<std::vector<float>> residuals(static_cast<std::size_t>(processes.size),
                                            std::vector<float>(kComponents));
  for (int iteration = 1; iteration <= 5; ++iteration) {
    const Stream& sum = allreduce.sum(gradient_of_process(processes.rank, iteration));
    // Each process tells which of its coordinates contributed.
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

template <class Error = InputError, class Call>
void refuses(Call call, const char* what, const std::string& text = "") {
  try {
    call();
  } catch (const Error& error) {
    demand(std::string(error.what()).find(text) != std::string::npos,
           fmt::format("{} is refused with '{}'", what, error.what()));
    return;
  }
  throw SimulationError(fmt::format("{} is not refused", what));
}

bool all_finite(std::span<const float> values) {
  return std::ranges::all_of(values, [](float value) { return std::isfinite(value); });
}

/// A NaN or an infinity of one process, in the first sum, reaches all of them as an exception, and
/// the sums after it are the sums of an allreduce that never saw it.
void not_finite(Processes processes, const char* scheme, bool feedback, float value, bool started) {
  const mpi::AllreduceSettings settings = {
      .scheme = scheme, .components = kComponents, .density = 0.05, .error_feedback = feedback};
  mpi::Allreduce allreduce(MPI_COMM_WORLD, settings);
  static_cast<void>(allreduce.sum(gradient_of_process(processes.rank, 1)));
  const std::vector<float> residual(allreduce.residual().begin(), allreduce.residual().end());
  std::vector<float> gradient = gradient_of_process(processes.rank, 2);
  if (processes.rank == processes.size - 1) gradient[5] = value;
  refuses<mpi::NotFiniteError>(
      [&] {
        if (!started) {
          static_cast<void>(allreduce.sum(gradient));
          return;
        }
        allreduce.start(gradient);
        while (!allreduce.test()) {
        }
      },
      "a value that is not finite");
  demand(std::ranges::equal(allreduce.residual(), residual),
         fmt::format("{}: the residual has changed", scheme));

  std::vector<float> summed(kComponents);
  for (int iteration = 1; iteration <= 3; ++iteration) {
    mpi::add_to(summed, allreduce.sum(gradient_of_process(processes.rank, iteration)));
  }
  demand(all_finite(summed) && all_finite(allreduce.residual()),
         fmt::format("{}: something not finite has been kept", scheme));
}

void not_finite_dense(Processes processes) {
  mpi::Allreduce allreduce(MPI_COMM_WORLD, {.scheme = "dense_ring", .components = kComponents});
  std::vector<float> gradient = gradient_of_process(processes.rank, 1);
  if (processes.rank == 0) gradient[5] = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> sum = as_vector(allreduce.sum(gradient));
  demand(std::isnan(sum[5]) && std::isfinite(sum[6]), "a NaN in a dense sum");
  demand(all_finite(as_vector(allreduce.sum(gradient_of_process(processes.rank, 2)))),
         "a NaN in the next dense sum");
}

/// What a training saved and read again continues as if it had never stopped.
void checkpoint(Processes processes, const char* scheme) {
  const mpi::AllreduceSettings settings = {
      .scheme = scheme, .components = kComponents, .density = 0.05};
  mpi::Allreduce whole(MPI_COMM_WORLD, settings);
  std::vector<float> saved;
  for (int iteration = 1; iteration <= 6; ++iteration) {
    const std::vector<float> wanted =
        as_vector(whole.sum(gradient_of_process(processes.rank, iteration)));
    if (iteration == 3) saved.assign(whole.residual().begin(), whole.residual().end());
    if (iteration <= 3) continue;
    mpi::Allreduce again(MPI_COMM_WORLD, settings);
    again.restore(saved);
    const std::vector<float> got =
        as_vector(again.sum(gradient_of_process(processes.rank, iteration)));
    demand(got == wanted, fmt::format("{}: a restored sum, iteration {}", scheme, iteration));
    saved.assign(again.residual().begin(), again.residual().end());
    demand(std::ranges::equal(saved, whole.residual()),
           fmt::format("{}: a restored residual, iteration {}", scheme, iteration));
  }
  refuses([&] { whole.restore(std::vector<float>(kComponents - 1)); }, "a shorter residual");
  saved[7] = std::numeric_limits<float>::infinity();
  refuses([&] { whole.restore(saved); }, "an infinite residual");
  whole.start(gradient_of_process(processes.rank, 7));
  refuses<SimulationError>([&] { static_cast<void>(whole.residual()); }, "a residual meanwhile");
  static_cast<void>(whole.wait());
}

/// What one process gives otherwise is refused on all of them, with both values.
void settings_that_differ(Processes processes) {
  const auto refused = [&](mpi::AllreduceSettings others, const char* text) {
    const mpi::AllreduceSettings plain = {.scheme = "topka", .components = kComponents};
    const bool last = processes.rank == processes.size - 1;
    refuses([&] { const mpi::Allreduce made(MPI_COMM_WORLD, last ? others : plain); },
            "a setting of one process", text);
  };
  if (processes.size == 1) return;
  refused({.scheme = "topka", .components = 2 * kComponents}, "components 1000");
  refused({.scheme = "dense_ring", .components = kComponents}, "scheme dense_ring");
  refused({.scheme = "topka", .components = kComponents, .density = 0.5}, "density 0.5");
  refused({.scheme = "topka", .components = kComponents, .error_feedback = false}, "false");
  refused({.scheme = "topka", .components = kComponents, .seed = 3}, "seed 3");
  refused({.scheme = "topkaa", .components = kComponents}, "process ");
}

void beyond_the_end() {
  std::vector<float> ten(10);
  std::vector<Entry> entries = {{3, 1.0F}, {900, 2.0F}};
  refuses([&] { mpi::add_to(ten, Stream(SparseVector::checked(entries))); }, "a far entry", "901");
  refuses([&] { mpi::add_to(ten, Stream(DenseBlock(5, std::vector<float>(6, 1.0F)))); },
          "a long block", "11");
  demand(ten == std::vector<float>(10), "what is refused has been added");
}

void all_of(Processes processes) {
  for (const char* scheme : {"dense_ring", "dense_rabenseifner", "dense_ovlp"}) {
    dense(processes, scheme);
  }
  for (const char* scheme : {"oktopk", "topka", "dragonn", "exdyna", "topkdsa"}) {
    for (const bool feedback : {true, false}) sparse(processes, scheme, feedback);
  }
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const char* scheme : {"oktopk", "topka", "gtopk", "dgc", "qsgd", "dragonn"}) {
    not_finite(processes, scheme, true, kNan, false);
    not_finite(processes, scheme, false, -kInfinity, true);
  }
  not_finite_dense(processes);
  for (const char* scheme : {"topka", "gtopk", "topkdsa"}) checkpoint(processes, scheme);
  settings_that_differ(processes);
  beyond_the_end();
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
  // It outlives MPI, as an object of main() does.
  std::unique_ptr<thinwire::mpi::Allreduce> late;
  thinwire::Processes processes;
  MPI_Comm_rank(MPI_COMM_WORLD, &processes.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &processes.size);
  try {
    thinwire::all_of(processes);
    late = std::make_unique<thinwire::mpi::Allreduce>(
        MPI_COMM_WORLD, thinwire::mpi::AllreduceSettings{.scheme = "topka", .components = 5});
  } catch (const std::exception& error) {
    fmt::print(stderr, "rank {}: {}\n", processes.rank, error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  thinwire::test::check_leaks();
  MPI_Finalize();
  late.reset();
  return 0;
}
