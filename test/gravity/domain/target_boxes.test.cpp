// Boxes of targets on every space: they hold the targets, tightly, and their groups and the box around all hold them. LETs that are made
// for several domains at once are those that are made one by one.
#include <gravity/domain/domain_cases.hpp>
#include <gravity/space_test.hpp>

#include <kasane/gravity/domain/essential_tree.hpp>
#include <kasane/gravity/domain/target_boxes.hpp>

#include <array>

namespace kasane::test {
namespace {

bool holds(const TargetBox& box, const Body& b, float a) {
    return b.x >= box.low_x && b.x <= box.high_x && b.y >= box.low_y && b.y <= box.high_y && b.z >= box.low_z && b.z <= box.high_z &&
           a >= box.acceleration;
}
bool same(const TargetBox& a, const TargetBox& b) {
    return a.low_x == b.low_x && a.low_y == b.low_y && a.low_z == b.low_z && a.high_x == b.high_x && a.high_y == b.high_y &&
           a.high_z == b.high_z && a.acceleration == b.acceleration;
}
constexpr float inf = std::numeric_limits<float>::infinity();
TargetBox none() { return {inf, inf, inf, inf, -inf, -inf, -inf, 0}; }
void include(TargetBox& to, const TargetBox& box) {
    to = {std::min(to.low_x, box.low_x),   std::min(to.low_y, box.low_y),
          std::min(to.low_z, box.low_z),   std::min(to.acceleration, box.acceleration),
          std::max(to.high_x, box.high_x), std::max(to.high_y, box.high_y),
          std::max(to.high_z, box.high_z), 0};
}

/// A tree on a space, with |a| of its bodies.
template <Space S>
struct MeasuredTree {
    S on;
    Octree<S> octree;
    std::vector<float> last;
    Buffer<float, S> size;
    TargetBoxes<S> boxes;

    MeasuredTree(S space, const TreeProblem& of) : on(space), octree(on, {.softening = 0.02}), boxes(on) {
        auto x = to_space(on, of.position);
        auto m = to_space(on, of.mass);
        octree.sort(x.view(), m.view());
        std::vector<Vec3<double>> sorted;
        for (const auto k : on_host(octree.order())) sorted.push_back(of.position[k]);
        x = to_space(on, sorted);
        octree.place(x.view(), m.view());
        octree.build();
        octree.refresh();
        for (index_t i = 0; i < of.size(); ++i) last.push_back(0.5f + 0.001f * static_cast<float>(i * 7919 % 1000));
        size = to_space(on, last);
        boxes.choose(octree.view(), octree.levels());
    }
    template <class T>
    std::vector<T> on_host(View<const T> from) {
        std::vector<T> to(static_cast<std::size_t>(from.n));
        copy_to_host(on, view(to), from);
        return to;
    }
    std::vector<TargetBox> measured(const WalkTargets& targets) {
        boxes.measure(octree.view(), targets, 1);
        return on_host(boxes.boxes());
    }
};

class TargetBoxesOn : public OnEverySpace {};
KS_ON_EVERY_SPACE(TargetBoxesOn);

TEST_P(TargetBoxesOn, HoldTheTargetsTightly) {
    using Layout = TargetBoxLayout;
    std::visit(
        [&]<Space S>(S on) {
            for (const auto shape : {Shape::plummer, Shape::clusters, Shape::one_place})
                for (const index_t n : {1, 100, 30011}) {
                    SCOPED_TRACE(testing::Message() << n << " bodies, shape " << static_cast<int>(shape));
                    MeasuredTree<S> tree(on, make({shape, n, 0.02}));
                    const auto bodies = tree.on_host(View<const Body>(tree.octree.bodies()));
                    const auto& frame = tree.octree.frame();
                    const double unit = frame.length * (frame.length / frame.mass);
                    for (const std::uint32_t stride : {1u, 3u, 500u, 100000u}) {  // all bodies, some, few, and the first alone
                        std::vector<std::uint32_t> list;
                        for (std::uint32_t i = 0; static_cast<index_t>(i) < n; i += stride) list.push_back(i);
                        const auto index = to_space(on, list);
                        WalkTargets targets{index.view(), stride == 1, tree.size.view()};
                        const auto box = tree.measured(targets);
                        const auto first = box.begin() + Layout::first_box;
                        index_t k = 0;
                        for (const auto i : list) {
                            const auto a = static_cast<float>(static_cast<double>(tree.last[i]) * unit);
                            // Targets are in the order of their boxes.
                            while (k + 1 < Layout::boxes && !holds(first[k], bodies[i], a)) ++k;
                            ASSERT_TRUE(holds(first[k], bodies[i], a)) << "target " << i;
                        }
                        TargetBox all = none(), joined = none();
                        for (const auto i : list) {
                            const auto a = static_cast<float>(static_cast<double>(tree.last[i]) * unit);
                            const auto& b = bodies[i];
                            include(all, {b.x, b.y, b.z, a, b.x, b.y, b.z, 0});
                        }
                        for (index_t g = 0; g < Layout::groups; ++g) {
                            TargetBox group = none();
                            for (index_t j = 0; j < Layout::per_group; ++j) include(group, first[g * Layout::per_group + j]);
                            EXPECT_TRUE(same(group, box[static_cast<std::size_t>(Layout::first_group + g)]));
                        }
                        for (index_t r = 0; r < Layout::regions; ++r) {
                            TargetBox region = none();
                            const auto group = box.begin() + Layout::first_group + r * Layout::per_group;
                            for (index_t j = 0; j < Layout::per_group; ++j) include(region, group[j]);
                            EXPECT_TRUE(same(region, box[static_cast<std::size_t>(Layout::first_region + r)]));
                            include(joined, region);
                        }
                        EXPECT_TRUE(same(box[0], all)) << "no box is wider than its targets";
                        EXPECT_TRUE(same(joined, all));
                    }
                    EXPECT_TRUE(tree.measured({{}, false, tree.size.view()})[0].empty()) << "no targets";
                }
        },
        space_);
}

/// A box is around the targets of one cell: those of a space are those of the CPU with one thread.
TEST_P(TargetBoxesOn, AreThoseOfTheCpu) {
    const auto of = make({Shape::plummer, 20000, 0.02});
    MeasuredTree<Cpu> plain(Cpu{1}, of);
    std::visit(
        [&]<Space S>(S on) {
            MeasuredTree<S> tree(on, of);
            for (const std::uint32_t stride : {1u, 7u}) {
                std::vector<std::uint32_t> list;
                for (std::uint32_t i = 0; i < 20000; i += stride) list.push_back(i);
                const auto index = to_space(on, list);
                const auto found = tree.measured({index.view(), stride == 1, tree.size.view()}),
                           expected = plain.measured({view(list), stride == 1, view(plain.last)});
                for (std::size_t k = 0; k < found.size(); ++k) EXPECT_TRUE(same(found[k], expected[k])) << "box " << k;
            }
        },
        space_);
}

/// LETs as bytes.
template <Space S>
struct Lets {
    std::vector<EssentialPart<S>> part;
    std::vector<std::vector<std::byte>> bytes(MeasuredTree<S>& tree) {
        std::vector<std::vector<std::byte>> all;
        for (const auto& p : part) {
            const auto n = essential_bytes(p.size, {true, false});
            all.push_back(tree.on_host(View<const std::byte>(p.message.data(), n)));
            const auto nodes = tree.on_host(View<const EssentialNode>(p.node.data(), static_cast<index_t>(p.size.nodes)));
            for (const auto& node : nodes)
                for (const std::byte b : std::bit_cast<std::array<std::byte, 4>>(node.word)) all.back().push_back(b);
        }
        return all;
    }
};

TEST_P(TargetBoxesOn, GiveTheSameLetsTogetherAndOneByOne) {
    std::visit(
        [&]<Space S>(S on) {
            MeasuredTree<S> tree(on, make({Shape::plummer, 20000, 0.02}));
            // Boxes of parts of the same sphere, of few of its bodies, and of none.
            std::vector<std::vector<TargetBox>> boxes;
            for (std::uint32_t d = 0; d < 6; ++d) {
                std::vector<std::uint32_t> list;
                if (d != 2)
                    for (std::uint32_t i = 3000 * d; i < 3000 * d + (d == 4 ? 10 : 3000); ++i) list.push_back(i);
                const auto index = to_space(on, list);
                boxes.push_back(tree.measured({index.view(), false, tree.size.view()}));
            }
            std::vector<Buffer<TargetBox, S>> there;
            for (const auto& b : boxes) there.push_back(to_space(on, b));
            Lets<S> together, alone;
            std::vector<EssentialRequest<S>> requests;
            for (std::size_t d = 0; d < boxes.size(); ++d) together.part.emplace_back(on), alone.part.emplace_back(on);
            for (std::size_t d = 0; d < boxes.size(); ++d) requests.push_back({there[d].view(), &together.part[d]});
            EssentialTree<S> maker(on);
            const auto view = tree.octree.view();
            maker.make(view, tree.octree.levels(), requests, false);
            for (std::size_t d = 0; d < boxes.size(); ++d)
                maker.make(view, tree.octree.levels(), {{there[d].view(), &alone.part[d]}}, false);
            EXPECT_EQ(together.bytes(tree), alone.bytes(tree));
            EXPECT_EQ(together.part[2].size.nodes, 0u);
            // The nodes are those that the test of one node after the other selects.
            const auto center = tree.on_host(View<const Body>(view.center, view.nodes));
            const auto test = tree.on_host(View<const NodeTest>(view.test, view.nodes));
            const auto link = tree.on_host(View<const NodeLink>(view.link, view.nodes));
            for (std::size_t d = 0; d < boxes.size(); ++d) {
                std::uint64_t nodes = 0, bodies = 0;
                std::vector<std::uint32_t> stack;
                if (!boxes[d][0].empty()) stack.push_back(0);
                while (!stack.empty()) {
                    const auto i = stack.back();
                    stack.pop_back();
                    ++nodes;
                    bool all = true;
                    for (index_t k = TargetBoxLayout::first_box; k < TargetBoxLayout::size; ++k)
                        all = all && accepts(boxes[d][static_cast<std::size_t>(k)], center[i], test[i], 0, {true, false});
                    if (all) continue;
                    if (link[i] == leaf)
                        bodies += test[i].count;
                    else
                        for (std::uint32_t c = 0; c < child_count(link[i]); ++c) stack.push_back(first_child(link[i]) + c);
                }
                // On a device fused operations may decide about a node at the limit of the criterion differently.
                const double close = GetParam() == "cuda" ? 1e-3 : 0;
                EXPECT_NEAR(static_cast<double>(together.part[d].size.nodes), static_cast<double>(nodes),
                            close * static_cast<double>(nodes));
                EXPECT_NEAR(static_cast<double>(together.part[d].size.bodies), static_cast<double>(bodies),
                            close * static_cast<double>(bodies));
            }
        },
        space_);
}

}  // namespace
}  // namespace kasane::test
