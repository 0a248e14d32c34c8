#include "sim/core/base/children.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

#include "sim/core/base/errors.hpp"
#include "sim/core/base/interrupt.hpp"

namespace thinwire::inline base {

int default_processes() {
  return static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

std::size_t Children::running() {
  return static_cast<std::size_t>(
      std::ranges::count_if(children_, [](const auto& child) { return !child->advance(); }));
}

void Children::wait_for_fewer_than(std::size_t count) {
  constexpr std::chrono::milliseconds kTick{200};
  while (running() >= count) {
    if (InterruptGuard::signal() != 0) throw InterruptedError("interrupted");
    std::vector<const ChildProcess*> all;
    for (const auto& child : children_) all.push_back(child.get());
    ChildProcess::wait_for_news(all, kTick);
  }
}

void Children::start(const ChildWork& work) {
  while (true) {
    wait_for_fewer_than(most_);
    try {
      children_.push_back(std::make_unique<ChildProcess>(work, limits_, verbose_));
      return;
    } catch (const SimulationError&) {
      most_ = running();
      if (most_ == 0) throw;
    }
  }
}

const ChildProcess& Children::ended(std::size_t i) {
  children_.at(i)->wait();
  return *children_.at(i);
}

}  // namespace thinwire::inline base
