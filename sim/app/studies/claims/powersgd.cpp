// The claims of PowerSGD (NeurIPS 2019): ResNet-18 on CIFAR-10 and an LSTM on WikiText-2, 16 GPUs.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/low_rank.hpp"
#include "sim/app/studies/claims/trials.hpp"
#include "sim/machine/workloads/model.hpp"

namespace thinwire::studies {

namespace {

constexpr int kPowerSgdRanks = 16;

/// Tensors and their rows.
struct Shapes {
  std::vector<std::int64_t> tensors;
  std::vector<std::int64_t> rows;

  void add(std::int64_t height, std::int64_t width) {
    tensors.push_back(height * width);
    rows.push_back(height);
  }
  [[nodiscard]] std::int64_t components() const {
    std::int64_t sum = 0;
    for (const std::int64_t size : tensors) sum += size;
    return sum;
  }
};

/// ResNet-18 (He et al., 2016) for images of 32 x 32 pixels with 10 classes: its first convolution
/// is of 3 x 3. Vectors are the batch normalisations and the classifier's bias.
Shapes resnet18() {
  Shapes shapes;
  const auto convolution = [&](std::int64_t outputs, std::int64_t inputs, std::int64_t kernel) {
    shapes.add(outputs, inputs * kernel);
    shapes.add(1, outputs);
    shapes.add(1, outputs);
  };
  std::int64_t inputs = 64;
  convolution(inputs, 3, 9);
  for (const std::int64_t outputs : {64, 128, 256, 512}) {
    for (int block = 0; block < 2; ++block) {
      convolution(outputs, inputs, 9);
      convolution(outputs, outputs, 9);
      if (inputs != outputs) convolution(outputs, inputs, 1);
      inputs = outputs;
    }
  }
  shapes.add(10, inputs);
  shapes.add(1, 10);
  return shapes;
}

Shapes lstm_of_650() {
  const workloads::Model model = workloads::read_model(workloads::kModels.file("lstm_wikitext2"));
  return {.tensors = model.tensors(), .rows = model.rows()};
}

/// How many times less a rank sends than its gradient.
void powersgd_compression(Trials& /*trials*/, ClaimPage& page) {
  for (const auto& [name, shapes] :
       {std::pair{"resnet18", resnet18()}, std::pair{"lstm", lstm_of_650()}}) {
    const std::int64_t n = shapes.components();
    for (const int rank : {1, 2, 4}) {
      const algorithms::LowRankLayout layout =
          algorithms::low_rank_layout(n, shapes.tensors, shapes.rows, rank);
      page.number(fmt::format("{}, rank {}", name, rank), fmt::format("/values/{}/{}", name, rank),
                  static_cast<double>(n) / static_cast<double>(layout.p_words + layout.q_words),
                  Basis::formula);
    }
  }
}

/// Milliseconds by which a batch with rank 2 is shorter than with plain SGD: the computing time,
/// which is not known, is in both.
void powersgd_saving(Trials& trials, ClaimPage& page) {
  const double beta = trials.assumed("powersgd.beta_s_per_word");
  const Json machine = {{"alpha_s", trials.assumed("powersgd.alpha_s")}, {"beta_s_per_word", beta}};
  for (const auto& [name, shapes] :
       {std::pair{"resnet18", resnet18()}, std::pair{"lstm", lstm_of_650()}}) {
    const std::int64_t components = shapes.components();
    const auto time = [&](const char* scheme) {
      return trials
          .outcome({{"scheme", scheme},
                    {"ranks", kPowerSgdRanks},
                    {"components", components},
                    {"machine", machine}})
          .time()
          .value();
    };
    page.number(
            name, fmt::format("/values/{}", name), 1e3 * (time("dense_ring") - time("powersgd")),
            Basis::predicted,
            "the allreduces alone: the prices of products and orthogonalisation on its GPUs are "
            "not known")
        .against("the gradient once over the network",
                 1e3 * beta * static_cast<double>(components));
  }
}

}  // namespace

ClaimChecks powersgd_claims() {
  return {{"powersgd.compression", powersgd_compression}, {"powersgd.saving", powersgd_saving}};
}

}  // namespace thinwire::studies
