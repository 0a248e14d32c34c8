#include "algorithms/error_feedback.hpp"

#include <doctest/doctest.h>

#include <map>

#include "tests/support/sparse.hpp"

namespace thinwire::algorithms {

using test::Entries;
using test::entries_of;
using test::Generator;

namespace {

SparseVector sparse(const Stream& stream) { return std::get<SparseVector>(stream); }

}  // namespace

TEST_CASE("Error feedback keeps what did not contribute and adds it to the next gradient") {
  ErrorFeedback feedback;
  CHECK(sparse(feedback.residual()).size() == 0);
  const SparseVector first = SparseVector::checked({{1, 1.0F}, {2, 2.0F}, {3, 3.0F}});
  const Stream accumulated = feedback.accumulate(first);
  CHECK(entries_of(sparse(accumulated)) == entries_of(first));
  // Which coordinates contributed counts, not with what values.
  feedback.update(accumulated, {.contributed = SparseVector::checked({{2, 99.0F}})});
  CHECK(entries_of(sparse(feedback.residual())) == Entries{{1, 1.0F}, {3, 3.0F}});
  const Stream second = feedback.accumulate(SparseVector::checked({{3, 10.0F}, {4, 4.0F}}));
  CHECK(entries_of(sparse(second)) == Entries{{1, 1.0F}, {3, 13.0F}, {4, 4.0F}});
  feedback.update(second, {.contributed = second});
  CHECK(sparse(feedback.residual()).size() == 0);
  feedback.update(second, {.contributed = SparseVector()});
  CHECK(entries_of(sparse(feedback.residual())) == entries_of(sparse(second)));
  // What came back is kept beside the rest, of other ranks too.
  feedback.update(second, {.contributed = SparseVector::checked({{3, 0.0F}, {4, 0.0F}}),
                           .returned = SparseVector::checked({{1, 0.5F}, {3, 7.0F}, {9, 8.0F}})});
  CHECK(entries_of(sparse(feedback.residual())) == Entries{{1, 1.5F}, {3, 7.0F}, {9, 8.0F}});
  // What was sent with another value leaves the difference.
  feedback.update(second,
                  {.contributed = SparseVector::checked({{3, 12.0F}}), .sent_approximately = true});
  CHECK(entries_of(sparse(feedback.residual())) == Entries{{1, 1.0F}, {3, 1.0F}, {4, 4.0F}});
}

TEST_CASE("With error feedback nothing of any gradient is lost") {
  Generator generator(37);
  ErrorFeedback feedback;
  std::map<std::uint32_t, double> given;
  std::map<std::uint32_t, double> taken;
  for (int iteration = 0; iteration < 50; ++iteration) {
    const SparseVector gradient = test::random_vector(generator, 0, 300, 40);
    for (const Entry& entry : gradient.entries()) given[entry.coordinate] += entry.value;
    const SparseVector accumulated = sparse(feedback.accumulate(gradient));
    const SparseVector contributed = select_largest(accumulated, 10);
    for (const Entry& entry : contributed.entries()) taken[entry.coordinate] += entry.value;
    feedback.update(accumulated, {.contributed = contributed});
  }
  const SparseVector left = sparse(feedback.residual());
  for (const Entry& entry : left.entries()) taken[entry.coordinate] += entry.value;
  CHECK(given == taken);
}

}  // namespace thinwire::algorithms
