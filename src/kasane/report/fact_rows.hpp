// Tables and lists that reports have in common: facts, times, commands, papers.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace kasane::report {

/// Names and values; unknown values (an empty text, NaN) are left out.
class FactRows {
   public:
    void add(const std::string& name, const std::string& value);
    void add(const std::string& name, double value, const std::string& unit = "");
    /// A <dl>, or an empty text without rows.
    std::string html() const;

   private:
    std::string rows_;
};

/// The texts separated by commas; empty texts are left out.
std::string joined(const std::vector<std::string>& texts);

/// "2026-11-21T12:34:56Z" -> "2026-11-21 12:34:56 UTC"; other texts stay.
std::string clock(std::string iso);

/// One row of a table of commands. @param does  HTML
std::string command_row(const std::string& line, const std::string& does);
/// The table of such rows.
std::string command_table(const std::string& rows);

/// Bars of the parts of a time. A remainder of `whole` beyond their sum is "everything else".
std::string time_bars(std::vector<std::pair<std::string, double>> parts, double whole);

/// The run file in a <details> element; empty without a run file.
std::string run_file_details(const std::string& run_file);

/// The heading and the list; empty without papers.
std::string paper_list(const std::vector<std::string>& papers);

}  // namespace kasane::report
