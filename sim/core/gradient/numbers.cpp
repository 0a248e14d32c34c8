#include "sim/core/gradient/numbers.hpp"

#include <algorithm>

#include "sim/core/base/random.hpp"

namespace thinwire::inline gradient {

namespace {

void add_to(std::vector<std::int64_t>& sum, const std::vector<std::int64_t>& numbers) {
  std::ranges::transform(sum, numbers, sum.begin(), std::plus<>());
}

}  // namespace

Numbers Numbers::deferred(std::int64_t size, Make make) {
  return of(make_ref<const NumbersBody>(Deferred{.make = std::move(make)},
                                        static_cast<std::size_t>(size), 0, size));
}

Numbers Numbers::sum(const Numbers& a, const Numbers& b) {
  if (a.is_deferred() || b.is_deferred()) {
    return of(make_ref<const NumbersBody>(Deferred{.a = a.body_, .b = b.body_}, a.size(), a.first(),
                                          a.whole()));
  }
  std::vector<std::int64_t> total(a.all().begin(), a.all().end());
  add_to(total, b.body_->numbers);
  return {std::move(total), a.first(), a.whole()};
}

void Numbers::NumbersBody::make() const {
  std::vector<std::int64_t> sum(size);
  std::vector<const NumbersBody*> open{this};
  while (!open.empty()) {
    const NumbersBody& list = *open.back();
    open.pop_back();
    if (!list.deferred) {
      add_to(sum, list.numbers);
    } else if (list.deferred->make) {
      add_to(sum, list.deferred->make());
    } else {
      open.push_back(list.deferred->a.get());
      open.push_back(list.deferred->b.get());
    }
  }
  numbers = std::move(sum);
  deferred.reset();
}

void Numbers::NumbersBody::summarise() const {
  Summary of{.contents = {random_bits(1, size), random_bits(2, size)}};
  for (const std::int64_t number : all()) {
    of.total += number;
    of.contents.low = mix(of.contents.low ^ static_cast<std::uint64_t>(number));
    of.contents.high = mix(of.contents.high ^ static_cast<std::uint64_t>(number));
  }
  if (size > 0) of.largest = std::ranges::max(all());
  known = std::make_unique<const Summary>(of);
}

}  // namespace thinwire::inline gradient
