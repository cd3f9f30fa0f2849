// Damage by a broken disk or transfer: every byte of a payload changed, every cut.
#include <test/lattice/file/gauge_files.hpp>

#include <cmath>

namespace {

using namespace kasane;
using namespace kasane::test;

/// Reads with each byte from `first` to `last` changed in one bit, in the highest, and in all.
template <class Expect>
void with_each_byte_changed(const std::string& whole, std::size_t first, std::size_t last, Expect expect) {
    auto bytes = whole;
    for (std::size_t i = first; i < last; ++i)
        for (const int bits : {1, 0x80, 0xff}) {
            bytes[i] = static_cast<char>(whole[i] ^ bits);
            expect(bytes, i);
            bytes[i] = whole[i];
        }
}

void expect_refused(const std::string& whole, std::size_t first, std::size_t last) {
    with_each_byte_changed(whole, first, last, [](const std::string& bytes, std::size_t i) {
        EXPECT_THROW(read_bytes(bytes), InputError) << "byte " << i << " changed, and read";
    });
}

TEST_F(GaugeFiles, EveryChangedByteOfNerscIsRefused) {
    const auto field = random_field(smallest);
    for (const int bits : {32, 64}) {
        const auto bytes = written(field, {GaugeFormat::nersc, bits, 2, bits == 32});
        expect_refused(bytes, bytes.find("END_HEADER") + 11, bytes.size());
    }
}

TEST_F(GaugeFiles, EveryChangedByteOfIldgIsRefused) {
    const auto field = random_field(smallest);
    for (const int bits : {32, 64}) {
        const auto bytes = written(field, {.format = GaugeFormat::ildg, .bits = bits});
        const auto payload = bits == 32 ? plain_payload<float>(field, true) : plain_payload<double>(field, true);
        const auto at = bytes.find(payload);
        ASSERT_NE(at, std::string::npos);
        expect_refused(bytes, at, at + payload.size());
    }
}

TEST_F(GaugeFiles, EveryChangedByteOfMilcIsRefused) {
    const auto bytes = plain_milc(random_field(smallest), false);
    expect_refused(bytes, 96, bytes.size());
}

/// openQCD has no checksum. A number changed by delta takes its link at least delta / sqrt 3 from SU(3), which is detected above 1e-12.
TEST_F(GaugeFiles, ChangedBytesOfOpenqcdAreRefusedAboveRounding) {
    const auto whole = plain_openqcd(random_field(smallest));
    index_t refused = 0, tried = 0;
    with_each_byte_changed(whole, 24, whole.size(), [&](const std::string& bytes, std::size_t i) {
        double before = 0, after = 0;
        const auto number = 24 + (i - 24) / 8 * 8;
        std::memcpy(&before, whole.data() + number, 8);
        std::memcpy(&after, bytes.data() + number, 8);
        const bool stopped = !complaint(bytes).empty();
        ++tried, refused += stopped;
        EXPECT_TRUE(stopped || std::abs(after - before) < 2e-12) << "byte " << i << ": " << before << " became " << after;
    });
    EXPECT_GT(static_cast<double>(refused), 0.7 * static_cast<double>(tried)) << "of 8 bytes, the lowest two are below rounding";
    expect_refused(whole, 0, 16);
    expect_refused(whole, 19, 24);  // the plaquette, here about 0.01, is compared to 1e-13: above its lowest three bytes
}

TEST_F(GaugeFiles, EveryCutIsRefused) {
    const auto field = random_field(smallest);
    const std::pair<std::string, std::size_t> files[] = {{written(field, {GaugeFormat::nersc, 32, 2, true}), 0},
                                                         {written(field, {.format = GaugeFormat::ildg, .bits = 32}), 7},  // padding
                                                         {plain_milc(field, true), 0},
                                                         {plain_openqcd(field), 0}};
    for (const auto& [whole, padding] : files) {
        ASSERT_NO_THROW(read_bytes(whole));
        for (std::size_t length = 0; length + padding < whole.size(); ++length) {
            const std::vector<char> cut(whole.begin(),
                                        whole.begin() + static_cast<std::ptrdiff_t>(length));  // the exact length, for the sanitizers
            ByteSource source(view(cut), "cut");
            EXPECT_THROW(read_gauge(source, 1 << 30), InputError) << length << " of " << whole.size() << " bytes";
        }
        EXPECT_THROW(read_bytes(whole + "\n"), InputError) << "and one byte too many";
    }
}

TEST_F(GaugeFiles, LinksOutsideSU3AreNamed) {
    auto field = random_field({{2, 4, 2, 2}});
    field.links[4 * 3 + 1].e[2][0].re += 1e-4;  // site 3 = (1, 1, 0, 0)
    field.links[4 * 9 + 3].e[0][0].im = INFINITY;
    expect_words(complaint(plain_milc(field, true)), {"2 of its 128 links", "(1, 1, 0, 0)", "direction y", "1e-05"});
    field = random_field(smallest);
    field.links[0].e[1][2].im = NAN;
    expect_words(complaint(plain_openqcd(field)), {"(0, 0, 0, 0)", "direction x", "not a number", "plaquette of nan"});
    for (auto& z : field.links[0].e) z[0] = z[1] = z[2] = {0, 0};
    expect_words(complaint(plain_openqcd(field)), {"zero", "open or Schroedinger"});
    auto negative = random_field(smallest);
    negative.links[7] *= -1.;  // unitary, of determinant -1: a boundary sign that was multiplied in
    expect_words(complaint(plain_milc(negative, true)), {"(1, 0, 0, 0)", "direction t"});
}

}  // namespace
