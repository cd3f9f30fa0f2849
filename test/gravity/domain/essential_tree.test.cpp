// LETs of one domain for another: complete, no larger than needed, and valid for every target; checked node by node in double.
#include <gravity/domain/domain_cases.hpp>
#include <gravity/space_test.hpp>

#include <kasane/gravity/tree/tree_force.hpp>

#include <map>
#include <set>

namespace kasane::test {
namespace {

/// Two parts of a problem as trees with one frame.
struct TwoTrees {
    Cpu on{1};
    TreeProblem part[2];
    std::vector<TreeForce<Cpu>> tree;
    Frame frame;

    TwoTrees(const TreeProblem& of, const Tree& options, const std::function<bool(const Vec3<double>&)>& second) {
        for (index_t i = 0; i < of.size(); ++i) {
            auto& to = part[second(of.position[static_cast<std::size_t>(i)])];
            to.position.push_back(of.position[static_cast<std::size_t>(i)]);
            to.mass.push_back(of.mass[static_cast<std::size_t>(i)]);
        }
        Octree<Cpu> whole(on, options);
        whole.choose_frame(view(of.position), view(of.mass));
        frame = whole.frame();
        for (auto& p : part) {
            auto& octree = tree.emplace_back(on, options).octree();
            octree.use_frame(frame, p.size());
            octree.place(view(p.position), view(p.mass));
            octree.sort();
            TreeProblem sorted;
            for (const auto k : octree.order()) sorted.position.push_back(p.position[k]), sorted.mass.push_back(p.mass[k]);
            p = sorted;
            octree.place(view(p.position), view(p.mass));
            octree.build();
            octree.refresh();
        }
    }
};

struct EssentialOn {
    OctreeView tree;  ///< the sender's
    EssentialPart<Cpu> part{Cpu{1}};
    OctreeView let;
};

EssentialOn essential(TwoTrees& two, const Tree& options, const std::vector<std::uint32_t>& targets, const std::vector<float>& last) {
    EssentialOn made;
    const auto other = two.tree[1].octree().view();
    made.tree = two.tree[0].octree().view();
    TargetBoxes<Cpu> boxes(two.on);
    boxes.choose(other);
    WalkTargets wanted{view(targets), false, view(last)};
    boxes.measure(other, wanted, options.G);
    EssentialTree<Cpu> maker(two.on);
    maker.make(made.tree, two.tree[0].octree().levels(), {{boxes.boxes(), &made.part}}, false);
    made.let = essential_view(made.part.message.data(), made.part.size, {options.multipole == Multipole::quadrupole, false}, two.frame);
    return made;
}

std::vector<std::uint32_t> every(index_t n, std::uint32_t stride) {
    std::vector<std::uint32_t> list;
    for (std::uint32_t i = 0; static_cast<index_t>(i) < n; i += stride) list.push_back(i);
    return list;
}

bool accepted(const Body& c, const NodeTest& test, const Body& target, double a, bool quadrupole) {
    const double dx = c.x - target.x, dy = c.y - target.y, dz = c.z - target.z, d = std::sqrt(dx * dx + dy * dy + dz * dz);
    return d * d > test.radius2 * (1 - 1e-5) && std::pow(d, quadrupole ? 5 : 4) * a > test.weight * (1 - 1e-5);
}

void expect_valid(const EssentialOn& made, TwoTrees& two, const Tree& options, const std::vector<std::uint32_t>& targets,
                  const std::vector<float>& last) {
    const bool quadrupole = options.multipole == Multipole::quadrupole;
    const auto& let = made.let;
    const double unit = two.frame.length * two.frame.length / options.G / two.frame.mass;
    // Walk the LET beside the sender's tree, from both roots.
    std::vector<std::pair<std::uint32_t, std::uint32_t>> stack{{0, 0}};
    double nodes = 0, mass = 0;
    std::set<std::uint32_t> bodies;
    std::vector<std::uint32_t> depth_first;
    while (!stack.empty()) {
        const auto [at, from] = stack.back();
        stack.pop_back();
        nodes += 1;
        depth_first.push_back(at);
        ASSERT_LT(static_cast<index_t>(at), let.nodes);
        EXPECT_EQ(let.center[at].x, made.tree.center[from].x);
        EXPECT_EQ(let.next[at], stack.empty() ? let.nodes : stack.back().first);
        if (let.link[at] != leaf) {
            ASSERT_EQ(child_count(let.link[at]), child_count(made.tree.link[from]));
            for (std::uint32_t k = child_count(let.link[at]); k-- > 0;)
                stack.emplace_back(first_child(let.link[at]) + k, first_child(made.tree.link[from]) + k);
            continue;
        }
        const auto test = let.test[at], own = made.tree.test[from];
        if (test.radius2 < 0) {
            // Closed: every target alone may accept it, and every group does.
            EXPECT_EQ(test.count, 0u);
            EXPECT_LT(test.weight, 0);
            if (quadrupole) {
                EXPECT_EQ(let.quadrupole[at].xy, made.tree.quadrupole[from].xy);
            }
            mass += let.center[at].m;
            for (const auto t : targets) {
                const double a = last.empty() ? 1 : last[t] * unit;
                EXPECT_TRUE(accepted(let.center[at], own, two.tree[1].octree().view().body[t], a, quadrupole)) << "node " << at;
            }
            continue;
        }
        EXPECT_EQ(test.radius2, own.radius2);
        for (std::uint32_t k = test.begin; k < test.begin + test.count; ++k)
            EXPECT_TRUE(bodies.insert(k).second) << "body " << k << " belongs to two leaves";
        const bool same = made.tree.link[from] == leaf && test.count == own.count &&
                          std::equal(let.body + test.begin, let.body + test.begin + test.count, made.tree.body + own.begin,
                                     [](const Body& a, const Body& b) { return a.x == b.x && a.y == b.y && a.z == b.z && a.m == b.m; });
        EXPECT_TRUE(same) << "node " << at;
        for (std::uint32_t k = test.begin; k < test.begin + test.count; ++k) mass += let.body[k].m;
    }
    EXPECT_EQ(nodes, static_cast<double>(let.nodes));
    EXPECT_EQ(static_cast<index_t>(bodies.size()), let.bodies);
    EXPECT_NEAR(mass, made.tree.center[0].m, 1e-5 * made.tree.center[0].m);
    // `next` leads through all nodes when every node is opened.
    std::uint32_t at = 0;
    for (std::size_t k = 0; k < depth_first.size(); ++k, at = let.link[at] != leaf ? first_child(let.link[at]) : let.next[at])
        ASSERT_EQ(at, depth_first[k]);
    EXPECT_EQ(static_cast<index_t>(at), let.nodes);
}

TEST(EssentialTree, IsValidForEveryTargetByEveryCriterion) {
    for (const auto shape : {Shape::plummer, Shape::clusters, Shape::escaper, Shape::masses, Shape::disk}) {
        const auto problem = make({shape, 4097, 0.02});
        for (const auto multipole : {Multipole::quadrupole, Multipole::monopole})
            for (const Mac mac : {Mac{GeometricMac{0.6}}, Mac{AccelerationMac{0x1p-8}}, Mac{MultipoleMac{1e-3}}}) {
                SCOPED_TRACE(name(multipole) + ", criterion " + std::to_string(mac.index()) + ", shape " +
                             std::to_string(static_cast<int>(shape)));
                Tree options{.mac = mac, .softening = 0.02, .multipole = multipole};
                TwoTrees two(problem, options, [](const Vec3<double>& x) { return x.x + 0.3 * x.y > 0.1; });
                const auto targets = every(two.part[1].size(), 5);
                std::vector<float> last;
                if (mac.index() == 1)
                    for (index_t i = 0; i < two.part[1].size(); ++i) last.push_back(0.1f + 0.001f * static_cast<float>(i % 100));
                const auto made = essential(two, options, targets, last);
                ASSERT_GT(made.let.nodes, 0);
                expect_valid(made, two, options, targets, last);
            }
    }
}

TEST(EssentialTree, OfADistantDomainIsOneCell) {
    const auto problem = make({Shape::clusters, 3000, 0.02});
    Tree options{.mac = GeometricMac{0.6}, .softening = 0.02};
    TwoTrees two(problem, options, [](const Vec3<double>& x) { return x.x > 5; });
    auto targets = every(two.part[1].size(), 1);
    // Both clusters are cut to their middles, which are thirty half-mass radii apart.
    const auto body = two.tree[1].octree().view().body;
    std::erase_if(targets, [&](std::uint32_t t) { return std::abs(body[t].x - body[targets[0]].x) > 0.02; });
    const auto near = essential(two, options, every(two.part[1].size(), 1), {}), far = essential(two, options, targets, {});
    EXPECT_LT(far.let.nodes, 10);
    EXPECT_LE(far.let.nodes, near.let.nodes);
}

TEST(EssentialTree, IsEmptyWithoutTargets) {
    const auto problem = make({Shape::plummer, 1000, 0.02});
    Tree options{.mac = GeometricMac{0.6}, .softening = 0.02};
    TwoTrees two(problem, options, [](const Vec3<double>& x) { return x.x > 0; });
    const auto made = essential(two, options, {}, {});
    EXPECT_EQ(made.part.size.nodes, 0u);
    EXPECT_EQ(made.part.size.bodies, 0u);
    EXPECT_EQ(essential_bytes(made.part.size, {true, false}), 0);
}

TEST(EssentialTree, ShrinksWithTheTargets) {
    const auto problem = make({Shape::plummer, 8000, 0.02});
    Tree options{.mac = GeometricMac{0.6}, .softening = 0.02};
    TwoTrees two(problem, options, [](const Vec3<double>& x) { return x.x > 0; });
    const auto all = essential(two, options, every(two.part[1].size(), 1), {}), few = essential(two, options, {7}, {});
    EXPECT_LT(few.let.nodes, all.let.nodes / 3);
    EXPECT_LE(all.let.bodies, two.part[0].size());
}

TEST(EssentialTree, SendsCoincidentBodies) {
    const auto problem = make({Shape::one_place, 500, 0.02});
    for (const double at : {0.3, 0.2}) {  // the lone particle with or without the others
        Tree options{.mac = GeometricMac{0.6}, .softening = 0.02};
        TwoTrees two(problem, options, [&](const Vec3<double>& x) { return x.x > at; });
        const auto targets = every(two.part[1].size(), 1);
        const auto made = essential(two, options, targets, {});
        if (two.part[0].size() > 0) expect_valid(made, two, options, targets, {});
    }
}

}  // namespace
}  // namespace kasane::test
