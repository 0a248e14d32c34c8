#include "sim/core/base/interrupt.hpp"

namespace thinwire::inline base {

namespace {

volatile std::sig_atomic_t came = 0;

void note(int signal) { came = signal; }

}  // namespace

InterruptGuard::InterruptGuard() {
  came = 0;
  struct sigaction noted = {};
  noted.sa_handler = note;  // NOLINT(cppcoreguidelines-pro-type-union-access)
  noted.sa_flags = static_cast<int>(SA_RESETHAND);
  sigemptyset(&noted.sa_mask);
  sigaction(SIGINT, &noted, &interrupt_before_);
  sigaction(SIGTERM, &noted, &terminate_before_);
}

InterruptGuard::~InterruptGuard() {
  sigaction(SIGINT, &interrupt_before_, nullptr);
  sigaction(SIGTERM, &terminate_before_, nullptr);
}

int InterruptGuard::signal() { return came; }

}  // namespace thinwire::inline base
