#include "sim/core/base/child_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <new>
#include <sstream>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "sim/core/base/complaints.hpp"
#include "sim/core/base/errors.hpp"
#include "sim/core/base/files.hpp"
#include "sim/core/base/interrupt.hpp"

namespace thinwire::inline base {

namespace {

/// The kinds of message that the child sends: one byte, then a text. Each tells either a step that
/// the child has reached or how it ended.
enum class Sent : char {
  prepared = 'p',
  result = 'r',
  too_few_hosts = 'h',
  input_error = 'i',
  input_errors = 'j',  ///< one a line
  deadlock = 'd',
  unmatched = 'u',
  simulation_error = 's',
  out_of_memory = 'm'
};

class Pipe {
 public:
  Pipe() {
    if (pipe(ends_.data()) != 0) {
      throw SimulationError("no pipe to a child process: {}", std::strerror(errno));
    }
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    close_end(0);
    close_end(1);
  }
  [[nodiscard]] int write_end() const { return ends_[1]; }
  /// Hands over the read end, which stays open when this object ends and never blocks.
  [[nodiscard]] int take_read_end() {
    fcntl(ends_[0], F_SETFL, O_NONBLOCK);
    return std::exchange(ends_[0], -1);
  }

 private:
  void close_end(std::size_t end) {
    if (ends_[end] >= 0) close(ends_[end]);
    ends_[end] = -1;
  }
  std::array<int, 2> ends_{-1, -1};
};

void send(int file, Sent what, std::string_view text = {}) {
  const char tag = static_cast<char>(what);
  if (write_all(file, {&tag, 1})) (void)write_all(file, text);  // on failure the parent is gone
}

[[noreturn]] void be_the_child(const ChildWork& work, pid_t parent, int results, int messages,
                               bool verbose) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(0);  // the parent was gone before that
  std::signal(SIGINT, SIG_IGN);       // a terminal sends it to the whole group: the parent decides
  std::signal(SIGTERM, SIG_IGN);
  // Only results leave the child: what a library prints on stdout is no data of ours.
  dup2(verbose ? STDERR_FILENO : messages, STDOUT_FILENO);
  if (!verbose) dup2(messages, STDERR_FILENO);
  const rlimit no_core{.rlim_cur = 0, .rlim_max = 0};
  setrlimit(RLIMIT_CORE, &no_core);
  try {
    if (work.prepare) work.prepare();
    send(results, Sent::prepared);
    send(results, Sent::result, work.run());
  } catch (const TooFewHostsError& error) {
    send(results, Sent::too_few_hosts, error.what());
  } catch (const InputErrors& errors) {
    send(results, Sent::input_errors, errors.what());
  } catch (const InputError& error) {
    send(results, Sent::input_error, error.what());
  } catch (const DeadlockError& error) {
    send(results, Sent::deadlock, error.what());
  } catch (const UnmatchedError& error) {
    send(results, Sent::unmatched, error.what());
  } catch (const std::bad_alloc&) {
    send(results, Sent::out_of_memory);
  } catch (const std::exception& error) {
    send(results, Sent::simulation_error, error.what());
  } catch (...) {
    send(results, Sent::simulation_error, "something unknown was thrown");
  }
  std::fflush(nullptr);
  _exit(0);  // the exit handlers of libraries belong to the parent
}

/// Appends what can be read without waiting; false at the end of the stream.
bool read_all(int file, std::string& into) {
  std::array<char, 4096> buffer{};  // cleared at each poll
  while (true) {
    const ssize_t got = read(file, buffer.data(), buffer.size());
    if (got > 0) into.append(buffer.data(), static_cast<std::size_t>(got));
    if (got == 0) return false;
    if (got < 0 && errno != EINTR) return errno == EAGAIN;
  }
}

/// Resident memory of a process in bytes; 0 when the process is gone.
std::int64_t resident_bytes(pid_t process) {
  std::ifstream file(fmt::format("/proc/{}/statm", process));
  std::int64_t total = 0;
  std::int64_t resident = 0;
  file >> total >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

/// The first line that is not blank: libraries give the reason first and a stack trace after it.
std::string first_line(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(" \n");
  if (begin == std::string::npos) return {};
  return text.substr(begin, std::min<std::size_t>(text.find('\n', begin) - begin, 400));
}

std::string reason_of_death(int status, const std::string& messages) {
  std::string how = WIFSIGNALED(status) ? fmt::format("signal {} ({})", WTERMSIG(status),
                                                      strsignal(WTERMSIG(status)))
                                        : fmt::format("exit code {}", WEXITSTATUS(status));
  const std::string line = first_line(messages);
  if (line.empty()) return how;
  // What a library said before it aborted is the reason.
  const bool aborted = WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
  return aborted ? line : fmt::format("{}; {}", line, how);
}

}  // namespace

int default_processes() {
  return static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

ChildProcess::ChildProcess(ChildWork work, ChildLimits limits, bool verbose)
    : work_(std::move(work)), limits_(limits), begin_(std::chrono::steady_clock::now()) {
  Pipe results;
  Pipe messages;
  std::fflush(nullptr);
  const pid_t parent = getpid();
  pid_ = fork();
  if (pid_ < 0) {
    throw SimulationError("no child process: {}", std::strerror(errno));
  }
  if (pid_ == 0) {
    leave_signals_to(nullptr);  // another thread may hold the interpreter, which is not here
    be_the_child(work_, parent, results.write_end(), messages.write_end(), verbose);
  }
  files_ = {results.take_read_end(), messages.take_read_end()};
}

ChildProcess::~ChildProcess() {
  if (pid_ > 0) {
    kill(pid_, SIGKILL);
    reap();
  }
  for (const int file : files_) {
    if (file >= 0) close(file);
  }
}

void ChildProcess::reap() {
  rusage usage{};
  while (wait4(pid_, &status_, 0, &usage) < 0 && errno == EINTR) {
  }
  peak_rss_bytes_ = std::int64_t{usage.ru_maxrss} * 1024;
  pid_ = -1;
  end_ = std::chrono::steady_clock::now();
}

double ChildProcess::wall_s() const {
  const auto end = pid_ < 0 ? end_ : std::chrono::steady_clock::now();
  return std::chrono::duration<double>(end - begin_).count();
}

void ChildProcess::hold_to_limits() {
  if (!killed_for_.empty()) return;
  if (limits_.seconds && wall_s() > *limits_.seconds) {
    killed_for_ = fmt::format("took longer than the {:g} s that it was given", *limits_.seconds);
  } else if (limits_.memory_bytes && resident_bytes(pid_) > *limits_.memory_bytes) {
    killed_for_ = fmt::format("needs more than the {:g} MiB of memory that it was given",
                              static_cast<double>(*limits_.memory_bytes) / (1 << 20));
  }
  if (!killed_for_.empty()) kill(pid_, SIGKILL);
}

bool ChildProcess::advance() {
  if (pid_ < 0) return true;
  for (std::size_t i = 0; i < files_.size(); ++i) {
    if (files_[i] < 0 || read_all(files_[i], received_[i])) continue;
    close(std::exchange(files_[i], -1));
  }
  if (files_[0] >= 0 || files_[1] >= 0) {
    hold_to_limits();
    return false;
  }
  reap();
  return true;
}

void ChildProcess::wait_for_news(std::span<const ChildProcess* const> children,
                                 std::chrono::milliseconds longest) {
  constexpr std::chrono::milliseconds kLimitsAreLookedAt{50};
  std::vector<pollfd> files;
  for (const ChildProcess* child : children) {
    for (const int file : child->files_) files.push_back({file, POLLIN, 0});
    if (child->limits_.seconds || child->limits_.memory_bytes) {
      longest = std::min(longest, kLimitsAreLookedAt);
    }
  }
  poll(files.data(), files.size(), static_cast<int>(longest.count()));
}

namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream all(text);
  for (std::string line; std::getline(all, line);) lines.push_back(line);
  return lines;
}

}  // namespace

ChildOutcome ChildProcess::outcome() const {
  std::string_view text = received_[0];
  const auto next_is = [&](Sent what) {
    return !text.empty() && text.front() == static_cast<char>(what);
  };
  const bool prepared = next_is(Sent::prepared);
  if (prepared) text.remove_prefix(1);
  const bool ended = WIFEXITED(status_) && WEXITSTATUS(status_) == 0 && !text.empty();
  if (!ended) {
    if (!killed_for_.empty()) throw SimulationError(killed_for_);
    const std::string reason = reason_of_death(status_, received_[1]);
    if (!prepared) {
      throw InputError("{}: cannot be used: {}", work_.subject, reason);
    }
    throw SimulationError("the simulation died: " + reason);
  }
  const std::string said(text.substr(1));
  if (next_is(Sent::too_few_hosts)) throw TooFewHostsError(said);
  if (next_is(Sent::input_errors)) throw InputErrors(lines_of(said));
  if (next_is(Sent::input_error)) throw InputError(said);
  if (next_is(Sent::deadlock)) throw DeadlockError(said);
  if (next_is(Sent::unmatched)) throw UnmatchedError(said);
  if (next_is(Sent::out_of_memory)) throw std::bad_alloc();
  if (next_is(Sent::simulation_error)) throw SimulationError(said);
  return {.text = said, .peak_rss_bytes = peak_rss_bytes_};
}

void ChildProcess::wait() {
  const std::array<const ChildProcess*, 1> only{this};
  constexpr std::chrono::milliseconds kTick{200};
  while (!advance()) {
    InterruptGuard::check();
    wait_for_news(only, kTick);
  }
}

ChildOutcome in_child_process(ChildWork work, bool verbose) {
  ChildProcess child(std::move(work), {}, verbose);
  child.wait();
  return child.outcome();
}

}  // namespace thinwire::inline base
