#include "sim/machine/workloads/model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>

#include "sim/core/base/checked.hpp"
#include "sim/core/base/errors.hpp"
#include "sim/core/base/json_node.hpp"

namespace thinwire::workloads {

namespace {

constexpr std::int64_t kModelFormat = 1;

ModelLayer read_layer(const JsonNode& node) {
  node.be_object(std::array<std::string_view, 6>{"name", "tensors", "rows", "forward_flops",
                                                 "forward_sum", "backward_sum"});
  ModelLayer layer{.name = node.at("name").text(),
                   .tensors = {},
                   .rows = {},
                   .forward_flops = node.at("forward_flops").number_from(0)};
  if (node.has("forward_sum")) layer.forward_sum = node.at("forward_sum").whole_from(1);
  if (node.has("backward_sum")) layer.backward_sum = node.at("backward_sum").whole_from(1);
  for (const JsonNode& tensor : node.at("tensors").elements()) {
    layer.tensors.push_back(tensor.whole_from(1));
    if (!checked_sum(layer.tensors)) tensor.wrong("components whose sum is below 2^63");
  }
  if (!node.has("rows")) return layer;
  for (const JsonNode& rows : node.at("rows").elements()) {
    const std::size_t at = layer.rows.size();
    layer.rows.push_back(rows.whole_from(1));
    if (at < layer.tensors.size() && layer.tensors[at] % layer.rows[at] != 0) {
      rows.wrong(fmt::format("a divisor of the tensor's {}", layer.tensors[at]));
    }
  }
  if (layer.rows.size() != layer.tensors.size()) {
    node.at("rows").wrong(fmt::format("a number for each of {} tensors", layer.tensors.size()));
  }
  return layer;
}

ModelCompute read_compute(const JsonNode& node) {
  node.be_object(std::array<std::string_view, 4>{"device", "batch", "seconds", "source"});
  return {.device = node.at("device").text(),
          .batch = node.at("batch").whole_from(1),
          .time = Seconds(node.at("seconds").number_from(0)),
          .source = node.at("source").text()};
}

}  // namespace

std::int64_t ModelLayer::components() const {
  return checked_sum(tensors).value_or(INT64_MAX);  // the reader refuses longer ones
}

std::vector<std::int64_t> Model::tensors() const {
  std::vector<std::int64_t> all;
  for (const ModelLayer& layer : layers) {
    all.insert(all.end(), layer.tensors.begin(), layer.tensors.end());
  }
  return all;
}

std::vector<std::int64_t> Model::rows() const {
  std::vector<std::int64_t> all;
  for (const ModelLayer& layer : layers) {
    if (layer.rows.empty()) return {};
    all.insert(all.end(), layer.rows.begin(), layer.rows.end());
  }
  return all;
}

bool Model::sums_activations() const {
  return std::ranges::any_of(
      layers, [](const ModelLayer& layer) { return layer.forward_sum + layer.backward_sum > 0; });
}

Model divided(Model model, int tensor) {
  if (tensor == 1) return model;
  model.components = 0;
  for (ModelLayer& layer : model.layers) {
    for (std::size_t i = 0; i < layer.tensors.size(); ++i) {
      std::int64_t rows = layer.rows.empty() ? 1 : layer.rows[i];
      std::int64_t columns = layer.tensors[i] / rows;
      std::int64_t& cut = rows % tensor == 0 ? rows : columns;
      cut = cut / tensor + (cut % tensor == 0 ? 0 : 1);
      layer.tensors[i] = rows * columns;
      if (!layer.rows.empty()) layer.rows[i] = rows;
    }
    model.components += layer.components();
  }
  return model;
}

Model read_model(const std::string& path) {
  const Json json = read_json(path);
  const JsonNode root(path, json);
  root.be_object(std::array<std::string_view, 12>{"format", "name", "summary", "source",
                                                  "components", "gradients", "density", "options",
                                                  "sample", "layers_source", "layers", "compute"});
  if (root.at("format").whole() != kModelFormat)
    root.at("format").wrong(std::to_string(kModelFormat));
  Model model;
  model.name = root.at("name").text();
  model.summary = root.at("summary").text();
  model.source = root.at("source").text();
  model.components = root.at("components").whole_from(1);
  root.at("gradients").be_object(std::array<std::string_view, 2>{"profile", "source"});
  model.profile = root.at("gradients").at("profile").text();
  model.profile_source = root.at("gradients").at("source").text();
  root.at("density").be_object(std::array<std::string_view, 2>{"value", "source"});
  model.density = root.at("density").at("value").number_from(0);
  if (model.density > 1) root.at("density").at("value").wrong("a share, at most 1");
  model.density_source = root.at("density").at("source").text();
  model.options = read_default_options(root);
  model.sample = root.at("sample").text();
  model.layers_source = root.at("layers_source").text();
  std::int64_t total = 0;
  for (const JsonNode& layer : root.at("layers").elements()) {
    model.layers.push_back(read_layer(layer));
    const auto sum = checked_sum(total, model.layers.back().components());
    if (!sum) layer.at("tensors").wrong("components whose sum is below 2^63");
    total = *sum;
  }
  if (total != model.components) {
    root.at("components").wrong(fmt::format("{}, what the layers' tensors have together", total));
  }
  for (const JsonNode& compute : root.at("compute").elements()) {
    model.compute.push_back(read_compute(compute));
  }
  return model;
}

const ModelCompute& compute_on(const Model& model, const std::string& device) {
  const auto found = std::ranges::find(model.compute, device, &ModelCompute::device);
  if (found == model.compute.end()) {
    std::string known;
    for (const ModelCompute& compute : model.compute) {
      known += (known.empty() ? "" : ", ") + compute.device;
    }
    throw InputError(
        "the model {} has no computing time on '{}', only on {}; add it to a copy of its file",
        model.name, device, known);
  }
  return *found;
}

ComputeTimes compute_times(const Model& model, const std::string& device, std::int64_t batch,
                           int tensor) {
  const ModelCompute& given = compute_on(model, device);
  if (batch == 0) batch = given.batch;
  const double scale = static_cast<double>(batch) / static_cast<double>(given.batch);
  const Seconds all = given.time * scale * (1.0 / tensor);
  const auto summed = [&](std::int64_t of_sample) -> std::int64_t {
    if (tensor == 1) return 0;
    const auto components = checked_product(of_sample, batch);
    if (!components) throw InputError(fmt::format("{} samples have too many activations", batch));
    return *components;
  };
  ComputeTimes times{.forward = all * (1.0 / 3), .backward = {}, .ready = {}};
  times.backward = Seconds(all.value() - times.forward.value());
  double flops = 0;
  for (const ModelLayer& layer : model.layers) flops += layer.forward_flops;
  const auto weight = [&](const ModelLayer& layer) {
    if (flops > 0) return layer.forward_flops / flops;
    return static_cast<double>(layer.components()) / static_cast<double>(model.components);
  };
  double done = 0;
  for (const ModelLayer& layer : model.layers) {
    done += weight(layer);
    if (const std::int64_t components = summed(layer.forward_sum); components > 0) {
      times.forward_sums.push_back({times.forward * std::min(1.0, done), components});
    }
  }
  done = 0;
  std::int64_t first = model.components;
  for (std::size_t i = model.layers.size(); i-- > 0;) {
    const ModelLayer& layer = model.layers[i];
    done += weight(layer);
    first -= layer.components();
    times.ready.push_back({.first = first,
                           .time = times.backward * std::min(1.0, done),
                           .summed = summed(layer.backward_sum)});
  }
  if (!times.ready.empty()) times.ready.back().time = times.backward;
  return times;
}

}  // namespace thinwire::workloads
