// What a loaded platform says, found out in a child process.
#pragma once

#include <functional>
#include <string>

#include "sim/core/base/child_process.hpp"
#include "sim/core/base/errors.hpp"
#include "topologies/loading/platform.hpp"

namespace thinwire::test {

/// What `read` says of a platform. Throws InputError where the platform cannot be loaded.
[[nodiscard]] inline std::string on_platform(
    const std::string& path, const std::function<std::string(const topologies::Platform&)>& read) {
  std::string text;
  return in_child_process({.subject = path,
                           .prepare =
                               [&] {
                                 const topologies::Platform platform(path);
                                 text = read(platform);
                               },
                           .run = [&] { return text; }})
      .text;
}

/// A host by its name.
[[nodiscard]] inline topologies::HostIndex host_of(const topologies::Platform& platform,
                                                   const std::string& name) {
  for (topologies::HostIndex host = 0; host < platform.hosts().size(); ++host) {
    if (platform.hosts()[host].name == name) return host;
  }
  throw InputError("no host " + name);
}

}  // namespace thinwire::test
