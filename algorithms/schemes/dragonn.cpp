#include "algorithms/schemes/dragonn.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <span>
#include <utility>

#include "algorithms/collectives/allreduce.hpp"
#include "algorithms/decoding.hpp"
#include "algorithms/schemes/topka.hpp"
#include "algorithms/sparsifiers/dragonn_hash.hpp"

namespace thinwire::algorithms {

namespace {

constexpr const char* kFusion = "fusion_words";

/// The range of a tensor in the gradient, in components.
struct Tensor {
  std::int64_t first = 0;
  std::int64_t size = 0;
  std::int64_t k = 0;  ///< its share of k
  bool compressed = true;
};

std::int64_t components_in(std::span<const Tensor> tensors) {
  std::int64_t sum = 0;
  for (const Tensor& tensor : tensors) sum += tensor.size;
  return sum;
}

/// Tensors whose dense values are allreduced together, in the order of the gradient. A bucket is
/// filled from the gradient's end, which is ready first.
using Bucket = std::vector<Tensor>;
std::vector<Bucket> fused(std::span<const Tensor> tensors, const GradientSpace& space,
                          const Options& options) {
  const Words most(options.integer(kFusion));
  std::vector<Bucket> buckets;
  for (std::size_t at = tensors.size(); at-- > 0;) {
    const Tensor& tensor = tensors[at];
    const bool fits =
        !buckets.empty() && space.value_words(components_in(buckets.back()) + tensor.size) <= most;
    if (!fits) buckets.emplace_back();
    buckets.back().insert(buckets.back().begin(), tensor);
  }
  return buckets;
}

/// The number of words sent for k selected components.
std::int64_t compressed_words(std::int64_t k, const GradientSpace& space, const Options& options) {
  if (!options.all().contains("slots")) return space.entry_words(k).value();
  return space.coo_words(hash_slots(options.number("slots"), k, space)).value();
}

/// The seconds of encoding and decoding a tensor of `components` components by the device's prices:
/// those that a run is charged for its selection, whose work is given, and for decoding the entries
/// of all ranks.
Seconds compression_on(const WorkPrices& prices, const SelectionWork& work, std::int64_t components,
                       int ranks, std::int64_t words, const Options& options, Precision precision) {
  const double entries = static_cast<double>(words) / precision.entry() * ranks;
  const Seconds decoding =
      options.flag("sparse_decoding")
          ? sparse_decoding(prices, prices.scatter.element, components, entries)
          : dense_decoding(prices, prices.reduce.element, components, entries, ranks);
  return work.cost(prices) + decoding;
}

/// The prices by which Equation 1 weighs the compression of a tensor: the options where they are
/// given, else the prices of the device of a training, else the paper's.
class TensorCosts {
 public:
  TensorCosts(const SchemeSetup& setup, const ExpectedWork& work)
      : TensorCosts(setup.options, setup.alpha, setup.beta_per_word, setup.space.precision) {
    work_ = work;
    const bool given = options_.number(kCompress) >= 0 || options_.number(kPerComponent) >= 0 ||
                       options_.number(kPerEntry) >= 0;
    if (setup.on_device && !given) prices_ = &setup.prices;
  }
  TensorCosts(const Options& options, Seconds alpha, Seconds beta, Precision precision)
      : options_(options), alpha_(alpha), beta_(beta), precision_(precision) {}

  [[nodiscard]] TensorProfile of(std::int64_t components, std::int64_t k, int ranks,
                                 std::int64_t words) const {
    TensorProfile profile{.alpha_s = alpha_.value(), .beta_s_per_word = beta_.value()};
    if (prices_ != nullptr) {
      const SelectionWork work =
          work_ ? work_(components, k, options_)
                : SelectionWork{.compared = components, .prefix_summed = components};
      profile.compress_s =
          compression_on(*prices_, work, components, ranks, words, options_, precision_).value();
      return profile;
    }
    const auto given_or = [&](const char* name, double paper) {
      const double value = options_.number(name);
      return value < 0 ? paper : value;
    };
    profile.compress_s = given_or(kCompress, 5e-5);
    profile.compress_s_per_component = given_or(kPerComponent, 1.03e-10);
    profile.compress_s_per_entry = given_or(kPerEntry, 3e-10);
    return profile;
  }

  static constexpr const char* kCompress = "compress_s";
  static constexpr const char* kPerComponent = "compress_s_per_component";
  static constexpr const char* kPerEntry = "compress_s_per_entry";

 private:
  const Options& options_;
  const WorkPrices* prices_ = nullptr;
  ExpectedWork work_;
  Seconds alpha_;
  Seconds beta_;
  Precision precision_;
};

std::vector<Tensor> tensors_of(const std::vector<std::int64_t>& sizes, const GradientSpace& space,
                               std::int64_t k, int ranks, const Options& options,
                               const TensorCosts& costs) {
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
    tensors.push_back(tensor);
    first += size;
  }
  if (!options.flag("tensor_selection")) return tensors;
  std::vector<Tensor> decided;
  for (const Bucket& bucket : fused(tensors, space, options)) {
    const auto in_bucket = static_cast<double>(components_in(bucket));
    for (std::size_t at = bucket.size(); at-- > 0;) {
      Tensor tensor = bucket[at];
      const std::int64_t words = compressed_words(tensor.k, space, options);
      TensorProfile profile = costs.of(tensor.size, tensor.k, ranks, words);
      profile.share_of_messages = static_cast<double>(tensor.size) / in_bucket;
      tensor.compressed = worth_compressing(tensor.size, words, ranks, profile, space.precision);
      decided.push_back(tensor);
    }
  }
  std::ranges::reverse(decided);
  return decided;
}

class TensorWise final : public Scheme {
 public:
  TensorWise(const SchemeSetup& setup, const SchemeInfo& gathering) : setup_(setup) {
    const TensorCosts costs(setup, gathering.expected_work);
    Bucket dense;
    for (const Tensor& tensor :
         tensors_of(setup.tensors, setup.space, setup.k, setup.ranks, setup.options, costs)) {
      if (!tensor.compressed) {
        dense.push_back(tensor);
        continue;
      }
      Part& part = add({tensor});
      part.setup->k = tensor.k;
      part.setup->tensors.clear();
      part.setup->decode_later = true;
      part.setup->seed = setup.seed + static_cast<std::uint64_t>(tensor.first);
      part.scheme = gathering.make(*part.setup);
    }
    for (Bucket& bucket : fused(dense, setup.space, setup.options)) add(std::move(bucket));
    std::ranges::sort(parts_, {}, &Part::first);
  }

  Task<Reduced> allreduce(Communicator& comm, LocalGradient gradient, int iteration) override {
    const SparseVector all = std::get<SparseVector>(std::move(gradient));
    std::vector<Reduced> parts;
    for (Part& part : parts_) {
      Task<Reduced> task = part.scheme ? part.scheme->allreduce(comm, own(part, all), iteration)
                                       : dense(comm, own(part, all), *part.setup);
      parts.push_back(co_await std::move(task));
      const auto phase = comm.phase(kLocalReduction);
      co_await comm.compute(parts.back().decoding);
    }
    co_return together(parts);
  }

  /// The gradient's end is ready first. Compressing a tensor delays the backward pass, which runs
  /// on the same device; its communication overlaps with it. The device decodes a tensor once the
  /// backward pass has ended: it has as much to do in any other order.
  Task<Reduced> allreduce_in_training(Communicator& comm, LocalGradient gradient, int iteration,
                                      TrainingStep& step) override {
    const SparseVector all = std::get<SparseVector>(std::move(gradient));
    std::vector<Reduced> parts(parts_.size());
    std::vector<Request> started;
    for (std::size_t i = parts_.size(); i-- > 0;) {
      Part& part = parts_[i];
      co_await run_backward(comm, step, part.first());
      if (part.scheme) {
        co_await remember(comm, step, part.setup->space.components);
        Task<Request> task = part.scheme->begin(comm, own(part, all), iteration, parts[i]);
        started.push_back(co_await std::move(task));
      } else {
        started.push_back(comm.start([this, &part, &all, &result = parts[i]](Communicator& strand) {
          return finish_dense(strand, part, own(part, all), result);
        }));
      }
    }
    for (std::size_t i = parts_.size(); i-- > 0;) {
      {
        const auto phase = comm.phase("wait");
        static_cast<void>(co_await comm.wait(started[parts_.size() - 1 - i]));
      }
      const auto phase = comm.phase(kLocalReduction);
      co_await comm.compute(parts[i].decoding);
    }
    Words sent;
    Words received;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const Words tensor = setup_.space.value_words(parts_[i].setup->space.components);
      sent += parts_[i].scheme ? setup_.space.entry_words(parts[i].selection.sent) : tensor;
      received += parts_[i].scheme ? parts[i].gathered : tensor;
      if (!parts_[i].scheme) continue;
      co_await forget(comm, step, std::get<SparseVector>(parts[i].contributed));
    }
    const auto phase = comm.phase("copy");
    co_await comm.compute(copying(step.prices(), sent, received));
    co_return together(parts);
  }

 private:
  /// What is sent together: a compressed tensor, or a bucket of dense ones.
  struct Part {
    Bucket tensors;
    std::unique_ptr<SchemeSetup> setup;  // outlives the scheme, which refers to it
    std::unique_ptr<Scheme> scheme;      // null: dense

    [[nodiscard]] std::int64_t first() const { return tensors.front().first; }
  };

  Part& add(Bucket tensors) {
    parts_.push_back({.tensors = std::move(tensors),
                      .setup = std::make_unique<SchemeSetup>(setup_),
                      .scheme = {}});
    Part& part = parts_.back();
    part.setup->space.components = components_in(part.tensors);
    return part;
  }

  /// The entries of `vector` in `size` components from `from` on, moved to `to`.
  [[nodiscard]] SparseVector shifted(const SparseVector& vector, std::int64_t from,
                                     std::int64_t size, std::int64_t to) const {
    const std::uint32_t first = setup_.space.coordinate(from);
    const std::uint32_t last = setup_.space.coordinate(from + size);
    return moved(vector.slice(vector.position_of(first), vector.position_of(last)),
                 static_cast<std::int64_t>(setup_.space.coordinate(to)) - first);
  }

  /// The part of a rank's gradient that lies in the tensors of a part, one after another.
  [[nodiscard]] SparseVector own(const Part& part, const SparseVector& all) const {
    std::vector<SparseVector> slices;
    std::int64_t at = 0;
    for (const Tensor& tensor : part.tensors) {
      slices.push_back(shifted(all, tensor.first, tensor.size, at));
      at += tensor.size;
    }
    return slices.size() == 1 ? slices.front() : concatenate(slices);
  }

  /// The vectors of all parts, in the order of the gradient.
  [[nodiscard]] SparseVector in_order(const std::vector<SparseVector>& of_parts) const {
    std::map<std::int64_t, SparseVector> placed;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      std::int64_t at = 0;
      for (const Tensor& tensor : parts_[i].tensors) {
        placed[tensor.first] = shifted(of_parts[i], at, tensor.size, tensor.first);
        at += tensor.size;
      }
    }
    std::vector<SparseVector> pieces;
    for (auto& [first, piece] : placed) pieces.push_back(std::move(piece));
    return concatenate(pieces);
  }

  [[nodiscard]] Reduced together(const std::vector<Reduced>& parts) const {
    std::vector<SparseVector> sums;
    std::vector<SparseVector> contributed;
    Reduced result;
    std::int64_t compressed = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      sums.push_back(std::get<SparseVector>(parts[i].sum));
      contributed.push_back(std::get<SparseVector>(parts[i].contributed));
      if (parts_[i].scheme) ++compressed;
      const SelectionReport& selection = parts[i].selection;
      result.selection.took_part = result.selection.took_part || selection.took_part;
      result.selection.sent += selection.sent;
      result.selection.selected += selection.selected;
      result.selection.work = result.selection.work + selection.work;
      result.gathered += parts[i].gathered;
    }
    result.selection.compressed_tensors = compressed;
    result.sum = joined(sums);
    result.contributed = in_order(contributed);
    return result;
  }

  Task<void> finish_dense(Communicator& strand, const Part& part, SparseVector own,
                          Reduced& result) const {
    result = co_await dense(strand, std::move(own), *part.setup);
  }

  /// Joins the sums of the parts, once for all ranks.
  [[nodiscard]] SparseVector joined(const std::vector<SparseVector>& sums) const {
    if (sums.size() == 1) return sums.front();
    std::vector<Message> inputs;
    for (const SparseVector& sum : sums) inputs.push_back(sum.message(setup_.space));
    const Message whole = setup_.shared->once("tensors", inputs,
                                              [&] { return in_order(sums).message(setup_.space); });
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
  const auto of_selection = [](const char* name, const char* help) {
    return only_with("tensor_selection", {name, -1.0, -1, help});
  };
  return {
      {"tensor_selection", true, 0, "compress a tensor only where that pays (Equation 1)"},
      of_selection(
          TensorCosts::kCompress,
          "seconds of encoding and decoding a tensor whatever its size; -1: by the device of a "
          "training, or 50 us (assumed) where there is none or another of these is given"),
      of_selection(TensorCosts::kPerComponent,
                   "seconds a component; -1: likewise, or 0.103 ns: 13.2 ms for 512 MB (DRAGONN, "
                   "section 5.2), and setting it to zero at 777 GB/s"),
      of_selection(TensorCosts::kPerEntry,
                   "seconds an entry of all ranks to decode; -1: likewise, or 0.3 ns, the "
                   "V100's scatter"),
      only_with("tensor_selection",
                {kFusion, std::int64_t{16'777'216}, 1,
                 "words of dense tensors that are allreduced together: Horovod's buffer of 64 MiB; "
                 "1: each tensor alone"})};
}

Cost tensor_wise_cost(const CostInput& in) {
  const double p = in.ranks;
  const double value = in.precision.value();
  const Options& options = *in.options;
  const GradientSpace space = in.space();
  const std::vector<std::int64_t> none;
  const TensorCosts costs(options, in.alpha, in.beta_per_word, in.precision);
  Cost cost{.paper = {}, .counted = {}, .added = {}, .exact = in.even()};
  bool first = true;
  Bucket dense;
  for (const Tensor& tensor : tensors_of(in.tensors == nullptr ? none : *in.tensors, space, in.k,
                                         in.ranks, options, costs)) {
    const auto d = static_cast<double>(tensor.size);
    if (!tensor.compressed) {
      dense.push_back(tensor);
      continue;
    }
    // A run reports the words of all compressed tensors together.
    const auto nominal = static_cast<double>(compressed_words(tensor.k, space, options));
    const double low = in.selected ? (first ? in.entry() * in.least() : 0) : nominal;
    const double high = in.selected ? (first ? in.entry() * in.most() : 0) : nominal;
    first = false;
    const bool merged = options.flag("sparse_decoding");
    cost.counted = cost.counted +
                   Interval{{p - 1, low * (p - 1), merged ? low / in.entry() * (p - 1) : d * p},
                            {p - 1, high * (p - 1), merged ? high / in.entry() * (p - 1) : d * p}};
  }
  for (const Bucket& bucket : fused(dense, space, options)) {
    const double longest = (p - 1) * std::ceil(static_cast<double>(components_in(bucket)) / p);
    cost.counted = cost.counted + same({2 * (p - 1), 2 * longest * value, longest * value});
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
  const bool slots = has_option(info.options, "slots");
  info.paper.words = slots ? "2 slots k (P-1)" : "2k (P-1)";
  info.paper.reduced = fmt::format(
      "sparse_decoding {}k (P-1) + (1 - sparse_decoding) n P min(P-1, 1)", slots ? "slots " : "");
  info.exact_when = "the sparsifier fills slots k of its slots";
  info.added =
      "tensors that are not compressed: 2 (P-1) messages and 2 (P-1) ceil(d/P) words a bucket";
  info.takes_tensors = true;
  info.run_cost = tensor_wise_cost;
  info.make = [gathering](const SchemeSetup& setup) {
    return std::make_unique<TensorWise>(setup, gathering);
  };
  return info;
}

}  // namespace

bool worth_compressing(std::int64_t components, std::int64_t compressed_words, int ranks,
                       const TensorProfile& profile, Precision precision) {
  const double p = ranks;
  const auto d = static_cast<double>(components);
  const double full = 2 * (p - 1) *
                      (profile.share_of_messages * profile.alpha_s +
                       precision.value() * d / p * profile.beta_s_per_word);
  const double sparse =
      (p - 1) * (profile.alpha_s + static_cast<double>(compressed_words) * profile.beta_s_per_word);
  const double entries = static_cast<double>(compressed_words) / precision.entry() * p;
  const double compressing = profile.compress_s + profile.compress_s_per_component * d +
                             profile.compress_s_per_entry * entries;
  return compressing < full - sparse;
}

SchemeInfo dragonn_scheme() {
  SchemeInfo info = gather_scheme("dragonn", {.ring = true, .sparse_decoding = true});
  info.decorate = with_tensor_selection;
  return info;
}

}  // namespace thinwire::algorithms
