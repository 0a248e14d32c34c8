// Fetches cache lines ahead of their use.
#pragma once

namespace thinwire::inline base {

/// Prefetches the cache line at `address`, which need not be a valid address.
inline void prefetch_line(const void* address) {
  __builtin_prefetch(address);
  // GCC 12 drops calls of functions without an effect, such as prefetching. This is an effect.
  asm volatile("");
}

}  // namespace thinwire::inline base
