// kasane bench: benchmarks with their bound and error, as a table, as a JSON record and as a page with plots.
#include <app/command.hpp>
#include <bench/benchmarks.hpp>
#include <bench/page.hpp>

#include <kasane/core/base/error.hpp>
#include <kasane/core/comm/communicator.hpp>
#include <kasane/core/io/atomic_file.hpp>
#include <kasane/core/io/input_file.hpp>
#include <kasane/perf/simd.hpp>

#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <memory>

namespace kasane::app {
namespace {

namespace fs = std::filesystem;

struct BenchOptions {
    std::vector<std::string> cases;
    std::vector<index_t> sizes;
    std::string record, page, from, simd;
    int workers = 0;
    bool list = false, quick = false;
};

void write_page(const std::string& file, const std::string& record, const std::string& source) {
    write_atomically(file, bench::page(bench::read_record(record, source, bench::all())));
}

bool same_file(const std::string& a, const std::string& b) {
    std::error_code ignored;
    return fs::equivalent(a, b, ignored) || fs::absolute(a).lexically_normal() == fs::absolute(b).lexically_normal();
}

/// Checks before the measurement that record and page can be written. @throws InputError
void check_outputs(const BenchOptions& options) {
    KS_VALIDATE(options.record.empty() || options.page.empty() || !same_file(options.record, options.page),
                "is the file of --json, too: give the page another name", {options.page, 0, 0, "--page"});
    for (const auto& file : {options.record, options.page})
        if (!file.empty()) AtomicFile probe(file);
}

/// Writes the page of an earlier record.
int page_from(const BenchOptions& options) {
    KS_VALIDATE(!options.page.empty(), "--from " + options.from + " makes a page of this record: name the page with --page FILE");
    KS_VALIDATE(options.cases.empty() && options.sizes.empty() && options.record.empty(),
                "--from " + options.from + " measures nothing: give only --page with it");
    KS_VALIDATE(!same_file(options.from, options.page), "is the record of --from: give the page another name",
                {options.page, 0, 0, "--page"});
    constexpr std::uint64_t largest_record = 256u << 20;  // bytes
    write_page(options.page, io::read_text_file(options.from, largest_record, "a record of `kasane bench --json`"), options.from);
    return success;
}

void print_row(const BenchmarkResult& r) {
    constexpr const char* none = "–";
    const auto bound = r.bound > 0 ? fmt::format("{:.1f}", 1e-9 * r.bound) : none;
    const auto of_bound = r.bound > 0 ? fmt::format("{:.0f} %", 100 * r.bound_fraction()) : none;
    const auto error = std::isnan(r.error) ? none : fmt::format("{:.1e}", r.error);
    fmt::print("{:<46} {:>9} {:>11.3e} {:>10.3e} {:>8.2f} {:>7} {:>9} {:>6.1f} % {:>9}", r.name, r.n, r.seconds, r.rate, r.tflops, bound,
               of_bound, 100 * r.spread, error);
    for (const auto& [key, value] : r.more) fmt::print("  {} {:.4g}", key, value);
    if (!r.note.empty()) fmt::print("  ({})", r.note);
    fmt::print("\n");
    std::fflush(stdout);
}

/// The beginning of a benchmark's description; table and page have all of it.
std::string headline(const std::string& head) {
    constexpr std::size_t most = 100;  // characters
    return head.size() <= most ? head : head.substr(0, head.rfind(' ', most)) + " ...";
}

int bench(const Common& common, const BenchOptions& options) {
    // All ranks measure, only the root rank reports.
    const bool several = comm::launched_with_ranks(), leads = !several || comm::world().rank() == 0;
    if (!options.from.empty()) return leads ? page_from(options) : success;
    const auto chosen = selected(bench::all(), options.cases);
    if (options.list) {
        if (!leads) return success;
        for (const auto& benchmark : chosen) fmt::print("{:<44} {}\n", benchmark.name, headline(benchmark.head));
        return success;
    }
    if (!options.simd.empty()) select_simd_target(options.simd);
    for (const auto& benchmark : chosen)
        KS_VALIDATE(benchmark.on_ranks || !several,
                    benchmark.name +
                        " measures one process, and this is one of several ranks: start it without mpirun, or run "
                        "gravity.direct.scaling");
    if (leads) check_outputs(options);
    const auto space = common.space();
    const bool table = leads && !common.quiet && (!common.json || !options.record.empty());
    std::vector<BenchmarkResult> results;
    for (const auto& benchmark : chosen) {
        std::string bounds;
        bool first = true;
        const auto report = [&](const BenchmarkResult& result) {
            results.push_back(result);
            // Written at every row, so that a benchmark that is stopped leaves the rows that it has measured.
            if (leads && !options.record.empty()) write_atomically(options.record, benchmark_record(space, results));
            if (!table) return;
            if (first) {
                fmt::print("\n{}\n{}: {}\n\n", benchmark.name, device_info(space).name, benchmark.head);
                fmt::print("{:<46} {:>9} {:>11} {:>10} {:>8} {:>7} {:>9} {:>8} {:>9}\n", "case", "n", "seconds", "rate 1/s", "TFLOPS",
                           "G bound", "of bound", "spread", "error");
                first = false;
            }
            if (bounds.find(result.bound_reason) == std::string::npos) {
                fmt::print("# bound: {}\n", result.bound_reason);
                bounds += result.bound_reason + "\n";
            }
            print_row(result);
        };
        benchmark.run({space, options.sizes, common.device_or_auto(), common.threads_or_all(), options.workers, options.quick, report});
    }
    if (!leads) return success;
    KS_VALIDATE(!results.empty(), "none of these benchmarks runs on the device '" + name(space) + "'; kasane bench --list names all");
    const auto record = benchmark_record(space, results);
    if (options.record.empty() && common.json) fmt::print("{}", record);
    if (!options.page.empty()) write_page(options.page, record, "the record");
    return success;
}

}  // namespace

Action add_bench(CLI::App& app, const Common& common) {
    auto options = std::make_shared<BenchOptions>();
    app.add_option("CASE", options->cases, "Names, or beginnings of names: gravity.direct; default: all");
    app.add_option("--n", options->sizes, "Problem sizes, separated by commas")
        ->delimiter(',')
        ->check(whole_number(1, std::numeric_limits<index_t>::max()));
    app.add_option("--simd", options->simd, "Instruction set of the CPU's kernels: AVX2, AVX3 (AVX-512), ...; default: the best")
        ->type_name("NAME");
    app.add_option("--members", options->workers,
                   "gravity.direct.scaling: workers of each rank, one device per worker; default: all devices of the machine, or one per "
                   "rank on several ranks")
        ->check(whole_number(1, 1024))
        ->default_str("");
    app.add_flag("--quick", options->quick,
                 "gravity.direct.scaling, gravity.tree.m31: a look in seconds, with smaller sizes, fewer values and shorter runs");
    app.add_flag("--list", options->list, "List the benchmarks");
    app.remove_option(app.get_option("--json"));
    app.add_option("--json", options->record, "Write the record to this file; without one, to standard output")->expected(0, 1);
    app.add_option("--page", options->page, "Write a page with plots to this file (HTML, self-contained)")->type_name("FILE");
    app.add_option("--from", options->from, "Make the page of this record; measure nothing")->type_name("FILE");
    return [options, &common] { return bench(common, *options); };
}

}  // namespace kasane::app
