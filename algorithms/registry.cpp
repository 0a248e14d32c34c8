#include "algorithms/registry.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "algorithms/schemes/dense.hpp"
#include "algorithms/schemes/dense_ovlp.hpp"
#include "algorithms/schemes/oktopk.hpp"
#include "algorithms/schemes/topka.hpp"
#include "sim/core/errors.hpp"
#include "sim/core/nearest.hpp"

namespace thinwire {

std::vector<SchemeInfo> all_schemes() {
  std::vector<SchemeInfo> schemes = dense_schemes();
  schemes.push_back(dense_ovlp_scheme());
  schemes.push_back(topka_scheme());
  schemes.push_back(oktopk_scheme());
  return schemes;
}

SchemeInfo find_scheme(std::string_view name) {
  std::vector<std::string> names;
  for (SchemeInfo& scheme : all_schemes()) {
    if (scheme.name == name) return std::move(scheme);
    names.push_back(scheme.name);
  }
  throw InputError(fmt::format("unknown scheme '{}'{}", name, did_you_mean(name, names)));
}

}  // namespace thinwire
