#include "algorithms/registry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <utility>

#include "algorithms/added_code.hpp"
#include "algorithms/schemes/dense.hpp"
#include "algorithms/schemes/dense_ovlp.hpp"
#include "algorithms/schemes/dragonn.hpp"
#include "algorithms/schemes/exdyna.hpp"
#include "algorithms/schemes/in_network.hpp"
#include "algorithms/schemes/nccl.hpp"
#include "algorithms/schemes/oktopk.hpp"
#include "algorithms/schemes/powersgd.hpp"
#include "algorithms/schemes/schemes.hpp"
#include "algorithms/schemes/sparcml.hpp"
#include "algorithms/schemes/topka.hpp"
#include "algorithms/sparsifiers/block_topk.hpp"
#include "algorithms/sparsifiers/deft.hpp"
#include "algorithms/sparsifiers/dgc.hpp"
#include "algorithms/sparsifiers/dragonn_hash.hpp"
#include "algorithms/sparsifiers/exdyna.hpp"
#include "algorithms/sparsifiers/gaussian.hpp"
#include "algorithms/sparsifiers/hard_threshold.hpp"
#include "algorithms/sparsifiers/mstopk.hpp"
#include "algorithms/sparsifiers/random_k.hpp"
#include "algorithms/sparsifiers/sparsifiers.hpp"
#include "algorithms/sparsifiers/threshold_reuse.hpp"
#include "sim/core/base/errors.hpp"
#include "sim/core/base/nearest.hpp"
#include "sim/core/base/printable.hpp"

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
  throw InputError("unknown {} '{}'{}", what, excerpt(name), did_you_mean(nearest_to, names));
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
    throw InputError("a {} cannot be called '{}': take lower case letters, digits and '_'", what,
                     name);
  }
  if (named(known, name) != nullptr) {
    throw InputError("there is a {} '{}' already: give yours another name", what, name);
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

/// The sparse allreduces, in the order of the papers.
std::vector<SchemeInfo> sparse_schemes() {
  const auto topk = [](SchemeInfo collective) {
    return compose(std::move(collective), exact_topk_sparsifier());
  };
  const GatherStyle ring{.ring = true, .sparse_decoding = false};
  return {
      system(gather_scheme("topka", {}), "exact_topk",
             "allgather of each rank's exact top-k by recursive doubling; each rank sums",
             "Ok-Topk (PPoPP 2022), Table 1, TopkA"),
      system(gather_scheme("gaussiank", {.sizes = true}), "gaussian",
             "sizes; allgather of what a Gaussian fit selects; each rank sums",
             "Ok-Topk (PPoPP 2022), Table 1, Gaussiank"),
      topk(topkdsa_scheme()),
      topk(gtopk_scheme()),
      compose(oktopk_scheme(), threshold_reuse_sparsifier()),
      compose(hierarchical_oktopk_scheme(), threshold_reuse_sparsifier()),
      topk(ssar_recursive_double_scheme()),
      topk(dsar_recursive_double_scheme()),
      topk(ssar_split_allgather_scheme()),
      topk(dsar_split_allgather_scheme()),
      topk(ring_sparse_scheme()),
      topk(hierarchical_split_scheme()),
      system(
          shared_indexes_scheme("exdyna"), "exdyna",
          "sizes; allgather of the indexes of disjoint partitions; allreduce of all values there",
          "ExDyna (2024), Algorithms 1-5"),
      system(shared_indexes_scheme("micro"), "micro", "exdyna with partitions that never change",
             "MiCRO (HiPC 2023)"),
      system(shared_indexes_scheme("deft"), "deft",
             "exdyna with layers, which one rank deals out and broadcasts, as partitions",
             "DEFT (ICPP 2023)"),
      system(shared_indexes_scheme("topk_allreduce"), "exact_topk",
             "sizes; allgather of all ranks' top-k indexes; allreduce of all values in their union",
             "ExDyna (2024), section III, Top-k"),
      topk(cltk_scheme()),
      system(shared_indexes_scheme("hard_threshold"), "hard_threshold",
             "topk_allreduce with a threshold that never changes",
             "ExDyna (2024), section III, hard-threshold"),
      system(shared_indexes_scheme("sidco"), "sidco",
             "topk_allreduce with a threshold from fitted exponentials",
             "ExDyna (2024), section III, SIDCo"),
      system(dragonn_scheme(), "dragonn_hash",
             "tensor by tensor: hashed slots gathered around a ring where that pays, else a dense "
             "ring",
             "DRAGONN (ICML 2022), Algorithms 1-2"),
      system(gather_scheme("dgc", ring), "dgc",
             "what a sampled threshold selects, gathered around a ring and decoded densely",
             "DRAGONN (ICML 2022), Algorithm 3, DGC"),
      system(gather_scheme("topk_exact", ring), "exact_topk",
             "exact top-k, gathered around a ring and decoded densely",
             "DRAGONN (ICML 2022), section 5, TopK"),
      system(gather_scheme("random_k", ring), "random_k",
             "coordinates at random, gathered around a ring and decoded densely",
             "DRAGONN (ICML 2022), Figure 7, Random-k"),
      topk(zen_scheme()),
      compose(spardl_scheme(), block_topk_sparsifier()),
      topk(omnireduce_scheme())};
}

SchemeInfo sparseloco() {
  constexpr std::int64_t kChunk = 4096;
  return with_default(
      system(sparseloco_scheme(), "bucket_topk",
             "allgather of every chunk's top-k, indexes and values in few bits; each rank sums",
             "SparseLoCo (arXiv:2508.15706)"),
      "bucket_components", kChunk);
}

Schemes declared_schemes() {
  Schemes schemes;
  const auto add = [&](std::vector<SchemeInfo> more) {
    std::ranges::move(more, std::back_inserter(schemes));
  };
  add(dense_schemes());
  add({dense_ovlp_scheme(), dense_double_tree_scheme()});
  add(hierarchical_schemes());
  add(nccl_schemes());
  add({in_network_scheme()});
  add(sparse_schemes());
  add(quantised_schemes());
  add({powersgd_scheme(), sparseloco()});
  add(allgather_schemes());
  add(reduce_scatter_schemes());
  add(alltoall_schemes());
  add({ping_pong_scheme()});
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
    throw InputError("sparsifier '{}' has no 'make'", sparsifier.name);
  }
  sparsifiers().push_back(std::move(sparsifier));
}

void register_scheme(SchemeInfo scheme) {
  check_name("scheme", scheme.name, all_schemes());
  scheme = with_places(std::move(scheme));
  if (scheme.collective && !scheme.make) {
    const std::string selects = scheme.sparsifier.empty() ? "exact_topk" : scheme.sparsifier;
    scheme = compose(std::move(scheme), find_sparsifier(selects));
  }
  if (!scheme.make) {
    throw InputError("scheme '{}' has neither 'make' nor 'collective'", scheme.name);
  }
  if (!scheme.run_cost) {
    throw InputError("scheme '{}' has no 'run_cost', its cost model", scheme.name);
  }
  try {
    check_formulas(scheme);
  } catch (const std::exception& error) {
    throw InputError("the cost of scheme '{}': {}", scheme.name, error.what());
  }
  schemes().push_back(std::move(scheme));
}

const SparsifierInfo& find_sparsifier(std::string_view name) {
  const SparsifierInfo* const found = named(sparsifiers(), name);
  if (found == nullptr) refuse_unknown("sparsifier", sparsifiers(), name, name);
  return *found;
}

std::vector<std::string> names_of_schemes(bool SchemeInfo::*are) {
  std::vector<std::string> names;
  for (const SchemeInfo& scheme : all_schemes()) {
    if (scheme.*are) names.push_back(scheme.name);
  }
  return names;
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
    throw InputError("'{}' sends everything; only sparse schemes take a sparsifier", scheme->name);
  }
  const SparsifierInfo& sparsifier = find_sparsifier(name.substr(base.size() + 1));
  return composed.emplace(name, with_sparsifier(*scheme, sparsifier, name)).first->second;
}

}  // namespace thinwire::algorithms
