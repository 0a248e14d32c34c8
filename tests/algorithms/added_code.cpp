#include "algorithms/added_code.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <memory>
#include <new>
#include <stdexcept>

#include "algorithms/registry.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/networks.hpp"
#include "tests/support/schemes.hpp"

namespace thinwire::algorithms {

namespace {

using test::error_of;

SparseVector three() { return SparseVector::checked({{1, 1.0F}, {4, -2.0F}, {7, 3.0F}}); }

/// Runs two iterations on four ranks.
void run(const SchemeInfo& info) {
  test::SchemeRanks scheme(info, 4, {10, 1}, 2);
  test::Networks networks;
  for (const int iteration : {1, 2}) {
    static_cast<void>(scheme.run(networks.alphabeta, iteration, [&](int) -> LocalGradient {
      if (info.dense) return DenseBlock::valueless(0, 10);
      return three();
    }));
  }
}

/// A sparsifier that calls `fail` on rank 2 in iteration 2.
SparsifierInfo failing(std::function<void()> fail) {
  class Failing final : public Sparsifier {
   public:
    explicit Failing(std::function<void()> fail) : fail_(std::move(fail)) {}
    Selection select(const SparseVector& accumulated, Rank rank, int iteration) override {
      if (rank == Rank(2) && iteration == 2) fail_();
      return {.selected = select_largest(accumulated, 2)};
    }

   private:
    std::function<void()> fail_;
  };
  return {.name = "failing",
          .summary = "fails",
          .source = "here",
          .options = {},
          .make = [fail = std::move(fail)](const SchemeSetup&) {
            return std::make_unique<Failing>(fail);
          }};
}

/// A collective that sums as topka does and then fails in the same place.
class FailingCollective final : public SparseCollective {
 public:
  explicit FailingCollective(std::unique_ptr<SparseCollective> inner) : inner_(std::move(inner)) {}
  Task<Reduced> allreduce(Communicator& comm, Sparsifier& sparsifier, SparseVector accumulated,
                          int iteration) override {
    Reduced reduced = co_await inner_->allreduce(comm, sparsifier, accumulated, iteration);
    if (comm.rank() == Rank(2) && iteration == 2) throw std::out_of_range("no such block");
    co_return reduced;
  }

 private:
  std::unique_ptr<SparseCollective> inner_;
};

SchemeInfo failing_scheme() {
  SchemeInfo scheme = find_scheme("topka");
  scheme.name = "own";
  scheme.make = {};
  scheme.collective = [inner = scheme.collective](const SchemeSetup& setup) {
    return std::make_unique<FailingCollective>(inner(setup));
  };
  return scheme;
}

}  // namespace

TEST_CASE("an error of a sparsifier says in which scheme, on which rank and in which iteration") {
  const SchemeInfo topka = find_scheme("topka");
  CHECK(error_of<SimulationError>([&] {
          run(compose(topka, failing([] {
                        static_cast<void>(SparseVector::checked({{5, 1.0F}, {3, 1.0F}}));
                      })));
        }) ==
        "topka, sparsifier failing: rank 2, iteration 2: the coordinates of a sparse vector must "
        "increase, but 3 follows 5");
  CHECK(error_of<AddedCodeError>([&] {
          run(compose(topka, failing([] { throw std::runtime_error("a bug"); })));
        }) == "topka, sparsifier failing: rank 2, iteration 2: a bug");
  CHECK_THROWS_AS(run(compose(topka, failing([] { throw InterruptedError("stopped"); }))),
                  InterruptedError);
  CHECK_THROWS_AS(run(compose(topka, failing([] { throw std::bad_alloc(); }))), std::bad_alloc);
}

TEST_CASE("an error of an added scheme does so too, and one of its sparsifier has one place") {
  const SparsifierInfo exact = find_sparsifier("exact_topk");
  CHECK(error_of<AddedCodeError>([&] { run(compose(with_places(failing_scheme()), exact)); }) ==
        "own: rank 2, iteration 2: no such block");
  CHECK(error_of<AddedCodeError>([&] {
          run(compose(with_places(failing_scheme()),
                      failing([] { throw std::runtime_error("a bug"); })));
        }) == "own, sparsifier failing: rank 2, iteration 2: a bug");
  SchemeInfo dense = find_scheme("dense_ring");
  dense.make = [](const SchemeSetup&) -> std::unique_ptr<Scheme> {
    class Failing final : public Scheme {
      Task<Reduced> allreduce(Communicator& comm, LocalGradient, int) override {
        if (comm.rank() == Rank(3)) throw std::runtime_error("a bug");
        co_return Reduced{};
      }
    };
    return std::make_unique<Failing>();
  };
  CHECK(error_of<AddedCodeError>([&] { run(with_places(dense)); }) ==
        "dense_ring: rank 3, iteration 1: a bug");
}

}  // namespace thinwire::algorithms
