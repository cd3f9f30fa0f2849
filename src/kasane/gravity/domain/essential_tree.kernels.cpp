// Selection and packing of LETs, once per Space: count, scan and fill. On the CPU all nodes of a level are looked at; on CUDA sixteen lanes
// test a node of a queue, which has the nodes of a level for all LETs, because the tests of one node against hundreds of boxes one after
// the other take longer than all else.
#include <kasane/core/device/kernels.hpp>
#include <kasane/gravity/domain/essential_tree.hpp>

#include <algorithm>

#if defined(__CUDACC__)
#include <kasane/core/device/launch_early.cuda.hpp>
#endif

namespace kasane::gravity {
namespace {

enum NodeState : std::uint8_t {
    left_out,
    closed,  ///< sent without its children or bodies
    opened,  ///< sent with its children or bodies
};

constexpr int most_lets = 4;

/// Selections for several domains.
struct Selections {
    OctreeView tree;
    NodeCriterion by;
    int lets;
    const TargetBox* box[most_lets];
    std::uint32_t* offset;
    std::uint8_t* states;

    /// Flags of the nodes of an LET that are sent, and numbers of their bodies; then sums of all before.
    KS_FN std::uint32_t* sent(int let) const { return offset + 2 * let * (tree.nodes + 1); }
    KS_FN std::uint32_t* bodies(int let) const { return sent(let) + tree.nodes + 1; }
    KS_FN std::uint8_t& state(int let, index_t node) const { return states[let * tree.nodes + node]; }

    /// Enters the decision on a node. @return its children are sent, too
    KS_FN bool decide(int let, index_t node, bool accepted) const {
        state(let, node) = accepted ? closed : opened;
        if (accepted || tree.link[node] != leaf) return !accepted;
        bodies(let)[node] = tree.test[node].count;
        return false;
    }
};

/// The arrays of a message, for writing.
struct EssentialOut {
    Body *center, *body;
    NodeTest* test;
    NodeLink* link;
    std::uint32_t* next;
    Quadrupole* quadrupole;
    float *node_term, *body_term;
    EssentialNode* node;
};

EssentialOut writable(const OctreeView& v, EssentialNode* node) {
    return {const_cast<Body*>(v.center),     const_cast<Body*>(v.body),          const_cast<NodeTest*>(v.test),
            const_cast<NodeLink*>(v.link),   const_cast<std::uint32_t*>(v.next), const_cast<Quadrupole*>(v.quadrupole),
            const_cast<float*>(v.node_term), const_cast<float*>(v.body_term),    node};
}

/// Writes a node and its bodies to a message, by one or several lanes, which divide the arrays.
struct PackNode {
    Selections of;
    EssentialOut let[most_lets];
    KS_FN void operator()(int number, index_t i, std::uint32_t lane, std::uint32_t lanes) const {
        const auto& tree = of.tree;
        const auto& out = let[number];
        const std::uint32_t *const index = of.sent(number), *const first_body = of.bodies(number);
        const std::uint32_t before = index[0], bodies_before = first_body[0];  // of other LETs
        const auto state = of.state(number, i);
        const std::uint32_t to = index[i] - before, begin = first_body[i] - bodies_before;
        const auto link = tree.link[i];
        const bool inner = state == opened && link != leaf;
        const auto test = tree.test[i];
        if (lane == 0) {
            out.center[to] = tree.center[i];
            out.node[to] = EssentialNode::make(static_cast<std::uint32_t>(i), inner             ? EssentialNode::inner
                                                                              : state == opened ? EssentialNode::bodies
                                                                                                : EssentialNode::closed);
        }
        if (lane == 1 % lanes) {
            const NodeTest open{test.radius2, test.weight, begin, inner ? inner_bodies : test.count};
            out.test[to] = state == closed ? always_accepted(open) : open;
        }
        if (lane == 2 % lanes) {
            out.link[to] = inner ? (index[first_child(link)] - before) | (child_count(link) - 1) << 29 : leaf;
            out.next[to] = index[tree.next[i]] - before;
            if (out.node_term) out.node_term[to] = tree.node_term[i];
        }
        if (lane == 3 % lanes && out.quadrupole) out.quadrupole[to] = tree.quadrupole[i];
        if (inner || state == closed) return;
        for (std::uint32_t k = lane; k < test.count; k += lanes) {
            out.body[begin + k] = tree.body[test.begin + k];
            if (out.body_term) out.body_term[begin + k] = tree.body_term[test.begin + k];
        }
    }
};

/// Nodes and bodies of each LET, from the sums.
struct MeasureSizes {
    Selections of;
    std::uint64_t* size;
    KS_FN void operator()(index_t k) const {
        const auto* const sums = k % 2 == 0 ? of.sent(static_cast<int>(k / 2)) : of.bodies(static_cast<int>(k / 2));
        size[k] = sums[of.tree.nodes] - sums[0];
    }
};

#if defined(__CUDACC__)
constexpr int select_block = 128, team = 16;  ///< as many lanes as a group has boxes, and a region groups
constexpr int teams_per_block = select_block / team;

/// The lanes that test a node together.
struct Team {
    __device__ static std::uint32_t lane() { return threadIdx.x % team; }
    __device__ static unsigned mask() { return 0xffffu << (threadIdx.x % 32 & ~(team - 1u)); }
    /// A bit for each lane.
    __device__ static unsigned vote(bool x) { return __ballot_sync(mask(), x) >> (threadIdx.x % 32 & ~(team - 1u)) & 0xffffu; }
};

/// accepts_for_all() by a team.
__device__ bool accepts_together(const TargetBox* box, const Body& center, const NodeTest& test, float term, const NodeCriterion& by) {
    using Layout = TargetBoxLayout;
    static_assert(Layout::per_group == team && Layout::regions == team);
    if (accepts(box[0], center, test, term, by)) return true;
    // The boxes of a set of sixteen that do not accept the node.
    const auto failing = [&](index_t first, index_t set) {
        return Team::vote(!accepts(box[first + set * team + static_cast<index_t>(Team::lane())], center, test, term, by));
    };
    for (unsigned regions = failing(Layout::first_region, 0); regions != 0; regions &= regions - 1) {
        const index_t region = __ffs(static_cast<int>(regions)) - 1;
        for (unsigned groups = failing(Layout::first_group, region); groups != 0; groups &= groups - 1)
            if (failing(Layout::first_box, region * team + __ffs(static_cast<int>(groups)) - 1) != 0) return false;
    }
    return true;
}

/// A queue of nodes to test.
struct SelectionQueue {
    std::uint32_t* element;
    std::uint32_t *begin, *count;  ///< of each level
    __device__ static std::uint32_t make(std::uint32_t node, int let) { return node | static_cast<std::uint32_t>(let) << 29; }
};

/// Enters the roots of the LETs of domains with targets. One thread.
struct BeginSelection {
    Selections of;
    SelectionQueue queue;
    __device__ void operator()(index_t) const {
        std::uint32_t n = 0;
        for (int let = 0; let < of.lets; ++let) {
            if (of.box[let][0].empty()) continue;
            of.sent(let)[0] = 1;
            queue.element[n++] = SelectionQueue::make(0, let);
        }
        queue.begin[0] = 0;
        queue.count[0] = n;
    }
};

/// Decides on the nodes of a level, and adds those of the next one.
__global__ void __launch_bounds__(select_block) select_level(Selections of, SelectionQueue queue, int level) {
    cudaGridDependencySynchronize();
    const std::uint32_t begin = queue.begin[level], end = begin + queue.count[level];
    if (blockIdx.x == 0 && threadIdx.x == 0) queue.begin[level + 1] = end;
    const std::uint32_t teams = gridDim.x * teams_per_block;
    for (std::uint32_t k = begin + (blockIdx.x * select_block + threadIdx.x) / team; k < end; k += teams) {
        const std::uint32_t element = queue.element[k], node = element & (largest_node_count - 1);
        const auto let = static_cast<int>(element >> 29);
        const auto& tree = of.tree;
        const bool accepted =
            accepts_together(of.box[let], tree.center[node], tree.test[node], tree.node_term ? tree.node_term[node] : 0.f, of.by);
        if (!of.decide(let, node, accepted)) continue;
        const auto link = tree.link[node];
        const std::uint32_t lane = Team::lane(), child = first_child(link) + lane;
        std::uint32_t place = 0;
        if (lane == 0) place = atomicAdd(queue.count + level + 1, child_count(link));
        place = end + lane + __shfl_sync(Team::mask(), place, 0, team);
        if (lane >= child_count(link)) continue;
        of.sent(let)[child] = 1;
        queue.element[place] = SelectionQueue::make(child, let);
    }
}

constexpr std::uint32_t pack_lanes = 4;  ///< for each selected node: most have no bodies
constexpr std::uint32_t packs_per_block = select_block / pack_lanes;

__global__ void __launch_bounds__(select_block) pack_selected(PackNode pack, SelectionQueue queue, std::uint32_t nodes) {
    const std::uint32_t k = (blockIdx.x * select_block + threadIdx.x) / pack_lanes;
    if (k >= nodes) return;
    const std::uint32_t element = queue.element[k];
    pack(static_cast<int>(element >> 29), element & (largest_node_count - 1), threadIdx.x % pack_lanes, pack_lanes);
}
#else
struct ClearSelection {
    Selections of;
    void operator()(index_t k) const {
        const index_t nodes = of.tree.nodes;
        const auto let = static_cast<int>(k / (nodes + 1));
        const index_t i = k % (nodes + 1);
        of.sent(let)[i] = i == 0 && !of.box[let][0].empty() ? 1 : 0;
        of.bodies(let)[i] = 0;
    }
};

/// Decides on the nodes of a level; the levels above it are decided.
struct SelectNodes {
    Selections of;
    int let;
    index_t first;
    void operator()(index_t k) const {
        const index_t i = first + k;
        if (!of.sent(let)[i]) {
            of.state(let, i) = left_out;
            return;
        }
        const auto& tree = of.tree;
        const bool accepted = accepts_for_all(of.box[let], tree.center[i], tree.test[i], tree.node_term ? tree.node_term[i] : 0.f, of.by);
        if (!of.decide(let, i, accepted)) return;
        for (std::uint32_t child = 0; child < child_count(tree.link[i]); ++child) of.sent(let)[first_child(tree.link[i]) + child] = 1;
    }
};

struct PackNodes {
    PackNode pack;
    void operator()(index_t k) const {
        const auto let = static_cast<int>(k / pack.of.tree.nodes);
        const index_t i = k % pack.of.tree.nodes;
        if (pack.of.state(let, i) != left_out) pack(let, i, 0, 1);
    }
};
#endif

template <class T, Space S>
void hold_elements(Buffer<T, S>& buffer, index_t n) {
    if (buffer.size() < n) buffer.reserve_discarding(n + n / 16);
}

}  // namespace

template <Space S>
void EssentialTree<S>::make(const OctreeView& tree, const std::vector<std::uint32_t>& levels,
                            const std::vector<EssentialRequest<S>>& requests, bool spline) {
    static_assert(at_once == most_lets);
    const index_t nodes = tree.nodes;
    for (const auto& request : requests) request.part->size = {};
    if (nodes == 0) return;
    const auto depths = static_cast<int>(levels.size()) - 1;
    const std::size_t together = nodes < large_tree ? at_once : 1;
    for (std::size_t first = 0; first < requests.size(); first += together) {
        const auto lets = static_cast<int>(std::min(requests.size() - first, together));
        const index_t numbers = 2 * lets * (nodes + 1);
        hold_elements(offset_, numbers);
        hold_elements(state_, lets * nodes);
        hold_elements(size_, 2 * lets);
        Selections of{tree, {tree.quadrupole != nullptr, spline}, lets, {}, offset_.data(), state_.data()};
        for (int let = 0; let < lets; ++let) of.box[let] = requests[first + static_cast<std::size_t>(let)].box.ptr;

        // Count.
#if defined(__CUDACC__)
        hold_elements(queue_, lets * nodes);
        hold_elements(count_, 2 * (depths + 1));
        const SelectionQueue queue{queue_.data(), count_.data(), count_.data() + depths + 1};
        KS_CUDA(cudaSetDevice(on_.device));
        KS_CUDA(cudaMemsetAsync(offset_.data(), 0, static_cast<std::size_t>(numbers) * sizeof(std::uint32_t), on_.stream));
        KS_CUDA(cudaMemsetAsync(queue.count, 0, static_cast<std::size_t>(depths + 1) * sizeof(std::uint32_t), on_.stream));
        parallel_for(on_, 1, BeginSelection{of, queue});
        constexpr index_t most_blocks = 2048;
        for (int level = 0; level < depths; ++level) {
            const index_t tested =
                lets * static_cast<index_t>(levels[static_cast<std::size_t>(level) + 1] - levels[static_cast<std::size_t>(level)]);
            const auto blocks = static_cast<unsigned>(std::min((tested + teams_per_block - 1) / teams_per_block, most_blocks));
            launch_early(on_, select_level, dim3(blocks), select_block, of, queue, level);
        }
#else
        parallel_for(on_, lets * (nodes + 1), ClearSelection{of});
        for (int let = 0; let < lets; ++let)
            for (int level = 0; level < depths; ++level) {
                const index_t begin = levels[static_cast<std::size_t>(level)], end = levels[static_cast<std::size_t>(level) + 1];
                parallel_for(on_, end - begin, SelectNodes{of, let, begin});
            }
#endif

        // Scan.
        const auto offset = offset_.view().subview(0, numbers);
        exclusive_scan(on_, work_, View<const std::uint32_t>(offset), offset);
        parallel_for(on_, 2 * lets, MeasureSizes{of, size_.data()});
        std::uint64_t size[2 * at_once] = {};
        copy_to_host(on_, View<std::uint64_t>(size, 2 * lets), View<const std::uint64_t>(size_.view()).subview(0, 2 * lets));

        // Fill.
        const EssentialArrays arrays{of.by.quadrupole, tree.node_term != nullptr};
        PackNode pack{of, {}};
        index_t selected = 0;
        for (int let = 0; let < lets; ++let) {
            auto& part = *requests[first + static_cast<std::size_t>(let)].part;
            part.size = {size[2 * let], size[2 * let + 1]};
            hold_elements(part.message, essential_bytes(part.size, arrays));
            hold_elements(part.node, static_cast<index_t>(part.size.nodes));
            pack.let[let] = writable(essential_view(part.message.data(), part.size, arrays, tree.frame), part.node.data());
            selected += static_cast<index_t>(part.size.nodes);
        }
        if (selected == 0) continue;
#if defined(__CUDACC__)
        pack_selected<<<static_cast<unsigned>((selected + packs_per_block - 1) / packs_per_block), select_block, 0, on_.stream>>>(
            pack, queue, static_cast<std::uint32_t>(selected));
        KS_CUDA(cudaGetLastError());
#else
        parallel_for(on_, lets * nodes, PackNodes{pack});
#endif
    }
}

template class EssentialTree<KS_SPACE>;

}  // namespace kasane::gravity
