#include <kasane/core/base/error.hpp>
#include <kasane/core/io/hdf5.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <unistd.h>

namespace hdf5 = kasane::hdf5;
using kasane::InputError;
using kasane::Vec3;

namespace {

class Hdf5 : public testing::Test {
   protected:
    void SetUp() override {
        folder_ = std::filesystem::path(testing::TempDir()) / ("kasane_hdf5_" + std::to_string(::getpid()));
        std::filesystem::create_directories(folder_);
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }
    std::filesystem::path path(const char* name = "a.hdf5") const { return folder_ / name; }

    /// The error of a read, as text; empty when it does not throw.
    template <class F>
    static std::string complaint(F read) {
        try {
            read();
        } catch (const InputError& error) {
            return error.what();
        }
        return {};
    }

   private:
    std::filesystem::path folder_;
};

TEST_F(Hdf5, DatasetsComeBackAsWritten) {
    const std::vector<double> numbers{0.1, -2e300, 5e-324};
    const std::vector<Vec3<double>> vectors{{1, 2, 3}, {4, 5, 6}};
    const std::vector<std::uint64_t> ids{0, UINT64_MAX};
    const std::vector<std::uint8_t> types{5};
    for (const bool checksum : {false, true}) {
        auto out = hdf5::File::create(path());
        out.write("/deep/down/numbers", numbers, {.checksum = checksum});
        out.write("/deep/vectors", vectors, {.checksum = checksum});
        out.write("/ids", ids, {.checksum = checksum});
        out.write("/types", types, {.checksum = checksum});
        out.write("/none", std::vector<float>{}, {.checksum = checksum});
        out.close();

        const auto in = hdf5::File::open(path());
        EXPECT_EQ(in.read<double>("/deep/down/numbers"), numbers);
        EXPECT_EQ(in.read<Vec3<double>>("/deep/vectors"), vectors);
        EXPECT_EQ(in.read<std::uint64_t>("/ids"), ids);
        EXPECT_EQ(in.read<std::uint8_t>("/types"), types);
        EXPECT_TRUE(in.read<float>("/none").empty());
        EXPECT_EQ(in.dataset("/deep/vectors").shape, (std::vector<std::uint64_t>{2, 3}));
        EXPECT_TRUE(in.exists("/deep/down") && in.is_group("/deep/down") && !in.is_dataset("/deep/down"));
        EXPECT_FALSE(in.exists("/deep/up/numbers"));
        EXPECT_EQ(in.names_in("/deep"), (std::vector<std::string>{"down", "vectors"}));
    }
}

TEST_F(Hdf5, ArraysOfAnyShapeComeBackInRowMajorOrder) {
    std::vector<double> box(2 * 3 * 4);
    for (std::size_t i = 0; i < box.size(); ++i) box[i] = 0.5 * static_cast<double>(i);
    auto out = hdf5::File::create(path());
    out.write_array<double>("/deep/box", {2, 3, 4}, kasane::view(std::as_const(box)));
    out.write("/Counts", std::vector<int>{1, 2});
    out.close();
    const auto in = hdf5::File::open(path());
    EXPECT_EQ(in.dataset("/deep/box").shape, (std::vector<std::uint64_t>{2, 3, 4}));
    EXPECT_EQ(in.read_array<double>("/deep/box", {2, 3, 4}), box);
    EXPECT_EQ(in.read_array<float>("/deep/box")[23], 11.5F) << "any shape when none is required";
    EXPECT_EQ(in.read_array<double>("/Counts", {2}), (std::vector<double>{1, 2}));
    const auto said = complaint([&] { in.read_array<double>("/deep/box", {4, 3, 2}); });
    for (const char* word : {"/deep/box", "(2, 3, 4)", "(4, 3, 2)"}) EXPECT_NE(said.find(word), std::string::npos) << said;
    EXPECT_THROW(in.read_array<int>("/deep/box"), InputError);
    EXPECT_THROW(in.read_array<double>("/Missing"), InputError);
}

TEST_F(Hdf5, ArraysWrittenInPartsMakeTheSameFile) {
    std::vector<double> box(2 * 3 * 4);
    for (std::size_t i = 0; i < box.size(); ++i) box[i] = 0.5 * static_cast<double>(i);
    const auto bytes = [&](auto write) {
        auto out = hdf5::File::create(path());
        write(out);
        out.write("/Counts", std::vector<int>{1, 2});
        out.close();
        std::ifstream file(path(), std::ios::binary);
        return std::string(std::istreambuf_iterator<char>(file), {});
    };
    const auto whole =
        bytes([&](auto& out) { out.template write_array<double>("/deep/box", {2, 3, 4}, kasane::view(std::as_const(box))); });
    // Entries of each dimension, in any order: both boxes, one box, two rows, one row, numbers of a row.
    using Parts = std::vector<std::pair<std::uint64_t, kasane::index_t>>;
    for (const auto& parts :
         {Parts{{0, 24}}, Parts{{12, 12}, {0, 12}}, Parts{{0, 8}, {8, 4}, {12, 12}}, Parts{{0, 12}, {12, 3}, {15, 1}, {16, 8}}})
        EXPECT_EQ(bytes([&](auto& out) {
                      out.template create_array<double>("/deep/box", {2, 3, 4});
                      for (const auto& [first, n] : parts)
                          out.write_part("/deep/box", first, kasane::View<const double>(box.data() + first, n));
                  }),
                  whole);
    auto out = hdf5::File::create(path());
    out.create_array<double>("/box", {2, 3, 4});
    for (const auto& [first, n] : Parts{{2, 4}, {4, 12}, {24, 1}, {12, 24}})  // across rows, across boxes, beyond the end
        EXPECT_THROW(out.write_part("/box", first, kasane::View<const double>(box.data(), n)), kasane::LogicError) << first;
}

TEST_F(Hdf5, RowsWrittenInPartsComeBackWhole) {
    constexpr kasane::index_t n = 3 * hdf5::chunk_rows + 17;
    std::vector<Vec3<double>> vectors(n);
    std::vector<std::uint64_t> ids(n);
    for (std::size_t i = 0; i < vectors.size(); ++i) {
        const auto x = static_cast<double>(i);
        vectors[i] = {x, 0.5, -x * x};
        ids[i] = i;
    }
    for (const bool checksum : {false, true}) {
        auto out = hdf5::File::create(path());
        out.create_dataset<Vec3<double>>("/p/vectors", n, {.checksum = checksum});
        out.create_dataset<std::uint64_t>("/p/ids", n, {.checksum = checksum});
        const auto write = [&](kasane::index_t first, kasane::index_t end) {
            out.write_rows("/p/vectors", first, kasane::View<const Vec3<double>>(vectors.data() + first, end - first));
            out.write_rows("/p/ids", first, kasane::View<const std::uint64_t>(ids.data() + first, end - first));
        };
        write(0, 5), write(5, 5), write(hdf5::chunk_rows + 1, n), write(5, hdf5::chunk_rows + 1);  // in any order
        EXPECT_THROW(write(n - 1, n + 1), kasane::ComputationError);
        EXPECT_THROW(out.write_rows("/p/none", 0, kasane::View<const std::uint64_t>(ids.data(), 1)), kasane::ComputationError);
        out.close();
        const auto in = hdf5::File::open(path());
        EXPECT_EQ(in.read<Vec3<double>>("/p/vectors"), vectors);
        EXPECT_EQ(in.read<std::uint64_t>("/p/ids"), ids);
    }
}

TEST_F(Hdf5, SinglePrecisionStoresFloatsAndRefusesOverflow) {
    auto out = hdf5::File::create(path());
    out.write("/x", std::vector<double>{0.1}, {.single_precision = true});
    EXPECT_THROW(out.write("/y", std::vector<double>{1e300}, {.single_precision = true}), kasane::ComputationError);
    out.close();
    const auto in = hdf5::File::open(path());
    EXPECT_EQ(in.dataset("/x").bytes, 4);
    EXPECT_EQ(in.read<double>("/x")[0], static_cast<double>(0.1f));
}

TEST_F(Hdf5, AttributesOfEveryKind) {
    auto out = hdf5::File::create(path());
    out.create_group("/Header");
    out.set_attribute("/Header", "Time", 0.25);
    out.set_attribute("/Header", "Time", 0.5);  // the last one counts
    out.set_attribute("/Header", "Count", std::array<std::uint64_t, 2>{7, UINT64_MAX});
    out.set_attribute("/Header", "Sign", std::int32_t{-3});
    out.set_attribute("/Header", "Name", std::string("重ね"));
    out.set_attribute("/Header", "Empty", std::string());
    out.close();

    const auto in = hdf5::File::open(path());
    EXPECT_EQ(in.attribute<double>("/Header", "Time"), 0.5);
    EXPECT_EQ((in.attribute_array<std::uint64_t, 2>("/Header", "Count")), (std::array<std::uint64_t, 2>{7, UINT64_MAX}));
    EXPECT_EQ(in.attribute<int>("/Header", "Sign"), -3);
    EXPECT_EQ(in.attribute<double>("/Header", "Sign"), -3.0);
    EXPECT_EQ(in.text_attribute("/Header", "Name"), "重ね");
    EXPECT_EQ(in.text_attribute("/Header", "Empty"), "");
    EXPECT_EQ(in.attribute_size("/Header", "Count"), 2u);
    EXPECT_FALSE(in.has_attribute("/Header", "time"));
    EXPECT_FALSE(in.has_attribute("/Nowhere", "Time"));
    // Never clipped, never rounded:
    EXPECT_THROW(in.attribute<unsigned>("/Header", "Sign"), InputError);
    EXPECT_THROW((in.attribute_array<std::int64_t, 2>("/Header", "Count")), InputError);
    EXPECT_THROW(in.attribute<int>("/Header", "Time"), InputError);
    EXPECT_THROW(in.attribute<double>("/Header", "Count"), InputError);
    EXPECT_THROW(in.attribute<double>("/Header", "Name"), InputError);
    EXPECT_THROW(in.text_attribute("/Header", "Time"), InputError);
}

TEST_F(Hdf5, ComplaintsNameFileAndDataset) {
    auto out = hdf5::File::create(path());
    out.write("/Masses", std::vector<double>{1, 2, std::numeric_limits<double>::quiet_NaN()});
    out.write("/Signed", std::vector<int>{-1});
    out.close();
    const auto in = hdf5::File::open(path());
    const auto said = complaint([&] { in.read<double>("/Missing"); });
    EXPECT_NE(said.find("a.hdf5"), std::string::npos) << said;
    EXPECT_NE(said.find("/Missing"), std::string::npos) << said;
    std::vector<double> two(2);
    const auto shape = complaint([&] { in.read("/Masses", kasane::view(two)); });
    EXPECT_NE(shape.find("(3)"), std::string::npos) << shape;
    EXPECT_THROW(in.read<Vec3<double>>("/Masses"), InputError);
    EXPECT_THROW(in.read<int>("/Masses"), InputError);
    EXPECT_THROW(in.read<std::uint64_t>("/Signed"), InputError);
    EXPECT_TRUE(std::isnan(in.read<double>("/Masses")[2]));  // the caller decides whether NaN is allowed
}

TEST_F(Hdf5, RefusesFilesThatAreNotHdf5) {
    EXPECT_NE(complaint([&] { hdf5::File::open(path("none")); }).find("no such file"), std::string::npos);
    EXPECT_NE(complaint([&] { hdf5::File::open(path().parent_path()); }).find("directory"), std::string::npos);
    std::ofstream(path("text")) << "once upon a time";
    EXPECT_NE(complaint([&] { hdf5::File::open(path("text")); }).find("signature"), std::string::npos);
    std::ofstream(path("short")).write("\x89HDF\r\n\x1a\n", 8);
    EXPECT_THROW(hdf5::File::open(path("short")), InputError);
    EXPECT_TRUE(hdf5::is_hdf5(path("short")));
    EXPECT_THROW(hdf5::is_hdf5(path("none")), InputError);
}

TEST_F(Hdf5, TruncatedAndChangedFilesAreRefused) {
    const std::vector<double> numbers(20'000, 1.25);
    auto out = hdf5::File::create(path());
    out.write("/x", numbers, {.checksum = true});
    out.close();
    std::filesystem::copy(path(), path("cut"));
    std::filesystem::resize_file(path("cut"), std::filesystem::file_size(path()) - 1);
    EXPECT_THROW(hdf5::File::open(path("cut")), InputError);

    std::fstream file(path(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(std::filesystem::file_size(path()) / 2));  // amid the numbers
    file.put('\x55');
    file.close();
    EXPECT_THROW(hdf5::File::open(path()).read<double>("/x"), InputError);
}

// Data sets of 4 MiB and more are read by all threads, without HDF5.
TEST_F(Hdf5, LargeDataSetsComeBack) {
    constexpr std::size_t n = 600'001;  // the last chunk is not full
    std::vector<double> numbers(n);
    std::vector<Vec3<double>> vectors(n);
    std::vector<std::uint8_t> bytes(8 * n);
    for (std::size_t i = 0; i < n; ++i) numbers[i] = 0.1 * static_cast<double>(i), vectors[i] = {numbers[i], -numbers[i], 1 / numbers[i]};
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(i * 7);
    for (const bool checksum : {false, true}) {
        auto out = hdf5::File::create(path());
        out.write("/numbers", numbers, {.checksum = checksum});
        out.write("/vectors", vectors, {.checksum = checksum});
        out.write("/bytes", bytes, {.checksum = checksum});
        out.write("/single", numbers, {.checksum = checksum, .single_precision = true});  // converted, which HDF5 does
        out.close();
        const auto in = hdf5::File::open(path());
        EXPECT_EQ(in.read<double>("/numbers"), numbers);
        EXPECT_EQ(in.read<Vec3<double>>("/vectors"), vectors);
        EXPECT_EQ(in.read<std::uint8_t>("/bytes"), bytes);
        EXPECT_EQ(in.read<double>("/single")[n - 1], static_cast<double>(static_cast<float>(numbers[n - 1])));
        EXPECT_THROW(in.read<std::uint64_t>("/numbers"), InputError) << "another class of number";
    }
}

TEST_F(Hdf5, ChangedBytesOfLargeDataSetsAreFound) {
    std::vector<double> numbers(600'001);
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = std::sqrt(static_cast<double>(i));
    auto out = hdf5::File::create(path());
    out.write("/x", numbers, {.checksum = true});
    out.close();
    const auto size = static_cast<std::streamoff>(std::filesystem::file_size(path()));
    for (const auto place : {size / 7, size / 2, size - size / 7}) {
        std::fstream file(path(), std::ios::in | std::ios::out | std::ios::binary);
        file.seekg(place);
        const char before = static_cast<char>(file.get());
        const auto write = [&](char byte) {
            file.seekp(place);
            file.put(byte);
            file.flush();
        };
        write(static_cast<char>(before ^ 0x20));
        EXPECT_THROW(hdf5::File::open(path()).read<double>("/x"), InputError) << "byte " << place;
        write(before);
    }
    EXPECT_EQ(hdf5::File::open(path()).read<double>("/x"), numbers);
}

// Data sets below 4 MiB are read by HDF5 itself, which compares its own checksum with the stored one, whose sums are 65535 and not 0 where
// they are multiples of 65535.
TEST_F(Hdf5, ChecksumsOfChunksAreThoseOfHdf5) {
    constexpr std::size_t n = hdf5::chunk_rows;
    std::vector<std::uint8_t> bytes(6 * n + 1);
    std::fill_n(bytes.begin() + n, n, std::uint8_t{0xff});  // chunk 0: zeros; chunk 1: both sums are 0 modulo 65535
    bytes[2 * n] = 0xff, bytes[2 * n + 1] = 0xff;           // the first sum alone
    bytes[3 * n + 1] = 1;                                   // small sums
    for (std::size_t i = 4 * n; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(i * i / 7);
    std::vector<Vec3<double>> vectors(2 * n + 3);
    for (std::size_t i = 0; i < vectors.size(); ++i) vectors[i] = {std::sqrt(static_cast<double>(i)), -0.0, 1e-300};
    auto out = hdf5::File::create(path());
    out.write("/bytes", bytes, {.checksum = true});
    out.write("/vectors", vectors, {.checksum = true});
    out.close();
    const auto in = hdf5::File::open(path());
    EXPECT_EQ(in.read<std::uint8_t>("/bytes"), bytes);
    EXPECT_EQ(in.read<Vec3<double>>("/vectors"), vectors);
}

TEST_F(Hdf5, AFileIsCompleteWithoutTheMemoryOfAnImage) {
    auto out = hdf5::File::create(path());
    const std::vector<double> numbers(300'000, 0.5);
    out.write("/x", numbers, {.checksum = true});
    EXPECT_GE(std::filesystem::file_size(path()), numbers.size() * sizeof(double)) << "numbers are in the file before it is closed";
    out.close();
    EXPECT_EQ(hdf5::File::open(path()).read<double>("/x"), numbers);
}

TEST_F(Hdf5, SameContentMakesTheSameBytes) {
    for (const auto* name : {"a.hdf5", "b.hdf5"}) {
        auto out = hdf5::File::create(path(name));
        out.write("/g/x", std::vector<double>{1, 2}, {.checksum = true});
        out.set_attribute("/g", "n", 1);
        out.close();
        if (name[0] == 'a') ::sleep(1);  // object times have a resolution of a second
    }
    const auto bytes = [](const std::filesystem::path& p) {
        std::ifstream in(p, std::ios::binary);
        return std::string(std::istreambuf_iterator<char>(in), {});
    };
    EXPECT_EQ(bytes(path("a.hdf5")), bytes(path("b.hdf5")));
}

}  // namespace
