// Whether the build is one in which memory is not what it is otherwise.
#pragma once

namespace thinwire::test {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

}  // namespace thinwire::test
