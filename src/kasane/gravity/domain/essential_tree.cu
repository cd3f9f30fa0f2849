// Selection and packing of LETs on CUDA, of many domains at once: their number costs no launches. Sixteen lanes test a node of a queue,
// which has the nodes of a level for all LETs, because the tests of one node against hundreds of boxes one after the other take longer than
// all else. The order of the queue is arbitrary. Each LET has a bit for every node of the tree, from which follow the places of its nodes,
// so that these are in the order of the tree: walks read leaves whose bodies follow each other as one.
// Invariant: messages do not depend on the order in which lanes come.
#include <kasane/core/device/algorithms.hpp>
#include <kasane/core/device/check.cuda.hpp>
#include <kasane/core/device/launch_early.cuda.hpp>
#include <kasane/gravity/domain/essential_pack.hpp>

#include <algorithm>

namespace kasane::gravity {
namespace {

constexpr int most_lets = 96;  ///< at once: 32 bytes for each of them in the 4 KiB that the arguments of a kernel may have
static_assert(most_lets == selected_lets);

constexpr int select_block = 128, team = 16;  ///< as many lanes as a group has boxes, and a region groups
constexpr int teams_per_block = select_block / team;

/// A node of an LET, in the queue.
struct alignas(8) SelectedNode {
    std::uint32_t node, let_kind;  ///< number of the LET | EssentialNode::Kind << 8, once it is tested
};
static_assert(sizeof(SelectedNode) == selected_node_bytes);

/// The nodes of several LETs, as bits.
struct SelectionBits {
    OctreeView tree;
    std::uint32_t lets;
    std::uint32_t* bits;  ///< [4 words() for each LET]

    /// A word has the bits of 32 nodes; there is one for the node after the tree's.
    KS_FN index_t words() const { return tree.nodes / 32 + 1; }
    KS_FN index_t all_words() const { return words() * lets; }
    KS_FN index_t word(std::uint32_t let, std::uint32_t node) const { return words() * let + node / 32; }
    KS_FN std::uint32_t* sent() const { return bits; }                         ///< nodes that are sent
    KS_FN std::uint32_t* leaves() const { return bits + all_words(); }         ///< leaves that are sent with their bodies
    KS_FN std::uint32_t* nodes_of() const { return bits + 2 * all_words(); }   ///< nodes of each word, then the sums of all before
    KS_FN std::uint32_t* bodies_of() const { return bits + 3 * all_words(); }  ///< the same for bodies
    KS_FN static std::uint32_t below(std::uint32_t node) { return (1u << node % 32) - 1; }

    /// Place of a node in its LET, once nodes_of() are sums. That of the node after the tree's is the number of nodes.
    __device__ std::uint32_t place(std::uint32_t let, std::uint32_t node) const {
        const auto w = word(let, node);
        return nodes_of()[w] - nodes_of()[word(let, 0)] + static_cast<std::uint32_t>(__popc(sent()[w] & below(node)));
    }
    /// Place of the first body of a leaf in its LET, once bodies_of() are sums.
    __device__ std::uint32_t body_place(std::uint32_t let, std::uint32_t node) const {
        const auto w = word(let, node);
        std::uint32_t before = bodies_of()[w] - bodies_of()[word(let, 0)];
        for (std::uint32_t left = leaves()[w] & below(node); left != 0; left &= left - 1)
            before += tree.test[node / 32 * 32 + __ffs(static_cast<int>(left)) - 1].count;
        return before;
    }
};

/// Selections for several domains, and the queue of their nodes.
struct Selections : SelectionBits {
    NodeCriterion by;
    std::uint32_t levels, capacity;  ///< `capacity` is that of the queue; numbers of nodes beyond it are counted
    SelectedNode* queue;
    std::uint32_t* count;  ///< [counts]
    const TargetBox* box[most_lets];

    KS_FN std::uint32_t counts() const { return 2 * (levels + 1) + 2 * lets; }
    KS_FN std::uint32_t* begin() const { return count; }               ///< [levels + 1] first element of each level, and of one more
    KS_FN std::uint32_t* nodes() const { return count + levels + 1; }  ///< [lets] of each LET
    KS_FN std::uint32_t* bodies() const { return nodes() + lets; }     ///< [lets] of each LET
    KS_FN std::uint32_t* entered() const { return bodies() + lets; }   ///< [levels + 1] nodes of each level
};

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

/// Enters the roots of the LETs of domains with targets. One block.
__global__ void __launch_bounds__(select_block) begin_selection(Selections of) {
    for (std::uint32_t k = threadIdx.x; k < of.counts(); k += select_block) of.count[k] = 0;
    __syncthreads();
    for (std::uint32_t let = threadIdx.x; let < of.lets; let += select_block) {
        if (of.box[let][0].empty()) continue;
        of.nodes()[let] = 1;
        of.queue[atomicAdd(of.entered(), 1u)] = {0, let};
        of.sent()[of.word(let, 0)] = 1;
        of.nodes_of()[of.word(let, 0)] = 1;
    }
}

/// Decides on the nodes of a level, and enters those of the next one.
__global__ void __launch_bounds__(select_block) select_level(Selections of, std::uint32_t level) {
    cudaGridDependencySynchronize();
    const std::uint32_t begin = of.begin()[level], behind = begin + of.entered()[level], end = min(behind, of.capacity);
    if (blockIdx.x == 0 && threadIdx.x == 0) of.begin()[level + 1] = behind;
    const std::uint32_t teams = gridDim.x * teams_per_block, lane = Team::lane();
    const auto& tree = of.tree;
    for (std::uint32_t k = begin + (blockIdx.x * select_block + threadIdx.x) / team; k < end; k += teams) {
        const auto selected = of.queue[k];
        const std::uint32_t node = selected.node, let = selected.let_kind;
        const auto test = tree.test[node];
        const auto link = tree.link[node];
        const bool accepted = accepts_together(of.box[let], tree.center[node], test, tree.node_term ? tree.node_term[node] : 0.f, of.by);
        __syncwarp(Team::mask());  // all lanes have read the element
        const auto kind = accepted ? EssentialNode::closed : link == leaf ? EssentialNode::bodies : EssentialNode::inner;
        const std::uint32_t children = kind == EssentialNode::inner ? child_count(link) : 0;
        std::uint32_t entry = 0;
        if (lane == 0) {
            of.queue[k].let_kind = let | static_cast<std::uint32_t>(kind) << 8;
            if (kind == EssentialNode::inner) {
                entry = behind + atomicAdd(of.entered() + level + 1, children);
                atomicAdd(of.nodes() + let, children);
            }
            if (kind == EssentialNode::bodies) {
                const auto w = of.word(let, node);
                atomicOr(of.leaves() + w, 1u << node % 32);
                atomicAdd(of.bodies_of() + w, test.count);
                atomicAdd(of.bodies() + let, test.count);
            }
        }
        entry = __shfl_sync(Team::mask(), entry, 0, team) + lane;
        if (children == 0) continue;
        const std::uint32_t first = first_child(link);
        if (lane < children && entry < of.capacity) of.queue[entry] = {first + lane, let};
        if (lane > 1) continue;
        // The children's bits are in one word or in two.
        const std::uint64_t both = ((std::uint64_t{1} << children) - 1) << first % 32;
        const auto part = static_cast<std::uint32_t>(both >> 32 * lane);
        if (part == 0) continue;
        const auto w = of.word(let, first) + lane;
        atomicOr(of.sent() + w, part);
        atomicAdd(of.nodes_of() + w, static_cast<std::uint32_t>(__popc(part)));
    }
}

constexpr std::uint32_t pack_lanes = 4;  ///< for each selected node: most have no bodies
constexpr std::uint32_t packs_per_block = select_block / pack_lanes;

struct PackedLets {
    EssentialOut let[most_lets];
};

__global__ void __launch_bounds__(select_block)
    pack_selected(SelectionBits of, const SelectedNode* queue, std::uint32_t nodes, PackedLets to) {
    const std::uint32_t k = (blockIdx.x * select_block + threadIdx.x) / pack_lanes;
    if (k >= nodes) return;
    const auto selected = queue[k];
    const std::uint32_t node = selected.node, let = selected.let_kind & 0xff;
    const auto kind = static_cast<EssentialNode::Kind>(selected.let_kind >> 8);
    EssentialPlace at{node, of.place(let, node), of.place(let, of.tree.next[node]), leaf, 0};
    if (kind == EssentialNode::bodies) at.begin = of.body_place(let, node);
    if (kind == EssentialNode::inner) {
        const auto link = of.tree.link[node];
        at.link = of.place(let, first_child(link)) | (child_count(link) - 1) << 29;
    }
    to.let[let].write(of.tree, at, kind, threadIdx.x % pack_lanes, pack_lanes);
}

}  // namespace

template <>
struct EssentialTree<Cuda>::State {
    Cuda on;
    Workspace<Cuda> work{on};
    Buffer<SelectedNode, Cuda> queue{on, 0};
    Buffer<std::uint32_t, Cuda> bits{on, 0}, count{on, 0};

    void make_together(const OctreeView& tree, const std::vector<std::uint32_t>& levels, View<const EssentialRequest<Cuda>> requests,
                       bool spline);
};

void EssentialTree<Cuda>::State::make_together(const OctreeView& tree, const std::vector<std::uint32_t>& levels,
                                               View<const EssentialRequest<Cuda>> requests, bool spline) {
    const auto lets = static_cast<std::uint32_t>(requests.n), depths = static_cast<std::uint32_t>(levels.size()) - 1;
    Selections of{};
    of.tree = tree, of.by = {tree.quadrupole != nullptr, spline}, of.lets = lets, of.levels = depths;
    for (std::uint32_t let = 0; let < lets; ++let) of.box[let] = requests[let].box.ptr;
    const index_t words = of.all_words();
    hold_elements(count, of.counts());
    hold_elements(bits, 4 * words);
    hold_elements(queue, 1 << 14);
    of.count = count.data(), of.bits = bits.data();
    std::vector<std::uint32_t> found(of.counts());
    KS_CUDA(cudaSetDevice(on.device));
    while (true) {
        of.queue = queue.data();
        of.capacity = static_cast<std::uint32_t>(queue.size());
        KS_CUDA(cudaMemsetAsync(of.bits, 0, static_cast<std::size_t>(4 * words) * sizeof(std::uint32_t), on.stream));
        begin_selection<<<1, select_block, 0, on.stream>>>(of);
        KS_CUDA(cudaGetLastError());
        constexpr index_t most_blocks = 2048;
        for (std::uint32_t level = 0; level < depths; ++level) {
            const index_t tested = static_cast<index_t>(lets) * (levels[level + 1] - levels[level]);
            const auto blocks = static_cast<unsigned>(std::min((tested + teams_per_block - 1) / teams_per_block, most_blocks));
            launch_early(on, select_level, dim3(blocks), select_block, of, level);
        }
        const View<std::uint32_t> sums(of.nodes_of(), 2 * words);
        exclusive_scan(on, work, View<const std::uint32_t>(sums), sums);
        copy_to_host(on, view(found), View<const std::uint32_t>(count.view()).subview(0, of.counts()));
        const index_t counted = found[depths], held = queue.size();
        if (counted <= held) break;
        // Nodes below those that did not enter were not counted.
        queue.reserve_discarding(std::max(counted + counted / 4, 2 * held));
    }

    const EssentialArrays arrays{tree.quadrupole != nullptr, tree.node_term != nullptr};
    const auto selected = found[depths];
    if (selected == 0) return;
    PackedLets to{};
    for (std::uint32_t let = 0; let < lets; ++let) {
        auto& part = *requests[let].part;
        part.size = {found[depths + 1 + let], found[depths + 1 + lets + let]};
        hold_elements(part.message, essential_bytes(part.size, arrays));
        hold_elements(part.node, static_cast<index_t>(part.size.nodes));
        to.let[let] = {part.message.data(), part.size, part.node.data()};
    }
    pack_selected<<<(selected + packs_per_block - 1) / packs_per_block, select_block, 0, on.stream>>>(of, queue.data(), selected, to);
    KS_CUDA(cudaGetLastError());
}

template <>
EssentialTree<Cuda>::EssentialTree(Cuda on) : state_(new State{on}) {}
template <>
EssentialTree<Cuda>::~EssentialTree() = default;

template <>
void EssentialTree<Cuda>::make(const OctreeView& tree, const std::vector<std::uint32_t>& levels,
                               const std::vector<EssentialRequest<Cuda>>& requests, bool spline) {
    for (const auto& request : requests) request.part->size = {};
    if (tree.nodes == 0) return;
    const View<const EssentialRequest<Cuda>> all = view(requests);
    for (index_t first = 0; first < all.n; first += most_lets)
        state_->make_together(tree, levels, all.subview(first, std::min<index_t>(most_lets, all.n - first)), spline);
}

}  // namespace kasane::gravity
