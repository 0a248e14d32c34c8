#include "algorithms/options.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <map>
#include <string>

#include "sim/core/base/errors.hpp"
#include "tests/support/errors.hpp"

namespace thinwire::algorithms {

using test::contains;
using test::error_of;

namespace {

using Given = std::map<std::string, OptionValue>;

const std::vector<OptionInfo>& known() {
  static const std::vector<OptionInfo> infos{
      {"balancing", true, 0, ""}, {"bucket", std::int64_t{16}, 1, ""}, {"trigger", 4.0, 0.5, ""}};
  return infos;
}

std::string refusal(const Given& given) {
  return error_of<InputError>([&] { const Options options(known(), given); });
}

}  // namespace

TEST_CASE("Options that are not given have their defaults") {
  const Options options(known(), {{"bucket", std::int64_t{3}}});
  CHECK(options.flag("balancing"));
  CHECK(options.integer("bucket") == 3);
  CHECK(options.number("trigger") == 4.0);
  CHECK(options.all().size() == 3);
}

TEST_CASE("A whole number may stand where a number is wanted and not the other way round") {
  CHECK(Options(known(), {{"trigger", std::int64_t{2}}}).number("trigger") == 2.0);
  CHECK(contains(refusal({{"bucket", 2.0}}), "option 'bucket' must be a whole number"));
}

TEST_CASE("An unknown option is refused with the one that was meant") {
  CHECK(contains(refusal({{"buckets", std::int64_t{3}}}),
                 "unknown option 'buckets'; did you mean 'bucket'?"));
  CHECK(contains(refusal({{"xyzzy", true}}), "known are balancing, bucket, trigger"));
  CHECK(contains(error_of<InputError>([] {
                   const Options options({}, {{"tau", true}});
                 }),
                 "unknown option 'tau'"));
}

TEST_CASE("An option of the wrong type is refused with the right one") {
  CHECK(contains(refusal({{"balancing", std::int64_t{1}}}),
                 "option 'balancing' must be true or false"));
  CHECK(contains(refusal({{"bucket", true}}), "option 'bucket' must be a whole number"));
  CHECK(contains(refusal({{"trigger", true}}), "option 'trigger' must be a number"));
}

TEST_CASE("An option below its minimum is refused with the minimum") {
  CHECK(contains(refusal({{"bucket", std::int64_t{0}}}), "option 'bucket' must be at least 1"));
  CHECK(contains(refusal({{"bucket", std::int64_t{-7}}}), "option 'bucket' must be at least 1"));
  CHECK(contains(refusal({{"trigger", 0.25}}), "option 'trigger' must be at least 0.5"));
  CHECK(contains(refusal({{"trigger", std::numeric_limits<double>::quiet_NaN()}}),
                 "option 'trigger' must be at least 0.5"));
  const std::vector<OptionInfo> share{{"share", 0.5, 0, "", {}, 1}};
  CHECK(error_of<InputError>([&] {
          const Options options(share, {{"share", 2.0}});
        }) == "option 'share' must be at most 1");
  const std::vector<OptionInfo> lanes{{"lanes", std::int64_t{0}, 0, "", {}, 64}};
  CHECK(error_of<InputError>([&] {
          const Options options(lanes, {{"lanes", std::int64_t{65}}});
        }) == "option 'lanes' must be at most 64");
  CHECK(Options(known(), {{"bucket", std::int64_t{1}}}).integer("bucket") == 1);
  CHECK(Options(known(), {{"trigger", 0.5}}).number("trigger") == 0.5);
}

}  // namespace thinwire::algorithms
