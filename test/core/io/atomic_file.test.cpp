#include <kasane/core/base/error.hpp>
#include <kasane/core/io/atomic_file.hpp>
#include <kasane/core/io/hdf5.hpp>

#include <gtest/gtest.h>

#include <csignal>
#include <fstream>
#include <sys/resource.h>
#include <unistd.h>

using kasane::AtomicFile;
using kasane::ComputationError;
using kasane::InputError;

namespace {

class AtomicFiles : public testing::Test {
   protected:
    void SetUp() override {
        folder_ = std::filesystem::path(testing::TempDir()) / ("kasane_atomic_" + std::to_string(::getpid()));
        std::filesystem::create_directories(folder_);
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }
    std::filesystem::path path() const { return folder_ / "target"; }
    const std::filesystem::path& folder() const { return folder_; }
    std::string content() const {
        std::ifstream in(path(), std::ios::binary);
        return std::string(std::istreambuf_iterator<char>(in), {});
    }
    std::size_t files() const { return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder_), {})); }

   private:
    std::filesystem::path folder_;
};

/// Limits files to `bytes` until its destruction: writing then fails with "File too large", as on a full disk.
class FileSizeLimit {
   public:
    explicit FileSizeLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
        ::getrlimit(RLIMIT_FSIZE, &old_);
        const rlimit limit{bytes, old_.rlim_max};
        ::setrlimit(RLIMIT_FSIZE, &limit);
    }
    ~FileSizeLimit() {
        ::setrlimit(RLIMIT_FSIZE, &old_);
        std::signal(SIGXFSZ, handler_);
    }

   private:
    rlimit old_{};
    void (*handler_)(int);
};

TEST_F(AtomicFiles, AppearsWhenCommittedAndNotBefore) {
    kasane::write_atomically(path(), "old");
    AtomicFile file(path());
    file.write("new ");
    EXPECT_EQ(content(), "old");
    file.write("words");
    file.commit();
    EXPECT_EQ(content(), "new words");
    EXPECT_EQ(files(), 1u);
}

TEST_F(AtomicFiles, KeepsThePermissionsOfTheFileThatItReplaces) {
    namespace fs = std::filesystem;
    for (const auto wanted : {fs::perms(0600), fs::perms(0640)}) {
        std::ofstream(path()) << "old";
        fs::permissions(path(), wanted);
        kasane::write_atomically(path(), "new");
        EXPECT_EQ(content(), "new");
        EXPECT_EQ(fs::status(path()).permissions(), wanted);
    }
}

TEST_F(AtomicFiles, DroppedLeavesTheOldFileAndNoTemporary) {
    kasane::write_atomically(path(), "old");
    {
        AtomicFile file(path());
        file.write("half");
        EXPECT_EQ(files(), 2u);
        AtomicFile moved(std::move(file));  // one owner, one removal
    }
    EXPECT_EQ(content(), "old");
    EXPECT_EQ(files(), 1u);
}

TEST_F(AtomicFiles, FullDiskIsAClearErrorThatLeavesTheOldFile) {
    kasane::write_atomically(path(), "old");
    try {
        AtomicFile file(path());
        const FileSizeLimit limit(1000);
        file.write(std::string(5000, 'x'));
        FAIL() << "nothing was thrown";
    } catch (const ComputationError& error) {
        EXPECT_NE(std::string(error.what()).find(path().string()), std::string::npos) << error.what();
        EXPECT_NE(std::string(error.what()).find("MiB free"), std::string::npos) << error.what();
    }
    EXPECT_EQ(content(), "old");
    EXPECT_EQ(files(), 1u);
}

TEST_F(AtomicFiles, NamesTheSpaceThatIsNeeded) {
    try {
        const AtomicFile file(path(), std::uint64_t{1} << 62);
        FAIL() << "nothing was thrown";
    } catch (const ComputationError& error) {
        EXPECT_NE(std::string(error.what()).find("disk full: 4398046511104.0 MiB are needed and "), std::string::npos) << error.what();
    }
    AtomicFile file(path());
    const FileSizeLimit limit(100'000);
    try {
        auto out = kasane::hdf5::File::create(file.temporary());
        out.write("/x", std::vector<double>(1'000'000, 1.0));
        out.close();
        FAIL() << "nothing was thrown";
    } catch (const ComputationError& error) {
        const std::string text = error.what();
        EXPECT_NE(text.find("File too large: at least 8 MiB are needed"), std::string::npos) << text;
        EXPECT_NE(text.find(path().string() + ": "), std::string::npos) << text;
        EXPECT_EQ(text.find("disk full"), std::string::npos) << text;
    }
}

TEST_F(AtomicFiles, Hdf5OnAFullDisk) {
    kasane::write_atomically(path(), "old");
    {
        AtomicFile file(path());
        const FileSizeLimit limit(100'000);
        auto write = [&] {
            auto out = kasane::hdf5::File::create(file.temporary());
            out.write("/x", std::vector<double>(1'000'000, 1.0));
            out.close();
        };
        EXPECT_THROW(write(), ComputationError);
        auto write_chunks = [&] {  // chunks wait in a cache: the failure may come as late as in close()
            auto out = kasane::hdf5::File::create(file.temporary());
            for (int i = 0; i < 30; ++i) out.write("/x" + std::to_string(i), std::vector<double>(1000, 1.0), {.checksum = true});
            out.close();
        };
        EXPECT_THROW(write_chunks(), ComputationError);
    }
    EXPECT_EQ(content(), "old");
    EXPECT_EQ(files(), 1u);
    AtomicFile again(path());  // and HDF5 itself still works afterwards
    auto out = kasane::hdf5::File::create(again.temporary());
    out.write("/x", std::vector<double>(1000, 1.0));
    out.close();
    again.commit();
    EXPECT_EQ(kasane::hdf5::File::open(path()).read<double>("/x").size(), 1000u);
}

TEST_F(AtomicFiles, MoreThanTheFreeSpaceIsRefusedBeforeWriting) {
    EXPECT_THROW(AtomicFile(path(), std::uint64_t{1} << 62), ComputationError);
    EXPECT_EQ(files(), 0u);
}

TEST_F(AtomicFiles, ATemporaryLeftByAKilledRunIsReplaced) {
    const auto temporary = AtomicFile(path()).temporary();
    std::ofstream(temporary) << "left over and longer than the new text";
    kasane::write_atomically(path(), "new");
    EXPECT_EQ(content(), "new");
    EXPECT_EQ(files(), 1u);
}

TEST_F(AtomicFiles, TwoWritersOfOneFileNeverMix) {
    AtomicFile first(path());
    first.write("first");
    AtomicFile second(path());
    second.write("sec");
    EXPECT_THROW(first.commit(), ComputationError);
    second.write("ond");
    second.commit();
    EXPECT_EQ(content(), "second");
}

TEST_F(AtomicFiles, RefusesPlacesThatCannotHoldTheFile) {
    EXPECT_THROW(AtomicFile(folder() / "missing" / "file"), InputError);
    EXPECT_THROW(AtomicFile{folder()}, InputError);
    EXPECT_THROW(AtomicFile(folder() / ""), InputError);
    EXPECT_THROW(AtomicFile("/dev/null"), InputError);
    EXPECT_THROW(AtomicFile(folder() / std::string(300, 'n')), InputError);
    const bool superuser = ::geteuid() == 0;  // root may write everywhere: change to an ordinary user
    if (superuser) {
        ASSERT_EQ(::seteuid(65534), 0);
    } else {
        std::filesystem::permissions(folder(), std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
    }
    EXPECT_THROW(AtomicFile{path()}, InputError);
    if (superuser) {
        ASSERT_EQ(::seteuid(0), 0);
    } else {
        std::filesystem::permissions(folder(), std::filesystem::perms::owner_all);
    }
}

}  // namespace
