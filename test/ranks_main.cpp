// The main of the programs that run under an MPI launcher (*.ranks.test.cpp): every rank runs every test, in step. The root rank
// prints the tests, and every rank its failures. A rank that leaves a test early ends the run: the others may be waiting for it.
#include <kasane/core/base/error.hpp>
#include <kasane/core/comm/communicator.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <thread>

namespace {

using namespace kasane;

class RankPrinter : public testing::EmptyTestEventListener {
   public:
    explicit RankPrinter(comm::Communicator& ranks) : ranks_(ranks) {}
    void OnTestStart(const testing::TestInfo& test) override { test_ = &test; }
    void OnTestEnd(const testing::TestInfo&) override { test_ = nullptr; }
    void OnTestPartResult(const testing::TestPartResult& result) override {
        if (!result.failed()) return;
        // GoogleTest, which has the present test too, is locked while it calls this.
        std::fprintf(stderr, "rank %d of %d, %s.%s: %s:%d: %s\n", ranks_.rank(), ranks_.size(), test_ ? test_->test_suite_name() : "",
                     test_ ? test_->name() : "", result.file_name() ? result.file_name() : "", result.line_number(), result.summary());
        if (!result.fatally_failed() || ranks_.size() == 1) return;
        std::fflush(nullptr);
        std::this_thread::sleep_for(std::chrono::milliseconds(500));  // others that fail here too have their say
        ranks_.abort(1);
    }

   private:
    comm::Communicator& ranks_;
    const testing::TestInfo* test_ = nullptr;
};

}  // namespace

int main(int argc, char** argv) try {
    testing::InitGoogleTest(&argc, argv);
    auto& ranks = comm::world();
    auto& listeners = testing::UnitTest::GetInstance()->listeners();
    if (ranks.rank() != 0) delete listeners.Release(listeners.default_result_printer());
    listeners.Append(new RankPrinter(ranks));
    std::uint64_t failed = RUN_ALL_TESTS() != 0;
    ranks.all_reduce({&failed, 1}, comm::Reduce::max);
    return failed ? 1 : 0;
} catch (const InputError& error) {  // there are no ranks
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
}
