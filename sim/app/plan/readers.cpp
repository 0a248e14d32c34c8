#include "sim/app/plan/readers.hpp"

#include <fmt/format.h>

#include "algorithms/registry.hpp"

namespace thinwire::plan {

using algorithms::SchemeInfo;

bool looks_at_values(const Point& point, const SchemeInfo& scheme) {
  return !scheme.dense || find_network(point.network).is_real ||
         (scheme.approximate && point.error_feedback);
}

bool network_draws(const Point& point) {
  return point.machine.host.noise > Seconds(0) || point.links.background_flows > 0 ||
         point.links.routing != networks::LinkRouting::minimal;
}

constinit const Circumstance kWithoutPlatform{
    .holds = [](const Point& point, const SchemeInfo&) { return point.platform.empty(); },
    .otherwise = "comes from the platform; leave one of them out",
    .readers = "without a platform",
    .chosen = true,
    .refused = true};

constinit const Circumstance kWithModel{
    .holds = [](const Point& point, const SchemeInfo&) { return !point.workload.model.empty(); },
    .otherwise = "is for runs with a model; give workload.model (--model) too",
    .readers = "runs with a model",
    .chosen = true};

constinit const Circumstance kWithoutModel{
    .holds = [](const Point& point, const SchemeInfo&) { return point.workload.model.empty(); },
    .otherwise = "in a training the device says what work costs",
    .chosen = true,
    .refused = true};

constinit const Circumstance kWithProfile{.holds =
                                              [](const Point& point, const SchemeInfo&) {
                                                return !point.input.profile.empty() &&
                                                       point.input.trace.empty();
                                              },
                                          .otherwise = "is for a profile; give 'profile'",
                                          .readers = "runs with a profile",
                                          .chosen = true};

constinit const Circumstance kSynthetic{
    .holds =
        [](const Point& point, const SchemeInfo&) {
          return point.input.profile.empty() && point.input.trace.empty();
        },
    .otherwise =
        "is of synthetic gradients; a trace or a profile has its own, so leave one of them "
        "out",
    .readers = "runs on synthetic gradients",
    .chosen = true};

constinit const Circumstance kWithSlowRanks{
    .holds = [](const Point& point, const SchemeInfo&) { return point.stragglers.ranks > 0; },
    .otherwise = "no rank is slow; say how many in stragglers.ranks"};

constinit const Circumstance kSlowsRanks{
    .holds = [](const Point& point, const SchemeInfo&) { return point.stragglers.factor != 1; },
    .otherwise =
        "with a factor of 1 they are as fast as the others; leave it out, or give a larger "
        "stragglers.factor"};

constinit const Circumstance kOfValues{
    .holds = looks_at_values,
    .otherwise =
        "dense schemes send every component, whatever its value; leave it out, or add a "
        "sparse scheme",
    .readers = "runs of sparse schemes",
    .of_scheme = [](const SchemeInfo& scheme) { return !scheme.dense; }};

constinit const Circumstance kOfScale{
    .holds =
        [](const Point& point, const SchemeInfo& scheme) {
          return !scheme.independent_iterations || point.error_feedback;
        },
    .otherwise =
        "it moves the scale of all gradients of an iteration alike, and the schemes here "
        "keep no threshold from one iteration to the next; leave it out, or add one that "
        "does ({})",
    .of_scheme =
        [](const SchemeInfo& scheme) { return !scheme.dense && !scheme.independent_iterations; }};

constinit const Circumstance kOfEntries{
    .holds = [](const Point& point, const SchemeInfo&) { return !point.input.statistical; },
    .otherwise =
        "statistical values hold no entries; leave it out, or set input.statistical to "
        "false"};

constinit const Circumstance kOfDraws{
    .holds =
        [](const Point& point, const SchemeInfo& scheme) {
          const bool draws_values = looks_at_values(point, scheme) && point.input.trace.empty();
          return draws_values || scheme.draws || point.stragglers.any() || network_draws(point);
        },
    .otherwise =
        "nothing that is drawn at random changes a result: dense schemes send every "
        "component, a trace has recorded values, of which only some schemes draw ({}), and "
        "there are no noise, stragglers, random routes or background flows; leave it out, "
        "or give one of these",
    .readers = "runs that draw at random",
    .of_scheme = [](const SchemeInfo& scheme) { return scheme.draws; }};

constinit const Circumstance kOfResiduals{
    .otherwise =
        "dense schemes send all of the gradient, so nothing is left to carry; leave it "
        "out, or add a sparse scheme",
    .of_scheme = [](const SchemeInfo& scheme) { return !scheme.dense || scheme.approximate; }};

constinit const Circumstance kOfPaidResiduals{
    .otherwise = "dense schemes keep nothing of the gradient; leave it out, or add a sparse scheme",
    .of_scheme = [](const SchemeInfo& scheme) { return !scheme.dense || scheme.remembers; }};

constinit const Circumstance kOfValueBits{
    .otherwise =
        "the schemes here send values in bits of their own (options.bits); leave it out, "
        "or add one that sends whole values",
    .of_scheme = [](const SchemeInfo& scheme) { return !scheme.dense || !scheme.approximate; }};

constinit const Circumstance kOfIndexes{
    .otherwise = "dense schemes send no indexes; leave it out, or add a sparse scheme",
    .of_scheme = [](const SchemeInfo& scheme) { return !scheme.dense; }};

constinit const Circumstance kOfTime{
    .holds = [](const Point& point,
                const SchemeInfo&) { return find_network(point.network).has_clock; },
    .otherwise = "the network has no clock; leave it out"};

constinit const Circumstance kOfCalls{.of_scheme = [](const SchemeInfo&) { return true; }};

constinit const Circumstance kOfSums{
    .otherwise = "no sum takes time here: the collective makes none; leave it out",
    .of_scheme = [](const SchemeInfo& scheme) {
      return scheme.collective_kind == algorithms::Collective::allreduce ||
             scheme.collective_kind == algorithms::Collective::reduce_scatter;
    }};

constinit const Circumstance kOfCopies{
    .otherwise =
        "no copy takes time here: the schemes are none of MPI's collectives that make one "
        "({}); leave it out",
    .of_scheme = [](const SchemeInfo& scheme) { return scheme.copies; }};

constinit const Circumstance kOfBuffers{
    .otherwise =
        "no buffer takes time here: the schemes are none of Open MPI's collectives that "
        "allocate long ones ({}); leave it out",
    .of_scheme = [](const SchemeInfo& scheme) { return scheme.allocates; }};

constinit const Circumstance kOfRegistration{
    .otherwise =
        "no buffer is registered here: the schemes are none of Open MPI's collectives that "
        "send from one that they allocate ({}); leave it out",
    .of_scheme = [](const SchemeInfo& scheme) {
      return scheme.allocates && scheme.collective_kind != algorithms::Collective::alltoall;
    }};

constinit const Circumstance kOfDestinations{
    .holds =
        [](const Point& point, const SchemeInfo&) {
          const networks::HostCosts& host = point.machine.host;
          return host.limits_destinations(point.ranks) && host.destinations < point.ranks - 1;
        },
    .otherwise =
        "every rank reaches all others at once, since there are no more of them than "
        "'machine.destinations', or no more ranks than 'machine.destinations_beyond'; "
        "leave it out, or take more ranks"};

constinit const Circumstance kOfTensors{
    .otherwise = "no scheme here looks at tensors; leave it out, or add one that does ({})",
    .of_scheme = [](const SchemeInfo& scheme) { return scheme.takes_tensors; }};

bool holds(const Circumstance& circumstance, const Point& point, const SchemeInfo& scheme) {
  return circumstance.holds != nullptr ? circumstance.holds(point, scheme)
                                       : circumstance.of_scheme(scheme);
}

std::string schemes_with(const Circumstance& circumstance) {
  std::vector<std::string_view> names;
  for (const SchemeInfo& scheme : algorithms::all_schemes()) {
    if (circumstance.of_scheme(scheme)) names.push_back(scheme.name);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string text_of(const Circumstance& circumstance) {
  const std::string_view text = circumstance.otherwise;
  if (text.find("{}") == std::string_view::npos) return std::string(text);
  return fmt::format(fmt::runtime(text), schemes_with(circumstance));
}

}  // namespace thinwire::plan
