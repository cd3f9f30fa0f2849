#include <kasane/core/base/error.hpp>
#include <kasane/core/io/json.hpp>
#include <kasane/report/page.hpp>
#include <kasane/report/words.hpp>
#include <kasane/run/driver/run_page.hpp>
#include <kasane/run/driver/run_texts.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <functional>

namespace kasane::run {
namespace {

using namespace report;

std::string status_badge(const RunPage& page) {
    const auto& status = page.head.status;
    if (status == "done") return badge("good", page.done);
    if (status == "running") return badge("wait", "not finished");
    if (status == "interrupted") return badge("wait", "interrupted");
    if (status.empty() || status == "unknown") return badge("wait", "status unknown");
    return badge("bad", escape(status));
}

/// Remarks on the status, for the top of the page.
std::string status_remarks(const RunPage& page, const RunHistory& h) {
    const auto& r = page.head;
    const auto resume = "<code>kasane resume " + escape(shell_word(h.directory.string())) + "</code>";
    const auto at = escape(page.at);
    std::string text;
    if (r.status == "running")
        text = "<p>This run is not finished: it is under way, or it was killed. The page shows its progress" + at +
               ". If it no longer runs, " + resume + " continues from the newest checkpoint.</p>";
    if (r.status == "interrupted") text = "<p>This run was interrupted" + at + ". " + resume + " continues from there.</p>";
    if (r.status == "failed") text = "<p>This run failed" + at + (r.message.empty() ? "." : ": " + escape(r.message)) + "</p>";
    auto notes = h.notes;
    if (h.run_file.empty()) notes.emplace_back("The run file run.toml is missing.");
    notes.insert(notes.end(), page.notes.begin(), page.notes.end());
    return remarks(text + page.remarks, notes);
}

std::string device_text(const DeviceInfo& d) {
    std::vector<std::string> texts{d.name};
    if (d.memory_bytes > 0) texts.push_back(bytes(static_cast<double>(d.memory_bytes)));
    if (d.units > 0) texts.push_back(brief(d.units) + (d.kind == "cpu" ? " core" : " multiprocessor") + (d.units == 1 ? "" : "s"));
    if (d.clock_hertz > 0) texts.push_back(brief(d.clock_hertz / 1e9) + " GHz");
    if (!d.capability.empty()) texts.push_back(d.kind == "cuda" ? "compute capability " + d.capability : d.capability);
    return joined(texts);
}

std::string fact_table(const RunPage& page) {
    const auto& r = page.head;
    auto rows = page.facts;
    rows.add("Device", device_text(r.device));
    rows.add("Threads", r.threads > 0 ? grouped(r.threads) + (r.simd.empty() ? "" : " (" + r.simd + ")") : "");
    rows.add("Ranks", page.workers);
    rows.add("Version", joined({r.version.empty() ? "" : "kasane " + r.version, r.commit.empty() ? "" : "commit " + r.commit}));
    rows.add("Build", joined({r.compiler, r.cuda.empty() ? "" : "CUDA " + r.cuda, page.build}));
    rows.add("Started", clock(r.started));
    rows.add("Finished", clock(r.finished));
    if (r.segments.size() > 1) rows.add("Resumed", counted(std::ssize(r.segments) - 1, "time", "times"));
    rows.add("Keys not used", joined(r.unused_keys));
    return rows.html();
}

std::string command_list(const RunPage& page, const RunHistory& h) {
    const auto directory = shell_word(h.directory.string());
    std::string rows;
    if (!h.run_file.empty())
        rows +=
            command_row("kasane run " + shell_word((h.directory / "run.toml").string()) + " -o NEW_DIRECTORY", "starts the same run again");
    if (page.head.status != "done") rows += command_row("kasane resume " + directory, "continues from the newest checkpoint");
    rows += page.commands + command_row("kasane report " + directory, "writes this page again");
    return command_table(rows);
}

/// "Intel(R) Xeon(R)" -> "Intel Xeon".
std::string without_marks(std::string name) {
    for (const std::string mark : {"(R)", "(TM)", "(r)", "(tm)"})
        for (auto at = name.find(mark); at != std::string::npos; at = name.find(mark)) name.erase(at, mark.size());
    return name;
}

}  // namespace

RunHistory read_run_history(const std::filesystem::path& directory) {
    RunHistory h;
    h.directory = directory;
    const auto texts = run_texts(directory);
    h.run_file = texts.run_file.value_or("");
    if (!texts.record) {
        h.notes.emplace_back("There is no record.json that can be read, so speed, device and status are not known.");
        return h;
    }
    try {
        h.record = io::parse_json(*texts.record, directory / "record.json");
        KS_VALIDATE(h.record.is_object(), "record.json is damaged");
    } catch (const InputError& error) {
        h.record = nullptr;
        h.notes.push_back("The record cannot be read: " + error.problems()[0].message + "; speed, device and status are not known.");
    }
    return h;
}

std::string html(RunPage p, const RunHistory& h) {
    report::Page page{.title = p.head.title.empty() ? h.directory.filename().string() : p.head.title,
                      .eyebrow = "kasane run report " + status_badge(p),
                      .style = p.style,
                      .head = "<p class=\"lead\">" + p.lead + "</p>\n" + report::tiles(p.tiles),
                      .script = p.script};
    page.body = std::move(p.body);  // many MB with a film
    page.body.insert(0, status_remarks(p, h));
    page.body += "<section>\n<h2>Facts</h2>\n" + fact_table(p) + run_file_details(h.run_file) + command_list(p, h) +
                 paper_list(p.head.papers) + "</section>\n";
    return report::html(page);
}

std::vector<std::pair<std::string, double>> timed_parts(const Record& record) {
    std::vector<std::pair<std::string, double>> parts;
    for (const auto& [name, part] : record.timers)
        if (name != "output") parts.emplace_back(name, part.seconds);  // the output thread runs beside the other parts
    std::ranges::stable_sort(parts, std::greater(), [](const auto& part) { return part.second; });
    return parts;
}

std::string machine_text(const Record& head, std::int64_t workers) {
    if (head.device.name.empty()) return "";
    const auto name = without_marks(head.device.name);
    if (head.device.kind == "cpu" && head.threads > 0) return counted(workers * head.threads, "thread", "threads") + " of " + name;
    return (workers == 1 ? "one" : grouped(workers)) + " " + name;
}

}  // namespace kasane::run
