// The JSON of the whole program: objects keep the order in which their keys were given. A header
// that only names the type includes this one; code that looks inside includes <nlohmann/json.hpp>.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace thinwire::inline base {

using Json = nlohmann::ordered_json;

}  // namespace thinwire::inline base
