#include <bench/record.hpp>
#include <kasane/core/base/error.hpp>
#include <kasane/core/io/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace kasane::bench {
namespace {

/// Keys of every row of a record (see benchmark_record).
constexpr std::array common{"case",   "n",     "seconds",        "spread",       "rate",  "unit",
                            "tflops", "bound", "bound_fraction", "bound_reason", "error", "note"};

}  // namespace

double Row::operator[](const std::string& key) const {
    const auto at = values.find(key);
    return at != values.end() && at->is_number() ? at->get<double>() : std::numeric_limits<double>::quiet_NaN();
}

std::vector<double> Row::list(const std::string& key) const {
    std::vector<double> numbers;
    if (const auto at = values.find(key); at != values.end() && at->is_array())
        for (const auto& value : *at) numbers.push_back(value.is_number() ? value.get<double>() : std::numeric_limits<double>::quiet_NaN());
    return numbers;
}

std::vector<std::vector<Span>> Row::timeline() const {
    std::vector<std::vector<Span>> workers;
    const auto at = values.find("timeline");
    if (at == values.end() || !at->is_array()) return workers;
    for (const auto& worker : *at) {
        workers.emplace_back();
        for (const auto& span : worker)
            if (span.is_array() && span.size() == 3 && span[0].is_string() && span[1].is_number() && span[2].is_number())
                workers.back().push_back({span[0].get<std::string>(), span[1].get<double>(), span[2].get<double>()});
    }
    return workers;
}

std::string Row::note() const {
    const auto at = values.find("note");
    return at != values.end() && at->is_string() ? at->get<std::string>() : "";
}

double Study::largest_n() const {
    double n = 0;
    for (const auto& row : rows) n = std::fmax(n, row["n"]);
    return n;
}

std::vector<Row> Study::with(const std::string& label) const {
    std::vector<Row> some;
    for (const auto& row : rows)
        if (row.label.starts_with(label)) some.push_back(row);
    return some;
}

std::vector<Row> Study::of_largest(const std::string& label) const {
    auto some = with(label);
    std::erase_if(some, [n = largest_n()](const Row& row) { return row["n"] != n; });
    return some;
}

const Row* Study::find(const std::string& label) const {
    const double n = largest_n();
    const auto at = std::find_if(rows.begin(), rows.end(), [&](const Row& row) { return row.label == label && row["n"] == n; });
    return at == rows.end() ? nullptr : &*at;
}

std::vector<std::string> Study::more_keys() const {
    std::vector<std::string> keys;
    for (const auto& row : rows)
        for (const auto& [key, value] : row.values.items())
            if (!value.is_structured() && std::find(common.begin(), common.end(), key) == common.end() &&
                std::find(keys.begin(), keys.end(), key) == keys.end())
                keys.push_back(key);
    return keys;
}

Record read_record(const std::string& text, const std::string& source, const std::vector<Benchmark>& known) {
    Record record;
    record.head = io::parse_json(text, source);
    const bool usable = record.head.is_object() && record.head.contains("results") && record.head["results"].is_array();
    KS_VALIDATE(usable, source + " is not a record of benchmarks; `kasane bench --json FILE` writes one");
    const auto results = record.head["results"];
    record.head.erase("results");
    for (const auto& values : results) {
        KS_VALIDATE(values.is_object() && values.contains("case") && values["case"].is_string(),
                    source + ": a result has no \"case\"; the record is damaged, make it anew");
        const auto name = values["case"].get<std::string>();
        const auto comma = name.find(", ");
        const auto study = name.substr(0, comma);
        auto at = std::find_if(record.studies.begin(), record.studies.end(), [&](const Study& s) { return s.name == study; });
        if (at == record.studies.end()) {
            const auto of = std::find_if(known.begin(), known.end(), [&](const Benchmark& b) { return b.name == study; });
            at = record.studies.insert(at, {study, of == known.end() ? "" : of->head, {}});
        }
        at->rows.push_back({comma == std::string::npos ? "" : name.substr(comma + 2), values});
    }
    return record;
}

}  // namespace kasane::bench
