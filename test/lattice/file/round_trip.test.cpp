// Fields come back bit by bit in every format, and are stored in the file where plain encoders put them.
#include <test/lattice/file/gauge_files.hpp>

#include <kasane/lattice/observe/observables.hpp>

namespace {

using namespace kasane;
using namespace kasane::test;

/// Not multiples of a vector of sites; the first is the smallest lattice.
const Extents shapes[] = {{{2, 2, 2, 2}}, {{2, 4, 6, 8}}, {{6, 2, 10, 4}}};

struct Case {
    GaugeWriteOptions options;
    std::string name;
};

std::vector<Case> cases() {
    std::vector<Case> all{{{.format = GaugeFormat::openqcd}, "openqcd"}};
    for (const int bits : {32, 64}) {
        all.push_back({{.format = GaugeFormat::ildg, .bits = bits}, "ildg" + std::to_string(bits)});
        for (const int rows : {2, 3})
            for (const bool big : {false, true})
                all.push_back({{GaugeFormat::nersc, bits, rows, big},
                               "nersc" + std::to_string(bits) + "x" + std::to_string(rows) + (big ? "big" : "little")});
    }
    return all;
}

TEST_F(GaugeFiles, RoundTripIsBitwise) {
    for (const auto& n : shapes)
        for (const auto& [options, name] : cases()) {
            SCOPED_TRACE(name + ", " + text(n));
            auto field = random_field(n);
            if (options.bits == 32) field = in_single(field);
            const auto bytes = written(field, options);
            const auto file = read_bytes(bytes);
            EXPECT_EQ(file.facts.format, options.format);
            EXPECT_EQ(file.facts.bits, options.bits);
            EXPECT_EQ(file.facts.rows, options.rows);
            EXPECT_EQ(file.facts.big_endian, options.format == GaugeFormat::openqcd ? false : options.big_endian);
            EXPECT_TRUE(file.facts.checksum.ok);
            if (options.rows == 3) expect_same_bits(file.field, field);
            for (std::size_t i = 0; i < field.links.size(); ++i)
                for (int k = 0; k < 6; ++k) ASSERT_EQ(file.field.links[i].e[k / 3][k % 3], field.links[i].e[k / 3][k % 3]) << i;
            const auto again = written(file.field, options);
            const auto payload = 4 * static_cast<std::size_t>(n.volume()) * static_cast<std::size_t>(options.rows * 6 * options.bits / 8);
            if (options.rows == 3)
                EXPECT_EQ(bytes, again);
            else  // the third row is now the cross product in double, so that the averages in the header may differ by rounding
                EXPECT_EQ(bytes.substr(bytes.size() - payload), again.substr(again.size() - payload));
            ASSERT_TRUE(file.facts.stored_plaquette);
            EXPECT_NEAR(*file.facts.stored_plaquette, plain_plaquette(field) / 3, options.bits == 32 ? 1e-7 : 1e-12);
        }
}

TEST_F(GaugeFiles, PayloadsEqualThoseOfPlainEncoders) {
    for (const auto& n : shapes) {
        SCOPED_TRACE(text(n));
        const auto field = random_field(n);
        const auto ends_with = [](const std::string& bytes, const std::string& payload) { return bytes.ends_with(payload); };
        EXPECT_TRUE(ends_with(written(field, {GaugeFormat::nersc, 64, 3, true}), plain_payload<double>(field, true)));
        EXPECT_TRUE(ends_with(written(field, {GaugeFormat::nersc, 64, 2, false}), plain_payload<double>(field, false, 2)));
        EXPECT_TRUE(ends_with(written(field, {GaugeFormat::nersc, 32, 3, false}), plain_payload<float>(field, false)));
        EXPECT_TRUE(ends_with(written(field, {GaugeFormat::nersc, 32, 2, true}), plain_payload<float>(field, true, 2)));
        EXPECT_NE(written(field, {.format = GaugeFormat::ildg, .bits = 64}).find(plain_payload<double>(field, true)), std::string::npos);
        EXPECT_NE(written(field, {.format = GaugeFormat::ildg, .bits = 32}).find(plain_payload<float>(field, true)), std::string::npos);
        const auto openqcd = written(field, {.format = GaugeFormat::openqcd}), plain = plain_openqcd(field);
        EXPECT_EQ(openqcd.substr(24), plain.substr(24));
        EXPECT_EQ(openqcd.substr(0, 16), plain.substr(0, 16));
        expect_same_bits(read_bytes(plain).field, field);
    }
}

TEST_F(GaugeFiles, MilcOfEitherByteOrder) {
    for (const auto& n : shapes)
        for (const bool big : {false, true}) {
            const auto field = in_single(random_field(n, 3));
            const auto file = read_bytes(plain_milc(field, big));
            EXPECT_EQ(file.facts.format, GaugeFormat::milc);
            EXPECT_EQ(file.facts.big_endian, big);
            EXPECT_EQ(file.facts.checksum.stored, file.facts.checksum.computed);
            expect_same_bits(file.field, field);
        }
}

/// Byte by byte the file of the plain writer, but for the date.
TEST_F(GaugeFiles, MilcIsWrittenAsThePlainWriterDoes) {
    for (const auto& n : shapes)
        for (const bool big : {false, true}) {
            const auto field = random_field(n, 4);
            auto bytes = written(field, {.format = GaugeFormat::milc, .bits = 32, .big_endian = big}), plain = plain_milc(field, big);
            EXPECT_EQ(bytes.substr(20, 17), "written by kasane");
            for (auto* each : {&bytes, &plain}) each->replace(20, 64, 64, ' ');
            EXPECT_EQ(bytes, plain);
            expect_same_bits(read_bytes(bytes).field, in_single(field));
        }
}

/// Single precision in a file of doubles is recognised by its numbers; with one number of more digits, double's tolerance holds.
TEST_F(GaugeFiles, SinglePrecisionInDoubles) {
    auto field = in_single(random_field({{2, 2, 2, 2}}));
    for (const auto format : {GaugeFormat::nersc, GaugeFormat::ildg, GaugeFormat::openqcd}) {
        const auto file = read_bytes(written(field, {.format = format}));
        expect_same_bits(file.field, field);
        ASSERT_FALSE(file.facts.notes.empty());
        expect_words(file.facts.notes.front() + file.facts.notes.back(), {"64 bits hold links of single precision"});
    }
    auto bytes = plain_openqcd(field);
    bytes[24] ^= 1;
    expect_words(complaint(bytes), {"not in SU(3)"});
}

TEST_F(GaugeFiles, RefusesValuesThatAFormatCannotHold) {
    auto field = random_field({{2, 2, 2, 2}});
    const auto refusal = [&](const GaugeWriteOptions& options) {
        try {
            write_gauge(directory / "refused", field, options);
        } catch (const InputError& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    expect_words(refusal({.format = GaugeFormat::milc}), {"MILC v5", "64 bits", "have 32"});
    expect_words(refusal({.format = GaugeFormat::milc, .bits = 32, .rows = 2}), {"only NERSC"});
    expect_words(refusal({.format = GaugeFormat::ildg, .rows = 2}), {"only NERSC"});
    expect_words(refusal({.format = GaugeFormat::ildg, .big_endian = false}), {"big endian"});
    expect_words(refusal({.format = GaugeFormat::openqcd, .bits = 32}), {"openQCD files have 64"});
    expect_words(refusal({.format = GaugeFormat::nersc, .bits = 16, .rows = 1}), {"16 bits", "fewer rows"});
    field.links[4 * 5 + 2].e[1][1].re += 1e-9;  // site 5 = (1, 0, 1, 0), direction z
    expect_words(refusal({}), {"(1, 0, 1, 0)", "direction z", "Reunitarise"});
    EXPECT_EQ(refusal({.bits = 32}), "") << "below the rounding of single precision";
    field.links[3].e[0][0].im = NAN;
    expect_words(refusal({.bits = 32}), {"(0, 0, 0, 0)", "direction t"});
    EXPECT_TRUE(std::filesystem::exists(directory / "refused"));
}

/// An older file does not change by a write that is refused; a successful write replaces it.
TEST_F(GaugeFiles, AppearsCompleteOrNotAtAll) {
    const auto first = random_field({{2, 2, 2, 2}}, 1), second = random_field({{2, 2, 2, 2}}, 2);
    const auto bytes = written(first, {});
    EXPECT_THROW(write_gauge(directory / "cfg", first, {.format = GaugeFormat::milc}), InputError);
    EXPECT_EQ(bytes_of(directory / "cfg"), bytes);
    EXPECT_NE(written(second, {}), bytes);
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory), {}), 1) << "nothing temporary is left";
}

}  // namespace
