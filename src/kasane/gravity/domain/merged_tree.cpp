#include <kasane/gravity/domain/merged_tree.hpp>

#include <algorithm>

namespace kasane::gravity {

TreeTop tree_top(std::uint32_t parts) {
    std::vector<std::uint32_t> size(1, parts);  // nodes of each level, from the root
    while (size.front() > 1) size.insert(size.begin(), (size.front() + 7) / 8);
    TreeTop top;
    std::uint32_t first = 0;
    for (std::size_t level = 0; level < size.size(); ++level) {
        const std::uint32_t children = first + size[level];  // first node of the next level
        for (std::uint32_t k = 0; k < size[level]; ++k) {
            if (level + 1 < size.size()) top.link.push_back((children + 8 * k) | (std::min(8u, size[level + 1] - 8 * k) - 1) << 29);
            const bool last = k % 8 == 7 || k + 1 == size[level];
            const std::uint32_t parent = level == 0 ? 0 : first - size[level - 1] + k / 8;
            top.next.push_back(level == 0 ? TreeTop::end : last ? top.next[parent] : first + k + 1);
        }
        first = children;
    }
    return top;
}

}  // namespace kasane::gravity
