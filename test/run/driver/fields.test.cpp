// Fields of records: one list writes and reads them, and gaps are refused or kept.
#include <kasane/run/driver/fields.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace kasane::run;

struct Part {
    int count = 0;
};

struct Sample {
    std::string name, note;
    double ratio = 0, speed = 0;
    std::array<double, 2> size{};
    std::vector<std::string> papers;
    std::vector<std::pair<std::string, double>> seconds;
    std::optional<Part> part;
    std::vector<Part> parts;
    std::map<std::string, Part> named;
    int later = 7;
};

template <class Fields, class S>
void list_sample(Fields& f, S& s) {
    const auto list_part = [](auto& in, auto& part) { in("count", part.count); };
    f("name", s.name), f.text("note", s.note), f("ratio", s.ratio), f.positive("speed", s.speed), f.derived("twice", 2 * s.ratio);
    f("size", s.size), f("papers", s.papers), f("seconds", s.seconds);
    f.optional("part", s.part, list_part), f.list("parts", s.parts, list_part), f.map("named", s.named, list_part);
    f.later()("later", s.later);
}

kasane::io::Json written(const Sample& sample) {
    FieldWriter fields;
    list_sample(fields, sample);
    return fields.object;
}

Sample read(const kasane::io::Json& object, Gaps gaps = Gaps::refuse) {
    Sample sample;
    FieldReader fields(object, gaps);
    list_sample(fields, sample);
    return sample;
}

TEST(Fields, AreReadAsTheyWereWritten) {
    const Sample sample{"a", "", 0.5, 0, {1, std::nan("")}, {"p", "q"}, {{"set-up", 2}}, Part{3}, {{4}, {5}}, {{"x", {6}}}, 8};
    const auto text = written(sample).dump();
    EXPECT_EQ(text,
              R"({"name":"a","note":null,"ratio":0.5,"speed":null,"twice":1.0,"size":[1.0,null],"papers":["p","q"],)"
              R"("seconds":{"set-up":2.0},"part":{"count":3},"parts":[{"count":4},{"count":5}],"named":{"x":{"count":6}},"later":8})");
    const auto back = read(kasane::io::Json::parse(text));
    EXPECT_EQ(back.name, "a");
    EXPECT_EQ(back.note, "");
    EXPECT_TRUE(std::isnan(back.size[1]));
    EXPECT_EQ(back.papers, sample.papers);
    EXPECT_EQ(back.seconds, sample.seconds);
    ASSERT_TRUE(back.part);
    EXPECT_EQ(back.part->count, 3);
    ASSERT_EQ(back.parts.size(), 2U);
    EXPECT_EQ(back.parts[1].count, 5);
    EXPECT_EQ(back.named.at("x").count, 6);
    EXPECT_EQ(back.later, 8);
}

TEST(Fields, OnlyLaterFieldsMayBeMissing) {
    auto object = kasane::io::Json(written({}));
    object.erase("later");
    EXPECT_EQ(read(object).later, 7);
    EXPECT_FALSE(read(object).part);
    for (const char* key : {"name", "note", "ratio", "size", "papers", "seconds", "parts", "named"}) {
        auto damaged = object;
        damaged.erase(key);
        EXPECT_THROW(read(damaged), kasane::io::Json::exception) << key;
    }
}

TEST(Fields, GapsAreKept) {
    const auto object = kasane::io::Json::parse(R"({"name": 3, "ratio": "x", "size": [1], "papers": [1, "p"], "seconds": 2, "part": 4,
        "parts": [7, {"count": 5}, {}], "named": {"x": 1, "y": {"count": 2}}, "later": null})");
    const auto sample = read(object, Gaps::keep);
    EXPECT_EQ(sample.name, "");
    EXPECT_EQ(sample.ratio, 0);
    EXPECT_EQ(sample.size[0], 0);
    EXPECT_EQ(sample.papers, std::vector<std::string>{"p"});
    EXPECT_FALSE(sample.part);
    ASSERT_EQ(sample.parts.size(), 2U);
    EXPECT_EQ(sample.parts[0].count, 5);
    EXPECT_EQ(sample.named.size(), 1U);
    EXPECT_EQ(sample.later, 7);
    EXPECT_EQ(read(kasane::io::Json("text"), Gaps::keep).later, 7);
}

}  // namespace
