// The profiles that come with Thinwire, which need no path: vgg16 is traces/profiles/vgg16.json.
#pragma once

#include <string>
#include <vector>

namespace thinwire {

/// Names of the shipped profiles, sorted.
[[nodiscard]] std::vector<std::string> shipped_profiles();

/// The path of a profile: a text with a '/' or that ends in ".json" is a path and comes back as it
/// is, any other is the name of a shipped profile. Throws InputError with the nearest name.
[[nodiscard]] std::string profile_file(const std::string& name_or_path);

}  // namespace thinwire
