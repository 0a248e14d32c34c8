#include "sim/core/kernel/ledger.hpp"

#include <algorithm>

#include "sim/core/kernel/timeline.hpp"

namespace thinwire::inline kernel {

Traffic& Traffic::operator+=(const Traffic& other) {
  messages_sent += other.messages_sent;
  messages_received += other.messages_received;
  words_sent += other.words_sent;
  words_received += other.words_received;
  time += other.time;
  return *this;
}

void add_phases(std::vector<Traffic>& sum, std::span<const Traffic> phases) {
  if (sum.size() < phases.size()) sum.resize(phases.size());
  for (std::size_t i = 0; i < phases.size(); ++i) sum[i] += phases[i];
}

std::size_t PhaseNames::index_of(std::string_view name) {
  const auto found = std::find(names_.begin(), names_.end(), name);
  if (found != names_.end()) return static_cast<std::size_t>(found - names_.begin());
  names_.emplace_back(name);
  return names_.size() - 1;
}

void Ledger::enter(std::string_view phase, Seconds now) {
  spend_until(now);
  enclosing_.push_back(current_);
  current_ = names_->index_of(phase);
  if (current_ >= phases_.size()) phases_.resize(current_ + 1);
  if (track_ != nullptr) track_->enter(phase, now);
}

void Ledger::leave(Seconds now) {
  spend_until(now);
  current_ = enclosing_.back();
  enclosing_.pop_back();
  if (track_ != nullptr) track_->leave(now);
}

void Ledger::open(Seconds now) {
  since_ = now;
  if (track_ != nullptr) track_->open(now);
}

void Ledger::close(Seconds now) {
  spend_until(now);
  if (track_ != nullptr) track_->close(now);
}

void Ledger::tell_work(Seconds begin, Seconds end) { track_->work(begin, end); }

Traffic Ledger::total() const {
  Traffic sum;
  for (const Traffic& phase : phases_) sum += phase;
  return sum;
}

void Ledger::spend_until(Seconds now) {
  phases_[current_].time += now - since_;
  since_ = now;
}

}  // namespace thinwire::inline kernel
