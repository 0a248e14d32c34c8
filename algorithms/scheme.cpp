#include "algorithms/scheme.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "algorithms/added_code.hpp"
#include "algorithms/collectives/hierarchical.hpp"
#include "algorithms/decoding.hpp"
#include "algorithms/formula.hpp"
#include "sim/core/base/errors.hpp"

namespace thinwire::algorithms {

namespace {

/// Forwards selections, and keeps a report of the last one.
class Watched final : public Sparsifier {
 public:
  Watched(std::string scheme, std::unique_ptr<Sparsifier> inner, std::int64_t granule)
      : scheme_(std::move(scheme)), inner_(std::move(inner)), granule_(granule) {}

  Selection select(const SparseVector& accumulated, Rank rank, int iteration) override {
    Selection selection = selected(accumulated, rank, iteration);
    report_ = {.took_part = true,
               .selected = static_cast<std::int64_t>(selection.selected.size()) * granule_,
               .sent = granule_ * selection.travelling(),
               .work = selection.work};
    return selection;
  }
  void observe(const Numbers& counts, int iteration) override {
    inner_->observe(counts, iteration);
  }
  [[nodiscard]] std::optional<std::int64_t> fixed_count() const override {
    return inner_->fixed_count();
  }
  [[nodiscard]] bool decides() const override { return inner_->decides(); }
  Numbers decide(const SparseVector& accumulated, int iteration) override {
    return inner_->decide(accumulated, iteration);
  }
  void follow(const Numbers& decision) override { inner_->follow(decision); }
  /// Reports the selections since the last call.
  SelectionReport take_report() { return std::exchange(report_, {}); }

 private:
  [[nodiscard]] Selection selected(const SparseVector& accumulated, Rank rank, int iteration) {
    try {
      return inner_->select(accumulated, rank, iteration);
    } catch (...) {
      rethrow_with_place(scheme_, rank, iteration);
    }
  }

  std::string scheme_;  ///< and its sparsifier
  std::unique_ptr<Sparsifier> inner_;
  std::int64_t granule_;
  SelectionReport report_;
};

Task<void> finish_allreduce(Communicator& strand, Scheme& scheme, LocalGradient gradient,
                            int iteration, Reduced& result) {
  Task<Reduced> task = scheme.allreduce(strand, std::move(gradient), iteration);
  result = co_await std::move(task);
}

/// Returns a selection that was made, and paid for, earlier.
class Preselected final : public Sparsifier {
 public:
  Preselected(Selection selection, Sparsifier& inner)
      : selection_(std::move(selection)), inner_(inner) {}

  Selection select(const SparseVector& /*accumulated*/, Rank /*rank*/, int /*iteration*/) override {
    return {.selected = selection_.selected,
            .slots = selection_.slots,
            .own_part = selection_.own_part,
            .blocks = selection_.blocks};
  }
  void observe(const Numbers& counts, int iteration) override { inner_.observe(counts, iteration); }
  [[nodiscard]] std::optional<std::int64_t> fixed_count() const override {
    return inner_.fixed_count();
  }

 private:
  Selection selection_;
  Sparsifier& inner_;
};

/// Writes a sparse sum into a vector of n components, which is what an optimiser takes.
Task<void> decode(Communicator& comm, const SchemeSetup& setup, Reduced& reduced) {
  const auto* const sum = std::get_if<SparseVector>(&reduced.sum);
  if (sum == nullptr || setup.ranks == 1 || std::exchange(reduced.decoded, true)) co_return;
  const Seconds cost =
      sparse_decoding(setup.prices, setup.prices.scatter.element, setup.space.components,
                      static_cast<double>(setup.components_in(*sum)));
  if (cost == Seconds(0)) co_return;
  const auto phase = comm.phase(kDecoding);
  co_await comm.compute(cost);
}

class Composed final : public Scheme {
 public:
  Composed(std::string name, std::unique_ptr<SparseCollective> collective,
           std::unique_ptr<Sparsifier> sparsifier, const SchemeSetup& setup)
      : setup_(setup),
        collective_(std::move(collective)),
        sparsifier_(std::move(name), std::move(sparsifier), setup.space.granule) {}

  Task<Reduced> allreduce(Communicator& comm, LocalGradient gradient, int iteration) override {
    Task<Reduced> task = collective_->allreduce(
        comm, sparsifier_, std::get<SparseVector>(std::move(gradient)), iteration);
    gradient = {};
    Reduced reduced = co_await std::move(task);
    reduced.selection = sparsifier_.take_report();
    co_await decode(comm, setup_, reduced);
    co_return reduced;
  }

  Task<Request> begin(Communicator& comm, LocalGradient gradient, int iteration,
                      Reduced& result) override {
    const SparseVector accumulated = std::get<SparseVector>(std::move(gradient));
    Selection selection =
        co_await select_and_pay(comm, setup_, sparsifier_, accumulated, iteration);
    const auto selected = std::make_shared<Preselected>(std::move(selection), sparsifier_);
    co_return comm.start([this, selected, accumulated, iteration, &result](Communicator& strand) {
      return finish(strand, selected, accumulated, iteration, result);
    });
  }

 private:
  Task<void> finish(Communicator& strand, std::shared_ptr<Preselected> selected,
                    SparseVector accumulated, int iteration, Reduced& result) {
    Task<Reduced> task = collective_->allreduce(strand, *selected, accumulated, iteration);
    result = co_await std::move(task);
    result.selection = sparsifier_.take_report();
    co_await decode(strand, setup_, result);
  }

  const SchemeSetup& setup_;
  std::unique_ptr<SparseCollective> collective_;
  Watched sparsifier_;
};

/// The symbols of a formula: P, n, k and the numeric options.
Symbols symbols_of(const CostInput& in, double k) {
  Symbols symbols{{"P", in.ranks}, {"n", static_cast<double>(in.n)}, {"k", k}};
  if (in.options == nullptr) return symbols;
  for (const auto& [name, value] : in.options->all()) {
    symbols[name] = std::visit([](auto v) { return static_cast<double>(v); }, value);
  }
  if (symbols.contains(kNodeOption)) symbols[kNodeOption] = node_size(*in.options, in.node);
  return symbols;
}

const std::string& or_else(const std::string& text, const std::string& other) {
  return text.empty() ? other : text;
}

}  // namespace

double ceil_log2(int ranks) {
  return static_cast<double>(std::bit_width(static_cast<unsigned>(ranks) - 1));
}

Task<void> run_backward(Communicator& comm, TrainingStep& step, std::int64_t first) {
  const auto phase = comm.phase("backward");
  while (true) {
    const TrainingStep::Piece piece = step.next(first);
    co_await comm.compute(piece.time);
    if (piece.summed == 0) break;
    co_await step.sum(piece.summed);
  }
}

int buffers_of(Feedback feedback) {
  if (feedback == Feedback::none) return 0;
  return feedback == Feedback::momentum ? 2 : 1;  // velocity and accumulator
}

Seconds remembering(const WorkPrices& prices, Feedback feedback, std::int64_t components) {
  if (feedback == Feedback::none || components == 0) return Seconds(0);
  const bool momentum = feedback == Feedback::momentum;
  const double operators = momentum ? 3 : 2;
  const double accesses = momentum ? 8 : 5;
  return prices.scan.call * operators +
         prices.scan.element * (accesses * static_cast<double>(components));
}

Seconds forgetting(const WorkPrices& prices, Feedback feedback, std::int64_t sent) {
  if (feedback == Feedback::none) return Seconds(0);
  return prices.scatter.of(sent) * buffers_of(feedback);
}

Task<void> remember(Communicator& comm, const TrainingStep& step, std::int64_t components) {
  const auto phase = comm.phase(kErrorFeedback);
  co_await comm.compute(remembering(step.prices(), step.feedback(), components));
}

Task<void> forget(Communicator& comm, const TrainingStep& step, const SparseVector& contributed) {
  const auto phase = comm.phase(kErrorFeedback);
  const auto entries = static_cast<std::int64_t>(contributed.size());
  const std::int64_t sent = std::min(entries * step.space().granule, step.space().components);
  co_await comm.compute(forgetting(step.prices(), step.feedback(), sent));
}

Seconds copying(const WorkPrices& prices, Words sent, Words received) {
  return prices.to_host.of(sent.value()) + prices.to_device.of(received.value());
}

Seconds copying(const WorkPrices& prices, const GradientSpace& space, Words own,
                const Reduced& reduced) {
  const bool gathers = reduced.gathered > Words(0);
  return copying(prices, reduced.sent > Words(0) ? reduced.sent : own,
                 gathers ? reduced.gathered : message_of(reduced.sum, space).words);
}

Task<Reduced> Scheme::allreduce_in_training(Communicator& comm, LocalGradient gradient,
                                            int iteration, TrainingStep& step) {
  co_await run_backward(comm, step, 0);
  const bool sparse = std::holds_alternative<SparseVector>(gradient);
  Words own = sparse ? Words(0) : step.space().value_words(step.space().components);
  if (sparse) co_await remember(comm, step, step.space().components);
  Task<Reduced> task = allreduce(comm, std::move(gradient), iteration);
  gradient = {};
  Reduced reduced = co_await std::move(task);
  if (sparse) {
    own = step.space().entry_words(reduced.selection.sent);
    co_await forget(comm, step, std::get<SparseVector>(reduced.contributed));
  }
  const auto phase = comm.phase("copy");
  co_await comm.compute(copying(step.prices(), step.space(), own, reduced));
  co_return reduced;
}

Task<Request> Scheme::begin(Communicator& comm, LocalGradient gradient, int iteration,
                            Reduced& result) {
  co_return comm.start([this, gradient = std::move(gradient), iteration,
                        &result](Communicator& strand) -> Task<void> {
    return finish_allreduce(strand, *this, gradient, iteration, result);
  });
}

std::string name_of(Collective collective) {
  constexpr std::array kNames{"allreduce", "allgather", "reduce_scatter", "alltoall", "ping_pong"};
  return kNames.at(static_cast<std::size_t>(collective));
}

namespace {

Terms with_values(Terms terms, double value) {
  terms.words *= value;
  terms.reduced *= value;
  return terms;
}

/// Dense schemes send values and nothing else, and their terms count one word for each. Sparse ones
/// count the words of their entries themselves.
void at_precision(const CostInput& in, bool dense, Cost& cost) {
  const Precision& precision = in.precision;
  if (dense) {
    for (Interval* const terms : {&cost.counted, &cost.added}) {
      terms->low = with_values(terms->low, precision.value());
      terms->high = with_values(terms->high, precision.value());
    }
  }
  if (!precision.rounds() || in.ranks == 1) return;
  // A message, and each piece that was gathered, is rounded up to a word, and lines of flags again.
  constexpr double kMost = 2;
  const Terms run = cost.run().high;
  const double rounded = kMost * (run.messages + in.ranks);
  cost.added.high = cost.added.high + Terms{0, rounded, rounded};
  cost.exact = false;
}

}  // namespace

Cost SchemeInfo::cost(const CostInput& in) const {
  Cost result = run_cost(in);
  const Symbols nominal = symbols_of(in, static_cast<double>(in.k));
  result.paper.low = {evaluate(paper.latency, nominal), evaluate(paper.words, nominal), 0};
  result.paper.high = {evaluate(or_else(paper.latency_high, paper.latency), nominal),
                       evaluate(or_else(paper.words_high, paper.words), nominal), 0};
  if (result.counted.low.reduced == 0 && result.counted.high.reduced == 0) {
    result.counted.low.reduced = evaluate(paper.reduced, symbols_of(in, in.least()));
    result.counted.high.reduced =
        evaluate(or_else(paper.reduced_high, paper.reduced), symbols_of(in, in.most()));
  }
  if (!(dense && approximate)) at_precision(in, dense, result);
  return result;
}

bool can_compose(const SchemeInfo& collective, const SparsifierInfo& sparsifier) {
  return sparsifier.needs == Needs::nothing ||
         (sparsifier.needs == Needs::slots ? collective.carries_slots
                                           : collective.carries_values_of_all);
}

SchemeInfo compose(SchemeInfo collective, const SparsifierInfo& sparsifier) {
  if (!can_compose(collective, sparsifier)) {
    throw InputError(
        "'{}' cannot carry what '{}' selects: {}", collective.name, sparsifier.name,
        sparsifier.needs == Needs::slots
            ? "slots in no order, some of them empty; schemes that gather can (topka)"
            : "each rank selects for all of them; schemes that share indexes can (topk_allreduce)");
  }
  collective.collective_options = collective.options;
  for (const OptionInfo& option : sparsifier.options) {
    if (has_option(collective.options, option.name)) continue;
    collective.options.push_back(option);
    collective.options.back().sparsifier = sparsifier.name;
  }
  collective.sparsifier = sparsifier.name;
  collective.sparsifier_needs = sparsifier.needs;
  collective.fixed_count = sparsifier.fixed_count;
  collective.independent_iterations =
      collective.independent_iterations && sparsifier.independent_iterations;
  collective.takes_tensors = collective.takes_tensors || sparsifier.takes_tensors;
  collective.draws = collective.draws || sparsifier.draws;
  for (const std::string& period : sparsifier.periods) {
    if (std::ranges::find(collective.periods, period) == collective.periods.end()) {
      collective.periods.push_back(period);
    }
  }
  collective.settle = sparsifier.settle;
  collective.decided = sparsifier.decided;
  collective.expected_work = sparsifier.expected_work;
  collective.make = [name = collective.name + ", sparsifier " + sparsifier.name,
                     make_collective = collective.collective,
                     make_sparsifier = sparsifier.make](const SchemeSetup& setup) {
    return std::make_unique<Composed>(name, make_collective(setup), make_sparsifier(setup), setup);
  };
  if (const auto decorate = collective.decorate) return decorate(std::move(collective));
  return collective;
}

}  // namespace thinwire::algorithms
