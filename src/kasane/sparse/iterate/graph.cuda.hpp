// The graph launch: an iteration as a chain of stages in the body of a WHILE node, whose condition the last stage sets.
// Invariants: all scalars stay on the device; a graph is made once per solve and launched once per batch.
#pragma once

#include <kasane/sparse/grid/launch.cuda.hpp>
#include <kasane/sparse/iterate/stage.cuda.hpp>

namespace kasane::sparse::device {

/// A graph that repeats the launches of fill() until the last stage of a round ends it.
class LoopGraph {
   public:
    /// @param fill  fill(stream, loop): launches the stages of one round on that stream
    template <class Fill>
    LoopGraph(State* state, const Fill& fill) {
        KS_CUDA(cudaStreamCreateWithFlags(&own_.stream, cudaStreamNonBlocking));
        KS_CUDA(cudaGraphCreate(&own_.graph, 0));
        GraphLoop loop;
        KS_CUDA(cudaGraphConditionalHandleCreate(&loop.handle, own_.graph, 0, cudaGraphCondAssignDefault));
        capture(own_.graph, [&] { device::launch(Beside::nothing, 1, 1, own_.stream, enter_loop<>, state, loop); });
        cudaGraphNode_t enter{}, repeat{};
        std::size_t nodes = 1;
        KS_CUDA(cudaGraphGetNodes(own_.graph, &enter, &nodes));
        cudaGraphNodeParams node{};
        node.type = cudaGraphNodeTypeConditional;
        node.conditional.handle = loop.handle;
        node.conditional.type = cudaGraphCondTypeWhile;
        node.conditional.size = 1;
#if CUDART_VERSION >= 13000
        KS_CUDA(cudaGraphAddNode(&repeat, own_.graph, &enter, nullptr, 1, &node));
#else
        KS_CUDA(cudaGraphAddNode(&repeat, own_.graph, &enter, 1, &node));
#endif
        capture(node.conditional.phGraph_out[0], [&] { fill(own_.stream, loop); });
        KS_CUDA(cudaGraphInstantiate(&own_.ready, own_.graph, 0));
    }
    /// Repeats the rounds, at most as many as State::budget.
    void launch(cudaStream_t stream) const { KS_CUDA(cudaGraphLaunch(own_.ready, stream)); }

   private:
    struct Handles {
        cudaStream_t stream{};
        cudaGraph_t graph{};
        cudaGraphExec_t ready{};
        Handles() = default;
        Handles(const Handles&) = delete;
        ~Handles() {
            if (ready) static_cast<void>(cudaGraphExecDestroy(ready));
            if (graph) static_cast<void>(cudaGraphDestroy(graph));
            if (stream) static_cast<void>(cudaStreamDestroy(stream));
        }
    };

    template <class Work>
    void capture(cudaGraph_t into, const Work& work) {
        KS_CUDA(cudaStreamBeginCaptureToGraph(own_.stream, into, nullptr, nullptr, 0, cudaStreamCaptureModeThreadLocal));
        work();
        cudaGraph_t same{};
        KS_CUDA(cudaStreamEndCapture(own_.stream, &same));
    }

    Handles own_;
};

}  // namespace kasane::sparse::device
