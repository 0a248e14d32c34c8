#include "topologies/generators/reducing.hpp"

#include "sim/core/base/errors.hpp"

namespace thinwire::topologies {

namespace {

constexpr Seconds kAssumedLatency(500e-9);

}  // namespace

void add_reducing_parameters(std::vector<ParameterInfo>& parameters, bool nodes) {
  parameters.push_back({"reducing", "",
                        nodes ? "switches that sum: node, network or both; empty: all only forward"
                              : "network: its switches sum; empty: they only forward"});
  parameters.push_back(
      {"reducing-bandwidth", "", "of a port of a switch that sums, each way; empty: as its link"});
  parameters.push_back({"reducing-latency", "",
                        "of a switch that sums, beside its links; empty: 500ns, which is assumed"});
}

ReducingFigures reducing_figures(const Settings& settings, double of_node, double of_network) {
  const std::string& which = settings.text("reducing");
  const bool nodes = of_node > 0;
  const bool known =
      which.empty() || which == "network" || (nodes && (which == "node" || which == "both"));
  if (!known)
    throw InputError(settings.refusal("reducing", nodes ? "node, network or both" : "network"));
  for (const char* figure : {"reducing-bandwidth", "reducing-latency"}) {
    if (which.empty() && !settings.text(figure).empty()) {
      throw InputError(settings.refusal(figure, "nothing, since no switch sums"));
    }
  }
  const bool given = !settings.text("reducing-bandwidth").empty();
  const Seconds latency = settings.text("reducing-latency").empty()
                              ? kAssumedLatency
                              : settings.time("reducing-latency");
  const auto figures = [&](double of_link) {
    return LinkFigures{given ? settings.bandwidth("reducing-bandwidth") : of_link, latency};
  };
  ReducingFigures all;
  if (which == "node" || which == "both") all.emplace_back("node", figures(of_node));
  if (which == "network" || which == "both") all.emplace_back("network", figures(of_network));
  return all;
}

}  // namespace thinwire::topologies
