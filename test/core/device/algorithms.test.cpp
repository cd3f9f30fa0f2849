// Sort, scan and select on every space against the standard library's, at sizes around the blocks and the threads' shares; and for
// any number of threads.
#include <kasane/core/device/algorithms.hpp>
#include <kasane/core/math/random.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace kasane {
namespace {

constexpr index_t sizes[] = {1, 2, 31, 4097, 100'003};

struct Pairs {
    std::vector<std::uint64_t> key;
    std::vector<std::uint32_t> value;
    bool operator==(const Pairs&) const = default;
};

/// Values stand for the original places of the keys, scrambled so that they do not form a sequence.
Pairs pairs(index_t n, std::uint64_t mask) {
    Pairs out;
    for (index_t i = 0; i < n; ++i) {
        out.key.push_back(random_bits(7, 1, static_cast<std::uint64_t>(i)).low & mask);
        out.value.push_back(static_cast<std::uint32_t>(i) * 2654435761u);
    }
    return out;
}

Pairs sorted(const Pairs& from) {
    std::vector<std::size_t> place(from.key.size());
    std::iota(place.begin(), place.end(), std::size_t{0});
    std::stable_sort(place.begin(), place.end(), [&](auto a, auto b) { return from.key[a] < from.key[b]; });
    Pairs out;
    for (const auto i : place) out.key.push_back(from.key[i]), out.value.push_back(from.value[i]);
    return out;
}

Pairs sorted_on(const AnySpace& space, const Pairs& from, int bits) {
    return std::visit(
        [&]<Space S>(S on) {
            auto key = to_space(on, from.key);
            auto value = to_space(on, from.value);
            Buffer<std::uint64_t, S> key_scratch(on, key.size());
            Buffer<std::uint32_t, S> value_scratch(on, key.size());
            Workspace<S> work(on);
            sort_by_key(on, work, key.view(), value.view(), key_scratch.view(), value_scratch.view(), bits);
            return Pairs{to_host(key), to_host(value)};
        },
        space);
}

std::vector<std::uint32_t> scanned_on(const AnySpace& space, const std::vector<std::uint32_t>& from, bool in_place) {
    return std::visit(
        [&]<Space S>(S on) {
            auto in = to_space(on, from);
            Buffer<std::uint32_t, S> out(on, in.size());
            Workspace<S> work(on);
            exclusive_scan(on, work, View<const std::uint32_t>(in.view()), in_place ? in.view() : out.view());
            return to_host(in_place ? in : out);
        },
        space);
}

std::vector<std::uint32_t> selected_on(const AnySpace& space, const std::vector<std::uint8_t>& flag) {
    return std::visit(
        [&]<Space S>(S on) {
            const auto flags = to_space(on, flag);
            Buffer<std::uint32_t, S> out(on, flags.size());
            auto count = to_space(on, std::vector<std::uint32_t>{77});
            Workspace<S> work(on);
            select_flagged(on, work, flags.view(), out.view(), count.view());
            auto found = to_host(out);
            const auto number = to_host(count)[0];
            EXPECT_LE(number, found.size());
            found.resize(std::min<std::size_t>(number, found.size()));
            // From a list of other numbers the same places are selected.
            std::vector<std::uint32_t> list(flag.size());
            for (std::size_t k = 0; k < list.size(); ++k) list[k] = 5 + 3 * static_cast<std::uint32_t>(k);
            const auto in = to_space(on, list);
            select_flagged(on, work, in.view(), flags.view(), out.view(), count.view());
            const auto elements = to_host(out);
            EXPECT_EQ(to_host(count)[0], number);
            for (std::size_t k = 0; k < found.size(); ++k) EXPECT_EQ(elements[k], 5 + 3 * found[k]);
            return found;
        },
        space);
}

class DeviceAlgorithms : public testing::TestWithParam<std::string> {
   protected:
    void SetUp() override {
        if (GetParam() == "cuda" && !why_no_cuda().empty()) GTEST_SKIP() << why_no_cuda();
        space_ = space_named(GetParam());
    }
    AnySpace space_;
};

TEST_P(DeviceAlgorithms, SortIsStable) {
    for (const index_t n : sizes) {
        SCOPED_TRACE(n);
        const auto distinct = pairs(n, ~std::uint64_t{0} >> 1);
        EXPECT_EQ(sorted_on(space_, distinct, 63), sorted(distinct));
        const auto repeated = pairs(n, 0x3f);
        EXPECT_EQ(sorted_on(space_, repeated, 6), sorted(repeated));
        const auto all_bits = pairs(n, ~std::uint64_t{0});
        EXPECT_EQ(sorted_on(space_, all_bits, 64), sorted(all_bits));
        const auto equal = pairs(n, 0);
        EXPECT_EQ(sorted_on(space_, equal, 63), equal);
        const auto in_order = sorted(distinct);
        EXPECT_EQ(sorted_on(space_, in_order, 63), in_order);
        auto reversed = in_order;
        std::reverse(reversed.key.begin(), reversed.key.end());
        EXPECT_EQ(sorted_on(space_, reversed, 63), sorted(reversed));
    }
}

/// Nearly all keys in one short range: an even division by leading bits would leave all the work to one thread, and wrong bounds
/// would show.
TEST_P(DeviceAlgorithms, SortsCrowdedKeys) {
    auto crowded = pairs(100'003, 0xfff);
    for (std::size_t i = 0; i < crowded.key.size(); i += 1000) crowded.key[i] = random_bits(7, 2, i).low >> 1;
    EXPECT_EQ(sorted_on(space_, crowded, 63), sorted(crowded));
}

TEST_P(DeviceAlgorithms, ScanSumsEarlierValues) {
    for (const index_t n : sizes) {
        std::vector<std::uint32_t> in, expected;
        for (index_t i = 0; i < n; ++i) in.push_back(static_cast<std::uint32_t>(random_bits(7, 3, static_cast<std::uint64_t>(i)).low % 9));
        expected.resize(in.size());
        std::exclusive_scan(in.begin(), in.end(), expected.begin(), 0u);
        EXPECT_EQ(scanned_on(space_, in, false), expected) << n;
        EXPECT_EQ(scanned_on(space_, in, true), expected) << n << " in place";
    }
    EXPECT_TRUE(scanned_on(space_, {}, false).empty());
}

TEST_P(DeviceAlgorithms, SelectKeepsTheFlagged) {
    for (const index_t n : sizes)
        for (const std::uint64_t one_in : {1, 2, 1000, 1'000'000'000}) {
            std::vector<std::uint8_t> flag;
            std::vector<std::uint32_t> expected;
            for (index_t i = 0; i < n; ++i) {
                // Any value but zero is a flag.
                const auto bits = random_bits(7, 4, static_cast<std::uint64_t>(i));
                flag.push_back(bits.low % one_in == 0 ? static_cast<std::uint8_t>(1 + bits.high % 255) : std::uint8_t{0});
                if (flag.back() != 0) expected.push_back(static_cast<std::uint32_t>(i));
            }
            EXPECT_EQ(selected_on(space_, flag), expected) << n << ", one in " << one_in;
        }
    EXPECT_TRUE(selected_on(space_, {}).empty());
}

std::vector<std::string> spaces() {
#if defined(KASANE_CUDA)
    return {"cpu", "cuda"};
#else
    return {"cpu"};
#endif
}

INSTANTIATE_TEST_SUITE_P(Core, DeviceAlgorithms, testing::ValuesIn(spaces()), [](const auto& space) { return space.param; });

TEST(DeviceAlgorithmsOnCpu, DoNotDependOnThreads) {
    const auto from = pairs(200'003, 0xffff);
    std::vector<std::uint8_t> flag;
    for (const auto key : from.key) flag.push_back(static_cast<std::uint8_t>(key & 1));
    const auto sort_expected = sorted(from);
    const auto scan_expected = scanned_on(Cpu{1}, from.value, false);
    const auto select_expected = selected_on(Cpu{1}, flag);
    for (const int threads : {1, 2, 3, 7}) {
        EXPECT_EQ(sorted_on(Cpu{threads}, from, 16), sort_expected) << threads;
        EXPECT_EQ(scanned_on(Cpu{threads}, from.value, true), scan_expected) << threads;
        EXPECT_EQ(selected_on(Cpu{threads}, flag), select_expected) << threads;
    }
}

}  // namespace
}  // namespace kasane
