#include "sim/machine/workloads/device.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "sim/core/base/errors.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/temporary_folder.hpp"

namespace thinwire::workloads {

namespace {

using Json = nlohmann::ordered_json;
using test::contains;
using test::error_of;

Json shipped(const std::string& name) { return Json::parse(test::text_of(kDevices.file(name))); }

/// What reading such a device complains about.
std::string complaint(const Json& json) {
  const test::TemporaryFolder folder;
  const std::string path = folder.path("device.json");
  std::ofstream(path) << json.dump();
  return error_of<InputError>([&] { static_cast<void>(read_device(path)); });
}

}  // namespace

TEST_CASE("Every shipped device reads, and every figure of it says where it comes from") {
  for (const std::string& name : kDevices.names()) {
    CAPTURE(name);
    const Device device = read_device(kDevices.file(name));
    CHECK(device.name == name);
    CHECK(device.gpu.size() == 13);
    CHECK(device.memory.has_value() == (name != "xc50_cpu"));
    if (device.memory) CHECK(device.memory->source.size() > 4);
    for (const auto& prices : {device.gpu, device.host}) {
      for (const auto& [work, price] : prices) {
        CAPTURE(work);
        CHECK(price.source.size() > 4);
        CHECK(price.price.call >= Seconds(0));
        CHECK(price.price.element >= Seconds(0));
      }
    }
  }
}

TEST_CASE("The GPUs of the papers get faster by the year") {
  const auto element = [](const char* device, const char* work) {
    return read_device(kDevices.file(device)).gpu.at(work).price.element;
  };
  for (const char* work :
       {"scan", "topk", "prefix_sum", "sort", "scatter", "reduce", "quantise", "to_host"}) {
    CAPTURE(work);
    CHECK(element("p100", work) >= element("v100", work));
    CHECK(element("v100", work) > element("a100", work));
    CHECK(element("a100", work) > element("h100", work));
    CHECK(element("h100", work) >= element("h200", work));
    CHECK(element("h200", work) >= element("b200", work));
  }
}

TEST_CASE("Copies cost only where messages are sent from the host, and sums are made there then") {
  const Device device = read_device(kDevices.file("p100"));
  const WorkPrices direct = device.prices(false);
  CHECK(direct.to_host.of(1000) == Seconds(0));
  CHECK(direct.to_device.of(1000) == Seconds(0));
  CHECK(direct.reduce.element == device.gpu.at("reduce").price.element);
  const WorkPrices staged = device.prices(true);
  CHECK(staged.to_host.element == device.gpu.at("to_host").price.element);
  CHECK(staged.reduce.element == device.host.at("reduce").price.element);
  CHECK(staged.sort.element == device.host.at("sort").price.element);
  CHECK(staged.scatter.element == device.gpu.at("scatter").price.element);  // none for the host
  CHECK(staged.topk.element == direct.topk.element);
}

TEST_CASE("Work that there is none of costs nothing, else a call and its elements") {
  const Price price{.call = Seconds(2), .element = Seconds(0.5)};
  CHECK(price.of(0) == Seconds(0));
  CHECK(price.of(1) == Seconds(2.5));
  CHECK(price.of(10) == Seconds(7));
}

TEST_CASE("A device that is not valid is refused by its JSON pointer") {
  Json json = shipped("v100");
  json["gpu"].erase("topk");
  CHECK(contains(complaint(json), "/gpu: the key 'topk' is missing"));
  json = shipped("v100");
  json["gpu"]["scan"]["element_s"] = -1e-12;
  CHECK(contains(complaint(json),
                 "/gpu/scan/element_s: -1e-12 is not valid; expected a number, at least 0"));
  json = shipped("v100");
  json["gpu"]["scan"]["source"] = "";
  CHECK(contains(complaint(json), "/gpu/scan/source"));
  json = shipped("v100");
  json["gpu"]["scam"] = json["gpu"]["scan"];
  CHECK(contains(complaint(json), "unknown key 'scam'; did you mean 'scan'?"));
  json = shipped("v100");
  json["host"]["topk"] = json["gpu"]["topk"];
  CHECK(contains(complaint(json), "/host/topk"));
  json = shipped("v100");
  json["format"] = 2;
  CHECK(contains(complaint(json), "/format: 2 is not valid; expected 1"));
  CHECK(contains(complaint(Json::array()), "expected an object"));
  CHECK(contains(error_of<InputError>([] { static_cast<void>(kDevices.file("v10")); }),
                 "did you mean 'v100'?"));
}

}  // namespace thinwire::workloads
