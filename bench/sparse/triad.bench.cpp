// sparse.triad: the speed of the memory; the bound of all other studies of the module.
#include <bench/sparse/sparse_studies.hpp>

namespace kasane::bench {

Benchmark sparse_triad(const SharedSparse& shared) {
    return {
        "sparse.triad",
        "The memory's speed: `triad` is a = b + s c in double, 24 bytes per element counted as STREAM does (lines that a processor reads "
        "before it writes them are not counted); `read` is the sum of b c, 16 bytes per element. Arrays of four times the last cache, all "
        "three at most a fifth of the free memory (`array_bytes`, `cache_bytes`); the best of a few passes. On a CPU with one thread and "
        "with all; `gain` is over one. The other studies are bounded by the triad of their own run.",
        [shared](const BenchmarkContext& context) {
            double alone[2] = {};
            for (const auto& on : with_threads(context.space)) {
                const auto& speed = shared->speed(on);
                const auto elements = speed.array_bytes / sizeof(double);
                for (const bool read : {false, true}) {
                    BenchmarkResult row;
                    row.name = std::string("sparse.triad, ") + (read ? "read" : "triad") + threads_label(on);
                    row.n = static_cast<index_t>(elements);
                    row.rate = read ? speed.read : speed.triad;
                    row.unit = "bytes/s";
                    row.seconds = (read ? 16. : 24.) * static_cast<double>(elements) / row.rate;
                    if (alone[read] == 0) alone[read] = row.rate;
                    row.more = {{"gain", row.rate / alone[read]},
                                {"array_bytes", static_cast<double>(speed.array_bytes)},
                                {"cache_bytes", static_cast<double>(speed.cache_bytes)}};
                    if (!context.sizes.empty()) row.note = "--n has no effect: the caches give the size";
                    context.report(row);
                }
            }
        }};
}

}  // namespace kasane::bench
