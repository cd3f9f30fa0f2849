// The threads that iterate over rows are the ones that first write into their pages.
#include <kasane/sparse/format/first_touch.hpp>
#include <kasane/sparse/order/orders.hpp>
#include <kasane/sparse/prepared_system.hpp>
#include <sparse/box.hpp>

#include <gtest/gtest.h>

#include <omp.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <cmath>
#include <numeric>
#include <vector>

namespace kasane::sparse {
namespace {

constexpr std::size_t page = 4096;

/// Memory in small pages that nothing has written.
class NewPages {
   public:
    explicit NewPages(std::size_t count)
        : count_(count), memory_(mmap(nullptr, count * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
        madvise(memory_, count * page, MADV_NOHUGEPAGE);
    }
    ~NewPages() { munmap(memory_, count_ * page); }
    NewPages(const NewPages&) = delete;
    NewPages& operator=(const NewPages&) = delete;
    char* data() const { return static_cast<char*>(memory_); }
    /// The pages that have content, by the system's own account.
    std::vector<unsigned char> resident() const {
        std::vector<unsigned char> pages(count_);
        EXPECT_EQ(mincore(memory_, count_ * page, pages.data()), 0);
        for (auto& one : pages) one &= 1;
        return pages;
    }

   private:
    std::size_t count_;
    void* memory_;
};

PreparedSystem<Cpu> prepared(Cpu on, Numbering numbering, const CsrMatrix& A) {
    SolverOptions options;
    options.ordering = Ordering::parse("cm-rcm:12");
    options.numbering = numbering;
    options.format = Format::parse("sell:8:1");
    auto order = order_rows(A.view(), options.ordering);
    PartTimes times;
    return prepare_system(on, A.view(), {to_space(on, order.row), order.color_begin, order.steps}, options, times);
}

TEST(FirstTouch, AThreadWritesThePagesThatBeginInItsRows) {
    const auto A = box_matrix({24, 24, 24});
    for (const auto numbering : {Numbering::coalesced, Numbering::sequential}) {
        const int threads = 3;
        const auto system = prepared(Cpu{threads}, numbering, A);
        const auto& layout = system.system.layout;
        const PartShares shares{layout.shape.parts, threads};
        constexpr std::size_t bytes = 40, offset = 128;  // of a row; of the array in its first page
        const std::size_t pages = (offset + static_cast<std::size_t>(layout.padded) * bytes + page - 1) / page;
        // From the layout alone: the thread of a row is that of its part, and that of a page the one of the row of its first byte.
        std::vector<int> owner(static_cast<std::size_t>(layout.padded), -1);
        for (int c = 0; c < layout.colors; ++c)
            for (int p = 0; p < layout.shape.parts; ++p)
                for (index_t row = layout.at(c, p).begin; row < layout.at(c, p).end; ++row) {
                    int thread = 0;
                    while (layout.shape.parts * (thread + 1) / threads <= p) ++thread;
                    owner[static_cast<std::size_t>(row)] = thread;
                }
        for (int thread = 0; thread < threads; ++thread) {
            const NewPages memory(pages);
            each_own_segment(layout, shares, thread, [&](std::size_t segment) {
                const auto rows = layout.segment[segment];
                touch_pages_of(memory.data() + offset,
                               {static_cast<std::size_t>(rows.begin) * bytes, static_cast<std::size_t>(rows.end) * bytes}, page);
            });
            const auto resident = memory.resident();
            for (std::size_t k = 0; k < pages; ++k) {
                const std::size_t first_byte = k == 0 ? 0 : k * page - offset;
                ASSERT_EQ(resident[k] != 0, owner[first_byte / bytes] == thread)
                    << "page " << k << ", thread " << thread << ", " << name(numbering);
            }
        }
    }
}

/// Faults of the calling thread that took a new page.
long faults() {
    rusage usage{};
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_minflt;
}

TEST(FirstTouch, ThreadsTakeTheFaultsOfTheirRows) {
#if defined(__SANITIZE_ADDRESS__)
    GTEST_SKIP() << "AddressSanitizer's own memory takes faults, too: test a build without KASANE_SANITIZE";
#endif
    const Cpu on{2};
    const auto A = box_matrix({64, 32, 32});  // least_rows
    for (const auto numbering : {Numbering::coalesced, Numbering::sequential}) {
        const auto system = prepared(on, numbering, A);
        const auto& layout = system.system.layout;
        constexpr std::size_t bytes = 512;
        const std::size_t pages = static_cast<std::size_t>(layout.padded) * bytes / page;
        const NewPages memory(pages);
        std::vector<long> before(2), after(2);
        int team = 1;
#pragma omp parallel num_threads(2)
        {
            before[static_cast<std::size_t>(omp_get_thread_num())] = faults();
#pragma omp single
            team = omp_get_num_threads();
        }
        if (team < 2) GTEST_SKIP() << "OpenMP starts one thread here: set OMP_THREAD_LIMIT to 2 or more, or unset it";
        place_rows(on, layout, {{memory.data(), bytes}});
#pragma omp parallel num_threads(2)
        after[static_cast<std::size_t>(omp_get_thread_num())] = faults();
        const auto resident = memory.resident();
        EXPECT_EQ(std::accumulate(resident.begin(), resident.end(), std::size_t{0}), pages);
        const auto half = static_cast<double>(pages) / 2;
        for (std::size_t t = 0; t < 2; ++t)
            EXPECT_NEAR(static_cast<double>(after[t] - before[t]), half, 0.05 * half) << t << name(numbering);
    }
}

/// Arrays are placed before they are filled: the norm of the recurrence is that of b - A x by the user's matrix.
TEST(FirstTouch, EveryFormatHasItsEntriesAfterwards) {
    const auto A = box_matrix({48, 48, 32});
    for (const char* format : {"csr", "ell", "sliced-ell", "sell:8:1"})
        for (const auto numbering : {Numbering::coalesced, Numbering::sequential}) {
            SolverOptions options;
            options.ordering = Ordering::parse("cm-rcm:4");
            options.numbering = numbering;
            options.format = Format::parse(format);
            options.iteration = Iteration::plain;
            options.single_factor = options.format.kind == FormatKind::sell;
            const Cpu on{2};
            const auto order = order_rows(A.view(), options.ordering);
            PartTimes times;
            auto of = prepare_system(on, A.view(), {to_space(on, order.row), order.color_begin, order.steps}, options, times);
            const auto* const old_row = of.system.layout.old_row.data();
            const auto* const scale = of.system.scale.data();
            for (index_t i = 0; i < of.system.layout.padded; ++i)
                of.vectors.x.data()[i] = 0, of.vectors.b.data()[i] = old_row[i] < 0 ? 0 : 1;
            IterationTask task;
            task.limit = 3;
            const double norm = iterate(of.system, of.vectors, task).norm;
            std::vector<double> x(static_cast<std::size_t>(A.rows())), r(x.size());
            for (index_t i = 0; i < of.system.layout.padded; ++i)
                if (const auto old = old_row[i]; old >= 0) {
                    x[static_cast<std::size_t>(old)] = scale[i] * of.vectors.x.data()[i];
                    r[static_cast<std::size_t>(old)] = 1 / scale[i];
                }
            double sum = 0;
            const auto view = A.view();
            for (index_t row = 0; row < A.rows(); ++row) {
                double rest = r[static_cast<std::size_t>(row)];
                for (index_t e = view.begin(row); e < view.end(row); ++e)
                    rest -= view.value[e] * x[static_cast<std::size_t>(view.column(e))];
                sum += rest * rest;
            }
            EXPECT_NEAR(norm, std::sqrt(sum), 1e-12 * norm) << format << ", " << name(numbering);
        }
}

}  // namespace
}  // namespace kasane::sparse
