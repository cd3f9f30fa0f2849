// Which code of the device's iteration is quickest: barriers, caches, rows fetched together, threads; launches; formats; set-up.
// A program of its own: choice [cells = 128]. One line of JSON per measurement.
#include <kasane/sparse/engine.hpp>
#include <kasane/sparse/iterate/run.cuda.hpp>
#include <kasane/sparse/order/on_device.hpp>
#include <kasane/sparse/poisson/poisson.hpp>
#include <kasane/sparse/solver.hpp>

#include <cstdio>
#include <cstdlib>
#include <functional>

using namespace kasane;
using namespace kasane::sparse;
using namespace kasane::sparse::device;

namespace {

double triad = 1;

__global__ void triad_kernel(const double* a, const double* b, double* c, long n) {
    for (long i = blockIdx.x * static_cast<long>(blockDim.x) + threadIdx.x; i < n; i += static_cast<long>(gridDim.x) * blockDim.x) c[i] = a[i] + 3 * b[i];
}

double seconds_of(int times, const std::function<void()>& work) {
    cudaEvent_t begin, end;
    KS_CUDA(cudaEventCreate(&begin));
    KS_CUDA(cudaEventCreate(&end));
    work();
    KS_CUDA(cudaEventRecord(begin));
    for (int k = 0; k < times; ++k) work();
    KS_CUDA(cudaEventRecord(end));
    KS_CUDA(cudaEventSynchronize(end));
    float ms = 0;
    KS_CUDA(cudaEventElapsedTime(&ms, begin, end));
    return 1e-3 * ms / times;
}

void measure_triad() {
    const long n = 1 << 27;
    Buffer<double, Cuda> a(Cuda{}, n), b(Cuda{}, n), c(Cuda{}, n);
    KS_CUDA(cudaMemset(a.data(), 0, n * 8));
    KS_CUDA(cudaMemset(b.data(), 0, n * 8));
    const double s = seconds_of(20, [&] { triad_kernel<<<132 * 8, 512>>>(a.data(), b.data(), c.data(), n); });
    triad = 24. * n / s;
    std::printf("{\"what\":\"triad\",\"TB/s\":%.3f}\n", triad * 1e-12);
}

template <Meeting kind, bool summed>
__global__ void __launch_bounds__(1024, 1) meet_often(MeetingPlace place, int times, double* out) {
    __shared__ BlockSums sums;
    __shared__ double total;
    GridBarrier<kind> barrier(place, sums);
    for (int k = 0; k < times; ++k) {
        if constexpr (summed) barrier.sum({1, 2}, [] {}, [&](const Sums& s) { total = s.a; });
        else barrier.wait([] {});
    }
    if (summed && blockIdx.x == 0 && threadIdx.x == 0) *out = total;
}

template <Meeting kind, bool summed>
void measure_barrier(const char* name, int block, int blocks_per_unit) {
    const unsigned grid = units_of(Cuda{}) * blocks_per_unit;
    Buffer<std::byte, Cuda> memory(Cuda{}, 2 * sizeof(Slot) * grid + 64);
    auto* const slots = reinterpret_cast<Slot*>(memory.data());
    const MeetingPlace place{reinterpret_cast<unsigned*>(slots + 2 * grid), slots};
    Buffer<double, Cuda> out(Cuda{}, 1);
    const int times = 2000;
    const double s = seconds_of(5, [&] {
        KS_CUDA(cudaMemsetAsync(memory.data(), 0, memory.size()));
        launch(Beside::all_blocks, grid, block, nullptr, meet_often<kind, summed>, place, times, out.data());
    });
    std::printf("{\"what\":\"barrier\",\"kind\":\"%s\",\"sum\":%d,\"block\":%d,\"blocks_per_unit\":%d,\"us\":%.3f}\n", name, summed, block, blocks_per_unit,
                s / times * 1e6);
}

template <Stream stream, int together, bool tied, Meeting meeting_, int block_, int blocks_, int prefetch_, bool programmatic_ = false>
struct How {
    using Tune = device::Tune<stream, together, tied>;
    static constexpr Meeting meeting = meeting_;
    static constexpr int block = block_, blocks_per_unit = blocks_, prefetch = prefetch_;
    static constexpr bool programmatic = programmatic_;
};

struct There {
    Buffer<index_t, Cuda> begin;
    Buffer<std::int32_t, Cuda> column;
    Buffer<double, Cuda> value;
    index_t rows;
    explicit There(const CsrMatrix& A) : begin(to_space(Cuda{}, A.begin)), column(to_space(Cuda{}, A.column)), value(to_space(Cuda{}, A.value)), rows(A.rows()) {}
    CsrView view() const { return {rows, begin.data(), column.data(), value.data()}; }
};

Engine<Cuda> engine_for(const There& A, const char* ordering, const char* format, Numbering numbering = Numbering::coalesced) {
    SolverOptions options;
    options.ordering = Ordering::parse(ordering);
    options.format = Format::parse(format);
    options.numbering = numbering;
    options.launch = Launch::cooperative;
    options.tune = false;
    std::string note;
    auto order = cm_rcm_on_device(Cuda{}, A.view(), options.ordering.colors, note);
    PartTimes times;
    auto engine = make_engine(Cuda{}, A.view(), std::move(*order), options, times);
    Buffer<double, Cuda> ones = to_space(Cuda{}, std::vector<double>(static_cast<std::size_t>(engine.vectors.b.size()), 1.));
    KS_CUDA(cudaMemcpy(engine.vectors.b.data(), ones.data(), ones.size() * 8, cudaMemcpyDeviceToDevice));
    return engine;
}

template <template <class> class Rows, class How>
void measure(const char* name, Engine<Cuda>& engine, Iteration iteration, Launch launch, const char* ordering, const char* format) {
    IterationTask task;
    task.iteration = iteration;
    task.launch = launch;
    double best = 1e9;
    int iterations = 0;
    try {
        for (int again = 0; again < 3; ++again) {
            KS_CUDA(cudaMemset(engine.vectors.x.data(), 0, engine.vectors.x.size() * 8));
            task.limit = again == 0 ? 20 : 150;
            const auto log = Run<Rows, double, How>(engine.system, engine.vectors, task)();
            iterations = log.iterations;
            best = std::min(best, log.seconds / std::max(1, log.iterations));
        }
    } catch (const std::exception& error) {
        std::printf("{\"what\":\"iteration\",\"variant\":\"%s\",\"error\":\"%s\"}\n", name, error.what());
        static_cast<void>(cudaGetLastError());
        return;
    }
    const double bytes = bytes_per_iteration(engine.system, iteration);
    std::printf("{\"what\":\"iteration\",\"variant\":\"%s\",\"iteration\":\"%s\",\"launch\":\"%s\",\"ordering\":\"%s\",\"format\":\"%s\",\"us\":%.2f,"
                "\"MB\":%.1f,\"of_triad\":%.3f,\"iterations\":%d}\n",
                name, kasane::sparse::name(iteration).c_str(), kasane::sparse::name(launch).c_str(), ordering, format, best * 1e6, bytes * 1e-6,
                bytes / best / triad, iterations);
    std::fflush(stdout);
}

using Base = How<Stream::evict_first, 6, true, Meeting::slots, 1024, 1, 1>;

/// Each differs from Base in one thing.
template <template <class> class Rows>
void measure_all(Engine<Cuda>& engine, Iteration iteration, const char* ordering, const char* format) {
    const auto m = [&]<class H>(H, const char* name) { measure<Rows, H>(name, engine, iteration, Launch::cooperative, ordering, format); };
    m(Base{}, "base");
    m(How<Stream::plain, 6, true, Meeting::slots, 1024, 1, 1>{}, "plain loads");
    m(How<Stream::evict_first, 6, false, Meeting::slots, 1024, 1, 1>{}, "untied");
    m(How<Stream::evict_first, 6, true, Meeting::slots, 1024, 1, 0>{}, "no prefetch");
    m(How<Stream::evict_first, 6, true, Meeting::slots, 1024, 1, 3>{}, "prefetch 3");
    m(How<Stream::evict_first, 6, true, Meeting::counter, 1024, 1, 1>{}, "counter");
    m(How<Stream::evict_first, 6, true, Meeting::slots_acquire, 1024, 1, 1>{}, "slots that acquire");
    m(How<Stream::evict_first, 6, true, Meeting::library, 1024, 1, 1>{}, "library's barrier");
    m(How<Stream::evict_first, 6, true, Meeting::slots, 512, 2, 1>{}, "512 x 2");
    m(How<Stream::evict_first, 6, true, Meeting::counter, 256, 4, 1>{}, "256 x 4, counter");
    m(How<Stream::evict_first, 3, true, Meeting::slots, 1024, 1, 1>{}, "3 together");
    m(How<Stream::evict_first, 3, true, Meeting::slots, 640, 2, 1>{}, "3 together, 640 x 2");
    m(How<Stream::evict_first, 3, true, Meeting::slots, 768, 2, 1>{}, "3 together, 768 x 2");
}
template <template <class> class Rows>
void measure_graphs(Engine<Cuda>& engine, Iteration iteration, const char* ordering, const char* format) {
    measure<Rows, Base>("graph", engine, iteration, Launch::graph, ordering, format);
    measure<Rows, How<Stream::evict_first, 6, true, Meeting::slots, 1024, 1, 1, true>>("graph, programmatic", engine, iteration, Launch::graph, ordering,
                                                                                         format);
}

/// Set-up, part by part.
void measure_setup(const There& A) {
    for (int again = 0; again < 2; ++again) {
        Stopwatch watch;
        const auto lap = [&](const char* part) {
            synchronize(Cuda{});
            std::printf("{\"what\":\"set-up\",\"again\":%d,\"part\":\"%s\",\"ms\":%.3f}\n", again, part, watch.seconds() * 1e3);
            watch.restart();
        };
        check_on_device(Cuda{}, A.view());
        lap("check");
        std::string note;
        auto order = cm_rcm_on_device(Cuda{}, A.view(), 2, note);
        lap("cm-rcm:2");
        SolverOptions options;
        options.ordering = Ordering::parse("cm-rcm:2");
        options.format = Format::parse("sell:32");
        options.numbering = Numbering::coalesced;
        options.launch = Launch::cooperative;
        PartTimes times;
        const auto engine = make_engine(Cuda{}, A.view(), std::move(*order), options, times);
        for (const auto& [part, seconds] : times.parts())
            std::printf("{\"what\":\"set-up\",\"again\":%d,\"part\":\"%s\",\"ms\":%.3f}\n", again, part.c_str(), seconds * 1e3);
    }
}

}  // namespace

int main(int argc, char** argv) {
    const index_t cells = argc > 1 ? std::atol(argv[1]) : 128;
    try {
        measure_triad();
        measure_barrier<Meeting::slots, false>("slots", 1024, 1);
        measure_barrier<Meeting::slots, true>("slots", 1024, 1);
        measure_barrier<Meeting::slots_acquire, true>("slots_acquire", 1024, 1);
        measure_barrier<Meeting::counter, false>("counter", 1024, 1);
        measure_barrier<Meeting::counter, true>("counter", 1024, 1);
        measure_barrier<Meeting::library, false>("library", 1024, 1);
        measure_barrier<Meeting::library, true>("library", 1024, 1);
        measure_barrier<Meeting::slots, true>("slots", 512, 2);
        measure_barrier<Meeting::counter, true>("counter", 512, 2);
        measure_barrier<Meeting::slots, true>("slots", 256, 1);
        measure_barrier<Meeting::counter, true>("counter", 256, 4);

        PoissonProblem problem;
        problem.cells = {cells, cells, cells};
        const There A(poisson_matrix(problem));
        measure_setup(A);
        {
            auto engine = engine_for(A, "cm-rcm:2", "sliced-ell");
            measure_all<SliceRows>(engine, Iteration::reduced, "cm-rcm:2", "sliced-ell");
            measure_all<SliceRows>(engine, Iteration::eisenstat, "cm-rcm:2", "sliced-ell");
            measure_all<SliceRows>(engine, Iteration::plain, "cm-rcm:2", "sliced-ell");
            for (const auto iteration : {Iteration::reduced, Iteration::eisenstat, Iteration::plain})
                measure_graphs<SliceRows>(engine, iteration, "cm-rcm:2", "sliced-ell");
        }
        {
            auto engine = engine_for(A, "cm-rcm:8", "sliced-ell");
            measure_all<SliceRows>(engine, Iteration::eisenstat, "cm-rcm:8", "sliced-ell");
            measure_graphs<SliceRows>(engine, Iteration::eisenstat, "cm-rcm:8", "sliced-ell");
        }
        for (const char* ordering : {"cm-rcm:3", "cm-rcm:4", "cm-rcm:6", "cm-rcm:12", "cm-rcm:20"}) {
            auto engine = engine_for(A, ordering, "sliced-ell");
            measure<SliceRows, Base>("base", engine, Iteration::eisenstat, Launch::cooperative, ordering, "sliced-ell");
        }
        for (const char* ordering : {"cm-rcm:2", "cm-rcm:8"}) {
            for (const char* format : {"sell:32", "sell:64", "sell:128", "sell:256", "sell:32:1024"}) {
                auto engine = engine_for(A, ordering, format);
                if (engine.system.layout.colors == 2) measure<SellRows, Base>("base", engine, Iteration::reduced, Launch::cooperative, ordering, format);
                measure<SellRows, Base>("base", engine, Iteration::eisenstat, Launch::cooperative, ordering, format);
            }
            auto engine = engine_for(A, ordering, "csr");
            if (engine.system.layout.colors == 2) measure<CsrRows, Base>("base", engine, Iteration::reduced, Launch::cooperative, ordering, "csr");
            measure<CsrRows, Base>("base", engine, Iteration::eisenstat, Launch::cooperative, ordering, "csr");
            auto sequential = engine_for(A, ordering, "sliced-ell", Numbering::sequential);
            measure<SliceRows, Base>("sequential", sequential, Iteration::eisenstat, Launch::cooperative, ordering, "sliced-ell");
        }
    } catch (const std::exception& error) {
        std::printf("%s\n", error.what());
        return 1;
    }
}
