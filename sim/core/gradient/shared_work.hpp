// Work that many ranks would repeat on equal inputs is done once. Only the simulator saves time:
// the scheme still charges each rank.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sim/core/gradient/fingerprint.hpp"
#include "sim/core/kernel/message.hpp"

namespace thinwire::inline gradient {

/// A cache of results by operation and inputs. It has two generations: a result that is not used
/// while `capacity` others are added is dropped, so memory follows the working set.
class SharedWork {
 public:
  explicit SharedWork(std::size_t capacity) : capacity_(capacity) {}

  /// The result of `operation` on `inputs` in any order, computed by `make` the first time. The
  /// entry keeps the inputs alive, so that their addresses are not reused.
  template <class Make>
  [[nodiscard]] Message once(std::string_view operation, std::span<const Message> inputs,
                             Make make) {
    Fingerprint all;
    for (const Message& input : inputs) all = all + fingerprint(input);
    return once(operation, all, inputs, make);
  }
  /// The same when the fingerprint of the relevant part of the inputs is known.
  template <class Make>
  [[nodiscard]] Message once(std::string_view operation, Fingerprint what,
                             std::span<const Message> inputs, Make make) {
    const Key key{operation, what};
    if (const auto found = current_.find(key); found != current_.end()) return found->second.result;
    Entry entry;
    if (const auto found = previous_.find(key); found != previous_.end()) {
      entry = std::move(found->second);
      previous_.erase(found);
    } else {
      entry = {make(), {inputs.begin(), inputs.end()}};
      ++computed_;
    }
    if (current_.size() >= capacity_) previous_ = std::exchange(current_, {});
    return current_.emplace(key, std::move(entry)).first->second.result;
  }

  /// Drops all results; called between iterations, whose inputs are never equal.
  void clear() {
    current_.clear();
    previous_.clear();
  }

  /// The number of results that had to be computed.
  [[nodiscard]] std::size_t computed() const { return computed_; }

 private:
  struct Key {
    std::string_view operation;
    Fingerprint inputs;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const {
      return key.inputs.low ^ std::hash<std::string_view>()(key.operation);
    }
  };
  struct Entry {
    Message result;
    std::vector<Message> inputs;
  };

  std::size_t capacity_;
  std::size_t computed_ = 0;
  std::unordered_map<Key, Entry, Hash> current_;
  std::unordered_map<Key, Entry, Hash> previous_;
};

}  // namespace thinwire::inline gradient
