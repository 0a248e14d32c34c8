// Leaks of programs that run as MPI processes. They are looked for before MPI ends, because the
// plugins of its libraries, whose leaks are not ours (tests/machine/networks/mpi/mpi.supp), have no
// names any more when they are unloaded. The check at the end of the process is switched off there.
#pragma once

#include <cstdlib>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/lsan_interface.h>
#endif

namespace thinwire::test {

/// What is allocated while this lives is no leak: for the start of MPI, which loads plugins and
/// unloads most of them again, and leaves some of what they allocated.
class IgnoredLeaks {
 public:
  IgnoredLeaks() { ignore(true); }
  ~IgnoredLeaks() { ignore(false); }
  IgnoredLeaks(const IgnoredLeaks&) = delete;
  IgnoredLeaks& operator=(const IgnoredLeaks&) = delete;

 private:
  static void ignore([[maybe_unused]] bool on) {
#if defined(__SANITIZE_ADDRESS__)
    on ? __lsan_disable() : __lsan_enable();
#endif
  }
};

/// Ends the process with exit code 1 if something leaks, under AddressSanitizer.
inline void check_leaks() {
#if defined(__SANITIZE_ADDRESS__)
  if (__lsan_do_recoverable_leak_check() != 0) std::_Exit(1);
#endif
}

}  // namespace thinwire::test
