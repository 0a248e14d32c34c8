#include "sim/core/base/recycled_memory.hpp"

#include <new>
#include <utility>
#include <vector>

namespace thinwire::inline base {

namespace {

/// Below this, allocators keep memory themselves.
constexpr std::size_t kLeastKept = std::size_t{1} << 16U;

struct KeptMemory {
  void* memory;
  std::size_t bytes;
};

struct MemoryPool {
  MemoryPool() = default;
  MemoryPool(const MemoryPool&) = delete;
  MemoryPool& operator=(const MemoryPool&) = delete;
  ~MemoryPool() { hold_to(0); }

  /// Frees the oldest until at most so many bytes are kept.
  void hold_to(std::size_t most) {
    std::size_t oldest = 0;
    while (bytes > most) {
      bytes -= kept[oldest].bytes;
      ::operator delete(kept[oldest++].memory);
    }
    kept.erase(kept.begin(), kept.begin() + static_cast<std::ptrdiff_t>(oldest));
  }

  std::vector<KeptMemory> kept;  // the oldest first
  std::size_t bytes = 0;
  std::size_t limit = 0;
};

MemoryPool& memory_pool() {
  static MemoryPool pool;
  return pool;
}

}  // namespace

void RecycledMemory::keep(std::int64_t bytes) {
  MemoryPool& pool = memory_pool();
  pool.limit = static_cast<std::size_t>(bytes);
  pool.hold_to(pool.limit);
}

void* RecycledMemory::take(std::size_t bytes) {
  MemoryPool& pool = memory_pool();
  if (bytes < kLeastKept || pool.limit == 0) return ::operator new(bytes);
  for (std::size_t i = pool.kept.size(); i-- > 0;) {  // what was used last may be in the cache
    if (pool.kept[i].bytes != bytes) continue;
    void* const memory = pool.kept[i].memory;
    pool.bytes -= bytes;
    pool.kept.erase(pool.kept.begin() + static_cast<std::ptrdiff_t>(i));
    return memory;
  }
  return ::operator new(bytes);
}

void RecycledMemory::give_back(void* memory, std::size_t bytes) noexcept {
  MemoryPool& pool = memory_pool();
  if (bytes < kLeastKept || bytes > pool.limit) {
    ::operator delete(memory);
    return;
  }
  try {
    pool.kept.push_back({memory, bytes});
  } catch (const std::bad_alloc&) {
    ::operator delete(memory);
    return;
  }
  pool.bytes += bytes;
  pool.hold_to(pool.limit);
}

}  // namespace thinwire::inline base
