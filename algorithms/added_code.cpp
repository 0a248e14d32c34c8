#include "algorithms/added_code.hpp"

#include <exception>
#include <memory>
#include <new>
#include <utility>

namespace thinwire::algorithms {

namespace {

class PlacedCollective final : public SparseCollective {
 public:
  PlacedCollective(std::string scheme, std::unique_ptr<SparseCollective> inner)
      : scheme_(std::move(scheme)), inner_(std::move(inner)) {}

  Task<Reduced> allreduce(Communicator& comm, Sparsifier& sparsifier, SparseVector accumulated,
                          int iteration) override {
    try {
      Task<Reduced> task = inner_->allreduce(comm, sparsifier, std::move(accumulated), iteration);
      accumulated = {};
      co_return co_await std::move(task);
    } catch (...) {
      rethrow_with_place(scheme_, comm.rank(), iteration);
    }
  }

 private:
  std::string scheme_;
  std::unique_ptr<SparseCollective> inner_;
};

class PlacedScheme final : public Scheme {
 public:
  PlacedScheme(std::string name, std::unique_ptr<Scheme> inner)
      : name_(std::move(name)), inner_(std::move(inner)) {}

  Task<Reduced> allreduce(Communicator& comm, LocalGradient gradient, int iteration) override {
    try {
      Task<Reduced> task = inner_->allreduce(comm, std::move(gradient), iteration);
      gradient = {};
      co_return co_await std::move(task);
    } catch (...) {
      rethrow_with_place(name_, comm.rank(), iteration);
    }
  }
  Task<Reduced> allreduce_in_training(Communicator& comm, LocalGradient gradient, int iteration,
                                      TrainingStep& step) override {
    try {
      Task<Reduced> task =
          inner_->allreduce_in_training(comm, std::move(gradient), iteration, step);
      gradient = {};
      co_return co_await std::move(task);
    } catch (...) {
      rethrow_with_place(name_, comm.rank(), iteration);
    }
  }
  Task<Request> begin(Communicator& comm, LocalGradient gradient, int iteration,
                      Reduced& result) override {
    return inner_->begin(comm, std::move(gradient), iteration, result);
  }

 private:
  std::string name_;
  std::unique_ptr<Scheme> inner_;
};

}  // namespace

void rethrow_with_place(const std::string& scheme, Rank rank, int iteration) {
  try {
    throw;
  } catch (const AddedCodeError&) {
    throw;
  } catch (const DeadlockError&) {
    throw;
  } catch (const UnmatchedError&) {
    throw;
  } catch (const InterruptedError&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    throw AddedCodeError("{}: rank {}, iteration {}: {}", scheme, rank.value(), iteration,
                         error.what());
  }
}

SchemeInfo with_places(SchemeInfo scheme) {
  if (scheme.collective) {
    scheme.collective = [name = scheme.name, make = std::move(scheme.collective)](
                            const SchemeSetup& setup) -> std::unique_ptr<SparseCollective> {
      return std::make_unique<PlacedCollective>(name, make(setup));
    };
  }
  if (scheme.make) {
    scheme.make = [name = scheme.name, make = std::move(scheme.make)](
                      const SchemeSetup& setup) -> std::unique_ptr<Scheme> {
      return std::make_unique<PlacedScheme>(name, make(setup));
    };
  }
  return scheme;
}

}  // namespace thinwire::algorithms
