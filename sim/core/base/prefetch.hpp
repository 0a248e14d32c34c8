// Fetches cache lines ahead of their use.
#pragma once

namespace thinwire::inline base {

/// Prefetches the cache line at `address`, which need not be a valid address.
inline void prefetch_line(const void* address) {
  __builtin_prefetch(address);
  // GCC 12 sees no effect in a function that only prefetches, and drops calls of it. This statement
  // is an effect.
  asm volatile("");
}

}  // namespace thinwire::inline base
