// The JSON type of the whole program: objects keep the order of their keys. A header that only
// names the type includes this file; code that accesses values includes <nlohmann/json.hpp>.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace thinwire::inline base {

using Json = nlohmann::ordered_json;

}  // namespace thinwire::inline base
