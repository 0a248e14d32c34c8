#include "sim/app/plan/rules.hpp"

#include <fmt/format.h>

#include <array>

#include "sim/app/plan/config.hpp"
#include "sim/core/base/errors.hpp"
#include "sim/machine/networks/links/bandwidths.hpp"
#include "topologies/loading/placement.hpp"
#include "topologies/loading/shipped.hpp"

namespace thinwire::plan {

namespace {

bool trains(const Facts& facts) { return !facts.point.workload.model.empty(); }
bool carries(const Facts& facts) { return trains(facts) && facts.point.error_feedback; }
bool keeps_residual(const Facts& facts) {
  return facts.point.workload.feedback == algorithms::Feedback::residual;
}
bool is_recorded(const Facts& facts) { return !facts.point.input.trace.empty(); }

bool has_groups(const Facts& facts) { return facts.point.parallel != workloads::Parallel{}; }

bool is_allreduce(const Facts& facts) {
  return facts.point.scheme->collective_kind == algorithms::Collective::allreduce;
}
std::string collective(const Facts& facts) {
  return fmt::format("'{}' is of the collective {}", facts.point.scheme->name,
                     name_of(facts.point.scheme->collective_kind));
}

bool has_wrong_precision(const Facts& facts) {
  return facts.point.scheme->own_format && facts.point.space.precision != Precision{};
}

bool has_granule_of_trace(const Facts& facts) {
  const Json* const granule = facts.request.find("granule");
  return is_recorded(facts) && granule != nullptr && granule->is_number() && *granule != 1;
}

bool has_price_beyond_cache(const Machine& machine) {
  return machine.gamma_beyond_cache > Seconds(0) || machine.eager_copy_beyond_cache > Seconds(0) ||
         machine.copy_beyond_cache > Seconds(0);
}

bool fetches_no_eager(const Facts& facts) {
  const networks::HostCosts& host = facts.point.machine.host;
  return host.fetch > Seconds(0) && host.fetched_beyond > Bytes(0) &&
         host.fetched_beyond >= host.eager;
}

bool shakes_hands_at_once(const Facts& facts) {
  const Machine& machine = facts.point.machine;
  return machine.host.handshake && facts.point.network->id == NetworkId::alphabeta &&
         machine.latency == Seconds(0) && machine.host.latency == Seconds(0);
}

std::string more_stragglers(const Facts& facts) {
  return fmt::format("{} are more than the {}", facts.point.stragglers.ranks, facts.point.ranks);
}

std::string unequal_groups(const Facts& facts) {
  const workloads::Parallel& groups = facts.point.parallel;
  const int ranks = facts.point.ranks;
  if (groups.data == 0) return fmt::format("tp={} does not divide {} ranks", groups.tensor, ranks);
  return fmt::format("tp={} times dp={} are not the {} ranks", groups.tensor, groups.data, ranks);
}

/// What `check` throws; empty if it throws nothing.
template <class Check>
std::string error_of(Check check) {
  try {
    static_cast<void>(check());
    return {};
  } catch (const InputError& error) {
    return error.what();
  }
}

std::string error_of_platform(const Facts& facts) {
  if (facts.point.platform.empty()) return {};
  return error_of([&] { return topologies::kPlatforms.file(facts.point.platform); });
}
std::string error_of_placement(const Facts& facts) {
  return error_of([&] {
    topologies::check_placement(facts.point.placement);
    return 0;
  });
}
bool sums_otherwise(const Facts& facts) {
  const algorithms::SchemeInfo& scheme = *facts.point.tensor_scheme;
  return facts.point.sums_activations() &&
         (!scheme.dense || scheme.approximate || scheme.in_switches ||
          scheme.collective_kind != algorithms::Collective::allreduce ||
          scheme.restriction(facts.point.parallel.tensor, 1 << 20));
}
std::string error_of_slow_links(const Facts& facts) {
  return error_of([&] {
    networks::check_slow_links(facts.point.links.slow_links);
    return 0;
  });
}

const std::array kRules{
    Rule{"scheme", [](const Facts& f) { return trains(f) && !is_allreduce(f); },
         "{}; a training with 'workload' needs an allreduce", collective},
    Rule{"scheme", [](const Facts& f) { return f.point.error_feedback && !is_allreduce(f); },
         "{}; 'error_feedback' needs an allreduce", collective},
    Rule{"gradient", has_wrong_precision,
         "the messages of {} have a format of their own; leave out 'value_bits' and 'index_bits'",
         [](const Facts& f) { return f.point.scheme->name; }},
    Rule{"k", [](const Facts& f) { return f.request.has("k") && f.request.has("density"); },
         "give 'k' (-k) or 'density' (--density), not both"},
    Rule{"network", [](const Facts& f) { return trains(f) && !f.point.network->has_clock; },
         "{} has no clock, and a training takes time",
         [](const Facts& f) { return f.point.network->name; }},
    Rule{"iterations", [](const Facts& f) { return !trains(f) && f.point.iterations == 0; },
         "0 is for a workload; give 1 or more"},
    Rule{"error_feedback", [](const Facts& f) { return carries(f) && f.point.iterations == 0; },
         "kinds of iterations do not follow one another; give 'iterations'"},
    Rule{"workload.feedback", [](const Facts& f) { return carries(f) && !keeps_residual(f); },
         "error_feedback carries the residual; leave one of them out"},
    Rule{"input.profile",
         [](const Facts& f) { return is_recorded(f) && f.request.has("input.profile"); },
         "a trace has gradients of its own; leave it or 'trace' out"},
    Rule{"granule", has_granule_of_trace, "a trace's coordinates are components; leave it out"},
    Rule{"platform", [](const Facts& f) { return !error_of_platform(f).empty(); }, "{}",
         error_of_platform},
    Rule{"placement", [](const Facts& f) { return !error_of_placement(f).empty(); }, "{}",
         error_of_placement},
    Rule{"links.slow_links", [](const Facts& f) { return !error_of_slow_links(f).empty(); }, "{}",
         error_of_slow_links},
    Rule{"machine",
         [](const Facts& f) {
           return has_price_beyond_cache(f.point.machine) != (f.point.machine.cache > Bytes(0));
         },
         "'cache_bytes' and times beyond the cache say nothing one without the other"},
    Rule{"machine.fetch_beyond_bytes", fetches_no_eager,
         "no eager message is longer; leave it and 'fetch_s' out"},
    Rule{"machine.handshake", shakes_hands_at_once,
         "it takes latencies, and there are none; give latency_s or host_latency_s"},
    Rule{"parallel", [](const Facts& f) { return !f.point.parallel.divides(f.point.ranks); }, "{}",
         unequal_groups},
    Rule{"parallel",
         [](const Facts& f) {
           return has_groups(f) && !same_on_all_ranks(f.point.scheme->collective_kind);
         },
         "{}, whose ranks end with different results; groups are for an allreduce or an allgather",
         collective},
    Rule{"parallel", [](const Facts& f) { return has_groups(f) && f.point.approximate > 0; },
         "few ranks cannot stand for the ranks of several groups; leave out 'approximate'"},
    Rule{"parallel",
         [](const Facts& f) {
           return f.point.sums_activations() && f.point.workload.local_steps > 1;
         },
         "tensor-parallel ranks sum activations in each step; leave out 'local_steps'"},
    Rule{"tensor_scheme", sums_otherwise,
         "{} is no dense allreduce that these groups can run; take another, or leave it out",
         [](const Facts& f) { return f.point.tensor_scheme->name; }},
    Rule{"stragglers.ranks",
         [](const Facts& f) { return f.point.stragglers.ranks > f.point.ranks; }, "{} of the run",
         more_stragglers}};

}  // namespace

std::string Rule::complaint(const Facts& facts) const {
  const std::string said =
      of == nullptr ? std::string(text) : fmt::format(fmt::runtime(text), of(facts));
  return fmt::format("{}: {}: {}", facts.request.where(), pointer_of(setting), said);
}

std::span<const Rule> rules() { return kRules; }

}  // namespace thinwire::plan
