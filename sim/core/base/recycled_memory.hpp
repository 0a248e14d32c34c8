// Memory of large values that come and go. An allocator returns such memory to the system, and
// touching new pages takes longer than computing with them. A simulation has nothing to gain by
// keeping it, so nothing is kept unless a limit is set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>

namespace thinwire::inline base {

/// Memory that was freed, kept for what needs as much. For one thread, as shared values are.
class RecycledMemory {
 public:
  /// Keeps up to so many bytes from now on; 0 frees what is kept.
  static void keep(std::int64_t bytes);

  /// Uninitialised memory, aligned for any type.
  [[nodiscard]] static void* take(std::size_t bytes);
  static void give_back(void* memory, std::size_t bytes) noexcept;

  /// Gives an array of so many bytes back.
  struct Deleter {
    std::size_t bytes = 0;
    void operator()(void* memory) const noexcept { give_back(memory, bytes); }
  };
};

/// An array whose elements are not initialised and need no destructor.
template <class T>
using RecycledArray = std::unique_ptr<T[], RecycledMemory::Deleter>;  // NOLINT(*-c-arrays)

template <class T>
[[nodiscard]] RecycledArray<T> make_recycled(std::size_t count) {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);
  const std::size_t bytes = count * sizeof(T);
  return {static_cast<T*>(RecycledMemory::take(bytes)), RecycledMemory::Deleter{bytes}};
}

}  // namespace thinwire::inline base
