// Benchmark records for the page: the rows of a JSON record, grouped by benchmark.
// Invariant: a number that a row does not have, or has as null, reads as NaN.
#pragma once

#include <kasane/core/io/json_value.hpp>
#include <kasane/perf/benchmark.hpp>

#include <string>
#include <vector>

namespace kasane::bench {

struct Row {
    std::string label;  ///< of its case, without the benchmark's name: "V 4, G 4"
    io::Json values;
    double operator[](const std::string& key) const;
    std::vector<double> list(const std::string& key) const;  ///< empty where there is none
    std::vector<std::vector<Span>> timeline() const;         ///< of each worker; empty where there is none
    std::string note() const;                                ///< in words; empty where there is none
};

struct Study {
    std::string name;  ///< "gravity.tree.links"
    std::string head;  ///< what is measured; empty when this version does not know the benchmark
    std::vector<Row> rows;

    /// Rows whose label begins with this text, of the largest n of the study (any n: all rows).
    std::vector<Row> of_largest(const std::string& label = "") const;
    std::vector<Row> with(const std::string& label) const;
    /// The first row of exactly this label, of the largest n; null when there is none.
    const Row* find(const std::string& label) const;
    double largest_n() const;
    /// Names of numbers, lists apart, beyond those that every row has, in the order of their first row.
    std::vector<std::string> more_keys() const;
};

struct Record {
    io::Json head;               ///< machine, date, version, commit, build
    std::vector<Study> studies;  ///< in the order of the record
};

/// @param source for messages   @throws InputError when the text is not a record of benchmarks
Record read_record(const std::string& text, const std::string& source, const std::vector<Benchmark>& known);

}  // namespace kasane::bench
