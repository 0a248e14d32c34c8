#include "topologies/loading/shipped.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>

#include "sim/core/base/errors.hpp"
#include "tests/support/errors.hpp"

namespace thinwire::topologies {

using test::contains;
using test::error_of;

TEST_CASE("a path stays as it is, whether or not there is such a file") {
  for (const char* path : {"my.xml", "./my", "/tmp/any", "folder/alphabeta"}) {
    CHECK(platform_file(path) == path);
  }
}

TEST_CASE("every shipped platform is found by its name") {
  const std::vector<std::string> names = shipped_platforms();
  CHECK(std::ranges::is_sorted(names));
  for (const char* name : {"alphabeta",
                           "aries_8192",
                           "aries_daint",
                           "dgx_h100",
                           "dgx_h100_nvls",
                           "dragonn_v100",
                           "exdyna_v100",
                           "fat_tree",
                           "fat_tree_4to1",
                           "fat_tree_8192",
                           "gb200_nvl72",
                           "gige_star",
                           "leonardo",
                           "leonardo_one_port",
                           "lumi",
                           "mare_nostrum5",
                           "mare_nostrum5_one_rail",
                           "nvlink_ib",
                           "testbed_one_switch",
                           "testbed_two_switches"}) {
    CAPTURE(std::string(name));
    CHECK(std::ranges::find(names, name) != names.end());
  }
  for (const std::string& name : names) {
    CHECK(std::filesystem::path(platform_file(name)).filename() == name + ".xml");
    CHECK(std::filesystem::is_regular_file(platform_file(name)));
  }
}

TEST_CASE("an unknown platform is refused with the nearest name") {
  const auto refusal = [](const std::string& name) {
    return error_of<InputError>([&] { (void)platform_file(name); });
  };
  CHECK(contains(refusal("aries_dain"),
                 "unknown platform 'aries_dain'; did you mean 'aries_daint'?"));
  CHECK(contains(refusal("frontier"), "known are alphabeta, aries_8192, aries_daint"));
  CHECK(contains(refusal(""), "unknown platform ''"));
}

}  // namespace thinwire::topologies
