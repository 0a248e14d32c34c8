#include "sim/app/cli/progress.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "sim/app/cli/shared.hpp"
#include "sim/app/run/simulate.hpp"

namespace thinwire::cli {

namespace {

int columns_of_terminal() {
  winsize size{};
  constexpr int kUsual = 80;
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kUsual;
  return size.ws_col;
}

}  // namespace

std::string duration_text(double seconds) {
  const auto whole = static_cast<long long>(std::ceil(std::max(0.0, seconds)));
  constexpr long long kMinute = 60;
  constexpr long long kHour = 3600;
  if (whole >= kHour) {
    return fmt::format("{}:{:02}:{:02}", whole / kHour, whole % kHour / kMinute, whole % kMinute);
  }
  return fmt::format("{}:{:02}", whole / kMinute, whole % kMinute);
}

std::string bar_text(const run::SweepProgress& progress, int columns) {
  const std::string words =
      fmt::format(" {}/{} done, {} running, {} failed, {} left", progress.done, progress.total,
                  progress.running, progress.failed, duration_text(progress.left_s));
  constexpr int kWidest = 30;
  const int width = std::min(kWidest, columns - static_cast<int>(words.size()) - 3);
  if (width < 3) return words.substr(1, static_cast<std::size_t>(std::max(0, columns - 1)));
  const std::size_t total = std::max<std::size_t>(1, progress.total);
  const std::size_t full = static_cast<std::size_t>(width) * progress.done / total;
  return "[" + std::string(full, '#') + std::string(static_cast<std::size_t>(width) - full, '.') +
         "]" + words;
}

ProgressDisplay::ProgressDisplay() : terminal_(isatty(STDERR_FILENO) != 0) {}

ProgressDisplay::~ProgressDisplay() {
  if (terminal_) show_on_terminal("");
}

void ProgressDisplay::show(const run::SweepProgress& progress) {
  if (!terminal_) {
    if (progress.ended == nullptr) return;
    const results::Row& row = *progress.ended;
    say("{}/{} {} ({:.1f} s){}", progress.done, progress.total, name_of(row.point), row.wall_s,
        row.status == results::Status::failed ? " FAILED" : "");
    return;
  }
  if (progress.ended != nullptr) last_ = name_of(progress.ended->point);
  constexpr std::chrono::milliseconds kOften{100};
  const auto now = std::chrono::steady_clock::now();
  if (now - drawn_ < kOften) return;
  drawn_ = now;
  const int columns = columns_of_terminal();
  std::string line = bar_text(progress, columns);
  if (!last_.empty()) line += "; " + last_;
  show_on_terminal(line.substr(0, static_cast<std::size_t>(columns - 1)));
}

std::vector<results::Row> run_shown(const std::string& what, const std::vector<plan::Point>& points,
                                    int jobs) {
  std::vector<results::Row> rows;
  const bool terminal = isatty(STDERR_FILENO) != 0;
  const auto show = [&](const run::JobProgress& now) {
    if (!terminal) return;
    show_on_terminal(fmt::format("{}: {} of {} points, {} left", what, now.ended, points.size(),
                                 duration_text(now.left_s)));
  };
  for (run::EndedPoint& ended :
       run::run_points(what, points, {.processes = {.at_once = jobs}, .alphabeta = false},
                       {.progress = show})) {
    if (ended.refused) std::rethrow_exception(ended.refused);
    rows.push_back(std::move(ended.row));
  }
  if (terminal) show_on_terminal("");
  return rows;
}

}  // namespace thinwire::cli
