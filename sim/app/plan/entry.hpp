// A scheme or a network that was looked up in its table.
#pragma once

#include <concepts>
#include <string_view>

#include "algorithms/registry.hpp"
#include "sim/app/plan/network_info.hpp"

namespace thinwire::plan {

/// An entry of a table, looked up once, where it is made of its name.
template <class Info, const Info& (*find)(std::string_view)>
class Entry {
 public:
  /// Throws InputError with the nearest name if there is no such entry.
  template <std::convertible_to<std::string_view> Name>
  Entry(const Name& name) : info_(&find(name)) {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] const Info& operator*() const { return *info_; }
  [[nodiscard]] const Info* operator->() const { return info_; }

  friend bool operator==(const Entry&, const Entry&) = default;
  template <std::convertible_to<std::string_view> Name>
  friend bool operator==(const Entry& entry, const Name& name) {
    return entry.info_->name == name;
  }

 private:
  const Info* info_;
};

using SchemeEntry = Entry<algorithms::SchemeInfo, algorithms::find_scheme>;
using NetworkEntry = Entry<NetworkInfo, find_network>;

}  // namespace thinwire::plan
