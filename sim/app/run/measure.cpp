#include "sim/app/run/measure.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <climits>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/registry.hpp"
#include "sim/app/plan/config.hpp"
#include "sim/app/run/ranks.hpp"
#include "sim/core/base/errors.hpp"
#include "sim/core/base/hash.hpp"
#include "sim/core/base/printable.hpp"
#include "sim/core/base/quantile.hpp"
#include "sim/core/base/random.hpp"
#include "sim/machine/networks/counting/counting.hpp"

namespace thinwire::run {

namespace {

// ------------------------------------------------------------- what ranks ended with

std::uint64_t bits_of(float value) { return std::bit_cast<std::uint32_t>(value); }

/// A hash of a stream: of its coordinates, and of its values if `values`.
std::uint64_t digest_of(const Stream& stream, bool values) {
  std::uint64_t digest = stream.index();
  const auto add = [&digest](std::uint64_t bits) { digest = mix(digest ^ bits); };
  if (const auto* sparse = std::get_if<SparseVector>(&stream)) {
    for (const Entry& entry : sparse->entries()) {
      add(std::uint64_t{entry.coordinate} << 32U | (values ? bits_of(entry.value) : 0));
    }
    return digest;
  }
  const auto& block = std::get<DenseBlock>(stream);
  add(block.first());
  const auto all = block.values();
  for (std::size_t i = 0; i + 1 < all.size(); i += 2) {
    add(bits_of(all[i]) << 32U | bits_of(all[i + 1]));
  }
  if (all.size() % 2 != 0) add(bits_of(all.back()));
  return digest;
}

/// The number of entries or values of a stream.
std::int64_t size_of(const Stream& stream) {
  return std::visit([](const auto& s) { return static_cast<std::int64_t>(s.size()); }, stream);
}

/// What a rank ended an iteration with, in short.
struct Mark {
  std::uint64_t sum = 0;
  std::uint64_t contributed = 0;
  std::int64_t size = 0;  ///< of the sum

  friend bool operator==(const Mark&, const Mark&) = default;
};

Mark mark_of(const algorithms::Reduced& reduced) {
  // Sparse schemes say by coordinates alone what contributed.
  const bool dense = std::holds_alternative<DenseBlock>(reduced.contributed);
  return {.sum = digest_of(reduced.sum, true),
          .contributed = digest_of(reduced.contributed, dense),
          .size = size_of(reduced.sum)};
}

/// The entries of a stream; all values of a dense one.
std::vector<Entry> entries_of_stream(const Stream& stream) {
  if (const auto* sparse = std::get_if<SparseVector>(&stream)) {
    return {sparse->entries().begin(), sparse->entries().end()};
  }
  const SparseVector all = thinwire::entries_of(std::get<DenseBlock>(stream));
  return {all.entries().begin(), all.entries().end()};
}

std::string text_of(const Stream& stream) {
  std::string text;
  for (const Entry& entry : entries_of_stream(stream)) {
    text.append(reinterpret_cast<const char*>(&entry), sizeof(entry));
  }
  return text;
}

std::vector<Entry> entries_from(const std::string& text) {
  std::vector<Entry> entries(text.size() / sizeof(Entry));
  if (!entries.empty()) std::memcpy(entries.data(), text.data(), entries.size() * sizeof(Entry));
  return entries;
}

/// The first difference of two results, in words.
std::string first_difference(const std::vector<Entry>& got, const std::vector<Entry>& wanted) {
  for (std::size_t i = 0; i < std::max(got.size(), wanted.size()); ++i) {
    if (i >= got.size() || (i < wanted.size() && wanted[i].coordinate < got[i].coordinate)) {
      return fmt::format("component {} is missing", wanted[i].coordinate);
    }
    if (i >= wanted.size() || got[i].coordinate < wanted[i].coordinate) {
      return fmt::format("component {} should not be there", got[i].coordinate);
    }
    if (bits_of(got[i].value) != bits_of(wanted[i].value)) {
      return fmt::format("component {} is {} and should be {}", got[i].coordinate, got[i].value,
                         wanted[i].value);
    }
  }
  return "they differ in their form";
}

// ------------------------------------------------------------- the reference

/// The same point on the network counting, iteration by iteration.
class Reference {
 public:
  explicit Reference(const plan::Point& point)
      : of_point_(point, point.machine), ranks_(static_cast<std::size_t>(point.ranks)) {
    of_point_.look_at_values();
    for (RankState& rank : ranks_) rank = of_point_.make_rank();
  }

  [[nodiscard]] RunReport run(int iteration) {
    iteration_ = iteration;
    RunReport report = network_.run(static_cast<int>(ranks_.size()), [&](Communicator& comm) {
      return of_point_.iterate(comm, ranks_[static_cast<std::size_t>(comm.rank().value())],
                               iteration);
    });
    of_point_.end_iteration();
    return report;
  }
  /// Carries to the next iteration what did not contribute. After check_sum().
  void feed_back() {
    for (RankState& rank : ranks_) of_point_.feed_back(rank);
  }
  [[nodiscard]] const algorithms::Reduced& result(std::size_t rank) const {
    return ranks_[rank].reduced;
  }

  /// Compares the sum of rank 0 with one in double precision of what the ranks contributed. Returns
  /// what is wrong. Empty too where the scheme's result is no such sum: other collectives, sums
  /// that lose entries on their way, and those that are sent in few bits.
  [[nodiscard]] std::string check_sum() const {
    const algorithms::SchemeInfo& info = of_point_.info();
    const algorithms::Options& options = of_point_.setup().options;
    const bool rounded = info.rounds_sums && options.integer("bits") < 32;
    if (info.collective_kind != algorithms::Collective::allreduce || rounded ||
        info.drops_partial_sums) {
      return {};
    }
    const std::vector<Entry> got = entries_of_stream(result(0).sum);
    std::vector<double> sums(got.size());
    std::vector<double> bounds(got.size());
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
      if (of_point_.point().in_first_group(rank)) add_contribution(rank, got, sums, bounds);
    }
    for (std::size_t i = 0; i < got.size(); ++i) {
      const double bound = bounds[i] * 0x1p-24 * static_cast<double>(ranks_.size());
      if (std::abs(got[i].value - sums[i]) <= bound) continue;
      return fmt::format(
          "component {} is {}, but in double precision the ranks' values add up to {}",
          got[i].coordinate, got[i].value, sums[i]);
    }
    return {};
  }

 private:
  /// Adds what a rank contributed to the sums at the coordinates of `got`.
  void add_contribution(std::size_t rank, const std::vector<Entry>& got, std::vector<double>& sums,
                        std::vector<double>& bounds) const {
    const Stream& contributed = ranks_[rank].reduced.contributed;
    const algorithms::LocalGradient accumulated =
        of_point_.gradient(ranks_[rank], Rank(static_cast<std::int32_t>(rank)), iteration_);
    std::vector<Entry> values;
    if (const auto* block = std::get_if<DenseBlock>(&contributed)) {
      values = entries_of_stream(*block);
    } else if (of_point_.info().dense) {
      values = entries_of_stream(accumulated);
    } else {
      const auto& sent = std::get<SparseVector>(contributed);
      const auto& all = std::get<SparseVector>(accumulated);
      const bool as_sent = ranks_[rank].reduced.sent_approximately;
      values = entries_of_stream(as_sent ? sent : intersect(all, sent));
    }
    std::size_t at = 0;
    for (const Entry& value : values) {
      while (at < got.size() && got[at].coordinate < value.coordinate) ++at;
      if (at == got.size() || got[at].coordinate != value.coordinate) continue;
      sums[at] += value.value;
      bounds[at] += std::abs(value.value);
    }
  }

  PointRanks of_point_;
  networks::CountingNetwork network_;
  std::vector<RankState> ranks_;
  int iteration_ = 0;  ///< that ran last
};

// ------------------------------------------------------------- times

results::Quartiles quartiles_of(const std::vector<Seconds>& times) {
  return {.median = quantile(times, 0.5),
          .least = std::ranges::min(times),
          .p10 = quantile(times, 0.1),
          .p90 = quantile(times, 0.9)};
}

/// The phases of the last iteration, with the median of their times over all of them.
std::vector<results::PhaseCost> phases_over(const std::vector<RunReport>& reports,
                                            std::vector<results::PhaseCost> phases) {
  for (results::PhaseCost& phase : phases) {
    std::vector<Seconds> times;
    for (const RunReport& report : reports) {
      const auto name = std::ranges::find(report.phases, phase.name);
      const auto at = static_cast<std::size_t>(name - report.phases.begin());
      Seconds slowest;
      for (const RankReport& rank : report.ranks) {
        if (at < rank.by_phase.size()) slowest = std::max(slowest, rank.by_phase[at].time);
      }
      times.push_back(slowest);
    }
    phase.time = quantile(std::move(times), 0.5);
  }
  return phases;
}

std::int64_t peak_memory() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return std::int64_t{usage.ru_maxrss} * 1024;
}

// ------------------------------------------------------------- one measurement

/// What a rank tells the others at the end.
Json told_of(const std::vector<Mark>& marks, const algorithms::SelectionReport& selection,
             const std::vector<double>& norms, std::int64_t components, const std::string& host) {
  Json told{
      {"norms", norms}, {"components", components}, {"host", host}, {"memory", peak_memory()}};
  told["marks"] = Json::array();
  for (const Mark& mark : marks) told["marks"].push_back({mark.sum, mark.contributed, mark.size});
  told["selection"] = {selection.took_part, selection.selected, selection.sent};
  for (const auto& [name, kind] : algorithms::kWorkKinds) {
    told["selection"].push_back(selection.work.*kind);
  }
  return told;
}

algorithms::SelectionReport selection_from(const Json& told) {
  const auto count = [&](std::size_t i) { return told.at(i).get<std::int64_t>(); };
  algorithms::SelectionReport selection{
      .took_part = told.at(0).get<bool>(), .selected = count(1), .sent = count(2)};
  std::size_t at = 3;
  for (const auto& [name, kind] : algorithms::kWorkKinds) selection.work.*kind = count(at++);
  return selection;
}

std::vector<Mark> marks_from(const Json& told) {
  std::vector<Mark> marks;
  for (const Json& mark : told.at("marks")) {
    marks.push_back({.sum = mark.at(0).get<std::uint64_t>(),
                     .contributed = mark.at(1).get<std::uint64_t>(),
                     .size = mark.at(2).get<std::int64_t>()});
  }
  return marks;
}

class Measurement {
 public:
  Measurement(const plan::Point& point, networks::ProcessNetwork& network,
              const MeasureSettings& settings)
      : point_(point),
        network_(network),
        settings_(settings),
        of_point_(point, point.machine),
        own_(of_point_.make_rank()) {
    of_point_.look_at_values();
    if (!settings.beside_library) return;
    const auto components = static_cast<std::size_t>(point.space.components);
    plain_.assign(components, static_cast<float>(network.rank() + 1));
    plain_sum_.resize(components);
  }

  void run() {
    const int all = settings_.warm_up + settings_.iterations;
    for (int iteration = 1; iteration <= all; ++iteration) {
      reports_.push_back(run(iteration));
      if (settings_.beside_library) {
        library_.push_back(network_.library_allreduce(plain_, plain_sum_));
      }
    }
  }

  /// The outcome, which is the same on all processes.
  [[nodiscard]] results::Outcome outcome() {
    gather();
    results::Outcome outcome;
    outcome.iteration = settings_.warm_up + settings_.iterations;
    const auto first = reports_.begin() + settings_.warm_up;
    const std::vector<RunReport> timed(first, reports_.end());
    for (const RunReport& report : timed) outcome.iteration_times.push_back(report.makespan());
    add_costs(timed.back(), point_.record.ranks, outcome);
    outcome.phases = phases_over(timed, std::move(outcome.phases));
    outcome.machine = point_.machine;
    outcome.result_components = told_.front().at("components").get<std::int64_t>();
    outcome.ranks_agree = agree();
    std::vector<algorithms::SelectionReport> selections;
    std::vector<std::string> hosts;
    for (std::size_t rank = 0; rank < told_.size(); ++rank) {
      const Json& one = told_[rank];
      if (point_.in_first_group(rank)) selections.push_back(selection_from(one.at("selection")));
      const auto host = one.at("host").get<std::string>();
      if (std::ranges::find(hosts, host) == hosts.end()) hosts.push_back(host);
    }
    outcome.selection = selection_of(selections, of_point_.info().dense);
    of_point_.say_how_settled(outcome);
    for (std::size_t i = 0; point_.error_feedback && i < reports_.size(); ++i) {
      double sum = 0;
      for (const Json& one : told_) sum += one.at("norms").at(i).get<double>();
      outcome.global_errors.push_back(sum / point_.ranks);
    }
    outcome.measured = results::Measured{.time = quartiles_of(outcome.iteration_times),
                                         .warm_up = settings_.warm_up,
                                         .iterations = settings_.iterations,
                                         .checked = settings_.check,
                                         .library = network_.library(),
                                         .hosts = std::move(hosts),
                                         .library_allreduce = library_times()};
    return outcome;
  }

  /// What is wrong with the results; empty if nothing is. After outcome().
  [[nodiscard]] std::string check() {
    std::string found;
    if (network_.rank() == 0) found = find_difference();
    found = network_.from_first(found);
    if (!found.starts_with(kLook)) return found;
    // The last results are still there, so the first difference can be told.
    const int rank = std::stoi(found.substr(std::string_view(kLook).size()));
    const std::string mine = network_.rank() == rank ? text_of(own_.reduced.sum) : std::string();
    const std::vector<std::string> all = network_.gather(mine);
    if (network_.rank() == 0) {
      const auto at = static_cast<std::size_t>(rank);
      found = fmt::format(
          "rank {}, iteration {}: {}", rank, reports_.size(),
          first_difference(entries_from(all[at]), entries_of_stream(reference_->result(at).sum)));
    }
    return network_.from_first(found);
  }

  [[nodiscard]] std::int64_t memory() const {
    std::int64_t most = 0;
    for (const Json& one : told_) most = std::max(most, one.at("memory").get<std::int64_t>());
    return most;
  }

 private:
  static constexpr const char* kLook = "look at rank ";

  RunReport run(int iteration) {
    RunReport report;
    try {
      report = network_.run(point_.ranks, [&](Communicator& comm) {
        return of_point_.iterate(comm, own_, iteration);
      });
    } catch (const InputError& error) {
      throw SimulationError(error.what());  // of one rank: the others wait for it
    }
    of_point_.end_iteration();
    marks_.push_back(mark_of(own_.reduced));
    if (point_.error_feedback) {
      of_point_.feed_back(own_);
      norms_.push_back(norm_of(own_.feedback.residual(), point_.space));
    }
    return report;
  }

  void gather() {
    const Json told = told_of(marks_, own_.reduced.selection, norms_,
                              components_of(own_.reduced.sum, point_.space), network_.host());
    for (const std::string& text : network_.gather(told.dump())) {
      told_.push_back(Json::parse(text));
      all_marks_.push_back(marks_from(told_.back()));
    }
  }

  /// As for simulated runs: all ranks hold the same result, or its blocks.
  [[nodiscard]] bool agree() const {
    const algorithms::Collective kind = of_point_.info().collective_kind;
    if (same_on_all_ranks(kind)) {
      return std::ranges::all_of(all_marks_, [&](const std::vector<Mark>& marks) {
        return std::ranges::equal(marks, all_marks_.front(), {}, &Mark::sum, &Mark::sum);
      });
    }
    if (kind == algorithms::Collective::ping_pong) {
      return std::ranges::equal(all_marks_.front(), all_marks_.back(), {}, &Mark::sum, &Mark::sum);
    }
    std::int64_t all = 0;
    for (const std::vector<Mark>& marks : all_marks_) all += marks.back().size;
    const std::int64_t senders = kind == algorithms::Collective::reduce_scatter ? 1 : point_.ranks;
    return all == senders * point_.space.components;
  }

  [[nodiscard]] std::optional<results::Quartiles> library_times() const {
    if (library_.empty()) return std::nullopt;
    Json own = Json::array();
    for (const Seconds time : library_) own.push_back(time.value());
    std::vector<Seconds> slowest(library_.size());
    for (const std::string& text : network_.gather(own.dump())) {
      const Json times = Json::parse(text);
      for (std::size_t i = 0; i < slowest.size(); ++i) {
        slowest[i] = std::max(slowest[i], Seconds(times.at(i).get<double>()));
      }
    }
    return quartiles_of({slowest.begin() + settings_.warm_up, slowest.end()});
  }

  /// Runs the reference, and compares all ranks in all iterations. On rank 0.
  [[nodiscard]] std::string find_difference() {
    reference_.emplace(point_);
    const auto ranks = static_cast<std::size_t>(point_.ranks);
    for (std::size_t i = 0; i < reports_.size(); ++i) {
      const RunReport counted = reference_->run(static_cast<int>(i + 1));
      const bool last = i + 1 == reports_.size();
      for (std::size_t rank = 0; rank < ranks; ++rank) {
        const auto where = fmt::format("rank {}, iteration {}", rank, i + 1);
        const Mark wanted = mark_of(reference_->result(rank));
        const Mark& got = all_marks_[rank][i];
        if (got.sum != wanted.sum && last) return fmt::format("{}{}", kLook, rank);
        if (got != wanted) {
          return fmt::format("{}: the {} differs from the reference ({} against {} entries)", where,
                             got.sum != wanted.sum ? "sum" : "part that contributed", got.size,
                             wanted.size);
        }
        if (!same_traffic(reports_[i], counted, rank)) {
          return fmt::format("{}: messages or words differ from the network counting", where);
        }
      }
      if (last) {
        const std::string wrong = reference_->check_sum();
        if (!wrong.empty()) return fmt::format("iteration {}: {}", i + 1, wrong);
      }
      reference_->feed_back();
    }
    return {};
  }

  plan::Point point_;
  networks::ProcessNetwork& network_;
  MeasureSettings settings_;
  PointRanks of_point_;
  RankState own_;
  std::vector<RunReport> reports_;  // by iteration
  std::vector<Mark> marks_;         // likewise
  std::vector<double> norms_;
  std::vector<float> plain_;
  std::vector<float> plain_sum_;
  std::vector<Seconds> library_;
  std::vector<Json> told_;                    // by rank
  std::vector<std::vector<Mark>> all_marks_;  // by rank and iteration
  std::optional<Reference> reference_;        // on rank 0
};

}  // namespace

Json measured_point(Json given, int processes, const MeasureSettings& settings) {
  const auto refuse = [](const std::string& key, const std::string& why) {
    throw InputError("measure: /{}: {}", key, why);
  };
  plan::check_point(given, "measure");
  if (given.contains("iterations")) {
    refuse("iterations", "--iterations and --warm-up say how many; leave it out");
  }
  if (given.value("network", "mpi") != "mpi") {
    refuse("network", "what is measured runs on the network mpi; leave it out");
  }
  given["network"] = "mpi";
  if (!given.contains("ranks")) given["ranks"] = processes;
  if (given.at("ranks") != processes) {
    refuse("ranks", fmt::format("{}, but there are {} processes; mpirun -n says how many",
                                given.at("ranks").dump(), processes));
  }
  if (given.contains("workload")) {
    refuse("workload", "computing is not simulated here; measure the allreduce alone");
  }
  if (!given.contains("granule") || given.at("granule") == "auto") given["granule"] = 1;
  if (given.at("granule") != 1) refuse("granule", "real bytes have a granule of 1; leave it out");
  if (settings.beside_library && given.value("components", 0.0) > INT_MAX) {
    refuse("components", fmt::format("MPI_Allreduce takes at most {} at once; take fewer, or leave "
                                     "out --beside-mpi",
                                     INT_MAX));
  }
  if (given.contains("input") && given.at("input").value("statistical", false)) {
    refuse("input/statistical", "statistical gradients have no values to be sent; leave it out");
  }
  if (given.contains("machine")) {
    for (const auto& item : given.at("machine").items()) {
      if (item.key() == "alpha_s" || item.key() == "beta_s_per_word") continue;
      refuse("machine/" + item.key(), "local work takes the time that it takes; leave it out");
    }
  }
  given["iterations"] = settings.warm_up + settings.iterations;
  return given;
}

results::Row measure_point(const plan::Point& point, networks::ProcessNetwork& network,
                           const MeasureSettings& settings) {
  const auto begin = std::chrono::steady_clock::now();
  results::Row row = results::failed_row("measure", point, {});
  if (const auto reason = plan::restriction_of(point)) {
    row.status = results::Status::skipped;
    row.reason = *reason;
    return row;
  }
  // What one process cannot read, the others must not wait for.
  std::optional<Measurement> measurement;
  std::string problem;
  try {
    measurement.emplace(point, network, settings);
  } catch (const InputError& error) {
    problem = error.what();
  }
  const std::vector<std::string> problems = network.gather(problem);
  for (std::size_t rank = 0; rank < problems.size(); ++rank) {
    if (problems[rank].empty()) continue;
    const bool same =
        std::ranges::all_of(problems, [&](const auto& p) { return p == problems[rank]; });
    throw InputError(same ? problems[rank] : fmt::format("rank {}: {}", rank, problems[rank]));
  }
  measurement->run();
  results::Outcome outcome = measurement->outcome();
  const results::Measured& measured = outcome.measured.value();
  row.key = hash_of_text(
      fmt::format("{} {} {}", row.key, measured.library, fmt::join(measured.hosts, " ")));
  if (!outcome.ranks_agree) row.reason = "the ranks ended with different reduced gradients";
  if (settings.check) {
    if (const std::string wrong = measurement->check(); !wrong.empty())
      row.reason = printable(wrong);
  }
  row.status = row.reason.empty() ? results::Status::ok : results::Status::failed;
  row.peak_rss_bytes = measurement->memory();
  if (row.status == results::Status::ok) row.outcome = std::move(outcome);
  row.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return row;
}

}  // namespace thinwire::run
