// The frame of report.html, the same for every kind of run: heading, status, remarks, facts, run file, commands, papers.
#pragma once

#include <kasane/report/fact_rows.hpp>
#include <kasane/run/driver/record.hpp>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace kasane::run {

/// The contents of a run directory that every kind of run has. A run that is under way, was killed or lost files still has a history.
struct RunHistory {
    std::filesystem::path directory;
    io::Json record;  ///< record.json; null where it is missing or cannot be read
    std::string run_file;
    std::vector<std::string> notes;  ///< files that could not be read, and why: plain text, one sentence each
};

/// @throws InputError: no such directory, or it holds neither record.json nor run.toml
RunHistory read_run_history(const std::filesystem::path& directory);

/// The parts of a page that a kind of run adds. Texts are HTML unless stated otherwise.
struct RunPage {
    Record head;             ///< the common part of the record, as far as it could be read
    std::string done;        ///< plain text: the word for the status done: "finished", "converged"
    std::string lead;        ///< one paragraph in words
    std::string tiles;       ///< of report::tile()
    std::string at;          ///< plain text: progress: " at t = 1.47"; may be empty
    std::string remarks;     ///< paragraphs of this kind after those on the status
    std::string body;        ///< sections between the heading and the facts
    report::FactRows facts;  ///< rows before those of device, version and times
    std::string workers;     ///< plain text of the row "Ranks"; may be empty
    std::string build;       ///< plain text after compiler and CUDA; may be empty
    std::string commands;    ///< rows of report::command_row()
    std::string style, script;
    std::vector<std::string> notes;  ///< plain text
};

/// The whole document.
std::string html(RunPage page, const RunHistory& history);

/// The timers of the record that took time, the longest first, for report::time_bars().
std::vector<std::pair<std::string, double>> timed_parts(const Record& record);

/// "4 threads of Intel Xeon", "one NVIDIA H100"; empty where not known. @param workers  on all ranks
std::string machine_text(const Record& head, std::int64_t workers = 1);

}  // namespace kasane::run
