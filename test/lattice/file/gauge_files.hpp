// For the tests of gauge files: random fields, files in a separate directory, bytes read from memory, and plain encoders that share
// no code with the library's.
#pragma once

#include <kasane/core/base/error.hpp>
#include <kasane/lattice/file/formats.hpp>
#include <kasane/lattice/file/gauge_file.hpp>

#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <unistd.h>
#include <vector>

namespace kasane::test {

using namespace kasane::lattice;

/// The smallest lattice: 16 sites.
constexpr Extents smallest{{2, 2, 2, 2}};

inline GaugeField random_field(const Extents& n, std::uint64_t seed = 1) {
    std::mt19937_64 engine(seed);
    std::normal_distribution<double> normal;
    GaugeField field(n);
    for (auto& u : field.links) {
        for (auto& row : u.e)
            for (auto& z : row) z = {normal(engine), normal(engine)};
        u = reunitarised(reunitarised(u));  // twice: the first process loses digits where rows are nearly parallel
    }
    return field;
}

/// Every number rounded to single precision.
inline GaugeField in_single(GaugeField field) {
    for (auto& u : field.links)
        for (auto& row : u.e)
            for (auto& z : row) z = {static_cast<double>(static_cast<float>(z.re)), static_cast<double>(static_cast<float>(z.im))};
    return field;
}

inline GaugeFile read_bytes(const std::string& bytes, std::uint64_t memory = std::uint64_t{1} << 30) {
    ByteSource source(view(bytes), "bytes");
    return read_gauge(source, memory);
}

/// All problems of a read, one per line; "" if it succeeds.
inline std::string complaint(const std::string& bytes, std::uint64_t memory = std::uint64_t{1} << 30) {
    try {
        read_bytes(bytes, memory);
    } catch (const InputError& error) {
        std::string text;
        for (const auto& problem : error.problems()) text += problem.text() + "\n";
        return text;
    }
    return "";
}

inline void expect_words(const std::string& text, const std::vector<std::string>& words) {
    for (const auto& word : words) EXPECT_NE(text.find(word), std::string::npos) << "no '" << word << "' in: " << text;
}

inline void expect_same_bits(const GaugeField& a, const GaugeField& b) {
    ASSERT_EQ(a.extents, b.extents);
    ASSERT_EQ(a.links.size(), b.links.size());
    EXPECT_EQ(std::memcmp(a.links.data(), b.links.data(), a.links.size() * sizeof a.links[0]), 0);
}

class GaugeFiles : public ::testing::Test {
   protected:
    void SetUp() override {
        const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
        directory = std::filesystem::path(::testing::TempDir()) /
                    (std::string("kasane.GaugeFiles.") + info->name() + "." + std::to_string(getpid()));
        std::filesystem::create_directories(directory);
    }
    void TearDown() override {
        std::error_code ignored;
        std::filesystem::remove_all(directory, ignored);
    }
    static std::string bytes_of(const std::filesystem::path& path) {
        std::ifstream file(path, std::ios::binary);
        return {std::istreambuf_iterator<char>(file), {}};
    }
    std::string written(const GaugeField& field, const GaugeWriteOptions& options) const {
        write_gauge(directory / "cfg", field, options);
        return bytes_of(directory / "cfg");
    }
    std::filesystem::path directory;
};

/// The bytes of a number, most significant first or last.
template <class Number>
std::string number_bytes(Number number, bool big_endian) {
    std::string bytes(sizeof number, '\0');
    std::memcpy(bytes.data(), &number, sizeof number);
    return big_endian ? std::string(bytes.rbegin(), bytes.rend()) : bytes;
}

template <class Real>
std::string link_bytes(const Su3<double>& u, bool big_endian, int rows = 3) {
    std::string bytes;
    for (int i = 0; i < rows; ++i)
        for (int j = 0; j < 3; ++j)
            bytes += number_bytes(static_cast<Real>(u.e[i][j].re), big_endian) + number_bytes(static_cast<Real>(u.e[i][j].im), big_endian);
    return bytes;
}

/// Links in the order that NERSC, ILDG and MILC share: t, z, y, x, direction.
template <class Real>
std::string plain_payload(const GaugeField& field, bool big_endian, int rows = 3) {
    std::string bytes;
    const auto& n = field.extents;
    for (int t = 0; t < n[3]; ++t)
        for (int z = 0; z < n[2]; ++z)
            for (int y = 0; y < n[1]; ++y)
                for (int x = 0; x < n[0]; ++x)
                    for (int mu = 0; mu < 4; ++mu) bytes += link_bytes<Real>(field.link(Site{x, y, z, t}, mu), big_endian, rows);
    return bytes;
}

inline std::string plain_milc(const GaugeField& field, bool big_endian) {
    const auto payload = plain_payload<float>(field, big_endian);
    std::uint32_t sum29 = 0, sum31 = 0;
    for (std::size_t i = 0; 4 * i < payload.size(); ++i) {
        const std::string bytes = payload.substr(4 * i, 4);
        const std::string low_first = big_endian ? std::string(bytes.rbegin(), bytes.rend()) : bytes;
        std::uint32_t word = 0;
        std::memcpy(&word, low_first.data(), 4);
        const auto turned = [word](std::size_t by) { return by ? word << by | word >> (32 - by) : word; };
        sum29 ^= turned(i % 29);
        sum31 ^= turned(i % 31);
    }
    std::string bytes = number_bytes(std::uint32_t{20103}, big_endian);
    for (const int extent : field.extents.n) bytes += number_bytes(extent, big_endian);
    std::string date = "Thu Feb 12 13:40:21 1998";
    date.resize(64);
    return bytes + date + number_bytes(0, big_endian) + number_bytes(sum29, big_endian) + number_bytes(sum31, big_endian) + payload;
}

/// Mean Re tr U_p from its definition: products of four links around every plaquette.
inline double plain_plaquette(const GaugeField& field) {
    const auto& n = field.extents;
    double sum = 0;
    for (index_t i = 0; i < n.volume(); ++i) {
        const Site x = n.site(i);
        for (int mu = 0; mu < 3; ++mu)
            for (int nu = mu + 1; nu < 4; ++nu) {
                auto around = field.link(x, mu) * field.link(n.shifted(x, mu, 1), nu);
                around = around * adjoint(field.link(n.shifted(x, nu, 1), mu)) * adjoint(field.link(x, nu));
                sum += trace(around).re;
            }
    }
    return sum / (6 * static_cast<double>(n.volume()));
}

inline std::string plain_openqcd(const GaugeField& field) {
    const auto& n = field.extents;
    std::string bytes;
    for (const int mu : {3, 0, 1, 2}) bytes += number_bytes(n[mu], false);
    bytes += number_bytes(plain_plaquette(field), false);
    for (int t = 0; t < n[3]; ++t)
        for (int x = 0; x < n[0]; ++x)
            for (int y = 0; y < n[1]; ++y)
                for (int z = 0; z < n[2]; ++z) {
                    if ((t + x + y + z) % 2 == 0) continue;
                    for (const int mu : {3, 0, 1, 2}) {
                        Site behind{x, y, z, t};
                        behind[mu] = (behind[mu] + n[mu] - 1) % n[mu];
                        bytes +=
                            link_bytes<double>(field.link(Site{x, y, z, t}, mu), false) + link_bytes<double>(field.link(behind, mu), false);
                    }
                }
    return bytes;
}

}  // namespace kasane::test
