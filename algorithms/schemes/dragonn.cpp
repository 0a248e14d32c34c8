#include "algorithms/schemes/dragonn.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <utility>

#include "algorithms/collectives/allreduce.hpp"
#include "algorithms/schemes/topka.hpp"
#include "algorithms/sparsifiers/dragonn_hash.hpp"

namespace thinwire::algorithms {

namespace {

/// The range of a tensor in the gradient, in components.
struct Tensor {
  std::int64_t first = 0;
  std::int64_t size = 0;
  std::int64_t k = 0;  ///< its share of k
  bool compressed = true;
};

TensorProfile profile_of(const Options& options, Seconds alpha, Seconds beta) {
  return {.compress_s = options.number("compress_s"),
          .compress_s_per_component = options.number("compress_s_per_component"),
          .alpha_s = alpha.value(),
          .beta_s_per_word = beta.value()};
}

/// In a training the profile follows from the device's prices: of a threshold from a sample, a
/// comparison, hashing or compaction of the selection, and decoding.
TensorProfile profile_of(const SchemeSetup& setup) {
  TensorProfile profile = profile_of(setup.options, setup.alpha, setup.beta_per_word);
  const WorkPrices& prices = setup.prices;
  if (prices.compare.element == Seconds(0)) return profile;  // the options give them instead
  const bool hashed = setup.options.all().contains("slots");
  const double sample = setup.options.all().contains("sample") ? setup.options.number("sample") : 0;
  const Price& placing = hashed ? prices.hash : prices.prefix_sum;
  const Seconds calls = prices.sample.call + prices.topk.call + prices.compare.call + placing.call +
                        prices.scatter.call;
  Seconds each = prices.compare.element + (prices.sample.element + prices.topk.element) * sample;
  if (!hashed) each += placing.element;
  profile.compress_s = calls.value();
  profile.compress_s_per_component = each.value();
  return profile;
}

/// The number of words sent for k selected components.
std::int64_t compressed_words(std::int64_t k, const GradientSpace& space, const Options& options) {
  if (!options.all().contains("slots")) return 2 * k;
  return 2 * space.granule * hash_slots(options.number("slots"), k, space);
}

std::vector<Tensor> tensors_of(const std::vector<std::int64_t>& sizes, const GradientSpace& space,
                               std::int64_t k, int ranks, const Options& options,
                               const TensorProfile& profile) {
  std::vector<Tensor> tensors;
  std::int64_t first = 0;
  const std::vector<std::int64_t> whole{space.components};
  for (const std::int64_t size : sizes.empty() ? whole : sizes) {
    Tensor tensor{.first = first, .size = size};
    const double share = static_cast<double>(size) / static_cast<double>(space.components);
    tensor.k = std::llround(share * static_cast<double>(k) / static_cast<double>(space.granule)) *
               space.granule;
    if (k > 0) tensor.k = std::max(tensor.k, space.granule);  // else it would never be sent
    if (sizes.size() <= 1) tensor.k = k;
    tensor.compressed =
        !options.flag("tensor_selection") ||
        worth_compressing(size, compressed_words(tensor.k, space, options), ranks, profile);
    tensors.push_back(tensor);
    first += size;
  }
  return tensors;
}

class TensorWise final : public Scheme {
 public:
  TensorWise(const SchemeSetup& setup, const SchemeInfo& gathering) : setup_(setup) {
    const TensorProfile profile = profile_of(setup);
    for (const Tensor& tensor :
         tensors_of(setup.tensors, setup.space, setup.k, setup.ranks, setup.options, profile)) {
      Part part{.tensor = tensor, .setup = std::make_unique<SchemeSetup>(setup), .scheme = {}};
      part.setup->space.components = tensor.size;
      part.setup->k = tensor.k;
      part.setup->tensors.clear();
      part.setup->seed = setup.seed + static_cast<std::uint64_t>(tensor.first);
      if (tensor.compressed) part.scheme = gathering.make(*part.setup);
      parts_.push_back(std::move(part));
    }
  }

  Task<Reduced> allreduce(Communicator& comm, LocalGradient gradient, int iteration) override {
    const SparseVector all = std::get<SparseVector>(std::move(gradient));
    std::vector<Reduced> parts;
    for (Part& part : parts_) {
      Task<Reduced> task = part.scheme ? part.scheme->allreduce(comm, own(part, all), iteration)
                                       : dense(comm, own(part, all), *part.setup);
      parts.push_back(co_await std::move(task));
    }
    co_return together(parts);
  }

  /// The gradient's end is ready first. Compressing a tensor delays the backward pass, which runs
  /// on the same device; its communication overlaps with it.
  Task<Reduced> allreduce_in_training(Communicator& comm, LocalGradient gradient, int iteration,
                                      TrainingStep& step) override {
    const SparseVector all = std::get<SparseVector>(std::move(gradient));
    std::vector<Reduced> parts(parts_.size());
    std::vector<Request> started;
    for (std::size_t i = parts_.size(); i-- > 0;) {
      Part& part = parts_[i];
      co_await run_backward(comm, step, part.tensor.first);
      if (part.scheme) {
        Task<Request> task = part.scheme->begin(comm, own(part, all), iteration, parts[i]);
        started.push_back(co_await std::move(task));
      } else {
        started.push_back(comm.start([this, &part, &all, &result = parts[i]](Communicator& strand) {
          return finish_dense(strand, part, own(part, all), result);
        }));
      }
    }
    {
      const auto phase = comm.phase("wait");
      static_cast<void>(co_await comm.wait_all(started));
    }
    Words sent;
    Words received;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const Words tensor(parts_[i].tensor.size);
      sent += parts_[i].scheme ? Words(2 * parts[i].selection.sent) : tensor;
      received += parts_[i].scheme ? parts[i].gathered : tensor;
    }
    const auto phase = comm.phase("copy");
    co_await comm.compute(copying(step.prices(), sent, received));
    co_return together(parts);
  }

 private:
  struct Part {
    Tensor tensor;
    std::unique_ptr<SchemeSetup> setup;  // outlives the scheme, which refers to it
    std::unique_ptr<Scheme> scheme;      // null: dense
  };

  /// The part of a rank's gradient that lies in a tensor.
  [[nodiscard]] SparseVector own(const Part& part, const SparseVector& all) const {
    const std::int64_t first = setup_.space.coordinate(part.tensor.first);
    const std::int64_t last = setup_.space.coordinate(part.tensor.first + part.tensor.size);
    return moved(all.slice(all.position_of(static_cast<std::uint32_t>(first)),
                           all.position_of(static_cast<std::uint32_t>(last))),
                 -first);
  }

  [[nodiscard]] Reduced together(const std::vector<Reduced>& parts) const {
    std::vector<SparseVector> sums;
    std::vector<SparseVector> contributed;
    Reduced result;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const std::int64_t first = setup_.space.coordinate(parts_[i].tensor.first);
      sums.push_back(std::get<SparseVector>(parts[i].sum));
      contributed.push_back(moved(std::get<SparseVector>(parts[i].contributed), first));
      const SelectionReport& selection = parts[i].selection;
      result.selection.took_part = result.selection.took_part || selection.took_part;
      result.selection.sent += selection.sent;
      result.selection.selected += selection.selected;
      result.selection.work = result.selection.work + selection.work;
      result.gathered += parts[i].gathered;
    }
    result.sum = joined(sums);
    result.contributed = concatenate(contributed);
    return result;
  }

  Task<void> finish_dense(Communicator& strand, const Part& part, SparseVector own,
                          Reduced& result) const {
    result = co_await dense(strand, std::move(own), *part.setup);
  }

  /// Joins the sums of the tensors, once for all ranks.
  [[nodiscard]] SparseVector joined(const std::vector<SparseVector>& sums) const {
    if (sums.size() == 1) return sums.front();
    std::vector<Message> inputs;
    for (const SparseVector& sum : sums) inputs.push_back(sum.message(setup_.space));
    const Message whole = setup_.shared->once("tensors", inputs, [&] {
      std::vector<SparseVector> placed;
      for (std::size_t i = 0; i < sums.size(); ++i) {
        placed.push_back(moved(sums[i], setup_.space.coordinate(parts_[i].tensor.first)));
      }
      return concatenate(placed).message(setup_.space);
    });
    return SparseVector::from(whole.payload);
  }

  static Task<Reduced> dense(Communicator& comm, SparseVector own, const SchemeSetup& setup) {
    const auto phase = comm.phase("dense_tensors");
    const GradientReduction reduction(*setup.shared, setup.gamma, setup.space);
    const auto end = static_cast<std::uint32_t>(setup.space.coordinates());
    const Message mine = to_dense(own, 0, end).message(setup.space);
    const Message total = co_await allreduce_ring(comm, mine, reduction);
    const std::array inputs{total};
    const Message sum = setup.shared->once("entries of a block", inputs, [&] {
      return entries_of(DenseBlock::from(total.payload)).message(setup.space);
    });
    co_return Reduced{.sum = SparseVector::from(sum.payload), .contributed = own};
  }

  const SchemeSetup& setup_;
  std::vector<Part> parts_;
};

std::vector<OptionInfo> tensor_options() {
  return {{"tensor_selection", true, 0, "compress a tensor only where that pays (Equation 1)"},
          {"compress_s", 5e-5, 0,
           "seconds that compressing a tensor takes whatever its size (assumed)"},
          {"compress_s_per_component", 9.8e-11, 0,
           "seconds a component; default from 13.2 ms for 512 MB (DRAGONN, section 5.2)"}};
}

bool has_option(const std::vector<OptionInfo>& options, const std::string& name) {
  return std::ranges::find(options, name, &OptionInfo::name) != options.end();
}

Cost tensor_wise_cost(const CostInput& in) {
  const double p = in.ranks;
  const Options& options = *in.options;
  const GradientSpace space{.components = in.n, .granule = in.granule};
  const std::vector<std::int64_t> none;
  const TensorProfile profile = profile_of(options, in.alpha, in.beta_per_word);
  Cost cost{.paper = {}, .counted = {}, .added = {}, .exact = in.even()};
  bool first = true;
  for (const Tensor& tensor : tensors_of(in.tensors == nullptr ? none : *in.tensors, space, in.k,
                                         in.ranks, options, profile)) {
    const auto d = static_cast<double>(tensor.size);
    const double longest = std::ceil(d / p);
    if (!tensor.compressed) {
      cost.counted = cost.counted + same({2 * (p - 1), 2 * (p - 1) * longest, (p - 1) * longest});
      continue;
    }
    // A run reports the words of all compressed tensors together.
    const auto nominal = static_cast<double>(compressed_words(tensor.k, space, options));
    const double low = in.selected ? (first ? 2 * in.least() : 0) : nominal;
    const double high = in.selected ? (first ? 2 * in.most() : 0) : nominal;
    first = false;
    const bool merged = options.flag("sparse_decoding");
    cost.counted =
        cost.counted + Interval{{p - 1, low * (p - 1), merged ? low / 2 * (p - 1) : d * p},
                                {p - 1, high * (p - 1), merged ? high / 2 * (p - 1) : d * p}};
  }
  return cost;
}

/// Applies `gathering`, a ring scheme with its sparsifier, to the tensors that Equation 1 selects.
SchemeInfo with_tensor_selection(SchemeInfo gathering) {
  SchemeInfo info = gathering;
  for (const OptionInfo& option : tensor_options()) {
    if (has_option(info.options, option.name)) continue;  // present when it is composed again
    info.options.push_back(option);
    info.collective_options.push_back(option);
  }
  info.paper.words = has_option(info.options, "slots") ? "2 slots k (P-1)" : "2k (P-1)";
  info.paper.reduced = "0";
  info.exact_when = "the sparsifier fills slots k of its slots";
  info.added = "tensors that are not compressed: 2 (P-1) messages and 2 (P-1) ceil(d/P) words each";
  info.run_cost = tensor_wise_cost;
  info.make = [gathering](const SchemeSetup& setup) -> std::unique_ptr<Scheme> {
    return std::make_unique<TensorWise>(setup, gathering);
  };
  return info;
}

}  // namespace

bool worth_compressing(std::int64_t components, std::int64_t compressed_words, int ranks,
                       const TensorProfile& profile) {
  const double p = ranks;
  const auto d = static_cast<double>(components);
  const double full = 2 * (p - 1) * (profile.alpha_s + d / p * profile.beta_s_per_word);
  const double sparse =
      (p - 1) * (profile.alpha_s + static_cast<double>(compressed_words) * profile.beta_s_per_word);
  return profile.compress_s + profile.compress_s_per_component * d < full - sparse;
}

SchemeInfo dragonn_scheme() {
  SchemeInfo info = gather_scheme("dragonn", {.ring = true, .sparse_decoding = true});
  info.decorate = with_tensor_selection;
  return info;
}

}  // namespace thinwire::algorithms
