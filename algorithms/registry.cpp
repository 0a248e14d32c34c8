#include "algorithms/registry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <utility>

#include "algorithms/schemes/allgather.hpp"
#include "algorithms/schemes/alltoall.hpp"
#include "algorithms/schemes/cltk.hpp"
#include "algorithms/schemes/dense.hpp"
#include "algorithms/schemes/dense_double_tree.hpp"
#include "algorithms/schemes/dense_ovlp.hpp"
#include "algorithms/schemes/dragonn.hpp"
#include "algorithms/schemes/exdyna.hpp"
#include "algorithms/schemes/gtopk.hpp"
#include "algorithms/schemes/hierarchical.hpp"
#include "algorithms/schemes/hierarchical_split.hpp"
#include "algorithms/schemes/in_network.hpp"
#include "algorithms/schemes/nccl.hpp"
#include "algorithms/schemes/oktopk.hpp"
#include "algorithms/schemes/omnireduce.hpp"
#include "algorithms/schemes/ping_pong.hpp"
#include "algorithms/schemes/powersgd.hpp"
#include "algorithms/schemes/quantised.hpp"
#include "algorithms/schemes/reduce_scatter.hpp"
#include "algorithms/schemes/sparcml.hpp"
#include "algorithms/schemes/spardl.hpp"
#include "algorithms/schemes/sparseloco.hpp"
#include "algorithms/schemes/topka.hpp"
#include "algorithms/schemes/zen.hpp"
#include "algorithms/sparsifiers/block_topk.hpp"
#include "algorithms/sparsifiers/bucket_topk.hpp"
#include "algorithms/sparsifiers/deft.hpp"
#include "algorithms/sparsifiers/dgc.hpp"
#include "algorithms/sparsifiers/dragonn_hash.hpp"
#include "algorithms/sparsifiers/exact_topk.hpp"
#include "algorithms/sparsifiers/exdyna.hpp"
#include "algorithms/sparsifiers/gaussian.hpp"
#include "algorithms/sparsifiers/hard_threshold.hpp"
#include "algorithms/sparsifiers/micro.hpp"
#include "algorithms/sparsifiers/mstopk.hpp"
#include "algorithms/sparsifiers/random_k.hpp"
#include "algorithms/sparsifiers/sidco.hpp"
#include "algorithms/sparsifiers/threshold_reuse.hpp"
#include "sim/core/base/errors.hpp"
#include "sim/core/base/nearest.hpp"

namespace thinwire::algorithms {

namespace {

/// A named system: a collective composed with a sparsifier.
SchemeInfo system(SchemeInfo collective, std::string_view sparsifier, std::string summary,
                  std::string source) {
  collective.summary = std::move(summary);
  collective.source = std::move(source);
  return compose(std::move(collective), find_sparsifier(sparsifier));
}

/// The scheme with another default of an option.
SchemeInfo with_default(SchemeInfo scheme, std::string_view option, std::int64_t value) {
  std::ranges::find(scheme.options, option, &OptionInfo::name)->fallback = value;
  return scheme;
}

Sparsifiers declared_sparsifiers() {
  return {exact_topk_sparsifier(),     threshold_reuse_sparsifier(),
          gaussian_sparsifier(),       dgc_sparsifier(),
          hard_threshold_sparsifier(), sidco_sparsifier(),
          mstopk_sparsifier(),         random_k_sparsifier(),
          dragonn_hash_sparsifier(),   exdyna_sparsifier(),
          bucket_topk_sparsifier(),    block_topk_sparsifier(),
          micro_sparsifier(),          deft_sparsifier()};
}

Sparsifiers& sparsifiers() {
  static Sparsifiers all = declared_sparsifiers();
  return all;
}

/// The entry with this name; nullptr if there is none.
template <class Infos>
const typename Infos::value_type* named(const Infos& infos, std::string_view name) {
  const auto found = std::ranges::find(infos, name, &Infos::value_type::name);
  return found == infos.end() ? nullptr : &*found;
}

template <class Infos>
[[noreturn]] void refuse_unknown(const char* what, const Infos& infos, std::string_view name,
                                 std::string_view nearest_to) {
  std::vector<std::string> names;
  for (const auto& info : infos) names.push_back(info.name);
  throw InputError(fmt::format("unknown {} '{}'{}", what, name, did_you_mean(nearest_to, names)));
}

/// The scheme with another sparsifier than its own, called `name`.
SchemeInfo with_sparsifier(SchemeInfo scheme, const SparsifierInfo& sparsifier,
                           std::string_view name) {
  if (sparsifier.name != scheme.sparsifier) {  // its own has the defaults that it has there
    scheme.options = std::move(scheme.collective_options);
    scheme = compose(std::move(scheme), sparsifier);
  }
  scheme.name = name;
  return scheme;
}

/// Checks a name, which appears in file names, in SCHEME+SPARSIFIER and in comma-separated lists.
template <class Infos>
void check_name(const char* what, const std::string& name, const Infos& known) {
  const bool plain = std::ranges::all_of(
      name, [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; });
  if (name.empty() || !plain) {
    throw InputError(
        fmt::format("a {} cannot be called '{}': take lower case letters, digits and "
                    "'_'",
                    what, name));
  }
  if (named(known, name) != nullptr) {
    throw InputError(
        fmt::format("there is a {} '{}' already: give yours another name", what, name));
  }
}

/// Throws InputError when a formula cannot be evaluated.
void check_formulas(const SchemeInfo& scheme) {
  const Options options(scheme.options, {});
  constexpr int kRanks = 4;
  constexpr std::int64_t kComponents = 1000;
  static_cast<void>(
      scheme.cost({.ranks = kRanks, .n = kComponents, .k = 100, .options = &options}));
}

Schemes declared_schemes() {
  Schemes schemes;
  const auto add = [&](SchemeInfo scheme) { schemes.push_back(std::move(scheme)); };
  for (SchemeInfo& scheme : dense_schemes()) add(std::move(scheme));
  add(dense_ovlp_scheme());
  add(dense_double_tree_scheme());
  for (SchemeInfo& scheme : hierarchical_schemes()) add(std::move(scheme));
  for (SchemeInfo& scheme : nccl_schemes()) add(std::move(scheme));
  add(in_network_scheme());
  const auto topk = [](SchemeInfo collective) {
    return compose(std::move(collective), exact_topk_sparsifier());
  };
  add(system(gather_scheme("topka", {}), "exact_topk",
             "allgather of each rank's exact top-k, summed locally",
             "Ok-Topk (PPoPP 2022), Table 1, TopkA"));
  add(system(gather_scheme("gaussiank", {.sizes = true}), "gaussian",
             "sizes, then an allgather of what a Gaussian fit selects",
             "Ok-Topk (PPoPP 2022), Table 1, Gaussiank"));
  add(topk(topkdsa_scheme()));
  add(topk(gtopk_scheme()));
  add(compose(oktopk_scheme(), threshold_reuse_sparsifier()));
  add(compose(hierarchical_oktopk_scheme(), threshold_reuse_sparsifier()));
  add(topk(ssar_recursive_double_scheme()));
  add(topk(dsar_recursive_double_scheme()));
  add(topk(ssar_split_allgather_scheme()));
  add(topk(dsar_split_allgather_scheme()));
  add(topk(ring_sparse_scheme()));
  add(topk(hierarchical_split_scheme()));
  add(system(shared_indexes_scheme("exdyna"), "exdyna",
             "indexes of disjoint partitions, then all values there summed",
             "ExDyna (2024), Algorithms 1-5"));
  add(system(shared_indexes_scheme("micro"), "micro", "the same with partitions that never change",
             "MiCRO (HiPC 2023)"));
  add(system(shared_indexes_scheme("deft"), "deft",
             "indexes of layers dealt out to the ranks, then all values there summed",
             "DEFT (ICPP 2023)"));
  add(system(shared_indexes_scheme("topk_allreduce"), "exact_topk",
             "union of all ranks' indexes, then all values there summed",
             "ExDyna (2024), section III, Top-k"));
  add(topk(cltk_scheme()));
  add(system(shared_indexes_scheme("hard_threshold"), "hard_threshold",
             "the same with a threshold that never changes",
             "ExDyna (2024), section III, hard-threshold"));
  add(system(shared_indexes_scheme("sidco"), "sidco",
             "the same with a threshold by fits of exponentials",
             "ExDyna (2024), section III, SIDCo"));
  add(system(dragonn_scheme(), "dragonn_hash", "hashed slots around a ring, where that pays",
             "DRAGONN (ICML 2022), Algorithms 1-2"));
  const GatherStyle ring{.ring = true, .sparse_decoding = false};
  add(system(gather_scheme("dgc", ring), "dgc",
             "a sampled threshold, around a ring, decoded densely",
             "DRAGONN (ICML 2022), Algorithm 3, DGC"));
  add(system(gather_scheme("topk_exact", ring), "exact_topk",
             "exact top-k around a ring, decoded densely", "DRAGONN (ICML 2022), section 5, TopK"));
  add(system(gather_scheme("random_k", ring), "random_k",
             "coordinates at random, around a ring, decoded densely",
             "DRAGONN (ICML 2022), Figure 7, Random-k"));
  add(topk(zen_scheme()));
  add(compose(spardl_scheme(), block_topk_sparsifier()));
  add(topk(omnireduce_scheme()));
  for (SchemeInfo& scheme : quantised_schemes()) add(std::move(scheme));
  add(powersgd_scheme());
  constexpr std::int64_t kSparseLocoChunk = 4096;
  add(with_default(system(sparseloco_scheme(), "bucket_topk",
                          "top-k of every chunk, indexes and values in few bits, gathered",
                          "SparseLoCo (arXiv:2508.15706)"),
                   "bucket_components", kSparseLocoChunk));
  for (SchemeInfo& scheme : allgather_schemes()) add(std::move(scheme));
  for (SchemeInfo& scheme : reduce_scatter_schemes()) add(std::move(scheme));
  for (SchemeInfo& scheme : alltoall_schemes()) add(std::move(scheme));
  add(ping_pong_scheme());
  return schemes;
}

Schemes& schemes() {
  static Schemes all = declared_schemes();
  return all;
}

}  // namespace

const Sparsifiers& all_sparsifiers() { return sparsifiers(); }

const Schemes& all_schemes() { return schemes(); }

std::vector<std::reference_wrapper<const SchemeInfo>> schemes_of(Collective collective) {
  std::vector<std::reference_wrapper<const SchemeInfo>> found;
  for (const SchemeInfo& scheme : schemes()) {
    if (scheme.collective_kind == collective) found.emplace_back(scheme);
  }
  return found;
}

void register_sparsifier(SparsifierInfo sparsifier) {
  check_name("sparsifier", sparsifier.name, all_sparsifiers());
  if (!sparsifier.make) {
    throw InputError(fmt::format("sparsifier '{}' has no 'make'", sparsifier.name));
  }
  sparsifiers().push_back(std::move(sparsifier));
}

void register_scheme(SchemeInfo scheme) {
  check_name("scheme", scheme.name, all_schemes());
  if (scheme.collective && !scheme.make) {
    const std::string selects = scheme.sparsifier.empty() ? "exact_topk" : scheme.sparsifier;
    scheme = compose(std::move(scheme), find_sparsifier(selects));
  }
  if (!scheme.make) {
    throw InputError(fmt::format("scheme '{}' has neither 'make' nor 'collective'", scheme.name));
  }
  if (!scheme.run_cost) {
    throw InputError(fmt::format("scheme '{}' has no 'run_cost', its cost model", scheme.name));
  }
  try {
    check_formulas(scheme);
  } catch (const std::exception& error) {
    throw InputError(fmt::format("the cost of scheme '{}': {}", scheme.name, error.what()));
  }
  schemes().push_back(std::move(scheme));
}

const SparsifierInfo& find_sparsifier(std::string_view name) {
  const SparsifierInfo* const found = named(sparsifiers(), name);
  if (found == nullptr) refuse_unknown("sparsifier", sparsifiers(), name, name);
  return *found;
}

std::vector<std::string> composed_names(const SchemeInfo& scheme) {
  std::vector<std::string> names;
  if (scheme.dense) return names;
  for (const SparsifierInfo& sparsifier : all_sparsifiers()) {
    if (can_compose(scheme, sparsifier)) names.push_back(scheme.name + "+" + sparsifier.name);
  }
  return names;
}

std::vector<OptionInfo> all_options() {
  std::vector<OptionInfo> options;
  const auto add = [&](const std::vector<OptionInfo>& more) {
    for (const OptionInfo& option : more) {
      if (!has_option(options, option.name)) options.push_back(option);
    }
  };
  for (const SchemeInfo& scheme : all_schemes()) add(scheme.options);
  for (const SparsifierInfo& sparsifier : all_sparsifiers()) add(sparsifier.options);
  return options;
}

const SchemeInfo& find_scheme(std::string_view name) {
  const std::string_view base = name.substr(0, name.find('+'));
  const SchemeInfo* const scheme = named(schemes(), base);
  if (scheme == nullptr) refuse_unknown("scheme", schemes(), name, base);
  if (base == name) return *scheme;
  static std::mutex one_at_a_time;
  static std::map<std::string, SchemeInfo, std::less<>> composed;
  const std::lock_guard lock(one_at_a_time);
  if (const auto known = composed.find(name); known != composed.end()) return known->second;
  if (scheme->dense) {
    throw InputError(
        fmt::format("'{}' sends everything; only sparse schemes take a sparsifier", scheme->name));
  }
  const SparsifierInfo& sparsifier = find_sparsifier(name.substr(base.size() + 1));
  return composed.emplace(name, with_sparsifier(*scheme, sparsifier, name)).first->second;
}

}  // namespace thinwire::algorithms
