#include "sim/app/plan/readers.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "algorithms/registry.hpp"

namespace thinwire::plan {

using algorithms::SchemeInfo;

bool looks_at_values(const Point& point) {
  return !point.scheme->dense || point.network->is_real ||
         (point.scheme->approximate && point.error_feedback);
}

bool network_draws(const Point& point) {
  return point.machine.host.noise > Seconds(0) || point.links.background_flows > 0 ||
         point.links.routing != networks::LinkRouting::minimal;
}

namespace {

bool local_work_takes_time(const Point& point) {
  const Machine& machine = point.machine;
  return !point.workload.model.empty() || machine.gamma_per_word > Seconds(0) ||
         machine.gamma_beyond_cache > Seconds(0) || machine.call > Seconds(0) ||
         machine.copy_per_word > Seconds(0) || machine.copy_beyond_cache > Seconds(0) ||
         machine.fresh.is_priced();
}

bool limits_destinations(const Point& point) {
  const networks::HostCosts& host = point.machine.host;
  return host.limits_destinations(point.ranks) && host.destinations < point.ranks - 1;
}

bool draws(const Point& point) {
  const bool draws_values = looks_at_values(point) && point.input.trace.empty();
  return draws_values || point.scheme->draws || point.stragglers.any() || network_draws(point);
}

}  // namespace

constinit const Circumstance kWithPlatform{
    .on = [](const Point& point) { return !point.platform.empty(); },
    .otherwise = "there is no platform; give 'platform'",
    .chosen = true,
    .refused = true};

constinit const Circumstance kWithoutPlatform{
    .on = [](const Point& point) { return point.platform.empty(); },
    .otherwise = "comes from the platform; leave one of them out",
    .readers = "without a platform",
    .chosen = true,
    .refused = true};

constinit const Circumstance kWithoutPackets{
    .on = [](const Point& point) { return !point.packets; },
    .otherwise =
        "packets have the figures of the platform and a clock of their own, share no ports, "
        "and are not counted by link; leave one of them out",
    .refused = true};

constinit const Circumstance kWithModel{
    .on = [](const Point& point) { return !point.workload.model.empty(); },
    .otherwise = "is for runs with a model; give workload.model (--model) too",
    .readers = "runs with a model",
    .chosen = true};

constinit const Circumstance kWithoutModel{
    .on = [](const Point& point) { return point.workload.model.empty(); },
    .otherwise = "in a training the device says what work costs",
    .chosen = true,
    .refused = true};

constinit const Circumstance kWithTensorGroups{
    .on = [](const Point& point) { return point.sums_activations(); },
    .otherwise =
        "no activations are summed; give workload.model (--model), and parallel with tp=2 "
        "or more",
    .readers = "runs with a model and tensor-parallel ranks",
    .chosen = true};

constinit const Circumstance kWithProfile{
    .on = [](const Point& p) { return !p.input.profile.empty() && p.input.trace.empty(); },
    .otherwise = "is for a profile; give 'profile'",
    .readers = "runs with a profile",
    .chosen = true};

constinit const Circumstance kSynthetic{
    .on = [](const Point& p) { return p.input.profile.empty() && p.input.trace.empty(); },
    .otherwise =
        "is of synthetic gradients; a trace or a profile has its own, so leave one of them "
        "out",
    .readers = "runs on synthetic gradients",
    .chosen = true};

constinit const Circumstance kOfGradients{
    .on = [](const Point& p) { return p.input.profile.empty() && p.input.trace.empty(); },
    .otherwise =
        "a trace or a profile is of accumulators, which hold the residuals already; set it "
        "to false",
    .chosen = true,
    .refused = true};

constinit const Circumstance kWithEager{
    .on = [](const Point& point) { return point.machine.host.eager > Bytes(0); },
    .otherwise = "no message is eager; give 'eager_bytes'",
    .refused = true};

constinit const Circumstance kWithFetching{
    .on = [](const Point& point) { return point.machine.host.fetch > Seconds(0); },
    .otherwise = "fetching takes no time; give 'fetch_s'",
    .refused = true};

constinit const Circumstance kWithFewDestinations{
    .on = [](const Point& point) { return point.machine.host.destinations > 0; },
    .otherwise = "destinations are not limited; give 'destinations'",
    .refused = true};

constinit const Circumstance kWithPricedBuffers{
    .on = [](const Point& point) { return point.machine.fresh.is_priced(); },
    .otherwise = "fresh memory takes no time; give 'page_s'",
    .refused = true};

constinit const Circumstance kWithWork{
    .on = local_work_takes_time,
    .otherwise =
        "local work takes no time here, so no rank is slow in it; give a training (--model) "
        "or the price of sums (--gamma)",
    .refused = true};

constinit const Circumstance kWithSlowRanks{
    .on = [](const Point& point) { return point.stragglers.ranks > 0; },
    .otherwise = "no rank is slow; say how many in stragglers.ranks"};

constinit const Circumstance kSlowsRanks{
    .on = [](const Point& point) { return point.stragglers.factor != 1; },
    .otherwise =
        "with a factor of 1 they are as fast as the others; leave it out, or give a larger "
        "stragglers.factor"};

constinit const Circumstance kOfValues{
    .on = looks_at_values,
    .of_scheme = [](const SchemeInfo& scheme) { return !scheme.dense; },
    .otherwise =
        "dense schemes send every component, whatever its value; leave it out, or add a "
        "sparse scheme",
    .readers = "runs of sparse schemes"};

constinit const Circumstance kOfScale{
    .on = [](const Point& p) { return !p.scheme->independent_iterations || p.error_feedback; },
    .of_scheme = [](const SchemeInfo& s) { return !s.dense && !s.independent_iterations; },
    .otherwise =
        "it moves the scale of all gradients of an iteration alike, and the schemes here "
        "keep no threshold from one iteration to the next; leave it out, or add one that "
        "does ({})"};

constinit const Circumstance kOfEntries{
    .on = [](const Point& point) { return !point.input.statistical; },
    .otherwise =
        "statistical values hold no entries; leave it out, or set input.statistical to "
        "false"};

constinit const Circumstance kOfDraws{
    .on = draws,
    .of_scheme = [](const SchemeInfo& scheme) { return scheme.draws; },
    .otherwise =
        "nothing that is drawn at random changes a result: dense schemes send every "
        "component, a trace has recorded values, of which only some schemes draw ({}), and "
        "there are no noise, stragglers, random routes or background flows; leave it out, "
        "or give one of these",
    .readers = "runs that draw at random"};

constinit const Circumstance kOfResiduals{
    .of_scheme = [](const SchemeInfo& scheme) { return !scheme.dense || scheme.approximate; },
    .otherwise =
        "dense schemes send all of the gradient, so nothing is left to carry; leave it "
        "out, or add a sparse scheme"};

constinit const Circumstance kOfPaidResiduals{
    .of_scheme = [](const SchemeInfo& scheme) { return !scheme.dense || scheme.remembers; },
    .otherwise =
        "dense schemes keep nothing of the gradient; leave it out, or add a sparse scheme"};

constinit const Circumstance kOfValueBits{
    .of_scheme = [](const SchemeInfo& scheme) { return !scheme.dense || !scheme.approximate; },
    .otherwise =
        "the schemes here send values in bits of their own (options.bits); leave it out, "
        "or add one that sends whole values"};

constinit const Circumstance kOfIndexes{
    .of_scheme = [](const SchemeInfo& scheme) { return !scheme.dense; },
    .otherwise = "dense schemes send no indexes; leave it out, or add a sparse scheme"};

constinit const Circumstance kOfTime{
    .on = [](const Point& point) { return point.network->has_clock; },
    .otherwise = "the network has no clock; leave it out"};

constinit const Circumstance kOfCalls{.of_scheme = [](const SchemeInfo&) { return true; }};

constinit const Circumstance kOfSums{
    .of_scheme =
        [](const SchemeInfo& scheme) {
          return scheme.collective_kind == algorithms::Collective::allreduce ||
                 scheme.collective_kind == algorithms::Collective::reduce_scatter;
        },
    .otherwise = "no sum takes time here: the collective makes none; leave it out"};

constinit const Circumstance kOfCopies{
    .of_scheme = [](const SchemeInfo& scheme) { return scheme.copies; },
    .otherwise =
        "no copy takes time here: the schemes are none of MPI's collectives that make one "
        "({}); leave it out"};

constinit const Circumstance kOfBuffers{
    .of_scheme = [](const SchemeInfo& scheme) { return scheme.allocates; },
    .otherwise =
        "no buffer takes time here: the schemes are none of Open MPI's collectives that "
        "allocate long ones ({}); leave it out"};

constinit const Circumstance kOfRegistration{
    .of_scheme =
        [](const SchemeInfo& scheme) {
          return scheme.allocates && scheme.collective_kind != algorithms::Collective::alltoall;
        },
    .otherwise =
        "no buffer is registered here: the schemes are none of Open MPI's collectives that "
        "send from one that they allocate ({}); leave it out"};

constinit const Circumstance kOfDestinations{
    .on = limits_destinations,
    .otherwise =
        "every rank reaches all others at once, since there are no more of them than "
        "'machine.destinations', or no more ranks than 'machine.destinations_beyond'; "
        "leave it out, or take more ranks"};

constinit const Circumstance kOfTensors{
    .of_scheme = [](const SchemeInfo& scheme) { return scheme.takes_tensors; },
    .otherwise = "no scheme here looks at tensors; leave it out, or add one that does ({})"};

bool holds(const Circumstance& circumstance, const Point& point) {
  return circumstance.on != nullptr ? circumstance.on(point)
                                    : circumstance.of_scheme(*point.scheme);
}

bool has_place_for(NetworkSet networks, const std::vector<const Circumstance*>& when,
                   const Point& point) {
  return networks.has(point.network->id) &&
         std::ranges::all_of(when, [&](const Circumstance* circumstance) {
           return !circumstance->chosen || circumstance->on(point);
         });
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
