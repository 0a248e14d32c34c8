// Generates the shipped profiles: make_profiles FOLDER writes vgg16.json, lstm.json and bert.json.
// traces/profiles holds its output; tests/traces/shipped_profiles.cpp compares every byte.
//
// "The study" comprises four small models (0.5 to 1.2 million parameters, real images and text, 8
// to 256 workers, one seed each) trained by Top-k SGD; docs/reference/profiles.md has its figures.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <exception>
#include <string>
#include <vector>

#include "sim/core/base/random.hpp"
#include "traces/fitting/numeric.hpp"
#include "traces/normal.hpp"
#include "traces/profile.hpp"

namespace thinwire {

namespace {

/// Rounds to few digits: assumed or calibrated values are not more precise, and machines agree on
/// them.
double rounded(double value, int digits = 4) {
  return std::strtod(fmt::format("{:.{}g}", value, digits).c_str(), nullptr);
}

void add(traces::Profile& profile, const std::string& name, std::int64_t size) {
  profile.layers.push_back({name, profile.components, size});
  profile.components += size;
}

/// Cuts a layer into `count` regions of nearly equal size.
void cut(traces::Profile& profile, std::size_t layer, std::int64_t count) {
  const std::int64_t size = profile.layers[layer].size;
  for (std::int64_t i = 0; i < count; ++i) {
    profile.regions.push_back({layer, size * (i + 1) / count - size * i / count, 1.0});
  }
}

/// The moments of ln density over components.
struct Spread {
  double mean = 0;
  double sd = 0;
};

Spread spread_of(const traces::Profile& profile, const std::vector<double>& logs) {
  Spread spread;
  double square = 0;
  for (std::size_t i = 0; i < logs.size(); ++i) {
    const double share =
        static_cast<double>(profile.regions[i].size) / static_cast<double>(profile.components);
    spread.mean += share * logs[i];
    square += share * logs[i] * logs[i];
  }
  spread.sd = std::sqrt(std::max(0.0, square - spread.mean * spread.mean));
  return spread;
}

/// Scales the logarithms to the size-weighted standard deviation `sd`.
void spread_to(const traces::Profile& profile, std::vector<double>& logs, double sd) {
  const Spread spread = spread_of(profile, logs);
  for (double& value : logs) value *= sd / spread.sd;
}

/// Sets the regions' densities to exp(logs), limited to `most`, with mean 1.
void set_densities(traces::Profile& profile, const std::vector<double>& logs, double most) {
  const auto mean = [&](double shift) {
    double sum = 0;
    for (std::size_t i = 0; i < logs.size(); ++i) {
      sum +=
          static_cast<double>(profile.regions[i].size) * std::min(most, std::exp(logs[i] + shift));
    }
    return sum / static_cast<double>(profile.components);
  };
  const double shift = traces::solved(mean, 1, -40, 40);
  for (std::size_t i = 0; i < logs.size(); ++i) {
    profile.regions[i].density = rounded(std::min(most, std::exp(logs[i] + shift)), 6);
  }
}

/// The largest expected selection of an equal part of all components, over the mean.
double imbalance(const traces::Profile& profile, int parts) {
  std::vector<double> selected(static_cast<std::size_t>(parts), 0.0);
  const double width = static_cast<double>(profile.components) / parts;
  double begin = 0;
  for (const traces::ProfileRegion& region : profile.regions) {
    const double end = begin + static_cast<double>(region.size);
    while (begin < end) {
      const auto part = std::min(static_cast<std::size_t>(begin / width), selected.size() - 1);
      const double next = part + 1 == selected.size()
                              ? end
                              : std::max(std::nextafter(begin, end),
                                         std::min(end, static_cast<double>(part + 1) * width));
      selected[part] += region.density * (next - begin);
      begin = next;
    }
  }
  return *std::max_element(selected.begin(), selected.end()) / width;
}

/// Sets ρ and a such that the union of the selections of `ranks` ranks has the density `wanted`.
void calibrate_popularity(traces::Profile& profile, int ranks, double wanted,
                          const traces::Provenance& from) {
  traces::Popularity& popularity = profile.popularity;
  popularity.rho = rounded(traces::solved(
      [&](double rho) {
        popularity.rho = rho;
        return union_density(profile, traces::PopularityFamily::copula, profile.density, ranks);
      },
      wanted, 0, 0.95));
  popularity.beta_a = rounded(std::exp(traces::solved(
      [&](double log_a) {
        popularity.beta_a = std::exp(log_a);
        return union_density(profile, traces::PopularityFamily::beta, profile.density, ranks);
      },
      wanted, -5, 10)));
  profile.provenance["popularity.rho"] = from;
  profile.provenance["popularity.beta_a"] = from;
}

/// Sets χ such that counts in blocks have the squared coefficient of variation `wanted` according
/// to the copula at the profile's density. A block's selected share is a copula's probability with
/// ρχ, and its square is the probability that two independent ranks select.
void calibrate_clustering(traces::Profile& profile, double wanted, const std::string& model) {
  traces::Popularity& popularity = profile.popularity;
  const double counting = 1 / (static_cast<double>(popularity.block) * profile.density);
  const auto squared_variation = [&](double clustering) {
    traces::Profile uniform;
    uniform.components = 1;
    uniform.regions = {{0, 1, 1.0}};
    uniform.popularity.rho = popularity.rho * clustering;
    const double d = profile.density;
    const double both = 2 * d - union_density(uniform, traces::PopularityFamily::copula, d, 2);
    return both / (d * d) - 1 + counting;
  };
  constexpr double kMost = 0.8;  // coordinates of a block are not all equal
  popularity.clustering = rounded(traces::solved(squared_variation, wanted, 0, kMost));
  profile.provenance["popularity.clustering"] = {
      "assumed",
      fmt::format(
          "the squared coefficient of variation of the counts in blocks of 256 is {} in "
          "the study's {}; with rho as it is here, and no more than 0.8, it comes out at {:.2g}",
          wanted, model, squared_variation(popularity.clustering))};
  profile.provenance["popularity.bursts"] = {"assumed", "0: no paper tells it, nor the study"};
  profile.provenance["popularity.block"] = {"assumed", "blocks of 256, in which the study counted"};
  profile.provenance["popularity.never"] = {
      "assumed", "0: what 32 ranks select does not identify it; it matters on 128 ranks and more"};
}

/// Sets the root mean square such that the threshold of a Gaussian fit selects `share` of k, and
/// thereby the slope of magnitudes below the threshold.
void calibrate_magnitudes(traces::Profile& profile, double share, const std::string& from,
                          const std::string& kind) {
  traces::Magnitudes& m = profile.magnitudes;
  const double reach = std::exp(m.scale * std::pow(-std::log(share), 1 / m.shape));
  const double d = profile.density;
  m.rms = rounded(reach / traces::normal_quantile(1 - d / 2), 3);
  m.mean = rounded(0.75 * m.rms, 3);
  // The root mean square of x^(-below) from 1 down to where all components are reached, and of
  // magnitudes above 1 by a power law of the same scale.
  const auto rms_of = [&](double below) {
    const double smaller = d * below / (below - 2) * (std::pow(d, (2 - below) / below) - 1);
    return std::sqrt(smaller + d / (1 - 2 * std::min(m.scale, 0.4)));
  };
  m.below = rounded(traces::solved(rms_of, m.rms, 2.01, 50), 3);
  profile.provenance["magnitudes.rms"] = {kind, from};
  profile.provenance["magnitudes.mean"] = {
      "assumed", "0.75 of rms, between a Laplace distribution's 0.71 and a Gaussian's 0.80"};
  profile.provenance["magnitudes.below"] = {
      "assumed", "such that a power law from all n components up to the threshold has this rms"};
}

/// Fits the standard deviations of the increments of ln threshold at lags 1, 8 and 32.
void calibrate_drift(traces::Profile& profile, double lag1, double lag8, double lag32,
                     const std::string& from) {
  traces::ThresholdDrift& t = profile.thresholds;
  const double near = lag8 * lag8 - lag1 * lag1;
  const double far = lag32 * lag32 - lag8 * lag8;
  const auto ratio = [](double memory) {
    return (std::exp(-8 / memory) - std::exp(-32 / memory)) /
           (std::exp(-1 / memory) - std::exp(-8 / memory));
  };
  t.memory = rounded(traces::solved(ratio, far / near, 1, 1000), 3);
  const double walk = near / (std::exp(-1 / t.memory) - std::exp(-8 / t.memory)) / 2;
  const double noise = lag1 * lag1 / 2 - walk * (1 - std::exp(-1 / t.memory));
  t.walk = rounded(std::sqrt(walk), 3);
  t.noise = rounded(std::sqrt(std::max(0.0, noise)), 3);
  for (const char* entry : {"thresholds.noise", "thresholds.walk", "thresholds.memory"}) {
    profile.provenance[entry] = {
        "assumed", fmt::format("from the increments of ln threshold of {}: {}, {} and {} at lags "
                               "1, 8 and 32",
                               from, lag1, lag8, lag32)};
  }
}

void assume_start(traces::Profile& profile) {
  traces::ThresholdDrift& t = profile.thresholds;
  t.ranks = 0.02;
  t.start = 0.4;
  t.filling = rounded(1 / (3 * profile.density), 3);
  profile.provenance["thresholds.ranks"] = {"assumed", "ranks train on equal shares of the data"};
  profile.provenance["thresholds.start"] = {
      "assumed",
      "such that thresholds of the first iteration, reused for 32, select some twenty times too "
      "much; the study saw 3 to 50 times"};
  profile.provenance["thresholds.filling"] = {
      "assumed",
      "residuals have filled after 1/density iterations, as in the study: three times "
      "this"};
}

void set_tail(traces::Profile& profile, double shape, double scale, const std::string& model) {
  profile.magnitudes.shape = shape;
  profile.magnitudes.scale = scale;
  for (const char* entry : {"magnitudes.shape", "magnitudes.scale"}) {
    profile.provenance[entry] = {"assumed",
                                 "the stretched exponential fitted to the study's " + model};
  }
}

/// Standard normal scores, equal on all machines.
double score(std::uint64_t seed, std::size_t layer, std::size_t region) {
  return traces::normal_quantile(to_unit(random_bits(seed, layer, region)));
}

/// A description of the spread of the regions' densities.
std::string spread_text(const traces::Profile& profile) {
  std::vector<double> logs;
  for (const traces::ProfileRegion& region : profile.regions)
    logs.push_back(std::log(region.density));
  return fmt::format(
      "the size-weighted standard deviation of ln density is {:.2f}, the most of 64 equal parts "
      "{:.1f} times the mean",
      spread_of(profile, logs).sd, imbalance(profile, 64));
}

traces::Profile vgg16() {
  traces::Profile profile;
  profile.name = "vgg16";
  profile.source = "VGG-16 with batch normalisation on Cifar-10, as in Ok-Topk (PPoPP 2022)";
  profile.density = 0.01;
  std::int64_t input = 3;
  int conv = 0;
  for (const std::int64_t output :
       {64, 64, 128, 128, 256, 256, 256, 512, 512, 512, 512, 512, 512}) {
    ++conv;
    add(profile, fmt::format("conv{}.weight", conv), 9 * input * output);
    add(profile, fmt::format("conv{}.bias", conv), output);
    add(profile, fmt::format("bn{}.weight", conv), output);
    add(profile, fmt::format("bn{}.bias", conv), output);
    input = output;
  }
  add(profile, "classifier.weight", 512L * 10);
  add(profile, "classifier.bias", 10);
  profile.provenance["layers"] = {
      "calibrated",
      "13 convolutions with bias and batch normalisation and a linear classifier; the sizes add up "
      "to the 14,728,266 of Ok-Topk, Table 2"};

  constexpr double kSlope = -0.7;
  std::vector<double> logs;
  for (std::size_t i = 0; i < profile.layers.size(); ++i) {
    const traces::Layer& layer = profile.layers[i];
    const std::int64_t count = std::max<std::int64_t>(1, layer.size / 1'000'000);
    cut(profile, i, count);
    for (std::int64_t j = 0; j < count; ++j) {
      // Batch normalisation cancels a convolution's bias, so the bias has no gradient.
      const bool idle = layer.name.starts_with("conv") && layer.name.ends_with("bias");
      logs.push_back(idle ? -7 : kSlope * std::log(static_cast<double>(layer.size) / 1e6));
    }
  }
  set_densities(profile, logs, 30);
  profile.provenance["regions"] = {
      "assumed",
      fmt::format("ln density falls with ln size of the layer by {} (the study's VGG: 0.6 to 1.0), "
                  "to 30 times the mean at most, and is next to nothing for biases before a batch "
                  "normalisation; {} (the study: 0.5 to 0.9 and 6.1 to 11)",
                  -kSlope, spread_text(profile))};
  calibrate_popularity(profile, 16, 0.132,
                       {"calibrated", "fill-in of 13.2% at 1% on 16 ranks: Ok-Topk, Section 5.2"});
  calibrate_clustering(profile, 1.2, "VGG");
  set_tail(profile, 0.98, 0.10, "VGG under Ok-Topk's residual rule");
  calibrate_magnitudes(profile, 0.1,
                       "a Gaussian fit selects a tenth of k late in training: Ok-Topk, Section 5.2 "
                       "(the study's VGG: 0.10 to 0.13)",
                       "calibrated");
  calibrate_drift(profile, 0.011, 0.016, 0.020, "the study's VGG under Ok-Topk's residual rule");
  assume_start(profile);
  return profile;
}

/// The layers of DeepSpeech.
void add_lstm_layers(traces::Profile& profile) {
  add(profile, "conv1.weight", 32L * 41 * 11);
  add(profile, "conv1.bias", 32);
  add(profile, "bn1.weight", 32);
  add(profile, "bn1.bias", 32);
  add(profile, "conv2.weight", 32L * 32 * 21 * 11);
  add(profile, "conv2.bias", 32);
  add(profile, "bn2.weight", 32);
  add(profile, "bn2.bias", 32);
  constexpr std::int64_t kHidden = 800;
  for (int i = 1; i <= 5; ++i) {
    if (i > 1) {
      add(profile, fmt::format("rnn{}.bn.weight", i), kHidden);
      add(profile, fmt::format("rnn{}.bn.bias", i), kHidden);
    }
    add(profile, fmt::format("rnn{}.weight_ih", i), 4 * kHidden * (i == 1 ? 32L * 41 : kHidden));
    add(profile, fmt::format("rnn{}.weight_hh", i), 4 * kHidden * kHidden);
    add(profile, fmt::format("rnn{}.bias_ih", i), 4 * kHidden);
    add(profile, fmt::format("rnn{}.bias_hh", i), 4 * kHidden);
  }
  add(profile, "lookahead.weight", kHidden * 21);
  add(profile, "fc.bn.weight", kHidden);
  add(profile, "fc.bn.bias", kHidden);
  add(profile, "fc.weight", kHidden * 29);
  profile.provenance["layers"] = {
      "calibrated",
      "DeepSpeech: two convolutions, five unidirectional LSTM layers of 800, a lookahead of 20 and "
      "29 labels; the paper names no sizes, but these add up to the 27,569,568 of Ok-Topk, Table "
      "2"};
}

/// Regions by the first draw that is as uneven as the study's LSTM.
void draw_lstm_regions(traces::Profile& profile) {
  std::vector<bool> is_gate;
  for (std::size_t i = 0; i < profile.layers.size(); ++i) {
    const bool gates = profile.layers[i].name.find("weight_") != std::string::npos;
    cut(profile, i, gates ? 4 : 1);
    is_gate.insert(is_gate.end(), gates ? 4 : 1, gates);
  }
  std::uint64_t seed = 0;
  do {
    ++seed;
    std::vector<double> logs;
    std::vector<double> of_gate;
    for (std::size_t i = 0; i < is_gate.size(); ++i) {
      logs.push_back(score(seed, 0, profile.regions[i].layer));
      of_gate.push_back(is_gate[i] ? score(seed, 1, i) : 0);
    }
    spread_to(profile, logs, 0.6);
    spread_to(profile, of_gate, 0.55);
    for (std::size_t i = 0; i < logs.size(); ++i) logs[i] += of_gate[i];
    set_densities(profile, logs, 15);
  } while (imbalance(profile, 64) < 4.7 || imbalance(profile, 64) > 6.6);
}

traces::Profile lstm() {
  traces::Profile profile;
  profile.name = "lstm";
  profile.source = "LSTM (DeepSpeech, five layers of 800) on AN4, as in Ok-Topk (PPoPP 2022)";
  profile.density = 0.02;
  add_lstm_layers(profile);
  draw_lstm_regions(profile);
  profile.provenance["regions"] = {
      "assumed",
      fmt::format("log-normal over layers and over the four gates of each matrix, drawn once; {} "
                  "(the study: 0.5 to 0.9, and for its LSTM 4.7 to 6.6)",
                  spread_text(profile))};
  calibrate_popularity(profile, 32, 0.345,
                       {"calibrated", "fill-in of 34.5% at 2% on 32 ranks: Ok-Topk, Section 5.2"});
  calibrate_clustering(profile, 3.2, "LSTM");
  set_tail(profile, 1.03, 0.19, "LSTM under Ok-Topk's residual rule");
  calibrate_magnitudes(profile, 0.72, "a Gaussian fit selects 0.72 k late in the study's LSTM",
                       "assumed");
  calibrate_drift(profile, 0.007, 0.017, 0.031,
                  "the study's LSTM under Ok-Topk's residual rule, after a dense warm-up");
  assume_start(profile);
  return profile;
}

/// The layers of BERT-base.
void add_bert_layers(traces::Profile& profile) {
  constexpr std::int64_t kWidth = 768;
  constexpr std::int64_t kWords = 30522;
  const auto linear = [&](const std::string& name, std::int64_t in, std::int64_t out) {
    add(profile, name + ".weight", in * out);
    add(profile, name + ".bias", out);
  };
  const auto norm = [&](const std::string& name) {
    add(profile, name + ".weight", kWidth);
    add(profile, name + ".bias", kWidth);
  };
  add(profile, "embeddings.word", kWords * kWidth);
  add(profile, "embeddings.position", 512 * kWidth);
  add(profile, "embeddings.type", 2 * kWidth);
  norm("embeddings.norm");
  for (int i = 1; i <= 12; ++i) {
    const std::string name = fmt::format("encoder{}.", i);
    for (const char* part : {"query", "key", "value", "attention"}) {
      linear(name + part, kWidth, kWidth);
    }
    norm(name + "attention.norm");
    linear(name + "intermediate", kWidth, 4 * kWidth);
    linear(name + "output", 4 * kWidth, kWidth);
    norm(name + "output.norm");
  }
  linear("pooler", kWidth, kWidth);
  add(profile, "predictions.bias", kWords);
  linear("predictions.transform", kWidth, kWidth);
  norm("predictions.norm");
  add(profile, "predictions.decoder", kWords * kWidth);
  linear("next_sentence", kWidth, 2);
  profile.provenance["layers"] = {
      "calibrated",
      "BERT-base with the heads of pre-training, whose decoder is a matrix of its own beside the "
      "word embeddings; the sizes add up to the 133,547,324 of Ok-Topk, Table 2"};
}

traces::Profile bert() {
  traces::Profile profile;
  profile.name = "bert";
  profile.source = "BERT-base, pre-trained on Wikipedia, as in Ok-Topk (PPoPP 2022)";
  profile.options = {.values = {{"tau_prime", 128}}, .source = "Ok-Topk (PPoPP 2022), section 5.2"};
  profile.density = 0.01;
  add_bert_layers(profile);

  constexpr double kLayers = 0.6;
  constexpr std::uint64_t kSeed = 1;
  std::vector<double> logs;
  for (std::size_t i = 0; i < profile.layers.size(); ++i) {
    cut(profile, i, 1);
    logs.push_back(score(kSeed, i, 0));
  }
  spread_to(profile, logs, kLayers);
  set_densities(profile, logs, 30);
  profile.provenance["regions"] = {
      "assumed",
      fmt::format("log-normal over layers, drawn once; rows of words by their frequency (Zipf) "
                  "would make equal regions 2.3 times as slow as balanced ones on 16 ranks, where "
                  "Ok-Topk, Figure 7(a), has 1.13; {} (the study: 0.5 to 0.9, and for its "
                  "transformer 18.8)",
                  spread_text(profile))};
  calibrate_popularity(
      profile, 16, 0.092,
      {"assumed",
       "no paper tells BERT's fill-in; the study's transformer has 9.2% at 1% on 16 "
       "ranks"});
  calibrate_clustering(profile, 11, "transformer");
  set_tail(profile, 0.72, 0.26, "transformer");
  calibrate_magnitudes(profile, 0.42,
                       "a Gaussian fit selects 0.42 k late in the study's transformer", "assumed");
  // The count of a reused threshold deviates by some 3.5 times the change of ln threshold; the mean
  // of |x| of a normal variable is 0.8 of its standard deviation.
  profile.thresholds.noise = 0.002;
  profile.thresholds.walk = 0.003;
  profile.thresholds.memory = 64;
  for (const char* entry : {"thresholds.noise", "thresholds.walk", "thresholds.memory"}) {
    profile.provenance[entry] = {
        "calibrated",
        "counts by thresholds reused for 128 iterations deviate by 1.4% on average: Ok-Topk, "
        "Section 5.2"};
  }
  assume_start(profile);
  return profile;
}

}  // namespace

void make_profiles(const std::string& folder) {
  for (const traces::Profile& profile : {vgg16(), lstm(), bert()}) {
    write_profile(profile, folder + "/" + profile.name + ".json");
  }
}

}  // namespace thinwire

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "usage: make_profiles FOLDER\n");
    return 2;
  }
  try {
    thinwire::make_profiles(argv[1]);
  } catch (const std::exception& error) {
    fmt::print(stderr, "make_profiles: {}\n", error.what());
    return 1;
  }
  return 0;
}
