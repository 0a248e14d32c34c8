#include "sim/app/studies/validate/measured.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "sim/app/studies/validate/known_algorithms.hpp"
#include "sim/app/studies/validate/open_mpi_choice.hpp"
#include "sim/core/base/errors.hpp"
#include "tests/support/approx.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/temporary_folder.hpp"

namespace {

using thinwire::InputError;
using thinwire::studies::measured_file;
using thinwire::studies::MeasuredRow;
using thinwire::studies::read_measured;
using thinwire::studies::scheme_of;
using thinwire::test::error_of;
using thinwire::test::TemporaryFolder;

constexpr const char* kHeader =
    "machine,run,test,nodes,tasks_per_node,collective,library,version,gpu,note,algorithm,segment,"
    "elements,seconds_median,samples\n";

/// What reading this text says, with the folder's path left out.
std::string refusal_of(const std::string& text, const std::string& facts = {}) {
  const TemporaryFolder folder;
  const std::string path = folder.write("m", text);
  std::string error =
      error_of<InputError>([&] { static_cast<void>(read_measured(measured_file(path + facts))); });
  for (std::size_t at = error.find(path); at != std::string::npos; at = error.find(path)) {
    error.replace(at, path.size(), "m");
  }
  return error;
}

std::vector<MeasuredRow> rows_in(const std::string& text, const std::string& facts = {}) {
  const TemporaryFolder folder;
  return read_measured(measured_file(folder.write("m", text) + facts));
}

/// As nccl-tests 2.13 prints it, for 4 ranks on 2 nodes.
constexpr const char* kNccl =
    "# nThread 1 nGpus 1 minBytes 8 maxBytes 134217728 step: 2(factor) warmup iters: 5\n"
    "# Collective test starting: all_reduce_perf\n"
    "# Using devices\n"
    "#  Rank  0 Group  0 Pid  17112 on      gpu1 device  0 [0x07] NVIDIA H100\n"
    "#  Rank  1 Group  0 Pid  17113 on      gpu1 device  1 [0x0f] NVIDIA H100\n"
    "#  Rank  2 Group  0 Pid  27112 on      gpu2 device  0 [0x07] NVIDIA H100\n"
    "#  Rank  3 Group  0 Pid  27113 on      gpu2 device  1 [0x0f] NVIDIA H100\n"
    "#\n"
    "#                                                     out-of-place          in-place\n"
    "#       size         count      type   redop    root     time   algbw   busbw #wrong     "
    "time\n"
    "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            "
    "(us)\n"
    "           8             2     float     sum      -1    32.06    0.00    0.00      0    31.0\n"
    "   134217728      33554432     float     sum      -1   1021.5  131.39  197.09      0  1020.1\n"
    "# Out of bounds values : 0 OK\n"
    "# Avg bus bandwidth    : 98.5\n";

constexpr const char* kOsu =
    "\n# OSU MPI Allgather Latency Test v7.3\n"
    "# Datatype: MPI_CHAR.\n"
    "# Size       Avg Latency(us)\n"
    "1                       2.10\n"
    "4                       2.50\n"
    "1048576              8123.25\n";

constexpr const char* kImb =
    "#    Intel(R) MPI Benchmarks 2021.7, MPI-1 part\n"
    "# Benchmarking PingPong\n"
    "# #processes = 2\n"
    "       #bytes #repetitions      t[usec]   Mbytes/sec\n"
    "            4         1000         1.00         1.00\n"
    "# Benchmarking Allreduce\n"
    "# #processes = 2\n"
    "       #bytes #repetitions     t_min[usec]  t_max[usec]  t_avg[usec]\n"
    "            0         1000         0.00         0.00         0.00\n"
    "            4         1000         0.50         1.50         1.00\n"
    "\n"
    "# Benchmarking Allreduce\n"
    "# #processes = 8\n"
    "# ( 4 additional processes waiting in MPI_Barrier)\n"
    "       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]\n"
    "            4         1000         2.50         3.50         3.00\n"
    "# Benchmarking Allgather\n"
    "# #processes = 8\n"
    "\n"
    "       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]\n"
    "         1024         1000         4.50         5.50         5.00\n"
    "\n"
    "# All processes entering MPI_Finalize\n";

}  // namespace

TEST_CASE("A CSV of measured times is read by its column names") {
  const std::vector<MeasuredRow> rows =
      rows_in(std::string(kHeader) +
              "leonardo,r1,0,128,4,allreduce,OMPI,4.1.6,no,null,ring_ompi,,1048576,0.003,2000\n"
              "leonardo,r1,1,2,1,alltoall,NCCL,2.20,yes,\"a, b\",ring,65536,8,1e-6,5\n");
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].machine == "leonardo");
  CHECK(rows[0].nodes == 128);
  CHECK(rows[0].tasks_per_node == 4);
  CHECK(rows[0].algorithm == "ring_ompi");
  CHECK(rows[0].segment == 0);
  CHECK(rows[0].elements == 1048576);
  CHECK(rows[0].seconds == 0.003);
  CHECK_FALSE(rows[0].gpu);
  CHECK(rows[0].place.ends_with("m:2"));
  CHECK(rows[1].gpu);
  CHECK(rows[1].segment == 65536);
  CHECK(rows[1].test == "1");
}

TEST_CASE("The fastest repetition is read from a CSV that has it") {
  std::string header = kHeader;
  const std::size_t median = header.find("seconds_median");
  header.insert(median, "seconds_min,");
  const auto with = [&](const std::string& least) {
    return header + "m,r,0,2,1,allreduce,OMPI,4,no,,ring_ompi,,8," + least + ",0.003,5\n";
  };
  CHECK(rows_in(with("0.002"))[0].seconds_min == 0.002);
  CHECK(rows_in(with("0.002"))[0].seconds == 0.003);
  CHECK(refusal_of(with("0")).find("seconds_min: '0' is not valid") != std::string::npos);
}

TEST_CASE("A file that is given twice is refused") {
  const TemporaryFolder folder;
  const std::string text =
      std::string(kHeader) + "mine,a,0,2,1,allreduce,OMPI,1,no,,ring_ompi,,8,1e-5,9\n";
  const std::string first = folder.write("a.csv", text);
  const std::string second = folder.write("b.csv", text);
  CHECK(thinwire::studies::read_all_measured({first, second}).size() == 2);
  const auto refusal = [](const std::vector<std::string>& arguments) {
    return error_of<InputError>(
        [&] { static_cast<void>(thinwire::studies::read_all_measured(arguments)); });
  };
  CHECK(refusal({first, folder.path("./a.csv")}).ends_with("a.csv: the file is given twice"));
  // The tables of several collectives may be read one by one.
  const std::string imb = folder.write("imb", kImb) + ",machine=mine,tasks_per_node=4";
  const std::vector<MeasuredRow> rows = thinwire::studies::read_all_measured(
      {imb + ",collective=allgather,algorithm=ring_ompi", imb + ",collective=allreduce"});
  REQUIRE(rows.size() == 3);
  CHECK(rows[0].collective == "allgather");
  CHECK(rows[0].algorithm == "ring_ompi");
  CHECK(rows[1].collective == "allreduce");
  CHECK(rows[1].algorithm.empty());
  CHECK(refusal({imb, imb + ",collective=allreduce"}).ends_with("the file is given twice"));
  CHECK(refusal({imb + ",collective=allreduce", imb + ",collective=allreduce,algorithm=ring_ompi"})
            .ends_with("the file is given twice"));
}

TEST_CASE("A CSV that is not right is refused with line and column") {
  const std::string header = kHeader;
  const auto with = [&](const std::string& line) { return refusal_of(header + line + "\n"); };
  CHECK(refusal_of("machine,run\nm,r\n").starts_with("m:1:1: there is no column 'test'"));
  CHECK(refusal_of("") == "m:1:1: there is no column 'machine'; there are none");
  CHECK(with("m,r,0,2,1,allreduce,OMPI,4,no,,ring_ompi,,8,-0.5,1") ==
        "m:2:45: seconds_median: '-0.5' is not valid; expected a time in seconds, above 0, at most "
        "1e9");
  CHECK(with("m,r,0,2,1,allreduce,OMPI,4,no,,ring_ompi,,8,3us,1") ==
        "m:2:45: seconds_median: '3us' is not valid; expected a time in seconds, above 0, at most "
        "1e9");
  CHECK(with("m,r,0,0,1,allreduce,OMPI,4,no,,ring_ompi,,8,1,1") ==
        "m:2:7: nodes: '0' is not valid; expected a whole number from 1 to 1048576");
  CHECK(with("m,r,0,2,1,,OMPI,4,no,,ring_ompi,,8,1,1") ==
        "m:2:11: collective: '' is not valid; expected the name of a collective");
  CHECK(with("m,r,0,2,1,allreduce,OMPI,4,maybe,,ring_ompi,,8,1,1") ==
        "m:2:28: gpu: 'maybe' is not valid; expected yes or no");
  CHECK(with("m,r,0,2,1,allreduce,OMPI,4,no,,ring_ompi,,0,1,1")
            .starts_with("m:2:43: elements: '0' is not valid"));
  CHECK(refusal_of(header, ",nodes=3") == "m: 'nodes' is a column of the CSV; leave the fact out");
}

TEST_CASE("A text with a byte order mark is read as without it") {
  const std::string facts =
      ",machine=mine,algorithm=ring_ompi,library=OMPI,nodes=8,tasks_per_node=2";
  for (const std::string& text : {std::string(kOsu), std::string(kHeader)}) {
    const std::string marked = "\xEF\xBB\xBF" + text;
    const std::string given = text == kHeader ? std::string() : facts;
    CHECK(rows_in(marked, given).size() == rows_in(text, given).size());
  }
}

TEST_CASE("The output of nccl-tests says collective, ranks, sizes and out-of-place times") {
  const std::vector<MeasuredRow> rows = rows_in(kNccl, ",machine=mine,algorithm=ring,run=7");
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].collective == "allreduce");
  CHECK(rows[0].library == "NCCL");
  CHECK(rows[0].gpu);
  CHECK(rows[0].nodes == 2);
  CHECK(rows[0].tasks_per_node == 2);
  CHECK(rows[0].run == "7");
  CHECK(rows[0].elements == 2);
  CHECK(rows[0].seconds == thinwire::test::approx(32.06e-6));
  CHECK(rows[1].elements == 33554432);
  CHECK(rows[1].seconds == thinwire::test::approx(1021.5e-6));
  CHECK(rows[1].place.ends_with("m:13"));
  CHECK(scheme_of(rows[0]).scheme == "nccl_ring");
  // Older versions print no root where there is none.
  std::string without_root = kNccl;
  for (std::size_t at = without_root.find("-1 "); at != std::string::npos;
       at = without_root.find("-1 ")) {
    without_root.replace(at, 2, "  ");
  }
  CHECK(rows_in(without_root, ",machine=mine")[1].seconds == thinwire::test::approx(1021.5e-6));
}

TEST_CASE("What a text and a description say need not be said, and may be said in other words") {
  const TemporaryFolder folder;
  const std::string path = folder.write("two_nodes.txt", kNccl);
  const MeasuredRow row = thinwire::studies::read_all_measured({path}, "mine").front();
  CHECK(row.machine == "mine");
  CHECK(row.run == "two_nodes");
  CHECK(row.algorithm == "default_nccl");
  CHECK(scheme_of(row).scheme == "dense_auto");
  CHECK(thinwire::studies::read_all_measured({path + ",machine=other"}, "mine").front().machine ==
        "other");
  const std::vector<MeasuredRow> rows =
      rows_in(kNccl, ",machine=mine,gpu=true,collective=all_reduce,algorithm=Ring,library=NCCL");
  CHECK(rows[0].gpu);
  CHECK(scheme_of(rows[0]).scheme == "nccl_ring");
  const std::string debug =
      std::string("gpu1:17112:17112 [0] NCCL INFO NCCL_ALGO set by environment to Tree.\n") + kNccl;
  CHECK(rows_in(debug, ",machine=mine")[0].algorithm == "tree");
  MeasuredRow unknown = row;
  unknown.algorithm = "rnig";
  CHECK(scheme_of(unknown).why_none ==
        "no known algorithm of NCCL for allreduce; did you mean 'ring'?");
}

TEST_CASE("Fujitsu MPI's names of algorithms are known") {
  MeasuredRow row;
  row.library = "FJMPI";
  row.collective = "allreduce";
  const auto known_as = [&](const char* algorithm) {
    row.algorithm = algorithm;
    return scheme_of(row);
  };
  CHECK(known_as("ring").scheme == "dense_ring");
  CHECK(known_as("nonoverlapping").scheme == "dense_nonoverlapping");
  CHECK(known_as("trix6").scheme.empty());
  CHECK(known_as("trix6").why_none ==
        "no scheme sums in pipelined trees along the dimensions of a torus");
  CHECK(known_as("trix").why_none.ends_with("did you mean 'trix3'?"));
  row.segment = 1 << 20;
  CHECK(known_as("segmented_ring").scheme == "dense_ring_segmented");
}

TEST_CASE("Lines of nccl-tests without their leading blanks have the same times") {
  std::string text = kNccl;
  for (const char* line : {"           8 ", "   134217728 "}) {
    const std::string from = line;
    text.replace(text.find(from), from.size(), from.substr(from.find_first_not_of(' ')));
  }
  const std::vector<MeasuredRow> rows = rows_in(text, ",machine=mine");
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].seconds == thinwire::test::approx(32.06e-6));
  CHECK(rows[1].seconds == thinwire::test::approx(1021.5e-6));
  // Without a root, too, nothing says which word is the time.
  text.replace(text.find("-1 "), 3, "   ");
  CHECK(refusal_of(text, ",machine=mine").find("m:12:1: the line has 9 words, the heading 10") ==
        0);
  // Another program's line is none of the table.
  text = kNccl;
  text.insert(text.find("   134217728"),
              "gpu1:17112:17112 [0] NCCL INFO Channel 00/02 : 0 1 2 3\n");
  CHECK(rows_in(text, ",machine=mine").size() == 2);
}

TEST_CASE("Output of nccl-tests that is not right is refused with line and column") {
  const auto with = [](const std::string& from, const std::string& to) {
    std::string text = kNccl;
    text.replace(text.find(from), from.size(), to);
    return refusal_of(text, ",machine=mine");
  };
  CHECK(with("(us)  (GB/s)", "(ks)  (GB/s)") ==
        "m:11:58: '(ks)': unknown unit of time; known are (s), (ms), (us) and (ns)");
  CHECK(with("(B) ", "(kB)") == "m:11:10: '(kB)': unknown unit of size; known is (B)");
  CHECK(with("32.06", "-2.06") ==
        "m:12:57: '-2.06' is not valid; expected a time above 0, at most 1e9 s");
  CHECK(
      with("sum      -1    32.06    0.00    0.00      0    31.0", "sum") ==
      "m:12:12: the line has 4 words, the heading 10, and they are not aligned; give the text with "
      "its blanks, as nccl-tests prints it");
  CHECK(with("  134217728   ", "       128M   ") ==
        "m:13:9: '128M' is not valid; expected a number of bytes, at most 1152921504606846976");
  CHECK(with("   134217728  ", "99999999999999999999  ") ==
        "m:13:1: '99999999999999999999' is not valid; expected a number of bytes, at most "
        "1152921504606846976");
  CHECK(with("on      gpu2 device  1", "on      gpu3 device  1") ==
        "m: 4 ranks on 3 nodes: not the same number on each");
  CHECK(with("all_reduce_perf", "sendrecv_perf")
            .starts_with("m: collective=sendrecv is not valid; expected allreduce"));
  CHECK(refusal_of(kNccl) == "m: the text does not say: machine; give it as in m,machine=...");
  CHECK(refusal_of(kNccl, ",machine=mine,nodes=4") ==
        "m: nodes=4 contradicts the text, which says 2");
}

namespace {

/// The first line with `tag`, in which a '0' becomes another digit on lines of other ranks.
std::string tagged(const std::string& text, const std::string& tag) {
  std::string made;
  std::size_t number = 0;
  for (std::size_t at = 0; at < text.size(); ++number) {
    const std::size_t end = text.find('\n', at) + 1;
    if (number == 3) {  // another rank says something in between
      std::string other = tag;
      if (const std::size_t zero = other.find('0'); zero != std::string::npos) other[zero] = '3';
      made += other + "NCCL INFO Channel 00/16 : 0 1 2 3\n";
    }
    made += tag + text.substr(at, end - at);
    at = end;
  }
  return made;
}

std::string without_hashes(std::string text, const std::string& instead) {
  for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
    if (text[at] == '#') text.replace(at, 1, instead);
  }
  return text;
}

void check_same(const std::vector<MeasuredRow>& rows, const std::vector<MeasuredRow>& wanted) {
  REQUIRE(rows.size() == wanted.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    CHECK(rows[i].seconds == wanted[i].seconds);
    CHECK(rows[i].elements == wanted[i].elements);
    CHECK(rows[i].nodes == wanted[i].nodes);
    CHECK(rows[i].tasks_per_node == wanted[i].tasks_per_node);
    CHECK(rows[i].collective == wanted[i].collective);
  }
}

}  // namespace

TEST_CASE("A tag that a launcher puts before each line does not matter, nor a '#' that is lost") {
  const std::string two = ",machine=mine,nodes=2,tasks_per_node=1";
  for (const auto& [text, facts] : {std::pair<std::string, std::string>{kNccl, ",machine=mine"},
                                    {kOsu, two},
                                    {kImb, ",machine=mine,tasks_per_node=2"}}) {
    const std::vector<MeasuredRow> plain = rows_in(text, facts);
    for (const char* tag : {"0: ", " 0: ", "00: ", "[1,0]<stdout>:", "[1,0]<stdout>: ", "[0] ",
                            "gpu1: ", "[prterun-gpu1-4711@1,0]<stdout>: "}) {
      CAPTURE(tag);
      check_same(rows_in(tagged(text, tag), facts), plain);
    }
    for (const char* instead : {"", " "}) {
      CAPTURE(instead);
      check_same(rows_in(without_hashes(text, instead), facts), plain);
      check_same(rows_in(tagged(without_hashes(text, instead), "0: "), facts), plain);
    }
  }
}

TEST_CASE("Logs of nccl-tests as people paste them are read") {
  const std::string logs = std::string(THINWIRE_SOURCE_DIR) + "/tests/app/studies/validate/logs/";
  const auto rows_of = [&](const std::string& name, const std::string& facts) {
    return read_measured(measured_file(logs + name + ".txt,machine=mine" + facts));
  };
  const std::vector<MeasuredRow> plain = rows_of("plain", "");
  REQUIRE(plain.size() == 3);
  CHECK(plain[0].seconds == thinwire::test::approx(88.12e-6));
  CHECK(plain[2].seconds == thinwire::test::approx(702.33e-6));
  CHECK(plain[2].elements == 4194304);
  CHECK(plain[0].nodes == 2);
  CHECK(plain[0].tasks_per_node == 2);
  check_same(rows_of("srun-l", ""), plain);
  check_same(rows_of("debug-info", ""), plain);
  check_same(rows_of("half", ""), plain);
  check_same(rows_of("table-only", ",collective=allreduce,nodes=2,tasks_per_node=2"), plain);
  const std::vector<MeasuredRow> old = rows_of("old", ",collective=allreduce");
  REQUIRE(old.size() == 4);
  CHECK(old[3].seconds == thinwire::test::approx(56301.0e-6));
  CHECK(old[3].nodes == 2);
  CHECK(old[3].tasks_per_node == 1);
  check_same(rows_of("hash-eaten", ",collective=allreduce"), old);
}

TEST_CASE("Times of wrong results are no measurements") {
  std::string text = kNccl;
  text.replace(text.find("197.09      0"), 13, "197.09     17");
  CHECK(refusal_of(text, ",machine=mine") ==
        "m:13:83: nccl-tests found 17 wrong results: such a time is no measurement; mend the "
        "machine, or take the line out");
  std::string unchecked = kNccl;
  unchecked.replace(unchecked.find("197.09      0"), 13, "197.09    N/A");
  CHECK(rows_in(unchecked, ",machine=mine").size() == 2);
}

TEST_CASE("A text that is none of the four is refused as such") {
  CHECK(refusal_of("hello\n8 32.06\n", ",machine=mine") ==
        "m: not recognised as nccl-tests, OSU, IMB or CSV: a text of these has the heading of its "
        "table, and a CSV the names of its columns on the first line");
}

TEST_CASE("One-sided tests of OSU are refused by their own title") {
  for (const char* title : {"MPI_Put Latency", "MPI_Get Latency", "OpenSHMEM Put Latency",
                            "UPC Put Latency", "MPI_Accumulate latency"}) {
    const std::string text =
        fmt::format("# OSU {} Test v7.4\n# Size          Latency (us)\n4 1.50\n", title);
    const std::string word = std::string(title).substr(0, std::string(title).find(' '));
    CHECK(refusal_of(text, ",machine=mine,nodes=2,tasks_per_node=1,algorithm=ping_pong")
              .starts_with("m:1:7: a test of '" + word + "' is not read; known are"));
  }
}

TEST_CASE("The output of IMB has tables of several collectives and numbers of processes") {
  const std::string facts = ",machine=mine,library=OMPI,tasks_per_node=4";
  const std::vector<MeasuredRow> rows = rows_in(kImb, facts);
  REQUIRE(rows.size() == 3);
  CHECK(rows[0].collective == "allreduce");
  CHECK(rows[0].nodes == 1);
  CHECK(rows[0].tasks_per_node == 2);
  CHECK(rows[0].elements == 1);
  CHECK(rows[0].of_first_ranks);
  CHECK(rows[0].seconds == thinwire::test::approx(1.5e-6));  // t_max
  CHECK(rows[1].nodes == 2);
  CHECK(rows[1].tasks_per_node == 4);
  CHECK(rows[2].collective == "allgather");
  CHECK(rows[2].elements == 8 * 256);
  CHECK(rows[2].place.ends_with("m:21"));
  CHECK(rows_in(kImb, facts + ",collective=allgather,algorithm=ring_ompi").size() == 1);
  CHECK(refusal_of(kImb, facts + ",collective=alltoall") ==
        "m: holds no measured times of alltoall");
  CHECK(
      refusal_of(kImb, facts + ",algorithm=ring_ompi") ==
      "m: holds times of allreduce and allgather, but an algorithm belongs to one collective; say "
      "which, as in m,collective=allreduce,algorithm=..., and give the file once for each");
  CHECK(refusal_of(kImb, facts + ",nodes=2") ==
        "m: the text says how many processes there are; give tasks_per_node, and leave nodes out");
  CHECK(refusal_of(kImb, ",machine=mine") ==
        "m: the text does not say how many processes a node has; give it as in m,tasks_per_node=4");
  CHECK(refusal_of(kImb, ",machine=mine,tasks_per_node=3") ==
        "m: 8 processes of 3 on a node: not the same number on each");
  std::string other = kImb;
  other.replace(other.find("t_max[usec]"), 11, "t_max[msec]");
  CHECK(refusal_of(other, facts) == "m:8:32: there is no column 't_max[usec]'");
}

TEST_CASE("A table of IMB goes on below lines that are not its own") {
  const std::string facts = ",machine=mine,library=OMPI,tasks_per_node=4";
  const std::string row = "         1024         1000         4.50         5.50         5.00\n";
  const auto with = [&](const std::string& line) {
    std::string text = kImb;
    text.replace(text.find(row), row.size(), row + line + row);
    return text;
  };
  for (const char* line :
       {"[1700000000.1] [node1:17112:0] ucp_context.c:1 UCX WARN network device is gone\n",
        "4194304000 int-overflow.; The production rank*size caused int overflow for given sample\n",
        "   4194304 out-of-mem.; needed X=   0.500 GB; use flag \"-mem X\" or "
        "MAX_MEM_USAGE>=X\n"}) {
    CHECK(rows_in(with(line), facts).size() == 4);
  }
  CHECK(refusal_of(with("1K 1000 4.50 5.50 5.00\n"), facts) ==
        "m:22:1: '1K' is not valid; expected a number of bytes, at most 1152921504606846976");
}

TEST_CASE("The output of OSU is read of the collectives that are known by name") {
  const std::string facts = ",machine=mine,nodes=2,tasks_per_node=1";
  const auto titled = [](const std::string& title) {
    std::string text = kOsu;
    return text.replace(text.find("MPI Allgather"), 13, title);
  };
  CHECK(rows_in(titled("MPI Reduce_scatter"), facts)[2].collective == "reduce_scatter");
  CHECK(refusal_of(titled("MPI Allgatherv"), facts) ==
        "m:2:11: 'allgatherv' is not read; known are the latency tests of Allreduce, Allgather, "
        "Reduce_scatter, All-to-All Personalized Exchange, and of two ranks");
  for (const char* other : {"MPI All-to-Allv Personalized Exchange", "MPI Neighborhood Allgather",
                            "MPI Non-blocking Allreduce"}) {
    CHECK(refusal_of(titled(other), facts).starts_with("m:2:11: '"));
  }
  // The latency of two ranks is the time of one way.
  std::string text = titled("MPI-ROCM");
  text.replace(text.find("Avg Latency(us)"), 15, "Latency (us)");
  const std::vector<MeasuredRow> rows = rows_in(text, facts);
  CHECK(rows[2].collective == "ping_pong");
  CHECK(rows[2].gpu);
  CHECK(rows[2].elements == 262144);
  CHECK(rows[2].seconds == thinwire::test::approx(2 * 8123.25e-6));
}

TEST_CASE("A table of OSU goes on below lines that are not its own") {
  const std::string facts = ",machine=mine,nodes=2,tasks_per_node=1";
  const std::string row = "4                       2.50\n";
  const auto with = [&](const std::string& line) {
    std::string text = kOsu;
    text.replace(text.find(row), row.size(), row + line + row);
    return text;
  };
  CHECK(rows_in(kOsu, facts).size() == 3);
  CHECK(rows_in(with("[1700000000.1] [node1:17112:0] ucp_context.c:1 UCX WARN no device\n"), facts)
            .size() == 4);
  CHECK(rows_in(with("0                       0.00\n"), facts).size() == 4);
  CHECK(refusal_of(with("1K                      2.60\n"), facts) ==
        "m:7:1: '1K' is not valid; expected a number of bytes, at most 1152921504606846976");
  CHECK(refusal_of(with("8                       fast\n"), facts) ==
        "m:7:25: 'fast' is not valid; expected a time above 0, at most 1e9 s");
  CHECK(refusal_of(with("8\n"), facts) ==
        "m:7:2: the line has 1 words; wanted are 2 at least, as in the heading");
}

TEST_CASE("The output of OSU gives an allgather's size as one rank's block") {
  const std::string facts =
      ",machine=mine,algorithm=ring_ompi,library=OMPI,nodes=8,tasks_per_node=2";
  const std::vector<MeasuredRow> rows = rows_in(kOsu, facts);
  REQUIRE(rows.size() == 3);
  CHECK(rows[0].collective == "allgather");
  CHECK_FALSE(rows[0].gpu);
  CHECK(rows[0].elements == 0);  // one byte
  CHECK(rows[1].elements == 16);
  CHECK(rows[1].seconds == thinwire::test::approx(2.5e-6));
  CHECK(rows[2].elements == 16 * 262144);
  std::string other = kOsu;
  other.replace(other.find("Allgather"), 9, "Allreduce");
  CHECK(rows_in(other, facts)[2].elements == 262144);
  other = kOsu;
  other.replace(other.find("MPI Allgather"), 13, "MPI-CUDA All-to-All Personalized Exchange");
  CHECK(rows_in(other, facts)[2].collective == "alltoall");
  CHECK(rows_in(other, facts)[2].gpu);
  other = kOsu;
  other.replace(other.find("Latency(us)"), 11, "Latency(min)");
  CHECK(refusal_of(other, facts) ==
        "m:4:18: 'Latency(min)': unknown unit of time; known are (s), (ms), (us) and (ns)");
  CHECK(refusal_of(kOsu, ",machine=mine") ==
        "m: the text does not say: nodes, tasks_per_node; give it as in "
        "m,nodes=...,tasks_per_node=...");
  CHECK(refusal_of(kOsu, ",machine=mine,nodes=two,tasks_per_node=1") ==
        "m: nodes=two is not valid; expected a whole number from 1 to 1048576");
}

TEST_CASE("Sizes and times beyond all measurements are refused with their line") {
  const std::string facts =
      ",machine=mine,algorithm=ring_ompi,library=OMPI,nodes=512,tasks_per_node=2";
  const auto with = [](std::string text, const std::string& old, const std::string& fresh) {
    return text.replace(text.find(old), old.size(), fresh);
  };
  CHECK(refusal_of(with(kOsu, "1048576", "72057594037927940"), facts) ==
        "m:7: 1024 blocks of 18014398509481985 components are more than 1152921504606846976");
  CHECK(refusal_of(with(kOsu, "1048576", "9223372036854775807"), facts)
            .starts_with("m:7:1: '9223372036854775807' is not valid; expected a number of bytes, "
                         "at most 1152921504606846976"));
  for (const char* time : {"1e-320", "1e308", "inf", "0"}) {
    CHECK(refusal_of(with(kOsu, "8123.25", time), facts) ==
          fmt::format("m:7:22: '{}' is not valid; expected a time above 0, at most 1e9 s", time));
    CHECK(refusal_of(with(kNccl, "1021.5", time), ",machine=mine").starts_with("m:13:"));
    CHECK(refusal_of(with(kImb, "5.50", time), ",machine=mine,tasks_per_node=1")
              .starts_with("m:21:"));
  }
  CHECK(refusal_of(with(kImb, "         1024 ", "1152921504606846976 "),
                   ",machine=mine,tasks_per_node=1,collective=allgather") ==
        "m:21: 8 blocks of 288230376151711744 components are more than 1152921504606846976");
}

TEST_CASE("The facts of a file are its text's alone") {
  const auto refusal = [](const std::string& argument) {
    return error_of<InputError>([&] { static_cast<void>(measured_file(argument)); });
  };
  CHECK(measured_file("a.csv").facts.empty());
  CHECK(measured_file("a.txt,nodes=2,algorithm=").facts.at("algorithm").empty());
  CHECK(refusal("a.txt,node=2") ==
        "--measured a.txt,node=2: unknown key 'node'; did you mean "
        "'nodes'?");
  CHECK(refusal("a.txt,nodes") ==
        "--measured a.txt,nodes: 'nodes' is not valid; expected KEY=VALUE");
  CHECK(refusal("a.txt,nodes=1,nodes=2") ==
        "--measured a.txt,nodes=1,nodes=2: 'nodes' is there "
        "twice");
}

TEST_CASE("Algorithms are schemes by their library's names, or are none for a reason") {
  const auto of = [](const std::string& library, const std::string& collective,
                     const std::string& algorithm, std::int64_t segment = 0) {
    MeasuredRow row;
    row.library = library;
    row.collective = collective;
    row.algorithm = algorithm;
    row.segment = segment;
    return scheme_of(row);
  };
  CHECK(of("OMPI", "allreduce", "rabenseifner_ompi").scheme == "dense_rabenseifner");
  CHECK(of("CRAY_MPICH", "allreduce", "recursive_doubling_mpich").scheme ==
        "dense_recursive_doubling");
  CHECK(of("CRAY_MPICH", "allreduce", "ring_over").scheme == "dense_ring");
  CHECK(of("NCCL", "allreduce", "tree").scheme == "nccl_tree");
  CHECK(of("NCCL", "allreduce", "default_nccl").scheme == "dense_auto");
  // Of a protocol that the row does not name, NCCL's tuner decides.
  const auto protocol = [&](const std::string& algorithm) {
    return std::get<std::int64_t>(of("NCCL", "allreduce", algorithm).options.at("protocol"));
  };
  CHECK(protocol("tree") == 3);
  CHECK(protocol("ring") == 3);
  CHECK(protocol("ring_ll") == 0);
  CHECK(protocol("tree_ll128") == 1);
  CHECK(protocol("ring_simple") == 2);
  CHECK(of("mine", "allreduce", "dense_ring").scheme == "dense_ring");
  const auto segmented = of("mine", "allreduce", "dense_ring_segmented", 4096);
  CHECK(segmented.scheme == "dense_ring_segmented");
  CHECK(std::get<std::int64_t>(segmented.options.at("segment_bytes")) == 4096);
  // Without a segment size Open MPI's segmented ring is its ring.
  CHECK(of("OMPI", "allreduce", "ring_segmented_ompi").scheme == "dense_ring");
  const std::vector<std::pair<thinwire::studies::SchemeOfRow, const char*>> none{
      {of("OMPI", "allreduce", "default_ompi"), "the row does not say which"},
      {of("CRAY_MPICH", "allgather", "non_blocking_mpich"), "the row does not say which"},
      {of("CRAY_MPICH", "allgather", "k_bruck_over"), "the radix"},
      {of("OMPI", "reduce_scatter", "recursive_distance_doubling_over"), "nearest rank first"},
      {of("OMPI", "allreduce", "ring_ompi", 4096), "no scheme segments this algorithm"},
      {of("mine", "allreduce", "dense_ring", 4096), "no scheme segments this algorithm"},
      {of("NCCL", "allreduce", "ring_ompi"), "no known algorithm of NCCL for allreduce"},
      {of("mine", "allgather", "dense_ring"), "no known algorithm of mine for allgather"},
      {of("mine", "allreduce", "oktopk"), "no known algorithm"},
      {of("OMPI", "bcast", "binomial_ompi"),
       "'bcast' is no collective that is simulated; these are"},
      {of("OMPI", "bcast", ""), "'bcast' is no collective"},
      {of("CRAY_MPICH", "allreduce", ""), "no algorithm is named"}};
  for (const auto& [found, why] : none) {
    CAPTURE(why);
    CHECK(found.scheme.empty());
    CHECK(thinwire::test::contains(found.why_none, why));
  }
}

TEST_CASE("Open MPI's rule names the algorithm whose time its default took on two machines") {
  const auto rows = thinwire::studies::read_measured(
      {.path = std::string(THINWIRE_SOURCE_DIR) + "/results/measured/data/collectives.csv"});
  int compared = 0;
  int equal = 0;
  for (const MeasuredRow& chosen : rows) {
    if (chosen.algorithm != "default_ompi") continue;
    const std::int64_t ranks = std::int64_t{chosen.nodes} * chosen.tasks_per_node;
    const bool of_block = chosen.collective == "allgather" || chosen.collective == "alltoall";
    const std::string algorithm = thinwire::studies::open_mpi_choice(
        chosen.collective, ranks, 4 * chosen.elements / (of_block ? ranks : 1));
    for (const MeasuredRow& named : rows) {
      if (named.algorithm != algorithm || named.run != chosen.run || named.test != chosen.test ||
          named.collective != chosen.collective || named.elements != chosen.elements) {
        continue;
      }
      ++compared;
      equal += std::abs(named.seconds / chosen.seconds - 1) < 0.1 ? 1 : 0;
    }
  }
  CHECK(compared == 83);
  CHECK(equal >= 81);  // twice a long transfer took another time when it was repeated
}

TEST_CASE("a log that names Open MPI and no algorithm has what its rule takes for the ranks") {
  MeasuredRow row;
  row.nodes = 16;
  row.collective = "allreduce";
  row.library = "OMPI";
  row.elements = 512;
  CHECK(scheme_of(row).scheme == "dense_recursive_doubling");
  row.elements = 1024;  // 4096 bytes, the first that are not below the limit
  CHECK(scheme_of(row).scheme == "dense_rabenseifner");
  row.tasks_per_node = 16;
  CHECK(scheme_of(row).scheme == "dense_rabenseifner");
  row.elements = 512;
  CHECK(scheme_of(row).scheme == "dense_nonoverlapping");
  row.collective = "allgather";
  row.elements = 256 * 127;  // blocks of 508 bytes
  CHECK(scheme_of(row).scheme == "allgather_recursive_doubling");
  row.elements = 256 * 128;
  CHECK(scheme_of(row).scheme == "allgather_recursive_doubling");
  row.nodes = 15;  // 240 ranks
  row.elements = 240 * 128;
  CHECK(scheme_of(row).scheme == "allgather_neighbor_exchange");
  row.collective = "reduce_scatter";
  CHECK(thinwire::test::contains(scheme_of(row).why_none, "butterfly"));
  row.collective = "ping_pong";
  CHECK(thinwire::test::contains(scheme_of(row).why_none, "no algorithm is named"));
}
