#include "sim/app/plan/rules.hpp"

#include <fmt/format.h>

#include <array>

#include "sim/app/plan/config.hpp"
#include "sim/core/base/errors.hpp"
#include "sim/machine/networks/links/background.hpp"
#include "topologies/loading/placement.hpp"
#include "topologies/loading/shipped.hpp"

namespace thinwire::plan {

namespace {

bool trains(const Facts& facts) { return !facts.point.workload.model.empty(); }
bool is_recorded(const Facts& facts) { return !facts.point.input.trace.empty(); }
const networks::HostCosts& host(const Facts& facts) { return facts.point.machine.host; }
/// Settings of eager messages where no message is eager.
bool none_eager(const Facts& facts) { return host(facts).eager == Bytes(0); }
constexpr const char* kNoneEager = "no message is eager; give 'eager_bytes'";

bool is_allreduce(const Facts& facts) {
  return facts.scheme.collective_kind == algorithms::Collective::allreduce;
}
std::string collective(const Facts& facts) {
  return fmt::format("'{}' is of the collective {}", facts.scheme.name,
                     name_of(facts.scheme.collective_kind));
}

bool works(const Machine& machine) {
  return machine.gamma_per_word > Seconds(0) || machine.gamma_beyond_cache > Seconds(0) ||
         machine.call > Seconds(0) || machine.copy_per_word > Seconds(0) ||
         machine.copy_beyond_cache > Seconds(0) || machine.fresh.is_priced();
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
  return error_of([&] { return topologies::platform_file(facts.point.platform); });
}
std::string error_of_placement(const Facts& facts) {
  return error_of([&] {
    topologies::check_placement(facts.point.placement);
    return 0;
  });
}
std::string error_of_slow_links(const Facts& facts) {
  return error_of([&] {
    networks::check_slow_links(facts.point.links.slow_links);
    return 0;
  });
}

const std::array kRules{
    // The scheme and what surrounds it.
    Rule{"scheme", [](const Facts& f) { return trains(f) && !is_allreduce(f); },
         "{}; a training with 'workload' needs an allreduce", collective},
    Rule{"scheme", [](const Facts& f) { return f.point.error_feedback && !is_allreduce(f); },
         "{}; 'error_feedback' needs an allreduce", collective},
    Rule{"gradient",
         [](const Facts& f) {
           return f.scheme.own_format && f.point.space.precision != Precision{};
         },
         "the messages of {} have a format of their own; leave out 'value_bits' and 'index_bits'",
         [](const Facts& f) { return f.scheme.name; }},
    Rule{"k", [](const Facts& f) { return f.request.has("k") && f.request.has("density"); },
         "give 'k' or 'density', not both"},
    Rule{"network", [](const Facts& f) { return trains(f) && !f.network.has_clock; },
         "{} has no clock, and a training takes time",
         [](const Facts& f) { return f.network.name; }},
    Rule{"iterations", [](const Facts& f) { return !trains(f) && f.point.iterations == 0; },
         "0 is for a workload; give 1 or more"},
    Rule{"error_feedback",
         [](const Facts& f) {
           return trains(f) && f.point.error_feedback && f.point.iterations == 0;
         },
         "kinds of iterations do not follow one another; give 'iterations'"},
    Rule{"workload.feedback",
         [](const Facts& f) {
           return trains(f) && f.point.error_feedback &&
                  f.point.workload.feedback != algorithms::Feedback::residual;
         },
         "error_feedback carries the residual; leave one of them out"},
    // Gradients.
    Rule{"input.profile",
         [](const Facts& f) { return is_recorded(f) && f.request.has("input.profile"); },
         "a trace has gradients of its own; leave it or 'trace' out"},
    Rule{"error_feedback", [](const Facts& f) { return is_recorded(f) && f.point.error_feedback; },
         "the trace's values are of accumulators, which hold the residuals already; set it to "
         "false"},
    Rule{"error_feedback",
         [](const Facts& f) {
           return !is_recorded(f) && !f.point.input.profile.empty() && f.point.error_feedback;
         },
         "a profile describes accumulators, which hold residuals already"},
    Rule{"granule",
         [](const Facts& f) {
           const Json* const granule = f.request.find("granule");
           return is_recorded(f) && granule != nullptr && granule->is_number() && *granule != 1;
         },
         "a trace's coordinates are components; leave it out"},
    // The platform.
    Rule{"platform", [](const Facts& f) { return !error_of_platform(f).empty(); }, "{}",
         error_of_platform},
    Rule{"placement", [](const Facts& f) { return !error_of_placement(f).empty(); }, "{}",
         error_of_placement},
    Rule{"placement",
         [](const Facts& f) { return f.point.platform.empty() && f.point.placement != "block"; },
         "there is no platform on which to place ranks; give 'platform'"},
    Rule{"latency_factor",
         [](const Facts& f) { return f.point.platform.empty() && f.point.latency_factor != 1; },
         "there is no platform; give 'platform', or another machine.alpha_s"},
    Rule{"bandwidth_factor",
         [](const Facts& f) { return f.point.platform.empty() && f.point.bandwidth_factor != 1; },
         "there is no platform; give 'platform', or another machine.beta_s_per_word"},
    Rule{"latency_factor",
         [](const Facts& f) { return f.point.packets && f.point.latency_factor != 1; },
         "packets have the figures of the platform; leave it out"},
    Rule{"bandwidth_factor",
         [](const Facts& f) { return f.point.packets && f.point.bandwidth_factor != 1; },
         "packets have the figures of the platform; leave it out"},
    Rule{"flows_per_port",
         [](const Facts& f) { return f.point.packets && f.point.flows_per_port > 0; },
         "packets are no flows; leave one of them out"},
    Rule{"time_resolution_s",
         [](const Facts& f) { return f.point.packets && f.point.time_resolution > Seconds(0); },
         "packets have a clock of their own; leave one of them out"},
    Rule{"record.links", [](const Facts& f) { return f.point.packets && f.point.record.links; },
         "packets are not counted by link; leave one of them out"},
    Rule{"links.slow_links", [](const Facts& f) { return !error_of_slow_links(f).empty(); }, "{}",
         error_of_slow_links},
    // The machine.
    Rule{"machine",
         [](const Facts& f) {
           const Machine& machine = f.point.machine;
           const bool beyond = machine.gamma_beyond_cache > Seconds(0) ||
                               machine.eager_copy_beyond_cache > Seconds(0) ||
                               machine.copy_beyond_cache > Seconds(0);
           return beyond != (machine.cache > Bytes(0));
         },
         "'cache_bytes' and times beyond the cache say nothing one without the other"},
    Rule{"machine.fresh_beyond_bytes",
         [](const Facts& f) {
           return f.point.machine.fresh.beyond > Bytes(0) && !f.point.machine.fresh.is_priced();
         },
         "fresh memory takes no time; give 'page_s'"},
    Rule{"machine.eager_copy_s_per_word",
         [](const Facts& f) {
           return none_eager(f) && (host(f).eager_copy_per_word > Seconds(0) ||
                                    f.point.machine.eager_copy_beyond_cache > Seconds(0));
         },
         kNoneEager},
    Rule{"machine.eager_s_per_word",
         [](const Facts& f) { return none_eager(f) && host(f).eager_per_word > Seconds(0); },
         kNoneEager},
    Rule{"machine.fetch_s",
         [](const Facts& f) { return none_eager(f) && host(f).fetch > Seconds(0); }, kNoneEager},
    Rule{"machine.destinations",
         [](const Facts& f) { return none_eager(f) && host(f).destinations > 0; }, kNoneEager},
    Rule{"machine.buffered_bytes",
         [](const Facts& f) { return none_eager(f) && host(f).buffered > Bytes(0); }, kNoneEager},
    Rule{"machine.queued_bytes",
         [](const Facts& f) { return none_eager(f) && host(f).queued > Bytes(0); }, kNoneEager},
    Rule{"machine.inline_bytes",
         [](const Facts& f) { return none_eager(f) && host(f).inlined > Bytes(0); }, kNoneEager},
    Rule{"machine.fetch_beyond_bytes",
         [](const Facts& f) {
           return host(f).fetched_beyond > Bytes(0) && host(f).fetch == Seconds(0);
         },
         "fetching takes no time; give 'fetch_s'"},
    Rule{"machine.fetch_beyond_bytes",
         [](const Facts& f) {
           return host(f).fetched_beyond > Bytes(0) && host(f).fetch > Seconds(0) &&
                  host(f).fetched_beyond >= host(f).eager;
         },
         "no eager message is longer; leave it and 'fetch_s' out"},
    Rule{"machine.handshake",
         [](const Facts& f) {
           return host(f).handshake && f.network.id == NetworkId::alphabeta &&
                  f.point.machine.latency == Seconds(0) && host(f).latency == Seconds(0);
         },
         "it takes latencies, and there are none; give latency_s or host_latency_s"},
    Rule{
        "machine.destinations_beyond",
        [](const Facts& f) { return host(f).destinations_beyond > 0 && host(f).destinations == 0; },
        "destinations are not limited; give 'destinations'"},
    // Stragglers.
    Rule{"stragglers.ranks",
         [](const Facts& f) { return f.point.stragglers.ranks > f.point.ranks; }, "{} of the run",
         [](const Facts& f) {
           return fmt::format("{} are more than the {}", f.point.stragglers.ranks, f.point.ranks);
         }},
    Rule{
        "stragglers",
        [](const Facts& f) {
          return f.point.stragglers.any() && !trains(f) && !works(f.point.machine);
        },
        "local work takes no time here, so no rank is slow in it; give a training (--model) or the "
        "price of sums (--gamma)"},
};

}  // namespace

std::string Rule::complaint(const Facts& facts) const {
  const std::string said =
      of == nullptr ? std::string(text) : fmt::format(fmt::runtime(text), of(facts));
  return fmt::format("{}: {}: {}", facts.request.where(), pointer_of(setting), said);
}

std::span<const Rule> rules() { return kRules; }

}  // namespace thinwire::plan
