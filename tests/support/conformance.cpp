#include "tests/support/conformance.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <iterator>
#include <utility>

#include "algorithms/registry.hpp"
#include "tests/support/schemes.hpp"

namespace thinwire::test {

namespace {

GivenOptions with(GivenOptions options, const std::string& name, algorithms::OptionValue value) {
  options[name] = value;
  return options;
}

/// The values of `vector` at the indexes of `sum`, zero if it has none.
Entries values_at(const Entries& sum, const Entries& vector) {
  Entries values;
  for (const Entry& entry : sum) {
    const auto at = std::ranges::lower_bound(vector, entry.coordinate, {}, &Entry::coordinate);
    const bool found = at != vector.end() && at->coordinate == entry.coordinate;
    values.push_back({entry.coordinate, found ? at->value : 0.0F});
  }
  return values;
}

Entries added(const std::vector<Entries>& vectors) {
  Oracle sum;
  for (const Entries& vector : vectors) {
    for (const Entry& entry : vector) sum[entry.coordinate] += entry.value;
  }
  return entries_of(sum);
}

/// Selects with the scheme's sparsifiers; subclasses sum the selections.
class Selecting : public SerialScheme {
 public:
  Selecting(const algorithms::SchemeInfo& info, const algorithms::SchemeSetup& setup)
      : setup_(setup) {
    for (int rank = 0; rank < setup.ranks; ++rank) {
      sparsifiers_.push_back(algorithms::find_sparsifier(info.sparsifier).make(setup));
    }
  }
  Expected iterate(const std::vector<SparseVector>& gradients, int iteration) override {
    std::vector<Entries> all;
    for (const SparseVector& gradient : gradients) all.push_back(entries_of(gradient));
    return sum(all, gradients, iteration);
  }

 protected:
  [[nodiscard]] virtual Expected sum(const std::vector<Entries>& all,
                                     const std::vector<SparseVector>& gradients, int iteration) = 0;
  [[nodiscard]] Entries selected(const std::vector<SparseVector>& gradients, int rank,
                                 int iteration) {
    const auto at = static_cast<std::size_t>(rank);
    return entries_of(sparsifiers_[at]->select(gradients[at], Rank(rank), iteration).selected);
  }
  [[nodiscard]] std::vector<Entries> all_selected(const std::vector<SparseVector>& gradients,
                                                  int iteration) {
    if (sparsifiers_.front()->decides()) {
      const auto leader = static_cast<std::size_t>((iteration - 1) % setup_.ranks);
      const Numbers decision = sparsifiers_[leader]->decide(gradients[leader], iteration);
      for (const auto& sparsifier : sparsifiers_) sparsifier->follow(decision);
    }
    std::vector<Entries> lists;
    for (int rank = 0; rank < setup_.ranks; ++rank) {
      lists.push_back(selected(gradients, rank, iteration));
    }
    return lists;
  }
  void observe(const std::vector<Entries>& lists, int iteration) {
    std::vector<std::int64_t> counts;
    for (const Entries& list : lists) counts.push_back(static_cast<std::int64_t>(list.size()));
    for (const auto& sparsifier : sparsifiers_) sparsifier->observe(Numbers(counts), iteration);
  }
  [[nodiscard]] const algorithms::SchemeSetup& setup() const { return setup_; }

 private:
  const algorithms::SchemeSetup& setup_;
  std::vector<std::unique_ptr<algorithms::Sparsifier>> sparsifiers_;
};

/// Sums all selected entries.
class SumOfSelected final : public Selecting {
  using Selecting::Selecting;
  Expected sum(const std::vector<Entries>& /*all*/, const std::vector<SparseVector>& gradients,
               int iteration) override {
    const std::vector<Entries> lists = all_selected(gradients, iteration);
    return {.sum = added(lists), .contributed = lists};
  }
};

/// Sums the values of all ranks at the indexes that any rank selected.
class SumAtUnion final : public Selecting {
  using Selecting::Selecting;
  Expected sum(const std::vector<Entries>& all, const std::vector<SparseVector>& gradients,
               int iteration) override {
    const std::vector<Entries> lists = all_selected(gradients, iteration);
    observe(lists, iteration);
    const Entries indexes = added(lists);
    Expected expected;
    for (const Entries& vector : all) expected.contributed.push_back(values_at(indexes, vector));
    expected.sum = added(expected.contributed);
    return expected;
  }
};

/// Sums the values of all ranks at the indexes that the leader selected.
class SumAtLeader final : public Selecting {
  using Selecting::Selecting;
  Expected sum(const std::vector<Entries>& all, const std::vector<SparseVector>& gradients,
               int iteration) override {
    const Entries indexes = selected(gradients, (iteration - 1) % setup().ranks, iteration);
    Expected expected;
    for (const Entries& vector : all) expected.contributed.push_back(values_at(indexes, vector));
    expected.sum = added(expected.contributed);
    return expected;
  }
};

/// Keeps the k largest of each pairwise sum, the upper half of the ranks into the lower one.
class TopkOfTree final : public Selecting {
  using Selecting::Selecting;
  Expected sum(const std::vector<Entries>& /*all*/, const std::vector<SparseVector>& gradients,
               int iteration) override {
    const std::vector<Entries> lists = all_selected(gradients, iteration);
    std::vector<Entries> held = lists;
    while (held.size() > 1) {
      const std::size_t half = std::bit_ceil(held.size()) / 2;
      for (std::size_t upper = half; upper < held.size(); ++upper) {
        Entries& lower = held[upper - half];
        lower = top(added({lower, held[upper]}), setup().carried_k());
      }
      held.resize(half);
    }
    Expected expected{.sum = held.front(), .contributed = {}};
    for (const Entries& list : lists) {
      expected.contributed.push_back(with_coordinates_in(list, held.front()));
    }
    return expected;
  }
};

/// Algorithm 1 of Ok-Topk.
class SerialOkTopk final : public Selecting {
 public:
  SerialOkTopk(const algorithms::SchemeInfo& info, const algorithms::SchemeSetup& setup)
      : Selecting(info, setup), tau_prime_(setup.options.integer("tau_prime")) {}

 private:
  Expected sum(const std::vector<Entries>& /*all*/, const std::vector<SparseVector>& gradients,
               int iteration) override {
    const std::vector<Entries> lists = all_selected(gradients, iteration);
    const Entries total = added(lists);
    if ((iteration - 1) % tau_prime_ == 0) global_ = kth(total, setup().carried_k());
    Expected expected{.sum = at_least(total, global_), .contributed = {}};
    for (const Entries& list : lists) {
      expected.contributed.push_back(with_coordinates_in(list, expected.sum));
    }
    return expected;
  }

  std::int64_t tau_prime_;
  float global_ = 0;
};

/// Fills each chunk of SparseLoCo up to its share of k, and puts all values into bins.
class SerialSparseLoco final : public Selecting {
 public:
  SerialSparseLoco(const algorithms::SchemeInfo& info, const algorithms::SchemeSetup& setup)
      : Selecting(info, setup),
        bits_(setup.options.integer("bits")),
        chunk_(info.sparsifier == "bucket_topk"
                   ? setup.options.integer("bucket_components") / setup.space.granule
                   : 0) {}

 private:
  Expected sum(const std::vector<Entries>& /*all*/, const std::vector<SparseVector>& gradients,
               int iteration) override {
    std::vector<Entries> lists = all_selected(gradients, iteration);
    Expected expected;
    for (Entries& list : lists) {
      if (chunk_ > 0) fill(list);
      bin(list);
      for (const Entry& entry : list) {
        expected.tolerance += 1e-6 * std::abs(static_cast<double>(entry.value));
      }
    }
    expected.sum = added(lists);
    expected.contributed = lists;
    return expected;
  }

  void fill(Entries& list) const {
    Oracle held;
    for (const Entry& entry : list) held[entry.coordinate] = entry.value;
    const std::int64_t end = setup().space.coordinates();
    const std::int64_t k = setup().carried_k();
    for (std::int64_t first = 0; first < end; first += chunk_) {
      const std::int64_t last = std::min(end, first + chunk_);
      std::int64_t missing = k * last / end - k * first / end;
      for (std::int64_t at = first; at < last; ++at) {
        missing -= static_cast<std::int64_t>(held.count(static_cast<std::uint32_t>(at)));
      }
      for (std::int64_t at = first; missing > 0; ++at) {
        if (held.emplace(static_cast<std::uint32_t>(at), 0.0F).second) --missing;
      }
    }
    list = entries_of(held);
  }

  void bin(Entries& list) const {
    const double bins = std::pow(2, static_cast<double>(bits_));
    double mean = 0;
    double variance = 0;
    for (const Entry& entry : list) mean += entry.value / static_cast<double>(list.size());
    for (const Entry& entry : list) {
      variance += std::pow(entry.value - mean, 2) /
                  std::max<double>(1, static_cast<double>(list.size()) - 1);
    }
    const double width = variance > 0 ? 6 * std::sqrt(variance) / bins : 1;
    std::map<double, std::vector<double>> by_bin;
    const auto bin_of = [&](const Entry& entry) {
      const double place = std::nearbyint((entry.value - mean) / width + bins / 2);
      return std::min(bins - 1, std::max(0.0, place));
    };
    for (const Entry& entry : list) by_bin[bin_of(entry)].push_back(entry.value);
    for (Entry& entry : list) {
      double level = 0;
      const std::vector<double>& values = by_bin[bin_of(entry)];
      for (const double value : values) level += value / static_cast<double>(values.size());
      entry.value = static_cast<float>(level);
    }
  }

  std::int64_t bits_;
  std::int64_t chunk_;
};

/// SparDL with all teams at once, block by block: in each team the selections are added along the
/// tree in which each rank passes a block on to the rank that owns it, and the block is cut to its
/// share of k wherever it has been passed.
class SerialSparDl final : public Selecting {
 public:
  SerialSparDl(const algorithms::SchemeInfo& info, const algorithms::SchemeSetup& setup)
      : Selecting(info, setup), teams_(static_cast<int>(setup.options.integer("teams"))) {}

 private:
  Expected sum(const std::vector<Entries>& /*all*/, const std::vector<SparseVector>& gradients,
               int iteration) override {
    const std::vector<Entries> lists = all_selected(gradients, iteration);
    const int members = setup().ranks / teams_;
    Entries result;
    for (int block = 0; block < members; ++block) {
      const std::int64_t share =
          setup().carried_k() / members + (block < setup().carried_k() % members ? 1 : 0);
      std::vector<Entries> of_teams;
      for (int team = 0; team < teams_; ++team) {
        std::vector<Entries> held;  // by distance before the owner
        for (int before = 0; before < members; ++before) {
          const int rank = team * members + (block - before + members) % members;
          held.push_back(in_block(lists[static_cast<std::size_t>(rank)], block, members));
        }
        // The rank `before` passes the block on over the highest power of two in `before`.
        for (int before = members - 1; before > 0; --before) {
          const auto distance = static_cast<int>(std::bit_floor(static_cast<unsigned>(before)));
          order_.emplace_back(distance, before);
        }
        std::ranges::stable_sort(order_, std::greater<>(), &std::pair<int, int>::first);
        for (const auto& [distance, before] : order_) {
          Entries& to = held[static_cast<std::size_t>(before - distance)];
          to = added({to, top(held[static_cast<std::size_t>(before)], share)});
        }
        order_.clear();
        of_teams.push_back(top(held.front(), share));
      }
      // Neighbours first, as in recursive doubling.
      while (of_teams.size() > 1) {
        std::vector<Entries> pairs;
        for (std::size_t i = 0; i + 1 < of_teams.size(); i += 2) {
          pairs.push_back(top(added({of_teams[i], of_teams[i + 1]}), share));
        }
        of_teams = pairs;
      }
      result.insert(result.end(), of_teams.front().begin(), of_teams.front().end());
    }
    Expected expected{.sum = result, .contributed = {}};
    for (const Entries& list : lists) {
      expected.contributed.push_back(with_coordinates_in(list, result));
    }
    return expected;
  }

  [[nodiscard]] Entries in_block(const Entries& entries, int block, int members) const {
    const std::int64_t n = setup().space.components;
    const auto begin = [&](int of) {
      return n / members * of + std::min<std::int64_t>(of, n % members);
    };
    Entries inside;
    for (const Entry& entry : entries) {
      const std::int64_t component = entry.coordinate * setup().space.granule;
      if (component >= begin(block) && component < begin(block + 1)) inside.push_back(entry);
    }
    return inside;
  }

  int teams_;
  std::vector<std::pair<int, int>> order_;
};

template <class Serial>
std::unique_ptr<SerialScheme> make_serial(const algorithms::SchemeInfo& info,
                                          const algorithms::SchemeSetup& setup) {
  return std::make_unique<Serial>(info, setup);
}

Entries without_zeros(const Entries& entries) {
  Entries kept;
  for (const Entry& entry : entries) {
    if (entry.value != 0) kept.push_back(entry);
  }
  return kept;
}

/// The same coordinates, and values that differ by no more than rounding.
bool close(const Entries& got, const Entries& expected, double tolerance) {
  return std::ranges::equal(got, expected, [&](const Entry& a, const Entry& b) {
    return a.coordinate == b.coordinate &&
           std::abs(static_cast<double>(a.value) - b.value) <= tolerance;
  });
}

/// The entries of a stream, sparse or dense.
Entries entries_of_stream(const Stream& stream) {
  if (const auto* sparse = std::get_if<SparseVector>(&stream)) return entries_of(*sparse);
  const auto& block = std::get<DenseBlock>(stream);
  Entries entries;
  for (std::size_t i = 0; i < block.size(); ++i) {
    entries.push_back({block.first() + static_cast<std::uint32_t>(i), block.values()[i]});
  }
  return entries;
}

}  // namespace

std::unique_ptr<SerialScheme> serial_scheme(const algorithms::SchemeInfo& info,
                                            const algorithms::SchemeSetup& setup) {
  const std::string base = info.name.substr(0, info.name.find('+'));
  using Make = std::unique_ptr<SerialScheme> (*)(const algorithms::SchemeInfo&,
                                                 const algorithms::SchemeSetup&);
  static const std::map<std::string, Make> oracles{
      {"topka", make_serial<SumOfSelected>},
      {"topkdsa", make_serial<SumOfSelected>},
      {"gtopk", make_serial<TopkOfTree>},
      {"oktopk", make_serial<SerialOkTopk>},
      {"hierarchical_oktopk", make_serial<SerialOkTopk>},
      {"ssar_recursive_double", make_serial<SumOfSelected>},
      {"dsar_recursive_double", make_serial<SumOfSelected>},
      {"ssar_split_allgather", make_serial<SumOfSelected>},
      {"dsar_split_allgather", make_serial<SumOfSelected>},
      {"ring_sparse", make_serial<SumOfSelected>},
      {"hierarchical_split_allgather", make_serial<SumOfSelected>},
      {"zen", make_serial<SumOfSelected>},
      {"spardl", make_serial<SerialSparDl>},
      {"omnireduce", make_serial<SumOfSelected>},
      {"topk_allreduce", make_serial<SumAtUnion>},
      {"cltk", make_serial<SumAtLeader>},
      {"topk_exact", make_serial<SumOfSelected>},
      {"gaussiank", make_serial<SumOfSelected>},
      {"dgc", make_serial<SumOfSelected>},
      {"random_k", make_serial<SumOfSelected>},
      {"dragonn", make_serial<SumOfSelected>},
      {"exdyna", make_serial<SumAtUnion>},
      {"micro", make_serial<SumAtUnion>},
      {"deft", make_serial<SumAtUnion>},
      {"hard_threshold", make_serial<SumAtUnion>},
      {"sidco", make_serial<SumAtUnion>},
      {"sparseloco", make_serial<SerialSparseLoco>},
  };
  const auto found = oracles.find(base);
  return found == oracles.end() ? nullptr : found->second(info, setup);
}

bool conforms(const std::vector<algorithms::Reduced>& results, const Expected& expected) {
  const Entries sum = without_zeros(expected.sum);
  for (std::size_t rank = 0; rank < results.size(); ++rank) {
    const Entries got = entries_of_stream(results[rank].sum);
    // A sparse result has exactly the expected entries; a dense one has zeros elsewhere.
    const bool sparse = std::holds_alternative<SparseVector>(results[rank].sum);
    if (expected.tolerance > 0 ? !close(got, expected.sum, expected.tolerance)
        : sparse               ? got != expected.sum
                               : without_zeros(got) != sum) {
      return false;
    }
    const Entries contributed = entries_of_stream(results[rank].contributed);
    if (!std::ranges::equal(contributed, expected.contributed[rank], {}, &Entry::coordinate,
                            &Entry::coordinate)) {
      return false;
    }
  }
  return true;
}

SparseVector Case::gradient(int rank, int iteration) const {
  if (drawn) return drawn(rank, iteration);
  const auto coordinates = static_cast<std::uint32_t>(space.coordinates());
  if (full) return full_gradient(coordinates, rank, iteration);
  return shaped_gradient(shape, coordinates, ranks, rank, iteration, wanted);
}

std::vector<SparseVector> Case::gradients(int iteration) const {
  std::vector<SparseVector> all;
  for (int rank = 0; rank < ranks; ++rank) all.push_back(gradient(rank, iteration));
  return all;
}

std::string Case::text() const {
  return "P = " + std::to_string(ranks) + ", n = " + std::to_string(space.components) +
         ", granule " + std::to_string(space.granule) + ", k = " + std::to_string(k) + ", " +
         (drawn  ? "drawn"
          : full ? "full"
                 : name_of(shape));
}

namespace {

/// The sum of the ranks' vectors, and how far rounding may be off.
struct SerialSum {
  std::vector<double> values;
  std::vector<double> bound;
};

using Vectors = std::vector<std::vector<float>>;

SerialSum serial_sum(const Vectors& vectors) {
  SerialSum sum{std::vector<double>(vectors[0].size()), std::vector<double>(vectors[0].size())};
  for (const std::vector<float>& vector : vectors) {
    for (std::size_t i = 0; i < vector.size(); ++i) {
      sum.values[i] += vector[i];
      sum.bound[i] += std::abs(vector[i]) * 0x1p-24 * static_cast<double>(vectors.size());
    }
  }
  return sum;
}

/// The rank whose block a coordinate belongs to: the first n mod P blocks have a component more.
int owner_of(std::int64_t coordinate, int ranks, const GradientSpace& space) {
  const std::int64_t component = coordinate * space.granule;
  const std::int64_t length = space.components / ranks;
  const std::int64_t longer = space.components % ranks * (length + 1);
  if (component < longer) return static_cast<int>(component / (length + 1));
  return static_cast<int>(space.components % ranks + (component - longer) / length);
}

/// The coordinates of a rank's block.
std::vector<std::size_t> block_of(int rank, int ranks, const GradientSpace& space) {
  std::vector<std::size_t> all;
  for (std::int64_t i = 0; i < space.coordinates(); ++i) {
    if (owner_of(i, ranks, space) == rank) all.push_back(static_cast<std::size_t>(i));
  }
  return all;
}

/// The values that a rank must end with, in order, unless they are sums.
std::vector<float> moved_values(algorithms::Collective collective, const Vectors& vectors, int rank,
                                const GradientSpace& space) {
  const auto ranks = static_cast<int>(vectors.size());
  std::vector<float> values;
  if (collective == algorithms::Collective::ping_pong) {
    return rank == 0 || rank == ranks - 1 ? vectors.front() : values;
  }
  if (collective == algorithms::Collective::allgather) {
    for (std::int64_t i = 0; i < space.coordinates(); ++i) {
      const auto owner = static_cast<std::size_t>(owner_of(i, ranks, space));
      values.push_back(vectors[owner][static_cast<std::size_t>(i)]);
    }
    return values;
  }
  for (const std::vector<float>& sent : vectors) {
    for (const std::size_t i : block_of(rank, ranks, space)) values.push_back(sent[i]);
  }
  return values;
}

bool is_reduced_block(const DenseBlock& block, const SerialSum& sum,
                      const std::vector<std::size_t>& coordinates) {
  if (block.size() != coordinates.size()) return false;
  for (std::size_t i = 0; i < coordinates.size(); ++i) {
    const std::size_t at = coordinates[i];
    if (block.first() + i != at) return false;
    if (std::abs(block.values()[i] - sum.values[at]) > sum.bound[at]) return false;
  }
  return true;
}

/// The results of a collective that is no allreduce.
bool collective_conforms(const std::vector<algorithms::Reduced>& results,
                         algorithms::Collective collective, const Vectors& vectors,
                         const GradientSpace& space) {
  const auto ranks = static_cast<int>(vectors.size());
  const SerialSum sum = serial_sum(vectors);
  for (int rank = 0; rank < ranks; ++rank) {
    const auto& result = std::get<DenseBlock>(results[static_cast<std::size_t>(rank)].sum);
    if (collective == algorithms::Collective::reduce_scatter) {
      if (!is_reduced_block(result, sum, block_of(rank, ranks, space))) return false;
      continue;
    }
    const std::vector<float> wanted = moved_values(collective, vectors, rank, space);
    if (result.first() != 0 || !std::ranges::equal(result.values(), wanted)) return false;
  }
  return true;
}

}  // namespace

bool dense_conforms(Network& network, const algorithms::SchemeInfo& info, int ranks,
                    GradientSpace space, const GivenOptions& options) {
  const auto size = static_cast<std::size_t>(space.coordinates());
  Vectors vectors;
  for (int rank = 0; rank < ranks; ++rank) {
    const DenseBlock block = dense_gradient(static_cast<std::uint32_t>(size), rank);
    vectors.emplace_back(block.values().begin(), block.values().end());
  }
  const auto gradient = [&](int rank) {
    return DenseBlock(0, vectors[static_cast<std::size_t>(rank)]);
  };
  SchemeRanks scheme(info, ranks, space, 0, options);
  const Iteration outcome = scheme.run(network, 1, gradient);
  if (info.collective_kind != algorithms::Collective::allreduce) {
    return collective_conforms(outcome.results, info.collective_kind, vectors, space);
  }
  const auto [expected, bound] = serial_sum(vectors);
  const auto first = std::get<DenseBlock>(outcome.results[0].sum).values();
  if (first.size() != size) return false;
  for (std::size_t i = 0; i < size; ++i) {
    if (std::abs(first[i] - expected[i]) > bound[i]) return false;
  }
  return std::ranges::all_of(outcome.results, [&](const algorithms::Reduced& result) {
    const auto& block = std::get<DenseBlock>(result.sum);
    return block.first() == 0 && block.values().size() == size &&
           std::memcmp(block.values().data(), first.data(), size * sizeof(float)) == 0 &&
           std::get<SparseVector>(result.contributed).size() == 0;
  });
}

bool sparse_conforms(Network& network, const std::string& scheme, const Case& c,
                     const GivenOptions& options, int iterations) {
  const algorithms::SchemeInfo& info = algorithms::find_scheme(scheme);
  SchemeRanks ranks(info, c.ranks, c.space, c.k, options);
  const auto serial = serial_scheme(info, ranks.setup());
  for (int iteration = 1; iteration <= iterations; ++iteration) {
    const Iteration outcome =
        ranks.run(network, iteration, [&](int rank) { return c.gradient(rank, iteration); });
    if (!conforms(outcome.results, serial->iterate(c.gradients(iteration), iteration)))
      return false;
  }
  return true;
}

GivenOptions short_periods_of(const algorithms::SchemeInfo& info) {
  GivenOptions options;
  for (const auto& [name, value] : with(short_periods(), "tensor_selection", false)) {
    if (std::ranges::find(info.options, name, &algorithms::OptionInfo::name) !=
        info.options.end()) {
      options[name] = value;
    }
  }
  return options;
}

const GivenOptions& short_periods() {
  static const GivenOptions periods{{"tau", std::int64_t{3}}, {"tau_prime", std::int64_t{2}}};
  return periods;
}

std::vector<GivenOptions> oktopk_variants() {
  std::vector<GivenOptions> variants{with(short_periods(), "balanced_split", false),
                                     with(short_periods(), "rotation", false),
                                     with(short_periods(), "bucket", std::int64_t{1}),
                                     with(short_periods(), "bucket", std::int64_t{3}),
                                     with(short_periods(), "sliding", false),
                                     with(short_periods(), "published", true),
                                     with(short_periods(), "balancing", false),
                                     with(short_periods(), "trigger", 0.0),
                                     with(short_periods(), "trigger", 1.5),
                                     with(short_periods(), "trigger", 1e9)};
  GivenOptions naive = with(short_periods(), "balanced_split", false);
  naive = with(naive, "rotation", false);
  naive = with(naive, "bucket", std::int64_t{1});
  naive = with(naive, "sliding", false);
  variants.push_back(with(naive, "balancing", false));
  variants.push_back(with(naive, "trigger", 0.0));
  return variants;
}

}  // namespace thinwire::test
