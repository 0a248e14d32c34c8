#include "sim/app/studies/recommend.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <exception>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "algorithms/collectives/hierarchical.hpp"
#include "algorithms/registry.hpp"
#include "sim/app/experiment/compare.hpp"
#include "sim/app/experiment/estimate.hpp"
#include "sim/app/experiment/networks.hpp"
#include "sim/app/experiment/simulate.hpp"
#include "sim/core/base/child_process.hpp"
#include "sim/core/base/errors.hpp"
#include "sim/core/base/interrupt.hpp"
#include "sim/machine/workloads/device.hpp"
#include "sim/machine/workloads/model.hpp"

namespace thinwire::studies {

namespace {

/// The number of schemes that crossovers consider: the best few, plus the best dense one.
constexpr std::size_t kContenders = 3;
constexpr double kMostDensity = 0.5;
/// A scheme that does not give the dense sum has to be faster than those that do by this factor:
/// less is within the uncertainty of a simulation, and is not worth another convergence.
constexpr double kWorthwhile = 1.05;
constexpr double kLeastDensity = 1e-5;
/// Up to this factor α and β are moved.
constexpr double kMostFactor = 16;

/// Infinity for what cannot be simulated, and for a scheme that does not select k: its time is that
/// of another density.
double time_of(const experiment::Row& row) {
  return row.outcome && !selects_far_from_k(row) ? row.outcome->training->mean.total().value()
                                                 : std::numeric_limits<double>::infinity();
}

Dominant dominant_in(const experiment::Row& row) {
  const experiment::Outcome& outcome = *row.outcome;
  const workloads::IterationParts& mean = outcome.training->mean;
  const double communication = mean.communication.value();
  // The parts follow the formulas, for the rank that it cost most; the rest is waiting for others,
  // sums and copies.
  const double latency =
      std::min(communication,
               static_cast<double>(outcome.messages_received.max) * outcome.machine.alpha.value());
  const double bandwidth =
      std::min(communication - latency, static_cast<double>(outcome.words_received.max) *
                                            outcome.machine.beta_per_word.value());
  const std::array<std::pair<double, Dominant>, 5> parts{
      {{mean.computation.value(), Dominant::computation},
       {mean.sparsification.value(), Dominant::sparsification},
       {latency, Dominant::latency},
       {bandwidth, Dominant::bandwidth},
       {communication - latency - bandwidth, Dominant::waiting}}};
  return std::ranges::max_element(parts, {}, &std::pair<double, Dominant>::first)->second;
}

/// A simulation that is to run.
struct Attempt {
  std::string scheme;
  Json point;
  std::optional<Candidate> candidate = {};
  std::exception_ptr refused = {};  ///< an InputError
  std::string trouble = {};         ///< why there is no candidate
};

/// What is left of the options of a point for a scheme that lacks some of them.
void keep_options(Json& point, const algorithms::SchemeInfo& scheme) {
  if (!point.contains("options")) return;
  Json kept = Json::object();
  for (const auto& item : point.at("options").items()) {
    const bool known = std::ranges::find(scheme.options, item.key(),
                                         &algorithms::OptionInfo::name) != scheme.options.end();
    if (known) kept[item.key()] = item.value();
  }
  point["options"] = kept;
}

/// The components of the sum, relative to all.
double sum_density_of(const experiment::Row& row) {
  return static_cast<double>(row.outcome->result_components) /
         static_cast<double>(row.point.space.components);
}

/// What a rank holds for a scheme beyond the training: what it keeps of its gradient, and for sparse
/// schemes its selection and what it receives, all at once. Dense schemes work in place.
double memory_of(const experiment::Row& row) {
  const algorithms::SchemeInfo scheme = algorithms::find_scheme(row.point.scheme);
  if (scheme.dense && !scheme.approximate) return 0;
  const auto n = static_cast<double>(row.point.space.components);
  const double kept = 4 * n * static_cast<double>(row.point.workload.feedback);
  if (scheme.dense) return std::min(kept, 4 * n);
  const double share = row.outcome->selection ? static_cast<double>(row.outcome->selection->most)
                                              : static_cast<double>(row.point.k);
  return kept + 4 * row.point.space.precision.entry() * share +
         4 * static_cast<double>(row.outcome->words_received.max);
}

Candidate candidate_from(experiment::Row row) {
  Candidate candidate{.row = std::move(row)};
  const experiment::Point& point = candidate.row.point;
  candidate.convergence = algorithms::convergence_of(point.scheme);
  candidate.measured = algorithms::measured_convergence(
      point.scheme, static_cast<double>(point.k) / static_cast<double>(point.space.components),
      point.ranks);
  if (!candidate.row.outcome) return candidate;
  candidate.dominant = dominant_in(candidate.row);
  candidate.sum_density = sum_density_of(candidate.row);
  candidate.memory_bytes = memory_of(candidate.row);
  return candidate;
}

void announce(const RecommendSettings& settings, const Attempt& attempt) {
  if (!settings.progress) return;
  std::string what = fmt::format("{}, P = {}", attempt.scheme, attempt.point.value("ranks", 16));
  if (attempt.point.contains("density")) {
    what += fmt::format(", density {:.3g}", attempt.point.value("density", 0.0));
  }
  const double latency = attempt.point.value("latency_factor", 1.0);
  const double bandwidth = attempt.point.value("bandwidth_factor", 1.0);
  if (latency != 1) what += fmt::format(", latencies times {:.3g}", latency);
  if (bandwidth != 1) what += fmt::format(", bandwidths times {:.3g}", bandwidth);
  settings.progress(what);
}

/// Starts the simulation of an attempt; nothing if it is refused, or takes too long.
std::unique_ptr<ChildProcess> start_attempt(const RecommendSettings& settings, Attempt& attempt) {
  const experiment::Point point = experiment::point_from(attempt.point, "recommend");
  const double expected = experiment::estimated_wall_s(point);
  if (expected > settings.most_seconds) {
    attempt.trouble = fmt::format("its simulation would take about {:.0f} s", expected);
    return nullptr;
  }
  announce(settings, attempt);
  std::optional<ChildWork> work =
      experiment::work_of(point, {.alphabeta = experiment::AlphaBetaTime::none});
  if (!work) {
    attempt.candidate = candidate_from(experiment::row_of("recommend", point, nullptr));
    return nullptr;
  }
  return std::make_unique<ChildProcess>(std::move(*work));
}

/// Calls `work`, and keeps an InputError in the attempt.
template <class Work>
void guarded(Attempt& attempt, const Work& work) {
  try {
    work();
  } catch (const InputError& error) {
    attempt.refused = std::current_exception();
    attempt.trouble = error.what();
  }
}

/// Simulates all attempts, several at once.
void simulate_all(const RecommendSettings& settings, std::vector<Attempt>& attempts) {
  const InterruptGuard guard;
  struct Underway {
    Attempt* attempt;
    std::unique_ptr<ChildProcess> child;
  };
  std::vector<Underway> running;
  std::size_t next = 0;
  while (next < attempts.size() || !running.empty()) {
    while (next < attempts.size() && running.size() < static_cast<std::size_t>(settings.jobs)) {
      Attempt& attempt = attempts[next++];
      guarded(attempt, [&] {
        Json& point = attempt.point;
        point["scheme"] = attempt.scheme;
        keep_options(point, algorithms::find_scheme(attempt.scheme));
        if (auto child = start_attempt(settings, attempt))
          running.push_back({&attempt, std::move(child)});
      });
    }
    std::vector<const ChildProcess*> children;
    for (const Underway& one : running) children.push_back(one.child.get());
    constexpr std::chrono::milliseconds kTick{100};
    if (!children.empty()) ChildProcess::wait_for_news(children, kTick);
    for (auto one = running.begin(); one != running.end();) {
      if (!one->child->advance()) {
        ++one;
        continue;
      }
      Attempt& attempt = *one->attempt;
      guarded(attempt, [&] {
        const experiment::Point point = experiment::point_from(attempt.point, "recommend");
        attempt.candidate =
            candidate_from(experiment::row_of("recommend", point, one->child.get()));
      });
      one = running.erase(one);
    }
    if (InterruptGuard::signal() != 0) throw InterruptedError("interrupted");
  }
  for (Attempt& attempt : attempts) {
    if (!attempt.candidate) continue;
    const experiment::Row& row = attempt.candidate->row;
    if (!row.outcome) attempt.trouble = row.reason;
    if (row.outcome && selects_far_from_k(row)) attempt.trouble = "it selects far from k";
  }
}

std::vector<Attempt> attempts_of(const std::vector<std::string>& schemes, const Json& point) {
  std::vector<Attempt> attempts;
  for (const std::string& scheme : schemes) attempts.push_back({.scheme = scheme, .point = point});
  return attempts;
}

bool is_lossless(const Candidate& candidate) {
  return candidate.convergence.convergence == algorithms::Convergence::exact;
}

/// Adds the attempts that have a candidate to it, and the others to what is left out. What was refused
/// is the user's error.
void take_candidates(std::vector<Attempt> attempts, Recommendation& into) {
  for (Attempt& attempt : attempts) {
    if (attempt.refused) std::rethrow_exception(attempt.refused);
    if (attempt.candidate) {
      into.ranked.push_back(std::move(*attempt.candidate));
    } else {
      into.left_out.push_back({attempt.scheme, attempt.trouble});
    }
  }
}

/// The density of the user, of the model or of the profile.
double density_of_point(const experiment::Point& point) {
  return static_cast<double>(point.k) / static_cast<double>(point.space.components);
}

Json at_density(Json point, double density) {
  point.erase("k");
  point["density"] = std::min(1.0, density);
  return point;
}

/// Simulates the schemes whose sums have fewer components than those of top-k SGD again, at the
/// density at which they have as many.
void equalise_sums(const RecommendSettings& settings, Recommendation& result) {
  // The least: sums that are carried as dense vectors count all components.
  double most = std::numeric_limits<double>::infinity();
  for (const Candidate& candidate : result.ranked) {
    const auto info = algorithms::find_scheme(candidate.row.point.scheme);
    if (info.dense || info.selects_result || info.selects_together || info.one_selects) continue;
    if (candidate.row.outcome) most = std::min(most, candidate.sum_density);
  }
  if (most > 1) {
    throw InputError(
        "--density-of sum: no candidate sums what ranks select by themselves; add topka to "
        "--schemes");
  }
  constexpr double kSame = 1.02;
  std::vector<Attempt> attempts;
  std::vector<double> factors;
  std::vector<Candidate> kept;
  for (Candidate& candidate : result.ranked) {
    const auto info = algorithms::find_scheme(candidate.row.point.scheme);
    const bool fewer = candidate.row.outcome && !info.dense && candidate.sum_density > 0 &&
                       candidate.sum_density * kSame < most;
    if (!fewer || !(info.selects_result || info.selects_together || info.one_selects)) {
      kept.push_back(std::move(candidate));
      continue;
    }
    const double factor = most / candidate.sum_density;
    factors.push_back(factor);
    attempts.push_back(
        {.scheme = candidate.row.point.scheme,
         .point = at_density(settings.point, factor * density_of_point(candidate.row.point))});
  }
  simulate_all(settings, attempts);
  result.ranked = std::move(kept);
  for (std::size_t i = 0; i < attempts.size(); ++i) {
    if (attempts[i].candidate) attempts[i].candidate->density_factor = factors[i];
  }
  take_candidates(std::move(attempts), result);
}

std::vector<std::string> contenders(const Recommendation& result) {
  std::vector<std::string> names;
  bool dense = false;
  const Candidate* const advice = result.advice();
  if (advice != nullptr) {
    names.push_back(advice->row.point.scheme);
    dense = is_lossless(*advice);
  }
  for (const Candidate& candidate : result.ranked) {
    if (&candidate == advice) continue;
    if (!candidate.row.outcome || (advice != nullptr && !candidate.is_advisable())) continue;
    if (names.size() >= kContenders && (dense || !is_lossless(candidate))) continue;
    names.push_back(candidate.row.point.scheme);
    dense = dense || is_lossless(candidate);
  }
  return names;
}

/// The values of one parameter to try in order.
struct Ladder {
  std::string along;
  bool up = true;
  std::vector<double> values;
};

/// The point at which the parameter of the axis has a value; that of alpha and beta is a factor.
Json point_at(const Json& given, const experiment::Point& base, const std::string& along,
              double value) {
  Json point = given;
  if (along == "ranks") {
    point["ranks"] = std::llround(value);
  } else if (along == "density") {
    point = at_density(std::move(point), value);
  } else if (!base.platform.empty()) {
    if (along == "alpha") point["latency_factor"] = base.latency_factor * value;
    if (along == "beta") point["bandwidth_factor"] = base.bandwidth_factor / value;
  } else if (along == "alpha") {
    point["machine"]["alpha_s"] = base.machine.alpha.value() * value;
  } else {
    point["machine"]["beta_s_per_word"] = base.machine.beta_per_word.value() * value;
  }
  return point;
}

/// Tries the values of an axis in order until another contender wins.
Crossover crossover(const RecommendSettings& settings, const Recommendation& result,
                    const Ladder& axis) {
  Crossover found{.along = axis.along, .up = axis.up};
  const std::vector<std::string>& names = result.contenders;
  const auto candidate_of = [&](const std::string& name) -> const Candidate& {
    return *std::ranges::find_if(result.ranked, [&](const Candidate& candidate) {
      return candidate.row.point.scheme == name;
    });
  };
  const Candidate& present = candidate_of(names.front());
  const double density = density_of_point(present.row.point) / present.density_factor;
  for (const double value : axis.values) {
    std::vector<Attempt> attempts;
    for (const std::string& name : names) {
      Json point =
          point_at(at_density(settings.point, density), present.row.point, axis.along, value);
      const double factor = candidate_of(name).density_factor;
      attempts.push_back(
          {.scheme = name, .point = at_density(point, factor * point.at("density").get<double>())});
    }
    simulate_all(settings, attempts);
    if (!attempts.front().trouble.empty()) {
      found.ended = fmt::format("{}: {}", names.front(), attempts.front().trouble);
      return found;
    }
    found.looked_to = value;
    double best = std::numeric_limits<double>::infinity();
    const Attempt* winner = nullptr;
    for (const Attempt& attempt : attempts) {
      if (!attempt.trouble.empty()) {
        found.ended = fmt::format("{} took no part: {}", attempt.scheme, attempt.trouble);
        continue;
      }
      const double time = time_of(attempt.candidate->row);
      if (time < best) {
        best = time;
        winner = &attempt;
      }
    }
    // As in Recommendation::advice().
    if (!is_lossless(*winner->candidate)) {
      double least = kWorthwhile * best;
      for (const Attempt& attempt : attempts) {
        if (!attempt.trouble.empty() || !is_lossless(*attempt.candidate)) continue;
        const double time = time_of(attempt.candidate->row);
        if (time > least) continue;
        least = time;
        winner = &attempt;
      }
    }
    if (winner->scheme == names.front()) continue;
    found.at = value;
    found.winner = winner->scheme;
    found.gain = time_of(attempts.front().candidate->row) / time_of(winner->candidate->row);
    return found;
  }
  if (axis.values.empty()) found.ended = "there is no such value to try";
  return found;
}

/// The sequence value * factor, value * factor², ... while it stays between both ends.
std::vector<double> steps(double value, double factor, double low, double high) {
  std::vector<double> all;
  for (double next = value * factor; next > 0 && next >= low && next <= high; next *= factor) {
    all.push_back(next);
  }
  return all;
}

/// The same sequence, rounded to distinct whole numbers.
std::vector<double> whole_steps(int value, double factor, double low, double high) {
  std::vector<double> all = steps(value, factor, low, high);
  for (double& next : all) next = std::round(next);
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

/// The point with the network that is meant if none is named.
Json with_network(Json point) {
  if (point.contains("platform") && !point.contains("network")) point["network"] = "links";
  return point;
}

std::string gigabytes(double bytes) { return fmt::format("{:.3g} GB", bytes / 1e9); }

/// The memory of the device in bytes, if its file knows it.
std::optional<double> memory_of_device(const experiment::Point& point) {
  const auto device = workloads::read_device(workloads::device_file(point.workload.device));
  if (!device.memory) return std::nullopt;
  return static_cast<double>(device.memory->bytes.value());
}

/// Refuses a training that does not fit into the device's memory, whatever the scheme.
void check_memory(const RecommendSettings& settings, const experiment::Point& point) {
  const std::optional<double> memory = memory_of_device(point);
  const auto n = static_cast<double>(point.space.components);
  const double state = settings.state_bytes * n;
  if (!memory || state <= *memory) return;
  throw InputError(fmt::format(
      "{} does not fit on {}: {:.4g} components with {:.3g} bytes of weights, gradient and "
      "optimizer each are {}, of {}. Ranks that divide them hold less: give --state-bytes, 4 with "
      "BF16 weights and gradients if optimizer and FP32 weights are divided among all ranks (ZeRO "
      "stage 1)",
      point.workload.model, point.workload.device, n, settings.state_bytes, gigabytes(state),
      gigabytes(*memory)));
}

std::string density_text(const RecommendSettings& settings, const experiment::Point& point) {
  const std::string share = fmt::format("{:.4g}", density_of_point(point));
  if (settings.density_of == DensityOf::sum) {
    return share + " of each rank; schemes with shorter sums than top-k SGD select as many more";
  }
  return fmt::format(
      "{}, k = {}: of each rank, or of all ranks together in exdyna and of the rank that selects "
      "in "
      "cltk, as their papers define it",
      share, point.k);
}

std::vector<Remark> assumptions_of(const RecommendSettings& settings, const Candidate& any) {
  const experiment::Point& point = any.row.point;
  const experiment::Machine& machine = any.row.outcome->machine;
  const workloads::Model model = workloads::read_model(workloads::model_file(point.workload.model));
  const workloads::Device device =
      workloads::read_device(workloads::device_file(point.workload.device));
  const workloads::ModelCompute& compute = workloads::compute_on(model, device.name);
  const std::int64_t batch = point.workload.batch > 0 ? point.workload.batch : compute.batch;
  std::vector<Remark> all;
  const auto n = static_cast<double>(point.space.components);
  all.push_back({"model", fmt::format("{}: {} components", model.summary, point.space.components)});
  all.push_back({"device", device.name + ": " + device.summary});
  all.push_back(
      {"computing", fmt::format("{:.4g} s for {} {}{} per rank: {}",
                                compute.time.value() * static_cast<double>(batch) /
                                    static_cast<double>(compute.batch),
                                batch, model.sample, batch == 1 ? "" : "s", compute.source)});
  std::string ranks = fmt::format("{}", point.ranks);
  if (machine.node > 1) ranks += fmt::format(", {} on each node", machine.node);
  if (!point.platform.empty()) ranks += fmt::format(", placement {}", point.placement);
  all.push_back({"ranks", ranks});
  std::string network = point.network;
  if (!point.platform.empty()) network += ", platform " + point.platform;
  network += experiment::find_network(point.network).congests
                 ? ": messages share links, no other jobs"
                 : ": end to end, no congestion";
  network +=
      fmt::format("; alpha {:.3g} s, beta {:.3g} s/word ({:.3g} GB/s)", machine.alpha.value(),
                  machine.beta_per_word.value(),
                  machine.beta_per_word > Seconds(0) ? 4e-9 / machine.beta_per_word.value() : 0);
  all.push_back({"network", network});
  if (point.latency_factor != 1 || point.bandwidth_factor != 1) {
    all.push_back({"factors", fmt::format("latencies times {:.4g}, bandwidths times {:.4g}",
                                          point.latency_factor, point.bandwidth_factor)});
  }
  all.push_back({"density", density_text(settings, point)});
  const Precision& bits = point.space.precision;
  std::string precision =
      fmt::format("values of {} bits, indexes of {} bits", bits.value_bits, bits.index_bits);
  if (bits.value_bits != 32) precision += "; what is kept has 32";
  if (n > std::ldexp(1.0, bits.index_bits)) {
    precision += "; n exceeds the indexes: they need offsets per tensor, or --index-bits 64";
  }
  all.push_back({"precision", precision});
  const std::array<const char*, 3> feedback{"none", "residual", "velocity and accumulator"};
  all.push_back(
      {"kept", fmt::format("{} of what sparse schemes do not send; {}",
                           feedback.at(static_cast<std::size_t>(point.workload.feedback)),
                           point.workload.staging ? "messages go through the host"
                                                  : "messages are sent from GPU memory")});
  const double state = settings.state_bytes * n;
  all.push_back(
      {"memory",
       fmt::format("{} of {} for weights, gradient and optimizer ({:.3g} bytes per "
                   "component); activations are not counted",
                   gigabytes(state),
                   device.memory ? gigabytes(static_cast<double>(device.memory->bytes.value()))
                                 : "an unknown size",
                   settings.state_bytes)});
  return all;
}

/// Sorts the candidates, after it is known which fit.
void rank_candidates(const RecommendSettings& settings, Recommendation& result) {
  for (Candidate& candidate : result.ranked) {
    if (!candidate.row.outcome) continue;
    const std::optional<double> memory = memory_of_device(candidate.row.point);
    const double state =
        settings.state_bytes * static_cast<double>(candidate.row.point.space.components);
    candidate.fits = !memory || state + candidate.memory_bytes <= *memory;
  }
  std::ranges::stable_sort(result.ranked, {}, [](const Candidate& candidate) {
    return std::pair(time_of(candidate.row) == std::numeric_limits<double>::infinity() ? 2
                     : candidate.fits                                                  ? 0
                                                                                       : 1,
                     time_of(candidate.row));
  });
}

}  // namespace

std::string name_of(Dominant dominant) {
  switch (dominant) {
    case Dominant::computation:
      return "computation";
    case Dominant::sparsification:
      return "sparsification";
    case Dominant::latency:
      return "latency";
    case Dominant::bandwidth:
      return "bandwidth";
    case Dominant::waiting:
      break;
  }
  return "waiting";
}

bool Candidate::is_advisable() const {
  return row.outcome && fits && !selects_far_from_k(row) &&
         convergence.convergence != algorithms::Convergence::worse;
}

const Candidate* Recommendation::advice() const {
  const auto found = std::ranges::find_if(ranked, &Candidate::is_advisable);
  if (found == ranked.end()) return nullptr;
  const auto dense = std::ranges::find_if(ranked, [](const Candidate& candidate) {
    return candidate.is_advisable() && is_lossless(candidate);
  });
  const bool as_fast =
      dense != ranked.end() && time_of(dense->row) <= kWorthwhile * time_of(found->row);
  return as_fast ? &*dense : &*found;
}

std::vector<std::string> default_candidates(bool nodes) {
  std::vector<std::string> names;
  for (const algorithms::SchemeInfo& scheme : algorithms::all_schemes()) {
    const bool knows_nodes =
        std::ranges::find(scheme.options, algorithms::kNodeOption, &algorithms::OptionInfo::name) !=
        scheme.options.end();
    if (scheme.collective_kind == algorithms::Collective::allreduce && scheme.dense &&
        !scheme.in_switches && knows_nodes == nodes) {
      names.push_back(scheme.name);
    }
  }
  const std::vector<std::string> sparse =
      nodes ? std::vector<std::string>{"hierarchical_oktopk", "hierarchical_split_allgather"}
            : std::vector<std::string>{"topka",
                                       "topkdsa",
                                       "gtopk",
                                       "oktopk",
                                       "ssar_recursive_double",
                                       "ssar_split_allgather",
                                       "dsar_split_allgather",
                                       "exdyna",
                                       "cltk",
                                       "zen",
                                       "spardl"};
  names.insert(names.end(), sparse.begin(), sparse.end());
  return names;
}

Recommendation recommend(const RecommendSettings& given) {
  RecommendSettings settings = given;
  settings.point = with_network(settings.point);
  Json first = settings.point;
  if (!settings.schemes.empty()) first["scheme"] = settings.schemes.front();
  keep_options(first, algorithms::find_scheme(first.value("scheme", "oktopk")));
  check_memory(settings, experiment::point_from(first, "recommend"));

  Recommendation result;
  RecommendSettings ranking = settings;
  // What the user names is simulated, however long it takes.
  if (!settings.schemes.empty()) ranking.most_seconds = std::numeric_limits<double>::infinity();
  std::vector<Attempt> attempts =
      attempts_of(settings.schemes.empty() ? default_candidates(/*nodes=*/false) : settings.schemes,
                  settings.point);
  simulate_all(ranking, attempts);
  take_candidates(std::move(attempts), result);
  const auto simulated = std::ranges::find_if(
      result.ranked, [](const Candidate& candidate) { return candidate.row.outcome.has_value(); });
  if (simulated == result.ranked.end()) return result;
  const bool nodes = simulated->row.outcome->machine.node > 1 &&
                     experiment::find_network(simulated->row.point.network).congests;
  const bool switches = simulated->row.outcome->machine.switches.any();
  if (settings.schemes.empty() && nodes) {
    attempts = attempts_of(default_candidates(/*nodes=*/true), settings.point);
    simulate_all(ranking, attempts);
    take_candidates(std::move(attempts), result);
  }
  if (settings.schemes.empty() && switches) {
    attempts = attempts_of({"dense_in_network"}, settings.point);
    simulate_all(ranking, attempts);
    take_candidates(std::move(attempts), result);
  }
  if (settings.density_of == DensityOf::sum) equalise_sums(ranking, result);
  rank_candidates(settings, result);
  // The point of a scheme at the density that was given.
  const auto plain = std::ranges::find_if(result.ranked, [](const Candidate& candidate) {
    return candidate.row.outcome && candidate.density_factor == 1;
  });
  result.assumptions =
      assumptions_of(settings, plain == result.ranked.end() ? result.ranked.front() : *plain);
  result.contenders = contenders(result);
  if (!settings.crossovers || result.contenders.size() < 2) return result;
  const Candidate& present = *std::ranges::find_if(result.ranked, [&](const Candidate& candidate) {
    return candidate.row.point.scheme == result.contenders.front();
  });
  const int ranks = present.row.point.ranks;
  const double density = density_of_point(present.row.point) / present.density_factor;
  const double most = std::max(settings.most_ranks, 2 * ranks);
  for (const Ladder& axis :
       {Ladder{"ranks", true, whole_steps(ranks, 2, 2, most)},
        Ladder{"ranks", false, whole_steps(ranks, 0.5, 2, most)},
        Ladder{"density", true, steps(density, 2, kLeastDensity, kMostDensity)},
        Ladder{"density", false, steps(density, 0.5, density / 100, kMostDensity)},
        Ladder{"alpha", true, steps(1, 2, 1, kMostFactor)},
        Ladder{"alpha", false, steps(1, 0.5, 1 / kMostFactor, 1)},
        Ladder{"beta", true, steps(1, 2, 1, kMostFactor)},
        Ladder{"beta", false, steps(1, 0.5, 1 / kMostFactor, 1)}}) {
    result.crossovers.push_back(crossover(settings, result, axis));
  }
  return result;
}

}  // namespace thinwire::studies
