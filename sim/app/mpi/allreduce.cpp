#include "sim/app/mpi/allreduce.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>
#include <vector>

#include "algorithms/registry.hpp"
#include "algorithms/scheme.hpp"
#include "sim/core/base/errors.hpp"
#include "sim/core/gradient/shared_work.hpp"
#include "sim/core/gradient/wire.hpp"
#include "sim/machine/networks/mpi/mpi.hpp"

namespace thinwire::mpi {

namespace {

algorithms::SchemeInfo scheme_of(const AllreduceSettings& settings, int ranks) {
  algorithms::SchemeInfo info = algorithms::find_scheme(settings.scheme);
  if (info.collective_kind != algorithms::Collective::allreduce) {
    throw InputError(fmt::format("'{}' is of the collective {}, and no allreduce", info.name,
                                 name_of(info.collective_kind)));
  }
  if (settings.components < 1 || settings.components > std::int64_t{UINT32_MAX}) {
    throw InputError(fmt::format("{} components: there must be 1 to {}", settings.components,
                                 std::int64_t{UINT32_MAX}));
  }
  if (!(settings.density >= 0 && settings.density <= 1)) {
    throw InputError(fmt::format("density {} is not between 0 and 1", settings.density));
  }
  if (const auto reason = info.restriction(ranks, settings.components)) throw InputError(*reason);
  return info;
}

}  // namespace

class Allreduce::State {
 public:
  State(MPI_Comm comm, const AllreduceSettings& settings)
      : network_(comm, wire_),
        info_(scheme_of(settings, network_.size())),
        shared_(4096),
        setup_{.ranks = network_.size(),
               .space = {.components = settings.components, .granule = 1},
               .k = std::llround(settings.density * static_cast<double>(settings.components)),
               .options = algorithms::Options(info_.options, settings.options),
               .shared = &shared_,
               .alpha = settings.alpha,
               .beta_per_word = settings.beta_per_word,
               .seed = settings.seed},
        scheme_(info_.make(setup_)) {
    // What is sent as it is leaves nothing behind.
    const bool exact = info_.dense && !info_.approximate;
    if (settings.error_feedback && !exact) {
      residual_.resize(static_cast<std::size_t>(settings.components));
    }
  }

  void start(std::span<const float> gradient) {
    if (running_) throw SimulationError("a sum has been started and not been waited for");
    if (std::cmp_not_equal(gradient.size(), setup_.space.components)) {
      throw InputError(fmt::format("a gradient of {} components, and {} were announced",
                                   gradient.size(), setup_.space.components));
    }
    running_ = true;
    ++iteration_;
    if (!residual_.empty()) {
      for (std::size_t i = 0; i < gradient.size(); ++i) residual_[i] += gradient[i];
      gradient = residual_;
    }
    network_.start([&](Communicator& comm) { return iterate(comm, input(gradient)); });
  }

  bool advance(bool wait) {
    if (!running_) return true;
    if (!network_.advance(wait)) return false;
    running_ = false;
    shared_.clear();
    if (!residual_.empty()) forget();
    return true;
  }

  [[nodiscard]] const Stream& sum() const { return reduced_.sum; }
  [[nodiscard]] const Stream& contributed() const { return reduced_.contributed; }

 private:
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

  /// Removes what contributed from the residual, and adds what came back.
  void forget() {
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
  SharedWork shared_;
  algorithms::SchemeSetup setup_;
  std::unique_ptr<algorithms::Scheme> scheme_;
  std::vector<float> residual_;  // empty without error feedback
  algorithms::Reduced reduced_;
  int iteration_ = 0;
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

void add_to(std::span<float> vector, const Stream& sum, float factor) {
  if (const auto* sparse = std::get_if<SparseVector>(&sum)) {
    for (const Entry& entry : sparse->entries()) vector[entry.coordinate] += factor * entry.value;
    return;
  }
  const auto& block = std::get<DenseBlock>(sum);
  const auto values = block.values();
  for (std::size_t i = 0; i < values.size(); ++i) vector[block.first() + i] += factor * values[i];
}

}  // namespace thinwire::mpi
