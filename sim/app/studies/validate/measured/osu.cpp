#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <utility>

#include "sim/app/studies/validate/measured/formats.hpp"
#include "sim/core/base/csv_table.hpp"
#include "sim/core/base/errors.hpp"
#include "sim/core/base/printable.hpp"

namespace thinwire::studies {

namespace {

/// A size and a time; -f adds the least, the greatest and the number of iterations.
constexpr std::size_t kColumns = 2;

/// The table of OSU:
///   # OSU MPI Allreduce Latency Test v7.3
///   # Size       Avg Latency(us)
///   4                       5.12
class OsuReader {
 public:
  OsuReader(std::string_view text, const MeasuredFile& file)
      : file_(file), lines_(lines_of_text(text)), times_(file) {}

  std::vector<MeasuredRow> read() {
    said_.gpu = "no";
    std::optional<double> unit;
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      const int line = static_cast<int>(i) + 1;
      const std::vector<Token> tokens = tokens_of(lines_[i]);
      if (tokens.empty()) continue;
      if (is_of_osu(tokens)) {
        take_title(line, tokens);
      } else if (tokens.size() > 2 && tokens[0].text == "#" && tokens[1].text == "Size") {
        const auto latency = std::ranges::find_if(
            tokens, [](const Token& token) { return token.text.starts_with("Latency"); });
        if (latency == tokens.end()) {
          refuse_at(file_.path, line, tokens[2].column, "there is no column 'Latency'");
        }
        const auto next = std::next(latency);  // "Latency(us)", or "Latency (us)"
        const bool apart = next != tokens.end() && next->text.starts_with('(');
        unit = trips_ * times_.unit_at(line, apart ? *next : *latency);
      } else if (unit && !tokens[0].text.starts_with('#') && is_timed(tokens, kColumns)) {
        times_.add(line, tokens, 0, 1, *unit);
      }
    }
    std::vector<MeasuredRow> rows = times_.rows(said_);
    for (MeasuredRow& row : rows) {
      // Their sizes are the size of one rank's block.
      if (row.collective != "allgather" && row.collective != "alltoall") continue;
      take_blocks(row, std::int64_t{row.nodes} * row.tasks_per_node);
    }
    return rows;
  }

 private:
  /// "# OSU MPI-CUDA All-to-All Personalized Exchange Latency Test v7.3". The collectives with
  /// sizes of their own for each rank, those among neighbours and those that do not block are others.
  void take_title(int line, const std::vector<Token>& tokens) {
    constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kRead{
        {{"allreduce", "allreduce"},
         {"allgather", "allgather"},
         {"reduce_scatter", "reduce_scatter"},
         {"all-to-all personalized exchange", "alltoall"},
         {"", "ping_pong"}}};
    // "MPI", "MPI-CUDA", "MPI-ROCM"; "MPI_Put" and "OpenSHMEM" are one-sided.
    const std::string library = lower(tokens[2].text);
    if (library != "mpi" && !library.starts_with("mpi-")) {
      refuse_at(file_.path, line, tokens[2].column,
                fmt::format("a test of '{}' is not read; known are the latency tests of MPI's "
                            "two-sided messages and collectives, '# OSU MPI ... Latency Test'",
                            excerpt(tokens[2].text)));
    }
    std::string title;
    for (std::size_t i = 3; i < tokens.size(); ++i) {
      const std::string word = lower(tokens[i].text);
      if (word == "latency" || word == "test") break;
      title += (title.empty() ? "" : " ") + word;
    }
    const auto* const read =
        std::ranges::find(kRead, title, &std::pair<std::string_view, std::string_view>::first);
    if (read == kRead.end()) {
      refuse_at(
          file_.path, line, tokens[3].column,
          fmt::format("'{}' is not read; known are the latency tests of Allreduce, Allgather, "
                      "Reduce_scatter, All-to-All Personalized Exchange, and of two ranks",
                      excerpt(title)));
    }
    if (!said_.collective.empty() && said_.collective != read->second) {
      refuse_at(file_.path, line, 1,
                "another collective begins here; give the text of each in a file of its own");
    }
    said_.collective = read->second;
    trips_ =
        said_.collective == "ping_pong" ? 2 : 1;  // the latency of two ranks is the time of one way
    if (library.ends_with("-cuda") || library.ends_with("-rocm")) said_.gpu = "yes";
  }

  const MeasuredFile& file_;
  std::vector<std::string_view> lines_;
  TimedLines times_;
  Said said_;
  double trips_ = 1;  ///< of a message within what is simulated, for one that is measured
};

}  // namespace

std::vector<MeasuredRow> rows_of_osu(std::string_view text, const MeasuredFile& file) {
  return OsuReader(text, file).read();
}

bool is_of_osu(const std::vector<Token>& line) {
  return line.size() > 3 && line[0].text == "#" && line[1].text == "OSU";
}

}  // namespace thinwire::studies
