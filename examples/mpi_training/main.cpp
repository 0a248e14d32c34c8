// Trains a small network by data-parallel SGD on MPI processes, once with dense gradients and once
// with Ok-Topk, and prints loss and time per iteration of both:
//
//   mpirun -n 4 mpi_training [ITERATIONS [DENSITY]]
//
// The task: which of ten directions a point of 64 dimensions lies nearest to. The network has one
// hidden layer. Each process draws its own points.
#include <mpi.h>
#include <thinwire/mpi/allreduce.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <random>
#include <span>
#include <string>
#include <vector>

namespace {

constexpr std::size_t kInputs = 64;
constexpr std::size_t kHidden = 256;
constexpr std::size_t kClasses = 10;
constexpr std::size_t kBatch = 32;
constexpr std::size_t kParameters = kHidden * (kInputs + 1) + kClasses * (kHidden + 1);

struct Sample {
  std::vector<float> input;
  std::size_t label = 0;
};

/// Points around the directions, of which all processes know the same.
class Task {
 public:
  explicit Task(unsigned seed) : random_(seed) {
    std::mt19937 shared(7);
    std::normal_distribution<float> normal;
    for (std::vector<float>& direction : directions_) {
      for (std::size_t i = 0; i < kInputs; ++i) direction.push_back(normal(shared));
    }
  }
  Sample draw() {
    std::normal_distribution<float> normal;
    Sample sample{.input = {}, .label = random_() % kClasses};
    for (const float x : directions_.at(sample.label))
      sample.input.push_back(x + 2 * normal(random_));
    return sample;
  }

 private:
  std::mt19937 random_;
  std::array<std::vector<float>, kClasses> directions_;
};

/// Adds the gradient of one sample, and returns its loss.
float backward(std::span<const float> parameters, const Sample& sample, std::span<float> gradient) {
  const auto hidden_row = [](std::size_t h) { return h * (kInputs + 1); };
  const auto class_row = [](std::size_t c) { return kHidden * (kInputs + 1) + c * (kHidden + 1); };
  std::vector<float> hidden(kHidden);
  for (std::size_t h = 0; h < kHidden; ++h) {
    const auto row = parameters.subspan(hidden_row(h), kInputs + 1);
    float sum = row[kInputs];
    for (std::size_t i = 0; i < kInputs; ++i) sum += row[i] * sample.input[i];
    hidden[h] = std::max(0.0F, sum);
  }
  std::vector<float> scores(kClasses);
  float total = 0;
  for (std::size_t c = 0; c < kClasses; ++c) {
    const auto row = parameters.subspan(class_row(c), kHidden + 1);
    float sum = row[kHidden];
    for (std::size_t h = 0; h < kHidden; ++h) sum += row[h] * hidden[h];
    scores[c] = std::exp(std::min(sum, 60.0F));
    total += scores[c];
  }
  const float loss = -std::log(scores[sample.label] / total + 1e-30F);
  std::vector<float> back(kHidden);
  for (std::size_t c = 0; c < kClasses; ++c) {
    const float error = scores[c] / total - (c == sample.label ? 1.0F : 0.0F);
    const auto row = gradient.subspan(class_row(c), kHidden + 1);
    for (std::size_t h = 0; h < kHidden; ++h) {
      row[h] += error * hidden[h];
      back[h] += error * parameters[class_row(c) + h];
    }
    row[kHidden] += error;
  }
  for (std::size_t h = 0; h < kHidden; ++h) {
    if (hidden[h] <= 0) continue;
    const auto row = gradient.subspan(hidden_row(h), kInputs + 1);
    for (std::size_t i = 0; i < kInputs; ++i) row[i] += back[h] * sample.input[i];
    row[kInputs] += back[h];
  }
  return loss;
}

struct Progress {
  float loss = 0;
  double seconds = 0;  ///< of the allreduce
};

/// Trains from the same start, and returns the mean loss and the time of each iteration.
std::vector<Progress> train(const thinwire::mpi::AllreduceSettings& settings, int iterations) {
  int rank = 0;
  int size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  thinwire::mpi::Allreduce allreduce(MPI_COMM_WORLD, settings);
  Task task(1000 + static_cast<unsigned>(rank));
  std::mt19937 start(1);
  std::normal_distribution<float> normal(0, 0.05F);
  std::vector<float> parameters(kParameters);
  for (float& parameter : parameters) parameter = normal(start);

  std::vector<Progress> progress;
  for (int iteration = 0; iteration < iterations; ++iteration) {
    std::vector<float> gradient(kParameters);
    float loss = 0;
    for (std::size_t i = 0; i < kBatch; ++i) loss += backward(parameters, task.draw(), gradient);
    const auto begin = std::chrono::steady_clock::now();
    const thinwire::Stream& sum = allreduce.sum(gradient);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    constexpr float kRate = 0.02F;
    thinwire::mpi::add_to(parameters, sum, -kRate / static_cast<float>(kBatch * size));
    float all = 0;
    MPI_Allreduce(&loss, &all, 1, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    progress.push_back({all / static_cast<float>(kBatch * size), took.count()});
  }
  return progress;
}

void compare(int iterations, double density) {
  const auto components = static_cast<std::int64_t>(kParameters);
  const auto dense = train({.scheme = "dense_rabenseifner", .components = components}, iterations);
  const auto sparse =
      train({.scheme = "oktopk", .components = components, .density = density}, iterations);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank != 0) return;
  std::printf("%9s %12s %12s %12s %12s\n", "iteration", "dense loss", "seconds", "oktopk loss",
              "seconds");
  const int step = std::max(1, iterations / 20);
  for (int i = 0; i < iterations; ++i) {
    if ((i + 1) % step != 0) continue;
    const auto at = static_cast<std::size_t>(i);
    std::printf("%9d %12.4f %12.3g %12.4f %12.3g\n", i + 1, static_cast<double>(dense[at].loss),
                dense[at].seconds, static_cast<double>(sparse[at].loss), sparse[at].seconds);
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  try {
    compare(argc > 1 ? std::stoi(argv[1]) : 200, argc > 2 ? std::stod(argv[2]) : 0.02);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "mpi_training: %s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return 0;
}
