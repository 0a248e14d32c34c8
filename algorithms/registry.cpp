#include "algorithms/registry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "algorithms/schemes/dense.hpp"
#include "algorithms/schemes/oktopk.hpp"
#include "algorithms/schemes/topka.hpp"
#include "algorithms/sparsifiers/dgc.hpp"
#include "algorithms/sparsifiers/dragonn_hash.hpp"
#include "algorithms/sparsifiers/exact_topk.hpp"
#include "algorithms/sparsifiers/exdyna.hpp"
#include "algorithms/sparsifiers/gaussian.hpp"
#include "algorithms/sparsifiers/hard_threshold.hpp"
#include "algorithms/sparsifiers/random_k.hpp"
#include "algorithms/sparsifiers/sidco.hpp"
#include "algorithms/sparsifiers/threshold_reuse.hpp"
#include "sim/core/errors.hpp"
#include "sim/core/nearest.hpp"

namespace thinwire {

namespace {

SparsifierInfo find_sparsifier(std::string_view name) {
  std::vector<std::string> names;
  for (SparsifierInfo& sparsifier : all_sparsifiers()) {
    if (sparsifier.name == name) return std::move(sparsifier);
    names.push_back(sparsifier.name);
  }
  throw InputError(fmt::format("unknown sparsifier '{}'{}", name, did_you_mean(name, names)));
}

/// What a named system is: a way to sum and a sparsifier.
SchemeInfo system(SchemeInfo collective, std::string_view sparsifier, std::string summary,
                  std::string source) {
  collective.summary = std::move(summary);
  collective.source = std::move(source);
  return compose(std::move(collective), find_sparsifier(sparsifier));
}

}  // namespace

std::vector<SparsifierInfo> all_sparsifiers() {
  return {exact_topk_sparsifier(), threshold_reuse_sparsifier(), gaussian_sparsifier(),
          dgc_sparsifier(),        hard_threshold_sparsifier(),  sidco_sparsifier(),
          random_k_sparsifier(),   dragonn_hash_sparsifier(),    exdyna_sparsifier()};
}

std::vector<SchemeInfo> all_schemes() {
  std::vector<SchemeInfo> schemes = dense_schemes();
  schemes.push_back(system(gather_scheme("topka", {}), "exact_topk",
                           "allgather of each rank's exact top-k, summed locally",
                           "Ok-Topk (PPoPP 2022), Table 1, TopkA"));
  schemes.push_back(compose(oktopk_scheme(), find_sparsifier("threshold_reuse")));
  return schemes;
}

SchemeInfo find_scheme(std::string_view name) {
  const std::string_view base = name.substr(0, name.find('+'));
  std::vector<std::string> names;
  for (SchemeInfo& scheme : all_schemes()) {
    names.push_back(scheme.name);
    if (scheme.name != base) continue;
    if (base == name) return std::move(scheme);
    if (scheme.dense) {
      throw InputError(
          fmt::format("'{}' sends everything; only sparse schemes take a sparsifier", scheme.name));
    }
    const SparsifierInfo sparsifier = find_sparsifier(name.substr(base.size() + 1));
    scheme.options = std::move(scheme.collective_options);
    SchemeInfo composed = compose(std::move(scheme), sparsifier);
    composed.name = name;
    return composed;
  }
  throw InputError(fmt::format("unknown scheme '{}'{}", name, did_you_mean(base, names)));
}

}  // namespace thinwire
