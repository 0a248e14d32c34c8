#include "sim/app/mpi/allreduce.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <exception>
#include <optional>
#include <sstream>
#include <utility>
#include <variant>
#include <vector>

#include "algorithms/registry.hpp"
#include "algorithms/scheme.hpp"
#include "sim/core/base/errors.hpp"
#include "sim/core/base/hash.hpp"
#include "sim/core/base/random.hpp"
#include "sim/core/gradient/shared_work.hpp"
#include "sim/core/gradient/wire.hpp"
#include "sim/machine/networks/mpi/mpi.hpp"

namespace thinwire::mpi {

namespace {

algorithms::SchemeInfo scheme_of(const AllreduceSettings& settings, int ranks) {
  algorithms::SchemeInfo info = algorithms::find_scheme(settings.scheme);
  if (info.collective_kind != algorithms::Collective::allreduce) {
    throw InputError("'{}' is of the collective {}, and no allreduce", info.name,
                     name_of(info.collective_kind));
  }
  if (settings.components < 1 || settings.components > std::int64_t{UINT32_MAX}) {
    throw InputError("{} components: there must be 1 to {}", settings.components,
                     std::int64_t{UINT32_MAX});
  }
  if (!(settings.density >= 0 && settings.density <= 1)) {
    throw InputError("density {} is not between 0 and 1", settings.density);
  }
  if (const auto reason = info.restriction(ranks, settings.components)) throw InputError(*reason);
  return info;
}

/// The communicator, where MPI runs.
MPI_Comm running(MPI_Comm comm) {
  int begun = 0;
  int ended = 0;
  MPI_Initialized(&begun);
  MPI_Finalized(&ended);
  if (begun == 0) throw InputError("an Allreduce is made after MPI_Init");
  if (ended != 0) throw InputError("an Allreduce is made before MPI_Finalize");
  if (comm == MPI_COMM_NULL)
    throw InputError("an Allreduce takes a communicator, not MPI_COMM_NULL");
  return comm;
}

bool is_finite(std::span<const float> values) {
  return std::ranges::all_of(values, [](float value) { return std::isfinite(value); });
}

/// The settings, one a line, with the defaults of options.
std::string text_of(const AllreduceSettings& settings, const algorithms::Options& options) {
  std::string text = fmt::format(
      "scheme {}\ncomponents {}\ndensity {}\nerror_feedback {}\nseed {}\nalpha {}\nbeta_per_word "
      "{}\n",
      settings.scheme, settings.components, settings.density, settings.error_feedback,
      settings.seed, settings.alpha.value(), settings.beta_per_word.value());
  for (const auto& option : options.all()) {
    std::visit([&](auto plain) { text += fmt::format("{} {}\n", option.first, plain); },
               option.second);
  }
  return text;
}

/// The first lines in which two texts differ.
std::pair<std::string, std::string> difference(const std::string& a, const std::string& b) {
  std::istringstream ones(a);
  std::istringstream others(b);
  std::string one;
  std::string other;
  do {
    if (!std::getline(ones, one)) one = "nothing more";
    if (!std::getline(others, other)) other = "nothing more";
  } while (one == other && ones && others);
  return {one, other};
}

/// Whether the values of any process are not finite: asked beside the messages of a sum.
class FiniteEverywhere {
 public:
  FiniteEverywhere() = default;
  FiniteEverywhere(const FiniteEverywhere&) = delete;
  FiniteEverywhere& operator=(const FiniteEverywhere&) = delete;
  ~FiniteEverywhere() {
    // A sum has failed, and MPI may still write to the answer.
    if (vote_ && vote_->request != MPI_REQUEST_NULL) static_cast<void>(vote_.release());
  }

  void ask(MPI_Comm comm, bool mine) {
    if (!vote_) vote_ = std::make_unique<Vote>();
    vote_->mine = mine ? 1 : 0;
    MPI_Iallreduce(&vote_->mine, &vote_->all, 1, MPI_INT, MPI_MIN, comm, &vote_->request);
  }
  /// Whether the answer is there.
  bool advance(bool wait) {
    if (!vote_ || vote_->request == MPI_REQUEST_NULL) return true;
    int done = 1;
    if (wait) {
      MPI_Wait(&vote_->request, MPI_STATUS_IGNORE);
    } else {
      MPI_Test(&vote_->request, &done, MPI_STATUS_IGNORE);
    }
    return done != 0;
  }
  [[nodiscard]] bool answer() const { return !vote_ || vote_->all != 0; }

 private:
  struct Vote {
    int mine = 1;
    int all = 1;
    MPI_Request request = MPI_REQUEST_NULL;
  };
  std::unique_ptr<Vote> vote_;
};

}  // namespace

class Allreduce::State {
 public:
  State(MPI_Comm comm, const AllreduceSettings& settings) : network_(running(comm), wire_) {
    std::string complaint;
    std::string text;
    try {
      prepare(settings);
      text = text_of(settings, setup_.options);
    } catch (const std::exception& error) {
      complaint = error.what();
    }
    agree(text, complaint);
  }

  void start(std::span<const float> gradient) {
    require_idle();
    if (std::cmp_not_equal(gradient.size(), setup_.space.components)) {
      throw InputError("a gradient of {} components, and {} were announced", gradient.size(),
                       setup_.space.components);
    }
    running_ = true;
    ++iteration_;
    if (!exact_) {
      accumulated_.assign(gradient.begin(), gradient.end());
      for (std::size_t i = 0; i < residual_.size(); ++i) accumulated_[i] += residual_[i];
      const bool finite = is_finite(accumulated_);
      finite_.ask(network_.comm(), finite);
      if (!finite) drop_infinite(accumulated_);
      gradient = accumulated_;
    }
    network_.start([&](Communicator& comm) { return iterate(comm, input(gradient)); });
  }

  bool advance(bool wait) {
    if (!running_) return true;
    if (!network_.advance(wait) || !finite_.advance(wait)) return false;
    running_ = false;
    shared_.clear();
    if (exact_) return true;
    if (!finite_.answer()) {
      drop_infinite(residual_);
      // Others of a scheme's numbers, such as thresholds, came from these gradients.
      ++restarts_;
      setup_.seed = random_bits(setup_.seed, restarts_);
      restart();
      throw NotFiniteError(
          "a gradient, or its sum with the residual, has a value that is not finite on one of the "
          "processes; the gradients of this sum are dropped on all of them");
    }
    if (!residual_.empty()) forget();
    return true;
  }

  [[nodiscard]] const Stream& sum() const { return reduced_.sum; }
  [[nodiscard]] const Stream& contributed() const { return reduced_.contributed; }

  [[nodiscard]] std::span<const float> residual() const {
    require_idle();
    return residual_;
  }

  void restore(std::span<const float> residual) {
    require_idle();
    if (residual.size() != residual_.size()) {
      throw InputError("a residual of {} components, and this allreduce keeps {}", residual.size(),
                       residual_.size());
    }
    if (!is_finite(residual)) throw InputError("a residual has a value that is not finite");
    std::ranges::copy(residual, residual_.begin());
    restart();
  }

 private:
  void prepare(const AllreduceSettings& settings) {
    info_ = scheme_of(settings, network_.size());
    setup_.ranks = network_.size();
    setup_.space = {.components = settings.components, .granule = 1};
    setup_.k = std::llround(settings.density * static_cast<double>(settings.components));
    setup_.options = algorithms::Options(info_.options, settings.options);
    setup_.shared = &shared_;
    setup_.alpha = settings.alpha;
    setup_.beta_per_word = settings.beta_per_word;
    setup_.seed = settings.seed;
    scheme_ = info_.make(setup_);
    // What is sent as it is leaves nothing behind.
    exact_ = info_.dense && !info_.approximate;
    if (settings.error_feedback && !exact_) {
      residual_.resize(static_cast<std::size_t>(settings.components));
    }
  }

  /// Throws InputError on all processes where one has a complaint, or settings of its own.
  void agree(const std::string& text, const std::string& complaint) {
    // The hash and its complement: the least of both say whether all are equal.
    const std::uint64_t hash = std::stoull(hash_of_text(text + complaint), nullptr, 16);
    const std::array<std::uint64_t, 2> mine = {hash, ~hash};
    std::array<std::uint64_t, 2> least{};
    MPI_Allreduce(mine.data(), least.data(), 2, MPI_UINT64_T, MPI_MIN, network_.comm());
    if (least[0] == ~least[1]) {
      if (!complaint.empty()) throw InputError(complaint);
      return;
    }
    const std::vector<std::string> complaints = network_.gather(complaint);
    const std::vector<std::string> texts = network_.gather(text);
    for (std::size_t rank = 0; rank < texts.size(); ++rank) {
      if (!complaints[rank].empty()) {
        throw InputError("process {}: {}", rank, complaints[rank]);
      }
    }
    for (std::size_t rank = 1; rank < texts.size(); ++rank) {
      if (texts[rank] == texts[0]) continue;
      const auto [one, other] = difference(texts[0], texts[rank]);
      throw InputError(
          "process 0 has {} and process {} has {}; all processes give the same settings", one, rank,
          other);
    }
  }

  void require_idle() const {
    if (running_) throw SimulationError("a sum has been started and not been waited for");
  }

  /// The scheme as before its first iteration.
  void restart() {
    iteration_ = 0;
    scheme_.reset();
    scheme_ = info_.make(setup_);
  }

  static void drop_infinite(std::vector<float>& values) {
    std::ranges::replace_if(
        values, [](float value) { return !std::isfinite(value); }, 0.0F);
  }

  [[nodiscard]] algorithms::LocalGradient input(std::span<const float> values) const {
    if (info_.dense) return DenseBlock(0, {values.begin(), values.end()});
    std::vector<Entry> entries;
    entries.reserve(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      entries.push_back({static_cast<std::uint32_t>(i), values[i]});
    }
    return SparseVector::trusted(std::move(entries));
  }

  Task<void> iterate(Communicator& comm, algorithms::LocalGradient gradient) {
    Task<algorithms::Reduced> task = scheme_->allreduce(comm, std::move(gradient), iteration_);
    reduced_ = co_await std::move(task);
  }

  /// Keeps what did not contribute, and adds what came back.
  void forget() {
    std::swap(residual_, accumulated_);
    if (const auto* sparse = std::get_if<SparseVector>(&reduced_.contributed)) {
      for (const Entry& entry : sparse->entries()) {
        float& left = residual_[entry.coordinate];
        left = reduced_.sent_approximately ? left - entry.value : 0;
      }
      for (const Entry& entry : reduced_.returned.entries()) {
        residual_[entry.coordinate] += entry.value;
      }
      return;
    }
    const auto values = std::get<DenseBlock>(reduced_.contributed).values();
    for (std::size_t i = 0; i < values.size(); ++i) residual_[i] -= values[i];
  }

  GradientWire wire_;
  networks::MpiNetwork network_;
  algorithms::SchemeInfo info_;
  SharedWork shared_{4096};
  algorithms::SchemeSetup setup_;
  std::unique_ptr<algorithms::Scheme> scheme_;
  bool exact_ = false;
  std::vector<float> residual_;     // empty without error feedback
  std::vector<float> accumulated_;  // the residual and the gradient of the sum that runs
  FiniteEverywhere finite_;
  algorithms::Reduced reduced_;
  int iteration_ = 0;
  std::uint64_t restarts_ = 0;
  bool running_ = false;
};

Allreduce::Allreduce(MPI_Comm comm, const AllreduceSettings& settings)
    : state_(std::make_unique<State>(comm, settings)) {}

Allreduce::~Allreduce() = default;

const Stream& Allreduce::sum(std::span<const float> gradient) {
  start(gradient);
  return wait();
}

void Allreduce::start(std::span<const float> gradient) { state_->start(gradient); }

bool Allreduce::test() { return state_->advance(false); }

const Stream& Allreduce::wait() {
  state_->advance(true);
  return state_->sum();
}

const Stream& Allreduce::contributed() const { return state_->contributed(); }

std::span<const float> Allreduce::residual() const { return state_->residual(); }

void Allreduce::restore(std::span<const float> residual) { state_->restore(residual); }

void add_to(std::span<float> vector, const Stream& sum, float factor) {
  const auto require = [&](std::size_t components) {
    if (components <= vector.size()) return;
    throw InputError("a sum of at least {} components is added to a vector of {}", components,
                     vector.size());
  };
  if (const auto* sparse = std::get_if<SparseVector>(&sum)) {
    if (!sparse->entries().empty()) {
      require(std::size_t{sparse->entries().back().coordinate} + 1);
    }
    for (const Entry& entry : sparse->entries()) vector[entry.coordinate] += factor * entry.value;
    return;
  }
  const auto& block = std::get<DenseBlock>(sum);
  const auto values = block.values();
  require(block.first() + values.size());
  for (std::size_t i = 0; i < values.size(); ++i) vector[block.first() + i] += factor * values[i];
}

}  // namespace thinwire::mpi
