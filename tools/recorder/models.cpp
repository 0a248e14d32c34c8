#include "tools/recorder/models.hpp"

#include <fmt/format.h>
#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <utility>

#include "sim/core/base/errors.hpp"
#include "sim/core/base/random.hpp"
#include "tools/recorder/data.hpp"

namespace thinwire::recorder {

namespace {

using torch::Tensor;
namespace F = torch::nn::functional;

/// The purpose of a random draw: the first counter after the seed.
enum class Draw : std::uint8_t { order, item, shift, noise };

class Network : public torch::nn::Module {
 public:
  /// Returns one row of scores per item.
  virtual Tensor forward(Tensor input) = 0;
};

struct Batch {
  Tensor inputs;
  Tensor targets;  ///< one class per item
};

/// Makes the parameters views of one array, and implements what all models share.
class TorchModel : public Model {
 public:
  [[nodiscard]] const std::vector<traces::Layer>& layers() const override { return layers_; }
  [[nodiscard]] std::span<float> parameters() override {
    return {flat_.data_ptr<float>(), static_cast<std::size_t>(flat_.numel())};
  }

  double gradient(Rank rank, int iteration, std::span<float> gradient) override {
    return gradient_over(batch_of(rank, iteration), gradient);
  }

  double joined_gradient(int ranks, int iteration, std::span<float> gradient) override {
    std::vector<Tensor> inputs;
    std::vector<Tensor> targets;
    for (int rank = 0; rank < ranks; ++rank) {
      const Batch batch = batch_of(Rank(rank), iteration);
      inputs.push_back(batch.inputs);
      targets.push_back(batch.targets);
    }
    return gradient_over({torch::cat(inputs), torch::cat(targets)}, gradient);
  }

  [[nodiscard]] Evaluation evaluate() override {
    const torch::NoGradGuard no_gradients;
    Evaluation sum;
    double items = 0;
    for (const Batch& batch : held_out()) {
      const Tensor scores = network_->forward(batch.inputs);
      const auto size = static_cast<double>(batch.targets.numel());
      sum.loss += size * F::cross_entropy(scores, batch.targets).item<double>();
      sum.accuracy += scores.argmax(1).eq(batch.targets).sum().item<double>();
      items += size;
    }
    return {sum.loss / items, sum.accuracy / items};
  }

 protected:
  explicit TorchModel(std::shared_ptr<Network> network) : network_(std::move(network)) {
    std::int64_t first = 0;
    for (const auto& parameter : network_->named_parameters()) {
      layers_.push_back({parameter.key(), first, parameter.value().numel()});
      first += parameter.value().numel();
    }
    flat_ = torch::empty({first});
    const torch::NoGradGuard no_gradients;
    std::size_t layer = 0;
    for (const Tensor& parameter : network_->parameters()) {
      const Tensor view =
          flat_.narrow(0, layers_[layer].first, layers_[layer].size).view(parameter.sizes());
      view.copy_(parameter);
      parameter.set_data(view);
      ++layer;
    }
  }

  [[nodiscard]] virtual Batch batch_of(Rank rank, int iteration) const = 0;
  [[nodiscard]] virtual std::vector<Batch> held_out() const = 0;

 private:
  double gradient_over(const Batch& batch, std::span<float> gradient) {
    network_->zero_grad();
    const Tensor loss = F::cross_entropy(network_->forward(batch.inputs), batch.targets);
    loss.backward();
    auto out = gradient.begin();
    for (const Tensor& parameter : network_->parameters()) {
      const Tensor values = parameter.grad().contiguous();
      out = std::copy_n(values.data_ptr<float>(), values.numel(), out);
    }
    return loss.item<double>();
  }

  std::shared_ptr<Network> network_;
  Tensor flat_;
  std::vector<traces::Layer> layers_;
};

/// The positions 0 .. size-1 in an order that the seed determines.
std::vector<std::size_t> shuffled(std::size_t size, std::uint64_t seed) {
  std::vector<std::size_t> order(size);
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t i = size; i > 1; --i) {
    std::swap(order[i - 1], order[random_bits(seed, Draw::order, i) % i]);
  }
  return order;
}

// ---- digits -------------------------------------------------------------------------------------

class DigitsNetwork final : public Network {
 public:
  DigitsNetwork()
      : conv1(register_module("conv1", torch::nn::Conv2d(convolution(1, 32)))),
        conv2(register_module("conv2", torch::nn::Conv2d(convolution(32, 48)))),
        conv3(register_module("conv3", torch::nn::Conv2d(convolution(48, 64)))),
        fc1(register_module("fc1", torch::nn::Linear(256, 240))),
        fc2(register_module("fc2", torch::nn::Linear(240, 10))) {}

  Tensor forward(Tensor input) override {
    const Tensor a = torch::max_pool2d(torch::relu(conv2(torch::relu(conv1(input)))), 2);
    const Tensor b = torch::max_pool2d(torch::relu(conv3(a)), 2);
    return fc2(torch::relu(fc1(b.flatten(1))));
  }

 private:
  static torch::nn::Conv2dOptions convolution(std::int64_t in, std::int64_t out) {
    return torch::nn::Conv2dOptions(in, out, 3).padding(1);
  }

  torch::nn::Conv2d conv1;
  torch::nn::Conv2d conv2;
  torch::nn::Conv2d conv3;
  torch::nn::Linear fc1;
  torch::nn::Linear fc2;
};

/// 300 images are held out; worker r has every P-th of the others from the r-th on, and shifts each
/// by up to a pixel and adds noise, so that the few images are not memorised.
class DigitsModel final : public TorchModel {
 public:
  DigitsModel(int ranks, std::int64_t batch, std::uint64_t seed)
      : TorchModel(std::make_shared<DigitsNetwork>()),
        ranks_(static_cast<std::size_t>(ranks)),
        batch_(batch),
        seed_(seed) {
    const std::vector<Digit> all = read_digits();
    for (const std::size_t i : shuffled(all.size(), seed)) digits_.push_back(all[i]);
  }

  [[nodiscard]] std::string description() const override {
    return fmt::format(
        "convolutional network (3 convolutions, 2 linear layers) on python3-sklearn's digits, "
        "shifted by up to a pixel and with noise; {} images a worker and iteration; libtorch",
        batch_);
  }

 private:
  static constexpr std::size_t kHeldOut = 300;
  static constexpr int kSide = Digit::kSide;
  static constexpr float kMean = 0.3F;
  static constexpr double kNoise = 0.15;

  [[nodiscard]] Batch batch_of(Rank rank, int iteration) const override {
    const auto r = static_cast<std::size_t>(rank.value());
    const std::size_t share = (digits_.size() - kHeldOut - r + ranks_ - 1) / ranks_;
    Batch batch = empty(batch_);
    for (std::int64_t i = 0; i < batch_; ++i) {
      const auto draw = [&](Draw what, auto at) {
        return random_bits(seed_, what, rank.value(), iteration, i, at);
      };
      const Digit& digit = digits_[kHeldOut + r + ranks_ * (draw(Draw::item, 0) % share)];
      put(digit, batch, i, static_cast<int>(draw(Draw::shift, 0) % 3) - 1,
          static_cast<int>(draw(Draw::shift, 1) % 3) - 1);
      float* pixels = batch.inputs.data_ptr<float>() + i * kSide * kSide;
      for (int p = 0; p < kSide * kSide; ++p) {
        const double radius = std::sqrt(-2 * std::log(to_unit(draw(Draw::noise, 2 * p))));
        const double angle = 2 * std::numbers::pi * to_unit(draw(Draw::noise, 2 * p + 1));
        pixels[p] += static_cast<float>(kNoise * radius * std::cos(angle));
      }
    }
    return batch;
  }

  [[nodiscard]] std::vector<Batch> held_out() const override {
    Batch batch = empty(kHeldOut);
    for (std::size_t i = 0; i < kHeldOut; ++i) {
      put(digits_[i], batch, static_cast<std::int64_t>(i), 0, 0);
    }
    return {batch};
  }

  [[nodiscard]] static Batch empty(std::int64_t size) {
    return {torch::empty({size, 1, kSide, kSide}), torch::empty({size}, torch::kInt64)};
  }

  /// Writes a shifted image at position `i` of a batch.
  static void put(const Digit& digit, const Batch& batch, std::int64_t i, int down, int right) {
    float* pixels = batch.inputs.data_ptr<float>() + i * kSide * kSide;
    for (int y = 0; y < kSide; ++y) {
      for (int x = 0; x < kSide; ++x) {
        const int from_y = y - down;
        const int from_x = x - right;
        const bool inside = from_y >= 0 && from_y < kSide && from_x >= 0 && from_x < kSide;
        const auto from = static_cast<std::size_t>(inside ? from_y * kSide + from_x : 0);
        pixels[y * kSide + x] = (inside ? digit.pixels.at(from) : 0.0F) - kMean;
      }
    }
    batch.targets.data_ptr<std::int64_t>()[i] = digit.label;
  }

  std::size_t ranks_;
  std::int64_t batch_;
  std::uint64_t seed_;
  std::vector<Digit> digits_;  ///< the held-out ones first
};

// ---- text ---------------------------------------------------------------------------------------

/// The characters of a piece of text.
constexpr std::int64_t kLength = 32;

class TextNetwork final : public Network {
 public:
  explicit TextNetwork(std::int64_t characters)
      : embedding(register_module("embedding", torch::nn::Embedding(characters, kEmbedding))),
        lstm(register_module(
            "lstm",
            torch::nn::LSTM(torch::nn::LSTMOptions(kEmbedding, kHidden).batch_first(true)))),
        decoder(register_module("decoder", torch::nn::Linear(kHidden, characters))) {}

  /// [batch, length] characters to the scores of the next: [batch · length, characters].
  Tensor forward(Tensor input) override {
    return decoder(std::get<0>(lstm(embedding(input)))).flatten(0, 1);
  }

 private:
  static constexpr std::int64_t kEmbedding = 32;
  static constexpr std::int64_t kHidden = 128;

  torch::nn::Embedding embedding;
  torch::nn::LSTM lstm;
  torch::nn::Linear decoder;
};

/// Attention to the characters up to each one, then a linear network, each after a normalisation
/// and added to its input.
class Block final : public torch::nn::Module {
 public:
  Block()
      : before_attention(register_module("ln1", normalisation())),
        projections(register_module("qkv", torch::nn::Linear(kWidth, 3 * kWidth))),
        output(register_module("proj", torch::nn::Linear(kWidth, kWidth))),
        before_linear(register_module("ln2", normalisation())),
        fc1(register_module("fc1", torch::nn::Linear(kWidth, 2 * kWidth))),
        fc2(register_module("fc2", torch::nn::Linear(2 * kWidth, kWidth))) {}

  /// [batch, length, width]; `mask` is -infinity where a character must not look.
  Tensor forward(const Tensor& input, const Tensor& mask) {
    const Tensor attended = input + output(attention(before_attention(input), mask));
    return attended + fc2(torch::relu(fc1(before_linear(attended))));
  }

  static torch::nn::LayerNorm normalisation() {
    return torch::nn::LayerNorm(torch::nn::LayerNormOptions({kWidth}));
  }

  static constexpr std::int64_t kWidth = 64;
  static constexpr std::int64_t kHeads = 4;

 private:
  Tensor attention(const Tensor& input, const Tensor& mask) {
    const std::int64_t batch = input.size(0);
    const std::int64_t length = input.size(1);
    const Tensor all = projections(input)
                           .view({batch, length, 3, kHeads, kWidth / kHeads})
                           .permute({2, 0, 3, 1, 4});  // queries, keys and values of each head
    const double scale = 1 / std::sqrt(static_cast<double>(kWidth / kHeads));
    const Tensor scores = torch::matmul(all[0], all[1].transpose(-2, -1)) * scale + mask;
    return torch::matmul(scores.softmax(-1), all[2])
        .transpose(1, 2)
        .reshape({batch, length, kWidth});
  }

  torch::nn::LayerNorm before_attention;
  torch::nn::Linear projections;
  torch::nn::Linear output;
  torch::nn::LayerNorm before_linear;
  torch::nn::Linear fc1;
  torch::nn::Linear fc2;
};

class TransformerNetwork final : public Network {
 public:
  explicit TransformerNetwork(std::int64_t characters)
      : embedding(register_module("embedding", torch::nn::Embedding(characters, Block::kWidth))),
        position(register_parameter("position", 0.02 * torch::randn({kLength, Block::kWidth}))),
        mask(torch::full({kLength, kLength}, -std::numeric_limits<float>::infinity()).triu(1)),
        last(register_module("ln", Block::normalisation())),
        decoder(register_module("decoder", torch::nn::Linear(Block::kWidth, characters))) {
    for (std::int64_t i = 0; i < kBlocks; ++i) {
      blocks.push_back(register_module(fmt::format("block{}", i + 1), std::make_shared<Block>()));
    }
  }

  /// [batch, length] characters to the scores of the next: [batch · length, characters].
  Tensor forward(Tensor input) override {
    Tensor state = embedding(input) + position;
    for (const auto& block : blocks) state = block->forward(state, mask);
    return decoder(last(state)).flatten(0, 1);
  }

  static constexpr std::int64_t kBlocks = 2;

 private:
  torch::nn::Embedding embedding;
  Tensor position;
  Tensor mask;
  std::vector<std::shared_ptr<Block>> blocks;
  torch::nn::LayerNorm last;
  torch::nn::Linear decoder;
};

/// Every 200th verse is held out; worker r has every P-th of the others, concatenated. A batch
/// consists of pieces of that text from random positions.
class TextModel final : public TorchModel {
 public:
  TextModel(const Text& text, std::shared_ptr<Network> network, std::string words, int ranks,
            std::int64_t batch, std::uint64_t seed)
      : TorchModel(std::move(network)),
        words_(std::move(words)),
        batch_(batch),
        seed_(seed),
        shares_(static_cast<std::size_t>(ranks)) {
    std::size_t trained = 0;
    for (std::size_t verse = 0; verse < text.verses.size(); ++verse) {
      const auto& characters = text.verses[verse];
      auto& share = verse % kHeldOut == 0 ? held_out_ : shares_[trained++ % shares_.size()];
      share.insert(share.end(), characters.begin(), characters.end());
    }
  }

  [[nodiscard]] std::string description() const override {
    return fmt::format(
        "character-level {} on bible-kjv-text; {} pieces of {} characters a worker and iteration; "
        "libtorch",
        words_, batch_, kLength);
  }

 private:
  static constexpr std::size_t kHeldOut = 200;

  using Characters = std::vector<std::int64_t>;

  [[nodiscard]] Batch batch_of(Rank rank, int iteration) const override {
    const Characters& share = shares_[static_cast<std::size_t>(rank.value())];
    std::vector<std::size_t> begins(static_cast<std::size_t>(batch_));
    for (std::size_t i = 0; i < begins.size(); ++i) {
      begins[i] = random_bits(seed_, Draw::item, rank.value(), iteration, i) %
                  (share.size() - static_cast<std::size_t>(kLength));
    }
    return pieces(share, begins);
  }

  [[nodiscard]] std::vector<Batch> held_out() const override {
    std::vector<std::size_t> begins;
    constexpr auto length = static_cast<std::size_t>(kLength);
    for (std::size_t at = 0; at + length < held_out_.size(); at += length) begins.push_back(at);
    return {pieces(held_out_, begins)};
  }

  /// The pieces of `text` at `begins`; the targets are the same pieces, one character later.
  [[nodiscard]] static Batch pieces(const Characters& text,
                                    const std::vector<std::size_t>& begins) {
    const auto size = static_cast<std::int64_t>(begins.size());
    Batch batch{torch::empty({size, kLength}, torch::kInt64),
                torch::empty({size * kLength}, torch::kInt64)};
    auto* input = batch.inputs.data_ptr<std::int64_t>();
    auto* target = batch.targets.data_ptr<std::int64_t>();
    for (const std::size_t at : begins) {
      const auto from = text.begin() + static_cast<std::ptrdiff_t>(at);
      input = std::copy_n(from, kLength, input);
      target = std::copy_n(from + 1, kLength, target);
    }
    return batch;
  }

  std::string words_;
  std::int64_t batch_;
  std::uint64_t seed_;
  std::vector<Characters> shares_;
  Characters held_out_;
};

}  // namespace

const std::vector<std::string>& model_names() {
  static const std::vector<std::string> names{"cnn", "lstm", "transformer"};
  return names;
}

std::unique_ptr<Model> make_model(const std::string& name, int ranks, std::int64_t batch,
                                  std::uint64_t seed) {
  if (ranks < 1 || ranks > kMaxWorkers) {
    throw InputError("{} ranks: 1 to {} can be trained", ranks, kMaxWorkers);
  }
  torch::set_num_threads(1);
  torch::manual_seed(seed);
  if (name == "cnn") return std::make_unique<DigitsModel>(ranks, batch, seed);
  const Text text = read_text();
  const auto characters = static_cast<std::int64_t>(text.alphabet.size());
  if (name == "lstm") {
    return std::make_unique<TextModel>(text, std::make_shared<TextNetwork>(characters),
                                       "LSTM (embedding 32, hidden 128)", ranks, batch, seed);
  }
  if (name == "transformer") {
    return std::make_unique<TextModel>(
        text, std::make_shared<TransformerNetwork>(characters),
        fmt::format("transformer ({} blocks of width {} with {} heads)",
                    TransformerNetwork::kBlocks, Block::kWidth, Block::kHeads),
        ranks, batch, seed);
  }
  throw InputError("'{}' is no model to train", name);
}

bool predicts_text(const std::string& model) { return model != "cnn"; }

}  // namespace thinwire::recorder
