// The nodes above the parts of a merged tree.
#include <kasane/gravity/domain/merged_tree.hpp>

#include <gtest/gtest.h>

#include <vector>

namespace kasane::gravity {
namespace {

TEST(TreeTop, ReachesEveryPartOnceByLinksAndByNext) {
    for (const std::uint32_t parts : {1u, 2u, 3u, 7u, 8u, 9u, 10u, 64u, 65u, 72u, 73u, 513u, 1000u}) {
        SCOPED_TRACE(parts);
        const auto top = tree_top(parts);
        const auto above = static_cast<std::uint32_t>(top.link.size());
        ASSERT_EQ(top.next.size(), above + parts);
        // Depth first by links: the order of the parts, and what follows a subtree is its `next`.
        std::vector<std::uint32_t> stack{0}, order;
        while (!stack.empty()) {
            const auto node = stack.back();
            stack.pop_back();
            EXPECT_EQ(top.next[node], stack.empty() ? TreeTop::end : stack.back()) << "node " << node;
            if (node >= above)
                order.push_back(node - above);
            else
                for (std::uint32_t k = child_count(top.link[node]); k-- > 0;) stack.push_back(first_child(top.link[node]) + k);
        }
        ASSERT_EQ(order.size(), parts);
        for (std::uint32_t k = 0; k < parts; ++k) EXPECT_EQ(order[k], k);
    }
}

}  // namespace
}  // namespace kasane::gravity
