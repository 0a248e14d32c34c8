#include "sim/machine/workloads/device.hpp"

#include <array>
#include <nlohmann/json.hpp>
#include <string_view>

#include "sim/core/base/json_node.hpp"

namespace thinwire::workloads {

namespace {

constexpr std::int64_t kDeviceFormat = 1;

/// A kind of work: its name, and the member that takes its price.
struct Work {
  std::string_view name;
  Price WorkPrices::*price;
};

constexpr std::array kOnGpu{Work{"scan", &WorkPrices::scan},
                            Work{"compare", &WorkPrices::compare},
                            Work{"prefix_sum", &WorkPrices::prefix_sum},
                            Work{"topk", &WorkPrices::topk},
                            Work{"sample", &WorkPrices::sample},
                            Work{"hash", &WorkPrices::hash},
                            Work{"reduce", &WorkPrices::reduce},
                            Work{"scatter", &WorkPrices::scatter},
                            Work{"unite", &WorkPrices::unite},
                            Work{"sort", &WorkPrices::sort},
                            Work{"quantise", &WorkPrices::quantise}};
constexpr std::array kCopies{Work{"to_host", &WorkPrices::to_host},
                             Work{"to_device", &WorkPrices::to_device}};
constexpr std::array kOnHost{Work{"reduce", &WorkPrices::reduce},
                             Work{"scatter", &WorkPrices::scatter},
                             Work{"merge", &WorkPrices::merge}, Work{"sort", &WorkPrices::sort}};

SourcedPrice read_price(const JsonNode& node) {
  node.be_object(std::array<std::string_view, 3>{"call_s", "element_s", "source"});
  SourcedPrice price{.price = {.call = Seconds(node.at("call_s").number_from(0)),
                               .element = Seconds(node.at("element_s").number_from(0))},
                     .source = node.at("source").text()};
  if (price.source.empty()) node.at("source").wrong("where the figure comes from, or 'assumed'");
  return price;
}

/// Checks that an object has only members named by `works`.
template <class... Works>
void know_only(const JsonNode& node, const Works&... works) {
  std::vector<std::string_view> names;
  const auto add = [&](const auto& some) {
    for (const Work& work : some) names.push_back(work.name);
  };
  (add(works), ...);
  node.be_object(names);
}

/// Reads the prices of `works` that are present; with `all` none may be missing.
template <class Works>
void read_prices(const JsonNode& node, const Works& works, bool all,
                 std::map<std::string, SourcedPrice>& prices) {
  for (const Work& work : works) {
    const std::string name(work.name);
    if (all || node.has(name)) prices[name] = read_price(node.at(name));
  }
}

template <class Works>
void take(const std::map<std::string, SourcedPrice>& from, const Works& works, WorkPrices& prices) {
  for (const Work& work : works) {
    const auto found = from.find(std::string(work.name));
    if (found != from.end()) prices.*work.price = found->second.price;
  }
}

}  // namespace

WorkPrices Device::prices(bool staging) const {
  WorkPrices prices;
  take(gpu, kOnGpu, prices);
  if (staging) {
    take(gpu, kCopies, prices);
    take(host, kOnHost, prices);
  }
  if (!staging || !host.contains("merge")) prices.merge = prices.scatter;
  return prices;
}

Device read_device(const std::string& path) {
  const Json json = read_json(path);
  const JsonNode root(path, json);
  root.be_object(
      std::array<std::string_view, 6>{"format", "name", "summary", "memory", "gpu", "host"});
  if (root.at("format").whole() != kDeviceFormat)
    root.at("format").wrong(std::to_string(kDeviceFormat));
  Device device;
  device.name = root.at("name").text();
  device.summary = root.at("summary").text();
  if (root.has("memory")) {
    const JsonNode memory = root.at("memory");
    memory.be_object(std::array<std::string_view, 2>{"bytes", "source"});
    device.memory = {.bytes = Bytes(memory.at("bytes").whole_from(1)),
                     .source = memory.at("source").text()};
  }
  const JsonNode gpu = root.at("gpu");
  know_only(gpu, kOnGpu, kCopies);
  read_prices(gpu, kOnGpu, true, device.gpu);
  read_prices(gpu, kCopies, true, device.gpu);
  const JsonNode host = root.at("host");
  know_only(host, kOnHost);
  read_prices(host, kOnHost, false, device.host);
  return device;
}

}  // namespace thinwire::workloads
