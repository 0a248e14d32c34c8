#include "algorithms/convergence.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace thinwire::algorithms {

namespace {

struct Reported {
  std::string_view scheme;
  ConvergenceReport report;
};

constexpr ConvergenceReport kDense{Convergence::exact, "the dense sum", "by construction"};
/// All of these add up the selections of all ranks without loss.
constexpr ConvergenceReport kTopk{
    Convergence::close,
    "top-k SGD: CIFAR-10 at 3% and 4x wide ResNets within 0.9% of dense, but ResNet-50 with large "
    "batches lost significantly",
    "SparCML (SC 2019), sections 8.3 and 8.4"};
constexpr ConvergenceReport kQuantised{Convergence::unknown,
                                       "its paper was not read for this table", ""};

constexpr std::array kReports{
    Reported{"dense_rabenseifner", kDense},
    Reported{"dense_ring", kDense},
    Reported{"dense_recursive_doubling", kDense},
    Reported{"dense_ring_segmented", kDense},
    Reported{"dense_nonoverlapping", kDense},
    Reported{"dense_ovlp", kDense},
    Reported{"dense_double_tree", kDense},
    Reported{"hierarchical_ring", kDense},
    Reported{"hierarchical_rabenseifner", kDense},
    Reported{"nccl_ring", kDense},
    Reported{"nccl_tree", kDense},
    Reported{"dense_auto", kDense},
    Reported{"dense_auto_ovlp", kDense},
    Reported{"dense_in_network", kDense},
    Reported{"topka", kTopk},
    Reported{"topkdsa", kTopk},
    Reported{"ssar_recursive_double", kTopk},
    Reported{"dsar_recursive_double", kTopk},
    Reported{"ssar_split_allgather", kTopk},
    Reported{"dsar_split_allgather", kTopk},
    Reported{"ring_sparse", kTopk},
    Reported{"hierarchical_split_allgather", kTopk},
    Reported{"topk_exact", kTopk},
    Reported{"topk_allreduce", kTopk},
    Reported{"gaussiank",
             {Convergence::worse,
              "selects far below k after the first epochs, which jeopardises convergence",
              "Ok-Topk (PPoPP 2022), sections 5.2 and 5.4"}},
    Reported{
        "gtopk",
        {Convergence::unknown,
         "drops entries on their way through the tree; its own paper was not read for this table",
         ""}},
    Reported{
        "oktopk",
        {Convergence::close,
         "VGG-16 at 2% close to dense, LSTM at 2% 0.309 WER (dense 0.308), BERT at 1% a loss of "
         "2.43 (dense 2.33), on up to 64 GPUs",
         "Ok-Topk (PPoPP 2022), section 5.4"}},
    Reported{
        "hierarchical_oktopk",
        {Convergence::unknown,
         "it gives the sums and contributions of oktopk; no training with it is published", ""}},
    Reported{
        "exdyna",
        {Convergence::close,
         "close to dense for ResNet-152, Inception-v4 and an LSTM at 0.1%, on up to 16 GPUs; each "
         "coordinate is seen by one rank per iteration",
         "ExDyna (2024), section V, Figures 5 and 8"}},
    Reported{"cltk",
             {Convergence::worse, "a significantly low convergence rate: one rank selects for all",
              "ExDyna (2024), section V, Figure 5"}},
    Reported{"hard_threshold",
             {Convergence::close,
              "converges faster than ExDyna per iteration, because it selects far more than k (106 "
              "times on Inception-v4)",
              "ExDyna (2024), section V, Figures 5 and 6"}},
    Reported{"sidco", {Convergence::unknown, "its own paper was not read for this table", ""}},
    Reported{"dragonn",
             {Convergence::close,
              "approximates dense training for ResNet-50, ViT, MLP-Mixer and XML, on 16 GPUs",
              "DRAGONN (ICML 2022), section 5, Figure 4"}},
    Reported{"dgc",
             {Convergence::worse, "up to 1.6 times the iterations of DRAGONN (XML)",
              "DRAGONN (ICML 2022), section 5, Figure 4"}},
    Reported{"random_k",
             {Convergence::worse, "15.1 times the iterations of DRAGONN (XML at 0.1%)",
              "DRAGONN (ICML 2022), section 5, Figure 7"}},
    Reported{"signsgd",
             {Convergence::worse, "more iterations than DRAGONN (XML)",
              "DRAGONN (ICML 2022), section 5, Figure 7"}},
    Reported{"zen",
             {Convergence::close,
              "the same sum as an allgather of the selections: the loss curve of OPT-2.7B at 5% "
              "equals the curve of AGsparse; with top-k, see topka",
              "ZEN (OSDI 2025), section 5.3, Figure 18"}},
    Reported{"omnireduce", {Convergence::unknown, "its paper was not read for this table", ""}},
    Reported{"spardl",
             {Convergence::unknown,
              "its abstract says fast convergence, since what is dropped on the way returns; the "
              "paper itself was not read for this table",
              ""}},
    Reported{"qsgd", kQuantised},
    Reported{"quantised_alltoall", kQuantised},
    Reported{"micro",
             {Convergence::close, "an outstanding convergence rate, in the words of its abstract",
              "MiCRO (HiPC 2023), abstract"}},
    Reported{"deft",
             {Convergence::close, "high convergence performance, in the words of its abstract",
              "DEFT (ICPP 2023), abstract"}},
    Reported{"sparseloco",
             {Convergence::close,
              "with H local steps, 1 to 3% and 2 bits: a lower loss than DiLoCo, which exchanges "
              "all values, on 512M parameters",
              "SparseLoCo (arXiv:2508.15706), abstract"}},
    Reported{
        "powersgd",
        {Convergence::close,
         "rank 2: ResNet-18 on CIFAR-10 94.4% (dense 94.3%), an LSTM on WikiText-2 a perplexity "
         "of 93 (dense 91), on 16 GPUs; rank 1 is worse (93.6%, 102)",
         "PowerSGD (NeurIPS 2019), Table 3, from memory"}}};

constexpr auto kMeasured = std::to_array<MeasuredConvergence>({
#include "algorithms/measured_convergence.inc"
});

}  // namespace

std::string name_of(Convergence convergence) {
  constexpr std::array kNames{"exact", "close", "worse", "unknown"};
  return kNames.at(static_cast<std::size_t>(convergence));
}

ConvergenceReport convergence_of(std::string_view scheme) {
  const auto* const found = std::ranges::find(kReports, scheme, &Reported::scheme);
  if (found != kReports.end()) return found->report;
  return {Convergence::unknown, "no report about this scheme", ""};
}

std::optional<MeasuredConvergence> measured_convergence(std::string_view scheme, double density,
                                                        int ranks) {
  const auto distance = [&](const MeasuredConvergence& one) {
    return std::pair(std::abs(std::log(one.density / density)),
                     std::abs(std::log(static_cast<double>(one.ranks) / ranks)));
  };
  std::optional<MeasuredConvergence> nearest;
  for (const MeasuredConvergence& one : kMeasured) {
    if (one.scheme != scheme || density <= 0) continue;
    if (!nearest || distance(one) < distance(*nearest)) nearest = one;
  }
  return nearest;
}

}  // namespace thinwire::algorithms
