#include "sim/core/child_process.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <new>
#include <string_view>

#include "sim/core/errors.hpp"

namespace thinwire {

namespace {

/// What the child sends, one byte before a text: a step that it has reached, or how it ended.
enum class Sent : char {
  prepared = 'p',
  result = 'r',
  too_few_hosts = 'h',
  input_error = 'i',
  deadlock = 'd',
  unmatched = 'u',
  simulation_error = 's',
  out_of_memory = 'm'
};

class Pipe {
 public:
  Pipe() {
    if (pipe(ends_.data()) != 0) {
      throw SimulationError(fmt::format("no pipe to a child process: {}", std::strerror(errno)));
    }
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  Pipe(Pipe&&) = delete;
  Pipe& operator=(Pipe&&) = delete;
  ~Pipe() {
    close_end(0);
    close_end(1);
  }
  [[nodiscard]] int read_end() const { return ends_[0]; }
  [[nodiscard]] int write_end() const { return ends_[1]; }
  void close_write_end() { close_end(1); }

 private:
  void close_end(std::size_t end) {
    if (ends_[end] >= 0) close(ends_[end]);
    ends_[end] = -1;
  }
  std::array<int, 2> ends_{-1, -1};
};

void write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(file, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;  // the parent is gone
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

void send(int file, Sent what, std::string_view text = {}) {
  const char tag = static_cast<char>(what);
  write_all(file, {&tag, 1});
  write_all(file, text);
}

[[noreturn]] void be_the_child(const ChildWork& work, int results, int messages, bool verbose) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  // Nothing but results leaves the child: what a library prints on stdout is no data of ours.
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
  _exit(0);  // what the libraries registered for exit is the parent's
}

/// Takes in what is there; false at the end of the stream.
bool read_some(int file, std::string& into) {
  std::array<char, 65536> buffer{};
  const ssize_t got = read(file, buffer.data(), buffer.size());
  if (got > 0) into.append(buffer.data(), static_cast<std::size_t>(got));
  return got > 0 || (got < 0 && errno == EINTR);
}

struct Received {
  std::string results;
  std::string messages;
};

Received receive_all(int results, int messages) {
  Received received;
  std::array<pollfd, 2> files{{{results, POLLIN, 0}, {messages, POLLIN, 0}}};
  const std::array<std::string*, 2> texts{&received.results, &received.messages};
  while (files[0].fd >= 0 || files[1].fd >= 0) {
    if (poll(files.data(), files.size(), -1) < 0) continue;  // a signal came
    for (std::size_t i = 0; i < files.size(); ++i) {
      if (files[i].fd < 0 || files[i].revents == 0) continue;
      if (!read_some(files[i].fd, *texts[i])) files[i].fd = -1;
    }
  }
  return received;
}

/// The first line that says something: libraries give the reason first, and a stack after it.
std::string first_line(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(" \n");
  if (begin == std::string::npos) return {};
  return text.substr(begin, std::min<std::size_t>(text.find('\n', begin) - begin, 400));
}

std::string reason_of_death(int status, const std::string& messages) {
  const std::string how = WIFSIGNALED(status) ? fmt::format("signal {} ({})", WTERMSIG(status),
                                                            strsignal(WTERMSIG(status)))
                                              : fmt::format("exit code {}", WEXITSTATUS(status));
  const std::string line = first_line(messages);
  return line.empty() ? how : fmt::format("{}; {}", line, how);
}

}  // namespace

ChildOutcome in_child_process(const ChildWork& work, bool verbose) {
  Pipe results;
  Pipe messages;
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child < 0) {
    throw SimulationError(fmt::format("no child process: {}", std::strerror(errno)));
  }
  if (child == 0) be_the_child(work, results.write_end(), messages.write_end(), verbose);
  results.close_write_end();
  messages.close_write_end();
  const Received received = receive_all(results.read_end(), messages.read_end());
  int status = 0;
  rusage usage{};
  while (wait4(child, &status, 0, &usage) < 0 && errno == EINTR) {
  }

  std::string_view text = received.results;
  const auto next_is = [&](Sent what) {
    return !text.empty() && text.front() == static_cast<char>(what);
  };
  const bool prepared = next_is(Sent::prepared);
  if (prepared) text.remove_prefix(1);
  const bool ended = WIFEXITED(status) && WEXITSTATUS(status) == 0 && !text.empty();
  if (!ended) {
    const std::string reason = reason_of_death(status, received.messages);
    if (!prepared) {
      throw InputError(fmt::format("{}: cannot be used: {}", work.subject, reason));
    }
    throw SimulationError("the simulation died: " + reason);
  }
  const std::string said(text.substr(1));
  if (next_is(Sent::too_few_hosts)) throw TooFewHostsError(said);
  if (next_is(Sent::input_error)) throw InputError(said);
  if (next_is(Sent::deadlock)) throw DeadlockError(said);
  if (next_is(Sent::unmatched)) throw UnmatchedError(said);
  if (next_is(Sent::out_of_memory)) throw std::bad_alloc();
  if (next_is(Sent::simulation_error)) throw SimulationError(said);
  return {.text = said, .peak_rss_bytes = std::int64_t{usage.ru_maxrss} * 1024};
}

}  // namespace thinwire
