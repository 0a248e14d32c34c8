// Cache lines fetched ahead of their use.
#pragma once

namespace thinwire::inline base {

/// Asks for the cache line at `address`, which need not be a valid one.
inline void prefetch_line(const void* address) {
  __builtin_prefetch(address);
  // A function that only fetches has no effect that GCC 12 knows of, so it drops calls of it; this
  // is one.
  asm volatile("");
}

}  // namespace thinwire::inline base
