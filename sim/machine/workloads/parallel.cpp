#include "sim/machine/workloads/parallel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <sstream>
#include <string_view>

#include "sim/core/base/errors.hpp"
#include "sim/core/base/files.hpp"
#include "sim/core/base/numbers.hpp"
#include "sim/core/base/printable.hpp"

namespace thinwire::workloads {

namespace {

constexpr int kMostInGroup = 1 << 20;

/// The `size` ranks with consecutive numbers of which `rank` is one.
Members side_by_side(Rank rank, int size) {
  return {.first = rank.value() - rank.value() % size, .count = size, .stride = 1};
}

/// The ranks, of `ranks` in all, whose numbers differ from `rank` by multiples of `distance`.
Members apart(Rank rank, int distance, int ranks) {
  return {.first = rank.value() % distance, .count = ranks / distance, .stride = distance};
}

Members listed(const ListedGroups& kind, Rank rank) {
  const auto& group = kind.groups[kind.group_of[static_cast<std::size_t>(rank.value())]];
  return {.first = 0, .count = static_cast<int>(group.size()), .stride = 1, .list = group.data()};
}

/// The groups of one kind while a file is read.
struct KindOfGroups {
  std::string_view key;
  std::string_view name;
  std::vector<std::vector<std::int32_t>> groups = {};
  std::vector<int> lines = {};     ///< by group: its line in the file
  std::vector<int> group_of = {};  ///< by rank; -1: none yet

  void add(std::vector<std::int32_t> ranks, int line) {
    if (!groups.empty() && ranks.size() != groups.front().size()) {
      throw InputError("{} ranks, but the {} group of line {} has {}", ranks.size(), name,
                       lines.front(), groups.front().size());
    }
    for (const std::int32_t rank : ranks) {
      const auto at = static_cast<std::size_t>(rank);
      if (at >= group_of.size()) group_of.resize(at + 1, -1);
      if (group_of[at] >= 0) {
        const auto other = static_cast<std::size_t>(group_of[at]);
        throw InputError("rank {} is in a {} group before, in line {}", rank, name,
                         other < lines.size() ? lines[other] : line);
      }
      group_of[at] = static_cast<int>(groups.size());
    }
    groups.push_back(std::move(ranks));
    lines.push_back(line);
  }
  /// The i-th of these groups consists of the i-th ranks of the others.
  void cross(const KindOfGroups& others) {
    for (std::size_t i = 0; i < others.groups.front().size(); ++i) {
      std::vector<std::int32_t> ranks;
      for (const auto& group : others.groups) ranks.push_back(group[i]);
      add(std::move(ranks), 0);
    }
  }
  void check_all_ranks(std::size_t ranks) const {
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      if (rank < group_of.size() && group_of[rank] >= 0) continue;
      throw InputError("rank {} of {} is in no {} group", rank, ranks, name);
    }
  }
  [[nodiscard]] ListedGroups listed() && {
    return {.groups = std::move(groups), .group_of = {group_of.begin(), group_of.end()}};
  }
};

/// Takes one line, "tp" or "dp" and ranks.
void take_line(std::string_view line, int number, std::array<KindOfGroups, 2>& kinds) {
  std::istringstream words{std::string(line.substr(0, line.find('#')))};
  std::string word;
  if (!(words >> word)) return;
  auto* const kind = std::ranges::find(kinds, word, &KindOfGroups::key);
  std::vector<std::int32_t> ranks;
  while (kind != kinds.end() && words >> word) {
    const auto rank = parse_number<std::int32_t>(word);
    if (!rank || *rank < 0 || *rank >= kMostInGroup) {
      throw InputError("'{}' is no rank; ranks are whole numbers from 0", excerpt(word));
    }
    ranks.push_back(*rank);
  }
  if (ranks.empty()) {
    throw InputError("'{}': expected tp or dp, and the ranks of a group, as in tp 0 1 4 5",
                     excerpt(line));
  }
  kind->add(std::move(ranks), number);
}

/// Two groups of different kinds have exactly one rank in common.
void check_crossing(const KindOfGroups& tensor, const KindOfGroups& data) {
  const std::size_t ranks = tensor.group_of.size();
  const std::size_t product = tensor.groups.front().size() * data.groups.front().size();
  if (product != ranks) {
    throw InputError("groups of tp={} and dp={} make {} ranks, but there are {}",
                     tensor.groups.front().size(), data.groups.front().size(), product, ranks);
  }
  for (std::size_t group = 0; group < data.groups.size(); ++group) {
    std::vector<std::int32_t> first(tensor.groups.size(), -1);
    for (const std::int32_t rank : data.groups[group]) {
      std::int32_t& other =
          first[static_cast<std::size_t>(tensor.group_of[static_cast<std::size_t>(rank)])];
      if (other >= 0) {
        throw InputError(
            "ranks {} and {} of line {} are in one tensor-parallel group, too; two groups have at "
            "most one rank in common",
            other, rank, data.lines[group]);
      }
      other = rank;
    }
  }
}

Parallel parallel_from_file(const std::string& path) {
  std::array kinds{KindOfGroups{"tp", "tensor-parallel"}, KindOfGroups{"dp", "data-parallel"}};
  auto& [tensor, data] = kinds;
  std::istringstream text(read_text(path, kMostConfigBytes));
  std::string line;
  for (int number = 1; std::getline(text, line); ++number) {
    try {
      take_line(line, number, kinds);
    } catch (const InputError& error) {
      throw InputError("{}:{}: {}", path, number, error.what());
    }
  }
  try {
    if (tensor.groups.empty() && data.groups.empty()) {
      throw InputError("it has no groups; expected lines as tp 0 1 4 5");
    }
    const std::size_t ranks = std::max(tensor.group_of.size(), data.group_of.size());
    for (const KindOfGroups& kind : kinds) {
      if (!kind.groups.empty()) kind.check_all_ranks(ranks);
    }
    if (tensor.groups.empty()) tensor.cross(data);
    if (data.groups.empty()) data.cross(tensor);
    check_crossing(tensor, data);
  } catch (const InputError& error) {
    throw InputError("{}: {}", path, error.what());
  }
  return {.tensor = static_cast<int>(tensor.groups.front().size()),
          .data = static_cast<int>(data.groups.front().size()),
          .data_first = false,
          .file = std::make_shared<const GroupsFile>(
              GroupsFile{path, std::move(tensor).listed(), std::move(data).listed()})};
}

}  // namespace

bool Parallel::divides(int ranks) const {
  return ranks % tensor == 0 && (data == 0 || data == ranks / tensor);
}

Members Parallel::tensor_group(Rank rank, int ranks) const {
  if (file) return listed(file->tensor, rank);
  return data_first ? apart(rank, ranks / tensor, ranks) : side_by_side(rank, tensor);
}

Members Parallel::data_group(Rank rank, int ranks) const {
  if (file) return listed(file->data, rank);
  return data_first ? side_by_side(rank, ranks / tensor) : apart(rank, tensor, ranks);
}

Parallel parallel_from(const std::string& text) {
  const bool is_file =
      text.find('=') == std::string::npos && text.find_first_of("/.") != std::string::npos;
  if (is_file) return parallel_from_file(text);
  const auto refuse = [&] {
    throw InputError(
        fmt::format("'{}' is not valid; expected the ranks of a tensor-parallel and of a "
                    "data-parallel group, as in tp=8,dp=32 or tp=8, or a file of groups",
                    excerpt(text)));
  };
  Parallel parallel;
  bool tensor = false;
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::string_view word = rest.substr(0, rest.find(','));
    rest.remove_prefix(word.size());
    if (rest.size() == 1) refuse();  // a comma at the end
    if (!rest.empty()) rest.remove_prefix(1);
    const std::string_view key = word.substr(0, word.find('=') + 1);
    int size = 0;
    const auto [end, error] =
        std::from_chars(word.data() + key.size(), word.data() + word.size(), size);
    if (error != std::errc() || end != word.data() + word.size() || size < 1 ||
        size > kMostInGroup) {
      refuse();
    }
    if (key == "tp=" && !tensor) {
      tensor = true;
      parallel.tensor = size;
    } else if (key == "dp=" && parallel.data == 0) {
      parallel.data = size;
      parallel.data_first = !tensor;
    } else {
      refuse();
    }
  }
  if (!tensor) parallel.data_first = false;  // there is one group
  return parallel;
}

std::string text_of(const Parallel& parallel) {
  if (parallel.file) return parallel.file->path;
  if (parallel == Parallel{}) return {};
  std::string tensor = fmt::format("tp={}", parallel.tensor);
  if (parallel.data == 0) return tensor;
  return parallel.data_first ? fmt::format("dp={},{}", parallel.data, tensor)
                             : fmt::format("{},dp={}", tensor, parallel.data);
}

}  // namespace thinwire::workloads
