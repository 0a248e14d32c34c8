// Includes run one way. The picture of docs/architecture.md:
//   core <- gradient <- {algorithms, traces} <- experiment <- {report, cli}
//   core <- topologies <- networks <- experiment
//   core <- devices <- workloads <- experiment; algorithms <- workloads
// The networks know nothing of gradients: to them a message is a length.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace thinwire {

namespace {

namespace fs = std::filesystem;

using Rooms = std::set<std::string>;

/// What each room may include, beside itself and what is not ours.
const std::map<std::string, Rooms>& allowed() {
  static const Rooms models{"sim/core",
                            "sim/core/gradient",
                            "sim/machine/networks",
                            "sim/machine/workloads/devices",
                            "algorithms",
                            "traces",
                            "topologies",
                            "sim/machine/workloads"};
  static const Rooms experiments = [] {
    Rooms rooms = models;
    rooms.insert("sim/app/experiment");
    return rooms;
  }();
  static const Rooms reports = [] {
    Rooms rooms = experiments;
    rooms.insert("sim/app/report");
    return rooms;
  }();
  static const std::map<std::string, Rooms> rooms{
      {"sim/core", {}},
      {"sim/core/gradient", {"sim/core"}},
      {"algorithms", {"sim/core", "sim/core/gradient"}},
      {"sim/machine/networks", {"sim/core", "topologies"}},
      {"traces", {"sim/core", "sim/core/gradient"}},
      {"topologies", {"sim/core"}},
      {"sim/machine/workloads/devices", {"sim/core"}},
      {"sim/machine/workloads", {"sim/core", "sim/machine/workloads/devices", "algorithms"}},
      {"sim/app/experiment", models},
      {"sim/app/report", experiments},
      {"sim/app/cli", reports},
  };
  return rooms;
}

/// The room of a path that is relative to the source tree, or nothing.
std::string room_of(const std::string& path) {
  for (const auto& [room, others] : allowed()) {
    if (path.rfind(room + "/", 0) == 0) return room;
  }
  return {};
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
  const std::string room = room_of(path);
  if (room.empty()) return {path + " lies in no room of the picture"};
  std::vector<std::string> found;
  for (const std::string& include : own_includes(text)) {
    const std::string other = room_of(include);
    if (other.empty()) {
      found.push_back(path + " includes \"" + include + "\", which is no path from the root");
    } else if (other != room && allowed().at(room).count(other) == 0) {
      found.push_back(path + " includes \"" + include + "\", against the arrows");
    }
  }
  return found;
}

std::vector<std::string> violations_in(const std::string& path, const std::string& text) {
  std::istringstream stream(text);
  return violations(path, stream);
}

}  // namespace

TEST_CASE("Includes run one way") {
  const fs::path root(THINWIRE_SOURCE_DIR);
  int files = 0;
  for (const char* tree : {"sim", "algorithms", "traces", "topologies"}) {
    if (!fs::exists(root / tree)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(root / tree)) {
      const std::string extension = entry.path().extension().string();
      if (!entry.is_regular_file() || (extension != ".hpp" && extension != ".cpp")) continue;
      ++files;
      std::ifstream text(entry.path());
      for (const std::string& violation :
           violations(fs::relative(entry.path(), root).generic_string(), text)) {
        FAIL_CHECK(violation);
      }
    }
  }
  CHECK(files > 50);
}

TEST_CASE("An include against the arrows would be found") {
  struct Wrong {
    const char* path;
    const char* include;
  };
  constexpr std::array kWrong{
      Wrong{"sim/core/base/units.hpp", "sim/core/gradient/space.hpp"},
      Wrong{"sim/core/gradient/space.hpp", "algorithms/scheme.hpp"},
      Wrong{"sim/core/gradient/space.hpp", "traces/source.hpp"},
      Wrong{"sim/machine/networks/alphabeta/alphabeta.cpp", "algorithms/scheme.hpp"},
      Wrong{"sim/machine/networks/alphabeta/alphabeta.cpp", "sim/core/gradient/space.hpp"},
      Wrong{"algorithms/schemes/topka.cpp", "sim/machine/networks/alphabeta/alphabeta.hpp"},
      Wrong{"algorithms/schemes/topka.cpp", "traces/source.hpp"},
      Wrong{"algorithms/schemes/topka.cpp", "sim/app/experiment/config.hpp"},
      Wrong{"traces/synthetic.cpp", "algorithms/scheme.hpp"},
      Wrong{"topologies/analysis/graph.cpp", "sim/core/gradient/space.hpp"},
      Wrong{"sim/app/experiment/run.cpp", "sim/app/report/tables/formats.hpp"},
      Wrong{"sim/app/report/tables/csv.cpp", "sim/app/cli/command.hpp"},
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
  CHECK(violations_in(
            "sim/app/cli/run.cpp",
            "#include \"sim/app/report/tables/formats.hpp\"\n#include \"sim/core/base/units.hpp\"\n"
            "#include <CLI/CLI.hpp>\n// #include \"nothing\"\n")
            .empty());
}

TEST_CASE("docs/architecture.md has a line for every folder, and none for a folder that is gone") {
  const fs::path root(THINWIRE_SOURCE_DIR);
  std::ifstream page(root / "docs/architecture.md");
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
      if (name == "sim" || name == "algorithms") continue;  // their folders have lines of their own
      CHECK_MESSAGE(named.contains(name + "/"), name);
    }
  };
  check_folders(root);
  check_folders(root / "sim");
  check_folders(root / "algorithms");
}

}  // namespace thinwire
