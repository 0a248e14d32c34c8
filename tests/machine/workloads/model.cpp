#include "sim/machine/workloads/model.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "sim/core/base/errors.hpp"
#include "sim/machine/workloads/device.hpp"
#include "tests/support/approx.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/temporary_folder.hpp"
#include "traces/profile.hpp"
#include "traces/shipped.hpp"

namespace thinwire::workloads {

namespace {

using Json = nlohmann::ordered_json;
using test::contains;
using test::error_of;

Json small() {
  return {
      {"format", 1},
      {"name", "small"},
      {"summary", "two layers"},
      {"source", "a test"},
      {"components", 100},
      {"gradients", {{"profile", "vgg16"}, {"source", "assumed"}}},
      {"density", {{"value", 0.1}, {"source", "assumed"}}},
      {"sample", "image"},
      {"layers_source", "a test"},
      {"layers",
       {{{"name", "first"}, {"tensors", {10, 10}}, {"forward_flops", 300}},
        {{"name", "second"}, {"tensors", {80}}, {"forward_flops", 100}}}},
      {"compute", {{{"device", "p100"}, {"batch", 4}, {"seconds", 0.3}, {"source", "a test"}}}}};
}

/// Writes a model and reads it.
Model read(const Json& json) {
  const test::TemporaryFolder folder;
  const std::string path = folder.path("model.json");
  std::ofstream(path) << json.dump();
  return read_model(path);
}

std::string model_complaint(const Json& json) {
  return error_of<InputError>([&] { static_cast<void>(read(json)); });
}

}  // namespace

TEST_CASE("Every shipped model reads, has a shipped profile, and times on shipped devices") {
  for (const std::string& name : kModels.names()) {
    CAPTURE(name);
    const Model model = read_model(kModels.file(name));
    CHECK(model.name == name);
    CHECK(traces::read_profile(traces::kProfiles.file(model.profile)).components > 0);
    CHECK(!model.compute.empty());
    for (const ModelCompute& compute : model.compute) {
      CHECK(read_device(kDevices.file(compute.device)).name == compute.device);
      CHECK(compute.time > Seconds(0));
      CHECK(compute.source.size() > 6);
    }
    for (const std::string& source :
         {model.source, model.layers_source, model.profile_source, model.density_source}) {
      CHECK(source.size() > 4);
    }
  }
}

TEST_CASE("The models have as many components as the papers say") {
  const std::map<std::string, std::int64_t> papers{
      {"vgg16", 14'728'266},    {"lstm_an4", 27'569'568},    {"bert", 133'547'324},
      {"xml", 126'722'048},     {"webspam", 16'609'143},     {"url", 3'231'961},
      {"resnet50", 25'557'032}, {"llama_7b", 6'738'415'616}, {"lstm_wikitext2", 28'949'319}};
  for (const auto& [name, components] : papers) {
    CAPTURE(name);
    CHECK(read_model(kModels.file(name)).components == components);
  }
  CHECK(read_model(kModels.file("xml")).tensors().size() == 1);
}

TEST_CASE("A V100 trains at the rate of a public training of ResNet-50") {
  const auto operations = [](const char* name) {
    double sum = 0;
    for (const ModelLayer& layer : read_model(kModels.file(name)).layers)
      sum += layer.forward_flops;
    return 3 * sum;
  };
  constexpr double kImagesPerSecond = 363.1;
  const double rate = kImagesPerSecond * operations("resnet50");
  for (const char* name : {"resnet50", "resnet152", "inception_v4", "lstm_wikitext2"}) {
    CAPTURE(name);
    const Model model = read_model(kModels.file(name));
    const ModelCompute& compute = compute_on(model, "v100");
    CHECK(compute.time.value() ==
          test::approx(static_cast<double>(compute.batch) * operations(name) / rate).epsilon(1e-3));
  }
}

TEST_CASE("A tied decoder has no matrix of its own, and the embedding is ready last") {
  const Model model = read_model(kModels.file("lstm_wikitext2"));
  CHECK(model.layers.back().components() == 28'869);
  CHECK(model.layers.front().components() == 28'869 * 650);
  const ComputeTimes times = compute_times(model, "v100");
  CHECK(times.ready.back().first == 0);
  CHECK(times.ready.back().time == times.backward);
}

TEST_CASE("Gradients become ready from the last layer on, in proportion to the operations") {
  const ComputeTimes times = compute_times(read(small()), "p100");
  CHECK(times.forward.value() == test::approx(0.1));
  CHECK(times.backward.value() == test::approx(0.2));
  REQUIRE(times.ready.size() == 2);
  CHECK(times.ready[0].first == 20);
  CHECK(times.ready[0].time.value() == test::approx(0.05));
  CHECK(times.ready[1].first == 0);
  CHECK(times.ready[1].time == times.backward);
  // Twice the batch, twice the time.
  CHECK(compute_times(read(small()), "p100", 8).backward.value() == test::approx(0.4));
}

TEST_CASE("A model without counted operations is spread by its components") {
  Json json = small();
  for (Json& layer : json["layers"]) layer["forward_flops"] = 0;
  const ComputeTimes times = compute_times(read(json), "p100");
  CHECK(times.ready[0].time.value() == test::approx(0.16));
}

TEST_CASE("A model's tensors are matrices if all layers tell their rows") {
  Json json = small();
  CHECK(read(json).rows().empty());
  json["layers"][0]["rows"] = {5, 1};
  CHECK(read(json).rows().empty());  // the second layer does not tell
  json["layers"][1]["rows"] = {8};
  CHECK(read(json).rows() == std::vector<std::int64_t>{5, 1, 8});
  json["layers"][1]["rows"] = {7};
  CHECK(contains(model_complaint(json),
                 "/layers/1/rows/0: 7 is not valid; expected a divisor of the tensor's 80"));
  json["layers"][1]["rows"] = {8, 8};
  CHECK(contains(model_complaint(json), "a number for each of 1 tensors"));
  // All shipped models do.
  for (const std::string& name : kModels.names()) {
    CAPTURE(name);
    const Model model = read_model(kModels.file(name));
    CHECK(model.rows().size() == model.tensors().size());
  }
}

TEST_CASE("A model that is not valid is refused by its JSON pointer") {
  Json json = small();
  json["components"] = 101;
  CHECK(contains(model_complaint(json),
                 "/components: 101 is not valid; expected 100, what the layers' tensors have"));
  json = small();
  json["layers"][1]["tensors"][0] = 0;
  CHECK(contains(model_complaint(json), "/layers/1/tensors/0: 0 is not valid"));
  json = small();
  json["density"]["value"] = 1.5;
  CHECK(contains(model_complaint(json), "/density/value"));
  json = small();
  json["compute"][0]["seconds"] = "fast";
  CHECK(contains(model_complaint(json),
                 "/compute/0/seconds: \"fast\" is not valid; expected a number"));
  json = small();
  json.erase("sample");
  CHECK(contains(model_complaint(json), "the key 'sample' is missing"));
  CHECK(contains(
      error_of<InputError>([] { static_cast<void>(compute_times(read(small()), "h100")); }),
      "no computing time on 'h100', only on p100"));
  CHECK(contains(error_of<InputError>([] { static_cast<void>(kModels.file("brt")); }),
                 "did you mean 'bert'?"));
}

}  // namespace thinwire::workloads
