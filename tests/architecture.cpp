// The floors of docs/explanation/architecture.md, held by the sources: what each room may include,
// and that no two files define the same name. The arrows are read from the drawing of that page.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace thinwire {

namespace {

namespace fs = std::filesystem;

/// A line of the drawing: a room, and the rooms that it stands on.
struct Room {
  std::string folder;
  std::set<std::string> stands_on;
};

/// The drawing is the first block of code of the page: a folder a line, the lowest first, then the
/// folders that it may include, each named by the end of its path.
std::vector<Room> rooms_of(std::istream& page) {
  std::vector<Room> rooms;
  bool inside = false;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("```")) {
      if (inside) break;
      inside = true;
      continue;
    }
    if (!inside) continue;
    std::istringstream words(line);
    Room room;
    words >> room.folder;
    for (std::string word; words >> word;) {
      const auto named = [&](const Room& lower) {
        return ("/" + lower.folder).ends_with("/" + word);
      };
      const auto found = std::ranges::find_if(rooms, named);
      CHECK_MESSAGE(found != rooms.end(),
                    room.folder << " stands on " << word << ", which is no lower room");
      if (found != rooms.end()) room.stands_on.insert(found->folder);
    }
    rooms.push_back(room);
  }
  return rooms;
}

const std::vector<Room>& all_rooms() {
  static const std::vector<Room> rooms = [] {
    std::ifstream page(fs::path(THINWIRE_SOURCE_DIR) / "docs/explanation/architecture.md");
    return rooms_of(page);
  }();
  return rooms;
}

const Room* room_of(const std::string& path) {
  const auto found = std::ranges::find_if(
      all_rooms(), [&](const Room& room) { return path.starts_with(room.folder + "/"); });
  return found == all_rooms().end() ? nullptr : &*found;
}

/// What is included in quotes: our own files. Others' are in angle brackets.
std::vector<std::string> own_includes(std::istream& text) {
  std::vector<std::string> includes;
  for (std::string line; std::getline(text, line);) {
    line.erase(0, std::min(line.find_first_not_of(" \t"), line.size()));
    if (line.empty() || line.front() != '#') continue;
    if (line.find("include") == std::string::npos) continue;
    const std::size_t begin = line.find('"');
    const std::size_t end = begin == std::string::npos ? begin : line.find('"', begin + 1);
    if (end != std::string::npos) includes.push_back(line.substr(begin + 1, end - begin - 1));
  }
  return includes;
}

/// What is wrong with the includes of a file, one text each.
std::vector<std::string> violations(const std::string& path, std::istream& text) {
  const Room* const room = room_of(path);
  if (room == nullptr) return {path + " lies in no room of the drawing"};
  std::vector<std::string> found;
  for (const std::string& include : own_includes(text)) {
    const Room* const other = room_of(include);
    if (other == nullptr) {
      found.push_back(path + " includes \"" + include + "\", which is no path from the root");
    } else if (other != room && !room->stands_on.contains(other->folder)) {
      found.push_back(path + " includes \"" + include + "\", against the arrows");
    }
  }
  return found;
}

std::vector<std::string> violations_in(const std::string& path, const std::string& text) {
  std::istringstream stream(text);
  return violations(path, stream);
}

/// Calls `visit` with the path from the root and the text of every source below some folders.
template <class Visit>
int for_each_source(const std::vector<std::string>& trees, Visit visit) {
  const fs::path root(THINWIRE_SOURCE_DIR);
  int files = 0;
  for (const std::string& tree : trees) {
    for (const auto& entry : fs::recursive_directory_iterator(root / tree)) {
      const std::string extension = entry.path().extension().string();
      if (!entry.is_regular_file() || (extension != ".hpp" && extension != ".cpp")) continue;
      ++files;
      std::ifstream text(entry.path());
      visit(fs::relative(entry.path(), root).generic_string(), text);
    }
  }
  return files;
}

/// Types that a file defines where the linker sees them: in a named namespace. As clang-format lays it
/// out, such a definition begins a line.
std::set<std::string> types_defined(std::istream& text) {
  static const std::regex opening(R"(^namespace ([\w:]*(?:inline )?[\w:]*) ?\{$)");
  static const std::regex type(
      R"(^(?:template <.*> )?(?:struct|class|union|enum class|enum) (?:\[\[\w+\]\] |alignas\(\w+\) )?(\w+)\b(?!::)(?![^{]*;$))");
  std::set<std::string> types;
  std::vector<std::string> spaces;
  for (std::string line; std::getline(text, line);) {
    std::smatch match;
    if (std::regex_match(line, match, opening)) {
      spaces.push_back(std::regex_replace(match[1].str(), std::regex("inline "), ""));
    } else if (line.starts_with("}  // namespace") && !spaces.empty()) {
      spaces.pop_back();
    } else if (std::regex_search(line, match, type)) {
      std::string name;
      for (const std::string& space : spaces) name += space + "::";
      const bool unnamed = std::ranges::find(spaces, "") != spaces.end();
      if (!unnamed) types.insert(name + match[1].str());
    }
  }
  return types;
}

std::set<std::string> types_defined_in(const std::string& text) {
  std::istringstream stream(text);
  return types_defined(stream);
}

}  // namespace

TEST_CASE("Includes run one way, down the drawing of docs/explanation/architecture.md") {
  const int files = for_each_source({"sim", "algorithms", "traces", "topologies"},
                                    [](const std::string& path, std::istream& text) {
                                      for (const std::string& violation : violations(path, text)) {
                                        FAIL_CHECK(violation);
                                      }
                                    });
  CHECK(files > 50);
}

TEST_CASE("An include against the arrows would be found") {
  struct Wrong {
    const char* path;
    const char* include;
  };
  constexpr std::array kWrong{
      Wrong{"sim/core/base/units.hpp", "sim/core/kernel/task.hpp"},
      Wrong{"sim/core/kernel/ledger.hpp", "sim/core/gradient/space.hpp"},
      Wrong{"sim/core/gradient/space.hpp", "algorithms/scheme.hpp"},
      Wrong{"sim/core/gradient/space.hpp", "traces/source.hpp"},
      Wrong{"sim/machine/networks/alphabeta/alphabeta.cpp", "algorithms/scheme.hpp"},
      Wrong{"sim/machine/networks/alphabeta/alphabeta.cpp", "sim/core/gradient/space.hpp"},
      Wrong{"algorithms/schemes/topka.cpp", "sim/machine/networks/alphabeta/alphabeta.hpp"},
      Wrong{"algorithms/schemes/topka.cpp", "traces/source.hpp"},
      Wrong{"algorithms/schemes/topka.cpp", "sim/app/plan/config.hpp"},
      Wrong{"traces/synthetic.cpp", "algorithms/scheme.hpp"},
      Wrong{"topologies/analysis/graph.cpp", "sim/core/gradient/space.hpp"},
      Wrong{"topologies/loading/platform.cpp", "topologies/analysis/graph.hpp"},
      Wrong{"sim/app/run/simulation.cpp", "sim/app/studies/recommend.hpp"},
      Wrong{"sim/app/run/simulation.cpp", "sim/app/report/tables/formats.hpp"},
      Wrong{"sim/app/report/tables/csv.cpp", "sim/app/cli/shared.hpp"},
      Wrong{"sim/core/kernel/ledger.cpp", "ledger.hpp"},
      Wrong{"algorithms/registry.cpp", "tests/support/ranks.hpp"},
      Wrong{"elsewhere/new.cpp", "sim/core/base/units.hpp"},
      Wrong{"sim/newroom/new.cpp", "sim/core/base/units.hpp"},
  };
  for (const Wrong& wrong : kWrong) {
    CAPTURE(std::string(wrong.path));
    const std::string quoted = std::string("\"") + wrong.include + "\"";
    CHECK(violations_in(wrong.path, "// text\n#include " + quoted + "\n").size() == 1);
    CHECK(violations_in(wrong.path, "#include <vector>\n  #  include " + quoted).size() == 1);
  }
  CHECK(violations_in("sim/app/cli/run.cpp",
                      "#include \"sim/app/report/tables/formats.hpp\"\n"
                      "#include \"sim/core/base/units.hpp\"\n"
                      "#include <CLI/CLI.hpp>\n// #include \"nothing\"\n")
            .empty());
}

TEST_CASE("No scheme asks the Communicator what it is") {
  static const std::regex question(
      R"(\b(stands_for|have_places|takes_exchanges|representative|isend_between|dynamic_cast)\b)");
  for_each_source({"algorithms"}, [](const std::string& path, std::istream& text) {
    for (std::string line; std::getline(text, line);) {
      CHECK_MESSAGE(!std::regex_search(line, question), path << ": " << line);
    }
  });
}

TEST_CASE("No two files define a type of the same name, which the linker would take for one") {
  std::map<std::string, std::string> first;
  for_each_source({"sim", "algorithms", "traces", "topologies", "tools", "tests"},
                  [&](const std::string& path, std::istream& text) {
                    for (const std::string& type : types_defined(text)) {
                      const auto [known, added] = first.emplace(type, path);
                      CHECK_MESSAGE(
                          added, type << " is defined in " << known->second << " and in " << path);
                    }
                  });
  CHECK(first.size() > 300);
  CHECK(first.contains("thinwire::topologies::Finding"));
}

TEST_CASE("Twins are found whatever kind of type they are, and only where they have a name") {
  const std::set<std::string> found = types_defined_in(
      "namespace thinwire::inline base {\n\nstruct Finding {\n  struct Inner {};\n};\n"
      "class Known;\ntemplate <class T>\nclass Cell final : public Other {\n};\n"
      "enum class Kind : std::uint8_t { a, b };\n"
      "\nnamespace {\n\nstruct Hidden {};\n\n}  // namespace\n"
      "\nnamespace detail {\nunion Model {\n};\n}  // namespace detail\n"
      "}  // namespace thinwire::inline base\n");
  CHECK(found == std::set<std::string>{"thinwire::base::Finding", "thinwire::base::Cell",
                                       "thinwire::base::Kind", "thinwire::base::detail::Model"});
}

TEST_CASE(
    "docs/explanation/architecture.md has a line for every folder, and none for a folder that is "
    "gone") {
  const fs::path root(THINWIRE_SOURCE_DIR);
  std::ifstream page(root / "docs/explanation/architecture.md");
  std::set<std::string> named;
  for (std::string line; std::getline(page, line);) {
    if (line.rfind("| `", 0) != 0) continue;
    const std::string folder = line.substr(3, line.find('`', 3) - 3);
    CHECK_MESSAGE(fs::is_directory(root / folder), folder);
    named.insert(folder);
  }
  const auto check_folders = [&](const fs::path& parent) {
    for (const auto& entry : fs::directory_iterator(parent)) {
      const std::string name = fs::relative(entry.path(), root).generic_string();
      if (!entry.is_directory() || name.front() == '.' || name == "build") continue;
      if (name == "sim" || name == "sim/core" || name == "sim/machine" || name == "sim/app" ||
          name == "algorithms" || name == "topologies") {
        continue;  // their folders have lines of their own
      }
      CHECK_MESSAGE(named.contains(name + "/"), name);
    }
  };
  for (const char* parent :
       {"", "sim", "sim/core", "sim/machine", "sim/app", "algorithms", "topologies"}) {
    check_folders(root / parent);
  }
  for (const Room& room : all_rooms())
    CHECK_MESSAGE(fs::is_directory(root / room.folder), room.folder);
}

}  // namespace thinwire
