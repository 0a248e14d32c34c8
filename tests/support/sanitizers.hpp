// Tells whether a sanitizer changes the memory use of the build.
#pragma once

namespace thinwire::test {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

}  // namespace thinwire::test
