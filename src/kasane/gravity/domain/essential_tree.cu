// Selection and packing of LETs on CUDA, of many domains at once: their number costs no launches. Sixteen lanes test a node of a queue,
// which has the nodes of a level for all LETs, because the tests of one node against hundreds of boxes one after the other take longer than
// all else. The order of the queue is arbitrary; it is sorted at the end, so that time and memory depend on the nodes that are sent, not on
// those of the tree. Walks need the order of the tree: leaves whose bodies follow each other are read as one.
// Invariant: messages do not depend on the order in which lanes come.
#include <kasane/core/device/algorithms.hpp>
#include <kasane/core/device/check.cuda.hpp>
#include <kasane/core/device/launch_early.cuda.hpp>
#include <kasane/core/device/parallel.hpp>
#include <kasane/gravity/domain/essential_pack.hpp>

#include <algorithm>
#include <bit>

namespace kasane::gravity {
namespace {

constexpr int most_lets = 80;  ///< at once: 40 bytes for each of them in the 4 KiB that the arguments of a kernel may have

constexpr int select_block = 128, team = 16;  ///< as many lanes as a group has boxes, and a region groups
constexpr int teams_per_block = select_block / team;

/// SelectedNode::next of a node behind which an LET ends.
constexpr std::uint32_t end_of_let = 0xffffffffu;

/// A node of an LET, in the queue.
struct alignas(16) SelectedNode {
    std::uint32_t node, next;  ///< in the tree; element behind its subtree
    NodeLink link;             ///< its children in the queue, once they are entered
    std::uint32_t let_kind;    ///< number of the LET | EssentialNode::Kind << 8, once it is tested
};
static_assert(sizeof(SelectedNode) + 2 * (sizeof(std::uint64_t) + sizeof(std::uint32_t)) == selected_node_bytes);

/// Selections for several domains, and the queue of their nodes.
struct Selections {
    OctreeView tree;
    NodeCriterion by;
    std::uint32_t lets, levels, capacity;  ///< `capacity` is that of the queue; numbers of nodes beyond it are counted
    int node_bits;                         ///< of the number of a node
    SelectedNode* queue;
    std::uint64_t* key;    ///< of each element: the LET and its order there
    std::uint32_t* value;  ///< numbers of the elements
    std::uint32_t* count;  ///< [counts]
    const TargetBox* box[most_lets];

    KS_FN void enter(std::uint32_t element, std::uint32_t node, std::uint32_t next, std::uint32_t let) const {
        queue[element] = {node, next, leaf, let};
        key[element] = static_cast<std::uint64_t>(let) << node_bits | node;
        value[element] = element;
    }
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
        of.enter(atomicAdd(of.entered(), 1u), 0, end_of_let, let);
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
        std::uint32_t first = 0;
        if (lane == 0) {
            of.queue[k].let_kind = let | static_cast<std::uint32_t>(kind) << 8;
            if (kind == EssentialNode::bodies) atomicAdd(of.bodies() + let, test.count);
            if (kind == EssentialNode::inner) {
                atomicAdd(of.nodes() + let, children);
                first = behind + atomicAdd(of.entered() + level + 1, children);
                of.queue[k].link = first | (children - 1) << 29;
            }
        }
        first = __shfl_sync(Team::mask(), first, 0, team);
        const std::uint32_t entry = first + lane;
        if (lane < children && entry < of.capacity)
            of.enter(entry, first_child(link) + lane, lane + 1 < children ? entry + 1 : selected.next, let);
    }
}

/// The queue in the order of the LETs.
struct SortedQueue {
    const SelectedNode* element;
    const std::uint32_t* order;  ///< elements in that order
    std::uint32_t* place;        ///< place of each element in that order
    std::uint32_t* bodies;       ///< in that order: number of bodies, then sum of all before
};

struct PlaceNodes {
    SortedQueue queue;
    const NodeTest* test;
    __device__ void operator()(index_t r) const {
        const std::uint32_t element = queue.order[r];
        const auto selected = queue.element[element];
        queue.place[element] = static_cast<std::uint32_t>(r);
        queue.bodies[r] = selected.let_kind >> 8 == EssentialNode::bodies ? test[selected.node].count : 0;
    }
};

constexpr std::uint32_t pack_lanes = 4;  ///< for each selected node: most have no bodies
constexpr std::uint32_t packs_per_block = select_block / pack_lanes;

/// LETs for writing, and the places of the first node and body of each.
struct PackedLets {
    struct Let {
        EssentialOut out;
        std::uint32_t first, first_body;
    } let[most_lets];
};
static_assert(sizeof(PackedLets::Let) == 40);

__global__ void __launch_bounds__(select_block) pack_selected(OctreeView tree, SortedQueue queue, std::uint32_t nodes, PackedLets to) {
    const std::uint32_t r = (blockIdx.x * select_block + threadIdx.x) / pack_lanes;
    if (r >= nodes) return;
    const auto selected = queue.element[queue.order[r]];
    const auto& let = to.let[selected.let_kind & 0xff];
    const auto place = [&](std::uint32_t element) { return queue.place[element] - let.first; };
    EssentialPlace at{selected.node, r - let.first, static_cast<std::uint32_t>(let.out.size.nodes), selected.link,
                      queue.bodies[r] - let.first_body};
    if (selected.next != end_of_let) at.next = place(selected.next);
    if (at.link != leaf) at.link = place(first_child(at.link)) | (child_count(at.link) - 1) << 29;
    let.out.write(tree, at, static_cast<EssentialNode::Kind>(selected.let_kind >> 8), threadIdx.x % pack_lanes, pack_lanes);
}

template <class T>
void hold_elements(Buffer<T, Cuda>& buffer, index_t n) {
    if (buffer.size() < n) buffer.reserve_discarding(n + n / 16);
}

}  // namespace

template <>
struct EssentialTree<Cuda>::State {
    Cuda on;
    Workspace<Cuda> work{on};
    Buffer<SelectedNode, Cuda> queue{on, 0};
    Buffer<std::uint64_t, Cuda> key{on, 0}, key_scratch{on, 0};
    Buffer<std::uint32_t, Cuda> value{on, 0}, value_scratch{on, 0};
    Buffer<std::uint32_t, Cuda> count{on, 0};

    void resize(index_t n) {
        queue.reserve_discarding(n), key.reserve_discarding(n), key_scratch.reserve_discarding(n);
        value.reserve_discarding(n), value_scratch.reserve_discarding(n);
    }
    void make_together(const OctreeView& tree, const std::vector<std::uint32_t>& levels, View<const EssentialRequest<Cuda>> requests,
                       bool spline);
};

void EssentialTree<Cuda>::State::make_together(const OctreeView& tree, const std::vector<std::uint32_t>& levels,
                                               View<const EssentialRequest<Cuda>> requests, bool spline) {
    const auto lets = static_cast<std::uint32_t>(requests.n), depths = static_cast<std::uint32_t>(levels.size()) - 1;
    Selections of{};
    of.tree = tree, of.by = {tree.quadrupole != nullptr, spline}, of.lets = lets, of.levels = depths;
    of.node_bits = std::bit_width(static_cast<std::uint64_t>(tree.nodes));
    for (std::uint32_t let = 0; let < lets; ++let) of.box[let] = requests[let].box.ptr;
    hold_elements(count, of.counts());
    of.count = count.data();
    std::vector<std::uint32_t> found(of.counts());
    KS_CUDA(cudaSetDevice(on.device));
    if (queue.size() == 0) resize(index_t{1} << 14);
    while (true) {
        of.queue = queue.data(), of.key = key.data(), of.value = value.data();
        of.capacity = static_cast<std::uint32_t>(queue.size());
        begin_selection<<<1, select_block, 0, on.stream>>>(of);
        KS_CUDA(cudaGetLastError());
        constexpr index_t most_blocks = 2048;
        for (std::uint32_t level = 0; level < depths; ++level) {
            const index_t tested = static_cast<index_t>(lets) * (levels[level + 1] - levels[level]);
            const auto blocks = static_cast<unsigned>(std::min((tested + teams_per_block - 1) / teams_per_block, most_blocks));
            launch_early(on, select_level, dim3(blocks), select_block, of, level);
        }
        copy_to_host(on, view(found), View<const std::uint32_t>(count.view()).subview(0, of.counts()));
        const index_t counted = found[depths], held = queue.size();
        if (counted <= held) break;
        // Nodes below those that did not enter were not counted.
        resize(std::max(counted + counted / 4, 2 * held));
    }

    const EssentialArrays arrays{tree.quadrupole != nullptr, tree.node_term != nullptr};
    const auto selected = found[depths];
    if (selected == 0) return;
    PackedLets to{};
    std::uint32_t first = 0, first_body = 0;
    for (std::uint32_t let = 0; let < lets; ++let) {
        auto& part = *requests[let].part;
        part.size = {found[depths + 1 + let], found[depths + 1 + lets + let]};
        hold_elements(part.message, essential_bytes(part.size, arrays));
        hold_elements(part.node, static_cast<index_t>(part.size.nodes));
        to.let[let] = {{part.message.data(), part.size, part.node.data()}, first, first_body};
        first += static_cast<std::uint32_t>(part.size.nodes), first_body += static_cast<std::uint32_t>(part.size.bodies);
    }
    const index_t n = selected;
    sort_by_key(on, work, key.view().subview(0, n), value.view().subview(0, n), key_scratch.view().subview(0, n),
                value_scratch.view().subview(0, n), of.node_bits + std::bit_width(lets));
    // The memory of the sort is free again.
    const View<std::uint32_t> bodies(reinterpret_cast<std::uint32_t*>(key_scratch.data()), n);
    const SortedQueue sorted{queue.data(), value.data(), value_scratch.data(), bodies.ptr};
    parallel_for(on, n, PlaceNodes{sorted, tree.test});
    exclusive_scan(on, work, View<const std::uint32_t>(bodies), bodies);
    pack_selected<<<(selected + packs_per_block - 1) / packs_per_block, select_block, 0, on.stream>>>(tree, sorted, selected, to);
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
