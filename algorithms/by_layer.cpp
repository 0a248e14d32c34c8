#include "algorithms/by_layer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "sim/core/base/errors.hpp"

namespace thinwire::algorithms {

namespace {

/// Joins streams that follow one another at `firsts`: dense if any of them is.
Message join_layers(const std::vector<Stream>& streams, const std::vector<std::uint32_t>& firsts,
                    const GradientSpace& space) {
  const auto is_dense = [](const Stream& stream) {
    return std::holds_alternative<DenseBlock>(stream);
  };
  if (std::ranges::none_of(streams, is_dense)) {
    std::vector<SparseVector> placed;
    for (std::size_t i = 0; i < streams.size(); ++i) {
      placed.push_back(moved(std::get<SparseVector>(streams[i]), firsts[i]));
    }
    return concatenate(placed).message(space);
  }
  const auto end = static_cast<std::uint32_t>(space.coordinates());
  const auto has_no_values = [](const Stream& stream) {
    const auto* sparse = std::get_if<SparseVector>(&stream);
    return sparse != nullptr ? sparse->is_statistical()
                             : std::get<DenseBlock>(stream).is_valueless();
  };
  if (std::ranges::any_of(streams, has_no_values)) {
    return DenseBlock::valueless(0, end).message(space);
  }
  std::vector<float> values(end);
  for (std::size_t i = 0; i < streams.size(); ++i) {
    const auto at = values.begin() + firsts[i];
    if (const auto* block = std::get_if<DenseBlock>(&streams[i])) {
      std::ranges::copy(block->values(), at);
    } else {
      for (const Entry& entry : std::get<SparseVector>(streams[i]).entries()) {
        at[entry.coordinate] = entry.value;
      }
    }
  }
  return DenseBlock(0, std::move(values)).message(space);
}

class ByLayer final : public Scheme {
 public:
  ByLayer(const SchemeSetup& setup, const SchemeInfo& whole,
          const std::vector<std::int64_t>& layers)
      : setup_(setup) {
    const double density =
        static_cast<double>(setup.k) / static_cast<double>(setup.space.components);
    const auto granule = static_cast<double>(setup.space.granule);
    std::int64_t first = 0;
    for (const std::int64_t components : layers) {
      Layer layer{.first = first, .setup = std::make_unique<SchemeSetup>(setup), .scheme = {}};
      layer.setup->space.components = components;
      layer.setup->k =
          setup.space.granule * std::llround(density * static_cast<double>(components) / granule);
      if (setup.k > 0) layer.setup->k = std::max(layer.setup->k, setup.space.granule);
      layer.setup->tensors.clear();
      layer.setup->seed = setup.seed + static_cast<std::uint64_t>(first);
      layer.scheme = whole.make(*layer.setup);
      firsts_.push_back(setup.space.coordinate(first));
      layers_.push_back(std::move(layer));
      first += components;
    }
    firsts_.push_back(setup.space.coordinate(first));
  }

  Task<Reduced> allreduce(Communicator& comm, LocalGradient gradient, int iteration) override {
    TrainingStep done({}, setup_.prices, setup_.space);
    Task<Reduced> task = allreduce_in_training(comm, std::move(gradient), iteration, done);
    co_return co_await std::move(task);
  }

  Task<Reduced> allreduce_in_training(Communicator& comm, LocalGradient gradient, int iteration,
                                      TrainingStep& step) override {
    const SparseVector all = std::get<SparseVector>(std::move(gradient));
    std::vector<Reduced> parts(layers_.size());
    std::vector<Request> started;
    for (std::size_t i = layers_.size(); i-- > 0;) {
      const Layer& layer = layers_[i];
      co_await run_backward(comm, step, layer.first);
      co_await remember(comm, step, layer.setup->space.components);
      const SparseVector own =
          moved(all.slice(all.position_of(firsts_[i]), all.position_of(firsts_[i + 1])),
                -static_cast<std::int64_t>(firsts_[i]));
      Task<Request> task = layer.scheme->begin(comm, own, iteration, parts[i]);
      started.push_back(co_await std::move(task));
      started.push_back(comm.start([&layer, &part = parts[i], &step](Communicator& strand) {
        return finish_layer(strand, layer, part, step);
      }));
    }
    const auto phase = comm.phase("wait");
    static_cast<void>(co_await comm.wait_all(started));
    co_return together(parts);
  }

 private:
  struct Layer {
    std::int64_t first = 0;              // component
    std::unique_ptr<SchemeSetup> setup;  // outlives the scheme, which refers to it
    std::unique_ptr<Scheme> scheme;
  };

  static Task<void> finish_layer(Communicator& strand, const Layer& layer, const Reduced& part,
                                 const TrainingStep& step) {
    co_await forget(strand, step, std::get<SparseVector>(part.contributed));
    const auto phase = strand.phase("copy");
    const GradientSpace& space = layer.setup->space;
    co_await strand.compute(
        copying(step.prices(), space, space.entry_words(part.selection.sent), part));
  }

  /// The result of all layers; the sum is joined once for all ranks.
  [[nodiscard]] Reduced together(const std::vector<Reduced>& parts) const {
    Reduced result;
    std::vector<Stream> sums;
    std::vector<Stream> contributed;
    std::vector<SparseVector> returned;
    std::vector<Message> inputs;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const Reduced& part = parts[i];
      returned.push_back(moved(part.returned, firsts_[i]));
      sums.push_back(part.sum);
      contributed.push_back(part.contributed);
      inputs.push_back(message_of(part.sum, layers_[i].setup->space));
      result.gathered += part.gathered;
      result.sent += part.sent;
      result.sent_approximately = result.sent_approximately || part.sent_approximately;
      SelectionReport& report = result.selection;
      report.took_part = report.took_part || part.selection.took_part;
      report.selected += part.selection.selected;
      report.sent += part.selection.sent;
      report.work = report.work + part.selection.work;
    }
    const Message sum = setup_.shared->once(
        "layers", inputs, [&] { return join_layers(sums, firsts_, setup_.space); });
    result.sum = stream_from(sum.payload);
    result.contributed = stream_from(join_layers(contributed, firsts_, setup_.space).payload);
    result.returned = concatenate(returned);
    return result;
  }

  const SchemeSetup& setup_;
  std::vector<Layer> layers_;
  std::vector<std::uint32_t> firsts_;  // coordinates, and the end
};

[[noreturn]] void refuse_layers(const SchemeInfo& scheme, const char* why) {
  throw InputError("{} cannot run layer by layer: {}", scheme.name, why);
}

}  // namespace

SchemeInfo layer_by_layer(const SchemeInfo& whole, std::vector<std::int64_t> layers) {
  if (whole.dense) refuse_layers(whole, "it is dense; dense_ovlp starts buckets as they are ready");
  if (has_option(whole.options, "tensor_selection")) {
    refuse_layers(whole, "it goes tensor by tensor in any case");
  }
  if (whole.sparsifier_needs == Needs::values_of_all || whole.one_selects) {
    refuse_layers(whole, "its ranks do not all select for themselves");
  }
  SchemeInfo info = whole;
  info.make = [whole,
               layers = std::move(layers)](const SchemeSetup& setup) -> std::unique_ptr<Scheme> {
    for (std::size_t i = 0; i + 1 < layers.size(); ++i) {
      if (layers[i] % setup.space.granule == 0) continue;
      throw InputError("/granule: {} does not divide the model's layer of {}", setup.space.granule,
                       layers[i]);
    }
    return std::make_unique<ByLayer>(setup, whole, layers);
  };
  return info;
}

}  // namespace thinwire::algorithms
