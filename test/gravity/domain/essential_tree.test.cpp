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

/// An LET on the host.
struct EssentialOn {
    OctreeView tree;  ///< the sender's
    std::vector<std::byte> message;
    EssentialSize size;
    OctreeView let;
};

/// The boxes of targets in the second tree.
std::vector<TargetBox> boxes_of(TwoTrees& two, const Tree& options, const std::vector<std::uint32_t>& targets,
                                const std::vector<float>& last) {
    const auto other = two.tree[1].octree().view();
    TargetBoxes<Cpu> boxes(two.on);
    boxes.choose(other, two.tree[1].octree().levels());
    boxes.measure(other, {view(targets), false, view(last)}, options.G);
    return {boxes.boxes().begin(), boxes.boxes().end()};
}

/// A copy of a tree of the host on a space.
template <Space S>
struct TreeOn {
    Buffer<Body, S> body, center;
    Buffer<NodeTest, S> test;
    Buffer<NodeLink, S> link;
    Buffer<std::uint32_t, S> next;
    Buffer<Quadrupole, S> quadrupole;
    OctreeView view;

    TreeOn(S on, const OctreeView& of) : view(of) {
        const auto copy = [&]<class T>(Buffer<T, S>& to, const T*& from, index_t n) {
            to = to_space(on, std::vector<T>(from, from ? from + n : from));
            from = from ? to.data() : nullptr;
        };
        copy(body, view.body, of.bodies), copy(center, view.center, of.nodes), copy(test, view.test, of.nodes);
        copy(link, view.link, of.nodes), copy(next, view.next, of.nodes), copy(quadrupole, view.quadrupole, of.nodes);
    }
};

/// The LETs of the first tree for domains with these boxes, made together on a space.
template <Space S>
std::vector<EssentialOn> essential(S on, TwoTrees& two, const Tree& options, const std::vector<std::vector<TargetBox>>& domains) {
    auto& octree = two.tree[0].octree();
    const TreeOn<S> tree(on, octree.view());
    std::vector<Buffer<TargetBox, S>> box;
    std::vector<EssentialPart<S>> part;
    for (const auto& domain : domains) box.push_back(to_space(on, domain)), part.emplace_back(on);
    std::vector<EssentialRequest<S>> requests;
    for (std::size_t k = 0; k < domains.size(); ++k) requests.push_back({std::as_const(box[k]).view(), &part[k]});
    EssentialTree<S> maker(on);
    maker.make(tree.view, octree.levels(), requests, false);
    std::vector<EssentialOn> all;
    for (const auto& from : part) {
        const EssentialArrays arrays{options.multipole == Multipole::quadrupole, false};
        auto& made = all.emplace_back();
        made.tree = octree.view(), made.size = from.size;
        made.message.resize(static_cast<std::size_t>(essential_bytes(from.size, arrays)));
        copy_to_host(on, view(made.message), from.message.view().subview(0, static_cast<index_t>(made.message.size())));
        made.let = essential_view(made.message.data(), from.size, arrays, two.frame);
        std::vector<EssentialNode> nodes(from.size.nodes);
        copy_to_host(on, view(nodes), from.node.view().subview(0, static_cast<index_t>(nodes.size())));
        for (std::size_t k = 0; k < nodes.size(); ++k) {
            const bool closed = made.let.test[k].radius2 < 0, inner = made.let.link[k] != leaf;
            EXPECT_EQ(nodes[k].kind(), closed ? EssentialNode::closed : inner ? EssentialNode::inner : EssentialNode::bodies);
            EXPECT_EQ(made.let.center[k].m, made.tree.center[nodes[k].node()].m);
        }
    }
    return all;
}

EssentialOn essential(const AnySpace& space, TwoTrees& two, const Tree& options, const std::vector<std::uint32_t>& targets,
                      const std::vector<float>& last) {
    const auto boxes = boxes_of(two, options, targets, last);
    return std::move(std::visit([&](auto on) { return essential(on, two, options, {boxes}); }, space).front());
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

class EssentialTreeOn : public OnEverySpace {};
KS_ON_EVERY_SPACE(EssentialTreeOn);

TEST_P(EssentialTreeOn, IsValidForEveryTargetByEveryCriterion) {
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
                const auto made = essential(space_, two, options, targets, last);
                ASSERT_GT(made.let.nodes, 0);
                expect_valid(made, two, options, targets, last);
            }
    }
}

TEST_P(EssentialTreeOn, OfADistantDomainIsOneCell) {
    const auto problem = make({Shape::clusters, 3000, 0.02});
    Tree options{.mac = GeometricMac{0.6}, .softening = 0.02};
    TwoTrees two(problem, options, [](const Vec3<double>& x) { return x.x > 5; });
    auto targets = every(two.part[1].size(), 1);
    // Both clusters are cut to their middles, which are thirty half-mass radii apart.
    const auto body = two.tree[1].octree().view().body;
    std::erase_if(targets, [&](std::uint32_t t) { return std::abs(body[t].x - body[targets[0]].x) > 0.02; });
    const auto near = essential(space_, two, options, every(two.part[1].size(), 1), {}), far = essential(space_, two, options, targets, {});
    EXPECT_LT(far.let.nodes, 10);
    EXPECT_LE(far.let.nodes, near.let.nodes);
}

TEST_P(EssentialTreeOn, IsEmptyWithoutTargets) {
    const auto problem = make({Shape::plummer, 1000, 0.02});
    Tree options{.mac = GeometricMac{0.6}, .softening = 0.02};
    TwoTrees two(problem, options, [](const Vec3<double>& x) { return x.x > 0; });
    const auto made = essential(space_, two, options, {}, {});
    EXPECT_EQ(made.size.nodes, 0u);
    EXPECT_EQ(made.size.bodies, 0u);
    EXPECT_EQ(essential_bytes(made.size, {true, false}), 0);
}

TEST_P(EssentialTreeOn, ShrinksWithTheTargets) {
    const auto problem = make({Shape::plummer, 8000, 0.02});
    Tree options{.mac = GeometricMac{0.6}, .softening = 0.02};
    TwoTrees two(problem, options, [](const Vec3<double>& x) { return x.x > 0; });
    const auto all = essential(space_, two, options, every(two.part[1].size(), 1), {}), few = essential(space_, two, options, {7}, {});
    EXPECT_LT(few.let.nodes, all.let.nodes / 3);
    EXPECT_LE(all.let.bodies, two.part[0].size());
}

TEST_P(EssentialTreeOn, SendsCoincidentBodies) {
    const auto problem = make({Shape::one_place, 500, 0.02});
    for (const double at : {0.3, 0.2}) {  // the lone particle with or without the others
        Tree options{.mac = GeometricMac{0.6}, .softening = 0.02};
        TwoTrees two(problem, options, [&](const Vec3<double>& x) { return x.x > at; });
        const auto targets = every(two.part[1].size(), 1);
        const auto made = essential(space_, two, options, targets, {});
        if (two.part[0].size() > 0) expect_valid(made, two, options, targets, {});
    }
}

/// More domains than are selected at once, some without targets, with more nodes than the first queue of a device holds.
TEST_P(EssentialTreeOn, IsTheSameForManyDomainsAtOnce) {
    const auto problem = make({Shape::plummer, 12000, 0.02});
    Tree options{.mac = GeometricMac{0.5}, .softening = 0.02};
    TwoTrees two(problem, options, [](const Vec3<double>& x) { return x.x > 0.3; });
    std::vector<std::vector<std::uint32_t>> targets;
    std::vector<std::vector<TargetBox>> boxes;
    for (std::uint32_t k = 0; k < 230; ++k) {
        targets.push_back(k % 50 == 7 ? std::vector<std::uint32_t>{} : every(two.part[1].size(), 1 + k % 40 * 25));
        boxes.push_back(boxes_of(two, options, targets.back(), {}));
    }
    const auto together = std::visit([&](auto on) { return essential(on, two, options, boxes); }, space_);
    ASSERT_EQ(together.size(), boxes.size());
    std::uint64_t nodes = 0;
    for (std::size_t k = 0; k < boxes.size(); ++k) {
        SCOPED_TRACE(testing::Message() << "domain " << k);
        const auto alone = essential(Cpu{1}, two, options, {boxes[k]});
        EXPECT_EQ(together[k].size.nodes, alone[0].size.nodes);
        EXPECT_EQ(together[k].size.bodies, alone[0].size.bodies);
        nodes += together[k].size.nodes;
        if (k % 20 != 0) continue;  // the check takes long
        ASSERT_GT(together[k].size.nodes, 0u);
        expect_valid(together[k], two, options, targets[k], {});
    }
    EXPECT_GT(nodes, 100000u);
}

}  // namespace
}  // namespace kasane::test
