// Softening terms of bodies and nodes where pairs combine softenings, once per Space: terms with each new tree, and the moments of the
// nodes, level by level from the deepest, at the first refresh() of a tree, when the bodies have masses.
#include <kasane/core/device/kernels.hpp>
#include <kasane/gravity/tree/octree.hpp>

namespace kasane::gravity {
namespace {

struct BodyTerms {
    View<const double> softening;
    double eps, per_length;
    float* term;
    KS_FN void operator()(index_t i) const {
        term[i] = static_cast<float>(softening_term(per_length * (softening.empty() ? eps : softening[i])));
    }
};

struct SoftenNodes {
    const Body* body;
    const float* body_term;
    const NodeLink* link;
    const NodeTest* test;
    std::uint32_t first;
    bool largest;  ///< the walk needs the largest term, not the mean
    SofteningMoments* moments;
    float* node_term;

    KS_FN SofteningMoments part(bool is_leaf, std::uint32_t begin, std::uint32_t k) const {
        if (!is_leaf) return moments[begin + k];
        const float term = body_term[begin + k];
        return {body[begin + k].m, term, 0, term};
    }
    KS_FN void operator()(index_t i) const {
        const auto node = static_cast<std::uint32_t>(first + i);
        const bool is_leaf = link[node] == leaf;
        const std::uint32_t begin = is_leaf ? test[node].begin : first_child(link[node]);
        const std::uint32_t parts = is_leaf ? test[node].count : child_count(link[node]);
        double mass = 0, sum = 0, squares = 0;
        float most = 0;
        for (std::uint32_t k = 0; k < parts; ++k) {
            const auto p = part(is_leaf, begin, k);
            mass += static_cast<double>(p.mass);
            sum += static_cast<double>(p.mass) * static_cast<double>(p.mean);
            most = p.most > most ? p.most : most;
        }
        const double mean = mass > 0 ? sum / mass : static_cast<double>(most);
        for (std::uint32_t k = 0; k < parts; ++k) {
            const auto p = part(is_leaf, begin, k);
            const double off = static_cast<double>(p.mean) - mean;
            squares += static_cast<double>(p.mass) * (static_cast<double>(p.variance) + off * off);
        }
        const SofteningMoments m{static_cast<float>(mass), static_cast<float>(mean), mass > 0 ? static_cast<float>(squares / mass) : 0.f,
                                 most};
        moments[node] = m;
        node_term[node] = largest ? m.most : m.mean;
    }
};

template <class T, Space S>
void ensure_elements(S on, Buffer<T, S>& buffer, index_t n) {
    if (buffer.size() >= n) return;
    buffer = {};
    buffer = Buffer<T, S>(on, n + n / 16);
}

}  // namespace

template <Space S>
void Octree<S>::set_softening(View<const double> softening) {
    softened_ = false;
    const index_t n = body_.size();
    ensure_elements(on_, body_term_, n);
    parallel_for(on_, n, BodyTerms{softening, options_.softening, 1 / frame_.length, body_term_.data()});
}

template <Space S>
void Octree<S>::soften_nodes() {
    ensure_elements(on_, softening_moments_, levels_.back());
    ensure_elements(on_, node_term_, levels_.back());
    const bool largest = options_.softening_kernel == SofteningKernel::spline;
    for (std::size_t level = levels_.size() - 1; level-- > 0;)
        parallel_for(on_, levels_[level + 1] - levels_[level],
                     SoftenNodes{body_.data(), body_term_.data(), link_.data(), test_.data(), levels_[level], largest,
                                 softening_moments_.data(), node_term_.data()});
    softened_ = true;
}

template void Octree<KS_SPACE>::set_softening(View<const double>);
template void Octree<KS_SPACE>::soften_nodes();

}  // namespace kasane::gravity
