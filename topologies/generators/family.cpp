#include "topologies/generators/family.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <sstream>

#include "sim/core/base/errors.hpp"
#include "sim/core/base/files.hpp"
#include "sim/core/base/nearest.hpp"
#include "sim/core/base/printable.hpp"
#include "topologies/generators/families.hpp"

namespace thinwire::topologies {

namespace {

/// The command, wrapped into lines that a shell joins. XML comments may not contain "--", so the
/// parameters are written KEY=VALUE.
std::vector<std::string> command_lines(const Family& family, const Settings& settings,
                                       const std::string& notes) {
  const bool sized = !settings.text("hosts").empty();
  std::vector<std::string> words;
  for (const auto& [name, value] : settings.all()) {
    if (!value.empty() && !(sized && name == family.set_by_hosts))
      words.push_back(fmt::format("{}={}", name, value));
  }
  if (!notes.empty()) words.push_back("notes=" + notes);
  std::vector<std::string> lines{"thinwire topo make " + family.name};
  for (const std::string& word : words) {
    if (lines.back().size() + word.size() > 90) {
      lines.back() += " \\";
      lines.emplace_back("   ");
    }
    lines.back() += " " + word;
  }
  return lines;
}

std::vector<std::string> lines_of(const std::string& path) {
  std::istringstream file(read_text(path, kMostConfigBytes));
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

}  // namespace

const std::vector<Family>& all_families() {
  static const std::vector<Family> families{
      star_family(),      fat_tree_family(), dragonfly_family(), dragonfly_plus_family(),
      nvlink_ib_family(), rails_family(),    torus_family()};
  return families;
}

const Family& family(const std::string& name) {
  std::vector<std::string> names;
  for (const Family& known : all_families()) {
    names.push_back(known.name);
    std::ranges::copy(known.also, std::back_inserter(names));
    if (std::find(names.end() - static_cast<std::ptrdiff_t>(known.also.size() + 1), names.end(),
                  name) != names.end()) {
      return known;
    }
  }
  const std::string hint = did_you_mean(name, names);
  if (hint.starts_with("; did")) {
    throw InputError("unknown family '{}'{}", excerpt(name), hint);
  }
  std::vector<std::string> known;
  for (const Family& one : all_families()) known.push_back(one.name);
  throw InputError("unknown family '{}'; known are {}", excerpt(name), fmt::join(known, ", "));
}

std::string make_platform(const Family& family,
                          const std::map<std::string, std::string>& parameters,
                          const std::string& notes) {
  CommonWords words(family.name, family.parameters, parameters);
  family.in_own_words(words);
  const Settings settings(family.name, family.parameters, words.given());
  if (words.given().contains("hosts") && words.given().contains(family.set_by_hosts)) {
    throw InputError("{}: hosts sets {}; give one of them", family.name, family.set_by_hosts);
  }
  std::vector<std::string> comment = command_lines(family, settings, notes);
  comment.front().insert(0, "Made by: ");
  if (!notes.empty()) {
    comment.emplace_back();
    for (std::string& line : lines_of(notes)) comment.push_back(std::move(line));
  }
  return family.xml(settings, comment);
}

}  // namespace thinwire::topologies
