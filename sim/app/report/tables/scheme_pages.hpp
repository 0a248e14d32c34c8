// The pages that the registry of schemes makes: docs/reference/cost-models.md and
// algorithms/catalogue.md.
#pragma once

#include <string>

namespace thinwire::report {

/// The text of docs/reference/cost-models.md.
[[nodiscard]] std::string cost_models_markdown();

/// The text of algorithms/catalogue.md.
[[nodiscard]] std::string catalogue_markdown();

}  // namespace thinwire::report
