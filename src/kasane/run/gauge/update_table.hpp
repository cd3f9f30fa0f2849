// A table of measurements of a chain of gauge fields: numbers after some of its updates, as a CSV file and as a part of checkpoints.
// Invariants: 17 significant digits, so that equal bytes mean equal numbers; rows stand in the order of their updates.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kasane::run {

struct UpdateTable {
    std::string name;                         ///< of the file NAME.csv
    std::vector<std::string> columns;         ///< beside that of the update; without commas
    std::vector<std::int64_t> updates = {};   ///< number of the update of each row
    std::vector<std::vector<double>> values;  ///< of each column

    UpdateTable() = default;
    UpdateTable(std::string name_of, std::vector<std::string> columns_of)
        : name(std::move(name_of)), columns(std::move(columns_of)), values(columns.size()) {}

    bool empty() const { return updates.empty(); }
    /// Adds a row with a number for each column.
    void add(std::int64_t update, const std::vector<double>& row);
    /// The values of a column, of rows after update `after`; empty where there is no such column.
    std::vector<double> column(const std::string& name_of, std::int64_t after = -1) const;
    bool operator==(const UpdateTable&) const = default;
};

/// "a,b" as "a" and "b".
std::vector<std::string> split_at_commas(std::string_view line);

/// Writes a CSV file. @param update  heading of the first column: "sweep", "trajectory"
void write_table(const std::filesystem::path& path, const char* update, const UpdateTable& table);
/// Reads one. The name of the table is that of the file.
/// @param columns  that it must have; empty: any
/// @throws InputError: the file does not exist, has other columns, or a line is not a row
UpdateTable read_table(const std::filesystem::path& path, const char* update, const std::vector<std::string>& columns = {});

}  // namespace kasane::run
