// Headers with wrong, missing or repeated entries: each refused with its reason, before memory is allocated.
#include <test/lattice/file/gauge_files.hpp>

#include <kasane/lattice/file/lime.hpp>

namespace {

using namespace kasane;
using namespace kasane::test;

std::string replaced(std::string text, const std::string& from, const std::string& to) {
    const auto at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

TEST_F(GaugeFiles, UnknownFilesAreNamed) {
    expect_words(complaint(""), {"empty"});
    expect_words(complaint("\x1f\x8b gzip"), {"gunzip"});
    expect_words(complaint("\x89HDF\r\n"), {"HDF5"});
    expect_words(complaint(std::string("\xab\x89\x67\x45", 4)), {"little-endian"});
    expect_words(complaint("hello"), {"not a gauge configuration", "NERSC", "openQCD"});
    EXPECT_THROW(read_gauge(directory / "nothing"), InputError);
    EXPECT_THROW(read_gauge(directory), InputError);
}

TEST_F(GaugeFiles, NerscHeaders) {
    const auto good = written(random_field(smallest), {.format = GaugeFormat::nersc});
    const auto with = [&](const std::string& from, const std::string& to) { return complaint(replaced(good, from, to)); };
    EXPECT_EQ(with("PLAQUETTE", "IGNORED"), "");
    EXPECT_EQ(with("\nDATATYPE = ", "\r\n\n  DATATYPE=  "), "") << "blanks and CR LF";
    for (const std::string key : {"DATATYPE", "DIMENSION_2", "FLOATING_POINT"})
        expect_words(with("\n" + key + " =", "\nX" + key + " ="), {key, "is missing"});
    expect_words(with("DIMENSION_3 = 2", "DIMENSION_3 = 2\nDIMENSION_3 = 4"), {"bytes:8: DIMENSION_3", "twice", "line 7"});
    expect_words(with("DIMENSION_1 = 2", "DIMENSION_1 = two"), {"DIMENSION_1: 'two' is not a whole number"});
    expect_words(with("DIMENSION_1 = 2", "DIMENSION_1 = 3"), {"3x2x2x2", "even"});
    expect_words(with("DIMENSION_1 = 2", "DIMENSION_1 = -2"), {"extent along x is -2"});
    expect_words(with("DIMENSION_1 = 2", "DIMENSION_1 = 4"), {"truncated", "18432"});
    expect_words(with("DIMENSION_4 = 2", "DIMENSION_4 = 99999999999"), {"99999999999", "no lattice"});
    expect_words(with("DIMENSION_4 = 2", "DIMENSION_4 = 99999999999999999999"), {"not a whole number"});
    expect_words(with("4D_SU3_GAUGE_3x3", "4D_SU3_GAUGE"), {"longer than its header says"});
    expect_words(with("4D_SU3_GAUGE_3x3", "4D_SU2_GAUGE"), {"'4D_SU2_GAUGE' is not read"});
    expect_words(with("IEEE64BIG", "IEEE16BIG"), {"'IEEE16BIG' is unknown"});
    expect_words(with("IEEE64BIG", "IEEE64LITTLE"), {"checksum", "not in SU(3)"});
    expect_words(with("CHECKSUM = ", "CHECKSUM = xyz"), {"hexadecimal"});
    expect_words(with("CHECKSUM = ", "CHECKSUM = f"), {"hexadecimal"});
    expect_words(with("LINK_TRACE = ", "LINK_TRACE = 1e999"), {"LINK_TRACE", "not a number"});
    expect_words(with("PLAQUETTE = ", "PLAQUETTE = 1\nX = "), {"states PLAQUETTE 1", "another file's"});
    expect_words(with("LINK_TRACE = ", "LINK_TRACE = 1\nX = "), {"states LINK_TRACE 1"});
    expect_words(with("END_HEADER", "END_HEADE "), {"not a line of a header"});
    expect_words(complaint("BEGIN_HEADER\nHDR_VERSION = 1.0\n"), {"ends before its END_HEADER"});
    expect_words(complaint("BEGIN_HEADER" + std::string(2 << 20, 'x')), {"million characters"});
    std::string lines = "BEGIN_HEADER\n";
    for (int i = 0; i < 2000; ++i) lines += "A = 1\n";
    expect_words(complaint(lines), {"first 1000 lines"});
    expect_words(with("DATATYPE = 4D_SU3_GAUGE_3x3\n", ""), {"DATATYPE"});
    expect_words(with("DIMENSION_1 = 2\nDIMENSION_2 = 2", "DIMENSION_1 = a\nDIMENSION_2 = b"), {"DIMENSION_1", "DIMENSION_2"});
}

TEST_F(GaugeFiles, NerscWithoutChecksumOrByteOrder) {
    const auto field = random_field(smallest);
    for (const bool big : {false, true}) {
        auto bytes = written(field, {GaugeFormat::nersc, 64, 3, big});
        bytes = replaced(bytes, big ? "IEEE64BIG" : "IEEE64LITTLE", "IEEE64");
        bytes = replaced(bytes, "CHECKSUM", "NO_SUM");
        const auto file = read_bytes(bytes);
        EXPECT_EQ(file.facts.big_endian, big);
        EXPECT_EQ(file.facts.checksum.kind, "none");
        EXPECT_EQ(file.facts.notes.size(), 2u);
        expect_same_bits(file.field, field);
    }
}

/// A lattice that fits the file but not the memory is reported as such, not as damage.
TEST_F(GaugeFiles, TooLittleMemoryIsReported) {
    const auto field = random_field({{4, 4, 4, 4}});
    for (const auto format : {GaugeFormat::nersc, GaugeFormat::ildg, GaugeFormat::openqcd}) {
        const auto text = complaint(written(field, {.format = format}), 100'000);
        expect_words(text, {"4x4x4x4", "of memory", "are free"});
        EXPECT_EQ(text.find("checksum"), std::string::npos);
    }
}

struct Record {
    std::string type, data;
    bool begins = false, ends = false;
};
std::string lime(const std::vector<Record>& records) {
    std::string bytes;
    for (const auto& r : records) bytes += lime_header(r.type, r.data.size(), r.begins, r.ends) + r.data + lime_padding(r.data.size());
    return bytes;
}

/// The records of an ILDG file, to be combined in several ways.
struct Ildg : GaugeFiles {
    void SetUp() override {
        GaugeFiles::SetUp();
        field = in_single(random_field(smallest));
        const auto bytes = written(field, {.format = GaugeFormat::ildg, .bits = 32});
        ByteSource source(view(bytes), "bytes");
        for (const auto& record : lime_records(source)) {
            const auto data = bytes.substr(static_cast<std::size_t>(record.position), static_cast<std::size_t>(record.length));
            if (record.type == "ildg-format") format = {record.type, data};
            if (record.type == "ildg-binary-data") links = {record.type, data};
            if (record.type == "scidac-checksum") sum = {record.type, data};
            if (record.type == "scidac-private-file-xml") file_xml = {record.type, data};
            if (record.type == "scidac-private-record-xml") record_xml = {record.type, data};
        }
    }
    /// All records in one message.
    std::string message(std::vector<Record> records) const {
        records.front().begins = records.back().ends = true;
        return lime(records);
    }
    Record format, links, sum, file_xml, record_xml;
    GaugeField field;
};

TEST_F(Ildg, RecordsInAnyOrderAndMessages) {
    const Record other{"xlf-info", "plaquette = 0.5"}, sums_of_another{"scidac-checksum", "<suma>1</suma><sumb>2</sumb>"};
    std::vector<std::string> files = {message({format, links, sum}), message({links, format, sum}), message({sum, links, format}),
                                      message({sum, other, format, links}), message({other}) + message({format, links, sum})};
    files.push_back(message({other}) + message({format}) + message({links}) + message({sum}));  // each record in a separate message
    files.push_back(message({{"scidac-binary-data", "something"}, sums_of_another}) + message({format, links, sum}));
    files.push_back(message({format, links, sum}) + message({{"scidac-binary-data", "something"}, sums_of_another}));
    for (std::size_t i = 0; i < files.size(); ++i) {
        SCOPED_TRACE(i);
        const auto file = read_bytes(files[i]);
        expect_same_bits(file.field, field);
        EXPECT_EQ(file.facts.checksum.kind, "scidac");
        EXPECT_EQ(file.facts.checksum.stored, file.facts.checksum.computed);
    }
    expect_words(read_bytes(files[3]).facts.notes.at(0), {"not used", "'xlf-info'"});
}

TEST_F(Ildg, WithoutChecksum) {
    const auto file = read_bytes(message({format, links}));
    EXPECT_EQ(file.facts.checksum.kind, "none");
    expect_words(file.facts.notes.at(0), {"no checksum"});
    const auto begun = lime({{format.type, format.data, true, false}, {links.type, links.data, false, false}});
    expect_words(complaint(begun), {"before the end of the message", "truncated"});
}

/// Files of Chroma and other codes without ILDG's records.
TEST_F(Ildg, SciDACAlone) {
    const Record binary{"scidac-binary-data", links.data};
    const auto file = read_bytes(message({file_xml}) + message({record_xml, binary, sum}));
    expect_same_bits(file.field, field);
    const auto with = [&](Record f, Record r) { return complaint(message({std::move(f)}) + message({std::move(r), binary, sum})); };
    const auto changed = [](Record record, const std::string& from, const std::string& to) {
        record.data = replaced(record.data, from, to);
        return record;
    };
    expect_words(with(changed(file_xml, "2 2 2 2", "2 2 2"), record_xml), {"<dims>", "four whole numbers"});
    expect_words(with(changed(file_xml, "2 2 2 2", "2 2 2 2 2"), record_xml), {"four whole numbers"});
    expect_words(with(changed(file_xml, "<volfmt>0", "<volfmt>1"), record_xml), {"one of several files"});
    expect_words(with(file_xml, changed(record_xml, "<datacount>4", "<datacount>1")), {"not a gauge field"});
    expect_words(with(file_xml, changed(record_xml, "ColorMatrix", "DiracFermion")), {"not a gauge field"});
    expect_words(with(file_xml, changed(record_xml, "<precision>F", "<precision>D")), {"truncated"});
    expect_words(complaint(message({record_xml, binary, sum})), {"extents and precision are not known"});
}

TEST_F(Ildg, Formats) {
    const auto with = [&](const std::string& from, const std::string& to) {
        return complaint(message({{format.type, replaced(format.data, from, to)}, links, sum}));
    };
    EXPECT_EQ(with("<lx>2</lx>", "<!-- <lx>4</lx> --><lx >\n 2 </lx>"), "");
    EXPECT_EQ(with("</ildgFormat>", "</ildgFormat>" + std::string(5, '\0')), "");
    expect_words(with("<lx>2</lx>", ""), {"record ildg-format, <lx>", "is missing"});
    expect_words(with("<lx>2</lx>", "<lx>2</lx><lx>2</lx>"), {"<lx>", "occurs 2 times"});
    expect_words(with("<lx>2</lx>", "<lx>"), {"<lx>", "is missing"});
    expect_words(with("<lt>2", "<lt>2.5"), {"<lt>", "'2.5' is not a whole number"});
    expect_words(with("<lt>2", "<lt>65536"), {"truncated"});
    expect_words(with("<lt>2", "<lt>4294967298"), {"extent along t"});
    expect_words(with("<precision>32", "<precision>16"), {"'16' is not read"});
    expect_words(with("<precision>32", "<precision>64"), {"truncated"});
    expect_words(with("su3gauge", "su2gauge"), {"'su2gauge' is not read"});
    expect_words(with("<ildgFormat", "\x01\xff<<<<ildgFormat"), {});
    expect_words(complaint(message({{format.type, std::string(70'000, '<')}, links, sum})), {"70000 bytes"});
    expect_words(complaint(message({{format.type, "not XML"}, links, sum})), {"<field>", "<precision>", "<lx>", "<lt>"});
}

TEST_F(Ildg, RecordsThatContradict) {
    expect_words(complaint(message({format, links, links, sum})), {"2 records ildg-binary-data"});
    expect_words(complaint(message({format, format, links, sum})), {"2 records ildg-format"});
    expect_words(complaint(message({format, links, sum, sum})), {"two checksums"});
    expect_words(complaint(message({format, sum})), {"holds no links", "'ildg-format'"});
    expect_words(complaint(message({links, sum})), {"extents and precision are not known"});
    const auto with_sum = [&](const std::string& text) { return complaint(message({format, links, {sum.type, text}})); };
    expect_words(with_sum("<suma>0</suma><sumb>0</sumb>"), {"checksum (scidac) is 00000000 00000000", "damaged"});
    expect_words(with_sum("<suma>123456789</suma><sumb>x</sumb>"), {"'123456789'", "'x'", "hexadecimal"});
    expect_words(with_sum("<suma>0</suma>"), {"<sumb>", "is missing"});
}

TEST_F(Ildg, LimeItself) {
    const auto good = message({format, links, sum});
    const auto with = [&](std::size_t at, const std::string& bytes) {
        auto changed = good;
        return complaint(changed.replace(at, bytes.size(), bytes));
    };
    const auto second = static_cast<std::size_t>(lime_size(format.data.size()));
    expect_words(with(second, "\x45\x67\x89\xaa"), {"byte " + std::to_string(second), "there is none"});
    expect_words(with(4, std::string("\0\2", 2)), {"version 2"});
    expect_words(with(8, "\xff\xff\xff\xff\xff\xff\xff\xff"), {"18446744073709551615 bytes", "truncated"});
    expect_words(with(8, std::string("\0\0\0\0\0\0\0\1", 8)), {"where a LIME record should begin"});
    EXPECT_FALSE(with(16, std::string(128, '\xff')).empty()) << "a type without its end";
    std::string many;
    for (int i = 0; i < 10'001; ++i) many += lime_header("x", 0, true, true);
    expect_words(complaint(many), {"10000 records before it"});
    expect_words(complaint(lime_header("ildg-binary-data", 0, true, true)), {"not known"});
    expect_words(complaint(message({{format.type, replaced(format.data, "<lx>2", "<lx>0")}, {links.type, ""}})), {"at least 2"});
}

TEST_F(GaugeFiles, MilcAndOpenqcdHeaders) {
    const auto field = random_field(smallest);
    const auto with = [](std::string bytes, std::size_t at, std::int32_t number, bool big = false) {
        return complaint(bytes.replace(at, 4, number_bytes(number, big)));
    };
    const auto milc = plain_milc(field, true), openqcd = plain_openqcd(field);
    expect_words(with(milc, 4, 4, true), {"truncated"});
    expect_words(with(milc, 8, -2, true), {"extent along y is -2"});
    expect_words(with(milc, 84, 1, true), {"order 1"});
    expect_words(with(milc, 88, 1, true), {"checksum (milc)"});
    expect_words(with(openqcd, 0, 4), {"not a gauge configuration of a known format"});
    expect_words(with(openqcd, 0, -2), {"not a gauge configuration"});
    auto other = openqcd;
    for (const auto& [at, extent] : {std::pair{0u, 1}, std::pair{4u, 4}}) other.replace(at, 4, number_bytes(extent, false));
    expect_words(complaint(other), {"even"});
    other = openqcd;
    other.replace(16, 8, number_bytes(1.5, false));
    expect_words(complaint(other), {"states plaquette 0.5"});
}

}  // namespace
