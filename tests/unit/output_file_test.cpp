// SPDX-License-Identifier: Apache-2.0
#include "platform/trace/output_file.h"

#include <gtest/gtest.h>

#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "platform/config/errors.h"
#include "tests/support/process.h"

namespace cubevp::platform {
namespace {

using test::read_file;
using test::TemporaryFolder;

TEST(OutputFile, HasATemporaryNameUntilItIsClosed) {
  const TemporaryFolder folder;
  const std::string path = folder.file("o.txt");
  OutputFile file(path);
  file.put("all of it");
  file.flush();
  ASSERT_EQ(folder.files().size(), 1U);
  EXPECT_NE(folder.files()[0], "o.txt");
  EXPECT_EQ(folder.files()[0].find("o.txt"), 0U);  // beside it, and told apart by its name
  file.close();
  EXPECT_EQ(folder.files(), std::vector<std::string>{"o.txt"});
  EXPECT_EQ(read_file(path), "all of it");
}

TEST(OutputFile, ReplacesAFileOnlyWhenItIsComplete) {
  const TemporaryFolder folder;
  const std::string path = folder.write("o.txt", "old");
  {
    OutputFile file(path);
    file.put("new");
    file.flush();
    EXPECT_EQ(read_file(path), "old");
  }  // an error on the way
  EXPECT_EQ(read_file(path), "old");
  EXPECT_EQ(folder.files(), std::vector<std::string>{"o.txt"});
  OutputFile file(path);
  file.put("new");
  file.close();
  EXPECT_EQ(read_file(path), "new");
}

TEST(OutputFile, KeepsEverythingThroughItsBuffer) {
  const TemporaryFolder folder;
  const std::string path = folder.file("o.txt");
  std::string expected;
  OutputFile file(path);
  for (int i = 0; i < 100000; ++i) {
    file.put('#');
    file.put_number(i);
    file.put(" text\n");
    expected += "#" + std::to_string(i) + " text\n";
  }
  const std::string large(3 * 1024 * 1024 + 17, 'x');
  file.put(large);
  file.put("");
  file.put_number(std::numeric_limits<std::int64_t>::min());
  file.close();
  EXPECT_TRUE(read_file(path) == expected + large + "-9223372036854775808");
}

TEST(OutputFile, AFolderThatIsNotThereIsNamed) {
  const TemporaryFolder folder;
  const std::string path = folder.file("none/o.txt");
  try {
    const OutputFile file(path);
    FAIL();
  } catch (const IoError& e) {
    EXPECT_EQ(e.what(), path + ": cannot be written: No such file or directory");
  }
}

TEST(OutputFile, AFolderInItsPlaceIsAnErrorOfTheClose) {
  const TemporaryFolder folder;
  const std::string path = folder.file("o.txt");
  std::filesystem::create_directory(path);
  OutputFile file(path);
  file.put("x");
  try {
    file.close();
    FAIL();
  } catch (const IoError& e) {
    EXPECT_EQ(e.what(), path + ": cannot be written: Is a directory");
  }
  EXPECT_TRUE(folder.files().empty());
}

/// No file may grow beyond a limit, as on a full disk.
class FullDisk {
 public:
  explicit FullDisk(rlim_t bytes) {
    std::signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit now{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &now);
  }
  ~FullDisk() { setrlimit(RLIMIT_FSIZE, &before_); }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;

 private:
  rlimit before_{};
};

TEST(OutputFile, AFullDiskIsToldAndNothingStays) {
  const TemporaryFolder folder;
  const std::string path = folder.file("o.txt");
  const std::string expected = path + ": cannot be written: File too large";
  const FullDisk full(4096);
  {
    OutputFile file(path);
    file.put(std::string(5000, 'x'));
    try {
      file.flush();
      ADD_FAILURE();
    } catch (const IoError& e) {
      EXPECT_EQ(e.what(), expected);
    }
    EXPECT_TRUE(folder.files().empty());
  }
  OutputFile file(path);
  file.put(std::string(5000, 'x'));
  EXPECT_THROW(file.close(), IoError);
  EXPECT_TRUE(folder.files().empty());
}

}  // namespace
}  // namespace cubevp::platform
