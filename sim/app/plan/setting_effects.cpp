#include "sim/app/plan/setting_effects.hpp"

#include "sim/app/plan/network_info.hpp"

namespace thinwire::plan {

bool looks_at_values(const Point& point, const algorithms::SchemeInfo& scheme) {
  return !scheme.dense || point.network == "mpi" || (scheme.approximate && point.error_feedback);
}

bool network_draws(const Point& point) {
  return point.machine.host.noise > Seconds(0) || point.links.background_flows > 0 ||
         point.links.routing != networks::LinkRouting::minimal;
}

namespace {

bool holds_entries(const Point& point, const algorithms::SchemeInfo& scheme) {
  return looks_at_values(point, scheme) && !point.input.statistical;
}

bool remembers_scale(const Point& point, const algorithms::SchemeInfo& scheme) {
  return looks_at_values(point, scheme) && (!scheme.independent_iterations || point.error_feedback);
}

bool draws(const Point& point, const algorithms::SchemeInfo& scheme) {
  const bool draws_values = looks_at_values(point, scheme) && point.input.trace.empty();
  return draws_values || scheme.draws || point.stragglers.any() || network_draws(point);
}

bool leaves_residuals(const Point& /*point*/, const algorithms::SchemeInfo& scheme) {
  return !scheme.dense || scheme.approximate;
}

bool pays_for_residuals(const Point& /*point*/, const algorithms::SchemeInfo& scheme) {
  return !scheme.dense || scheme.remembers;
}

bool sends_whole_values(const Point& /*point*/, const algorithms::SchemeInfo& scheme) {
  return !(scheme.dense && scheme.approximate);
}

bool sends_indexes(const Point& /*point*/, const algorithms::SchemeInfo& scheme) {
  return !scheme.dense;
}

bool takes_time(const Point& point, const algorithms::SchemeInfo& /*scheme*/) {
  return find_network(point.network).has_clock;
}

bool times_sums(const Point& point, const algorithms::SchemeInfo& scheme) {
  using algorithms::Collective;
  const bool sums = scheme.collective_kind == Collective::allreduce ||
                    scheme.collective_kind == Collective::reduce_scatter;
  return sums && takes_time(point, scheme);
}

bool times_copies(const Point& point, const algorithms::SchemeInfo& scheme) {
  return scheme.copies && takes_time(point, scheme);
}

bool times_buffers(const Point& point, const algorithms::SchemeInfo& scheme) {
  return scheme.allocates && takes_time(point, scheme);
}

bool times_registration(const Point& point, const algorithms::SchemeInfo& scheme) {
  return times_buffers(point, scheme) && scheme.collective_kind != algorithms::Collective::alltoall;
}

bool limits_destinations(const Point& point, const algorithms::SchemeInfo& /*scheme*/) {
  const networks::HostCosts& host = point.machine.host;
  return host.limits_destinations(point.ranks) && host.destinations < point.ranks - 1;
}

bool slows_ranks(const Point& point, const algorithms::SchemeInfo& /*scheme*/) {
  return point.stragglers.factor != 1;
}

bool takes_tensors(const Point& /*point*/, const algorithms::SchemeInfo& scheme) {
  return scheme.takes_tensors;
}

}  // namespace

const constinit Effect kOfValues{
    looks_at_values,
    "dense schemes send every component, whatever its value; leave it out, or add a sparse scheme"};

const constinit Effect kOfScale{
    remembers_scale,
    "it moves the scale of all gradients of an iteration alike, and the schemes here keep no "
    "threshold from one iteration to the next; leave it out, or add one that does (oktopk, exdyna, "
    "hard_threshold)"};

const constinit Effect kOfEntries{
    holds_entries,
    "statistical values hold no entries, and dense schemes send every component; leave it out, or "
    "set input.statistical to false"};

const constinit Effect kOfDraws{
    draws,
    "nothing that is drawn at random changes a result: dense schemes send every component, a trace "
    "has recorded values, of which only some sparsifiers draw (dgc, random_k, mstopk, "
    "dragonn_hash, exdyna, micro), and there are no noise, stragglers, random routes or background "
    "flows; leave it out, or give one of these"};

const constinit Effect kOfResiduals{
    leaves_residuals,
    "dense schemes send all of the gradient, so nothing is left to carry; leave it out, or add a "
    "sparse scheme"};

const constinit Effect kOfPaidResiduals{
    pays_for_residuals,
    "dense schemes keep nothing of the gradient; leave it out, or add a sparse scheme"};

const constinit Effect kOfValueBits{
    sends_whole_values,
    "the schemes here send values in bits of their own (options.bits); leave it out, or add one "
    "that sends whole values"};

const constinit Effect kOfIndexes{
    sends_indexes, "dense schemes send no indexes; leave it out, or add a sparse scheme"};

const constinit Effect kOfSums{
    times_sums,
    "no sum takes time here: the collective makes none, or the network has no clock; leave it out"};

const constinit Effect kOfTime{takes_time, "the network has no clock; leave it out"};

const constinit Effect kOfCopies{
    times_copies,
    "no copy takes time here: the schemes are none of MPI's collectives that make one (dense_ring, "
    "dense_ring_segmented, dense_rabenseifner, dense_recursive_doubling, dense_nonoverlapping, "
    "reduce_scatter_*, alltoall_bruck), or the network has no clock; leave it out"};

const constinit Effect kOfBuffers{
    times_buffers,
    "no buffer takes time here: the schemes are none of Open MPI's collectives that allocate long "
    "ones (dense_ring, dense_rabenseifner, dense_recursive_doubling, reduce_scatter_ring, "
    "reduce_scatter_recursive_halving, alltoall_bruck), or the network has no clock; leave it out"};

const constinit Effect kOfRegistration{
    times_registration,
    "no buffer is registered here: the schemes are none of Open MPI's collectives that send from "
    "one that they allocate (dense_ring, dense_rabenseifner, dense_recursive_doubling, "
    "reduce_scatter_ring, reduce_scatter_recursive_halving), or the network has no clock; leave it "
    "out"};

const constinit Effect kOfSlowRanks{
    slows_ranks,
    "with a factor of 1 they are as fast as the others; leave it out, or give a larger "
    "stragglers.factor"};

const constinit Effect kOfDestinations{
    limits_destinations,
    "every rank reaches all others at once, since there are no more of them than "
    "'machine.destinations', or no more ranks than 'machine.destinations_beyond'; leave it out, or "
    "take more ranks",
    true};

const constinit Effect kOfTensors{
    takes_tensors,
    "no scheme here looks at tensors; leave it out, or add deft, dragonn or powersgd"};

}  // namespace thinwire::plan
