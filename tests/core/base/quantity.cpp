#include "sim/core/base/quantity.hpp"

#include <doctest/doctest.h>

using thinwire::parse_quantity;
using thinwire::parse_whole;

TEST_CASE("A bandwidth is a time per word of 4 bytes") {
  CHECK(parse_quantity("25Gbps", "s/word").value_or(0) == doctest::Approx(1.28e-9).epsilon(1e-12));
  CHECK(parse_quantity("10GB/s", "s/word").value_or(0) == doctest::Approx(0.4e-9).epsilon(1e-12));
  CHECK_FALSE(parse_quantity("25Gbps", "s"));
  CHECK_FALSE(parse_quantity("0Gbps", "s/word"));
  CHECK_FALSE(parse_quantity("Gbps", "s/word"));
}

TEST_CASE("a quantity is the number that is nearest to what is written") {
  // The compiler reads the decimals on the right.
  CHECK(parse_quantity("0.4ns", "s/word") == 0.4e-9);
  CHECK(parse_quantity("0.3us", "s") == 0.3e-6);
  CHECK(parse_quantity("7µs", "s") == 7e-6);
  CHECK(parse_quantity("1.1ms", "s") == 1.1e-3);
  CHECK(parse_quantity("2s", "s") == 2.0);
  CHECK(parse_quantity("1ps", "s") == 1e-12);
  CHECK(parse_quantity("0.7%") == 0.7e-2);
  CHECK(parse_quantity("25.5M") == 25.5e6);
  CHECK(parse_quantity("1e3K") == 1e6);
  CHECK(parse_quantity("64KiB", "bytes") == 65536.0);
  CHECK(parse_quantity("64KB", "bytes") == 64000.0);
  CHECK(parse_quantity("2GiB", "MiB") == 2048.0);
  CHECK(parse_quantity("-1.5") == -1.5);
}

TEST_CASE("a suffix belongs to its unit") {
  for (const char* word : {"2us", "1 M", "1MM", "M", "", "%", "1,5", "1e", "64KiB", "x"}) {
    CAPTURE(word);
    CHECK_FALSE(parse_quantity(word));
  }
  CHECK_FALSE(parse_quantity("2K", "s"));
  CHECK_FALSE(parse_quantity("1%", "bytes"));
  CHECK_FALSE(parse_quantity("2G", "MiB"));
}

TEST_CASE("whole quantities are whole") {
  CHECK(parse_whole("25.5M") == 25'500'000);
  CHECK(parse_whole("1e6") == 1'000'000);
  CHECK(parse_whole("-3") == -3);
  CHECK(parse_whole("9223372036854775807") == 9'223'372'036'854'775'807);
  for (const char* word : {"2.5", "1e-3", "100%", "1e300", "inf", "nan", "9223372036854775808"}) {
    CAPTURE(word);
    CHECK_FALSE(parse_whole(word));
  }
}
