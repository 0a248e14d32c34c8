// The traces and profiles that come with Thinwire, which need no path: NAME is
// traces/recorded/NAME.h5 or traces/profiles/NAME.json.
#pragma once

#include <string>
#include <vector>

namespace thinwire::traces {

/// Names of the shipped traces, sorted.
[[nodiscard]] std::vector<std::string> shipped_traces();

/// The path of a trace: a text with a '/' or that ends in ".h5" is a path and comes back as it is,
/// any other is the name of a shipped trace. Throws InputError with the nearest name.
[[nodiscard]] std::string trace_file(const std::string& name_or_path);

/// The same of profiles, whose files end in ".json".
[[nodiscard]] std::vector<std::string> shipped_profiles();
[[nodiscard]] std::string profile_file(const std::string& name_or_path);

}  // namespace thinwire::traces
