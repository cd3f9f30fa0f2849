// Motion of the nodes' centres of mass, once per Space.
#include <kasane/core/device/kernels.hpp>
#include <kasane/gravity/tree/node_motion.hpp>

namespace kasane::gravity {
namespace {

struct RecordCenter {
    const Body* center;
    Body* recorded;
    Vec3<float>* velocity;
    float per_time;  ///< 1 / interval; 0: there is no record yet
    KS_FN void operator()(index_t i) const {
        const Body now = center[i];
        if (per_time != 0) {
            const Body then = recorded[i];
            velocity[i] = {per_time * (now.x - then.x), per_time * (now.y - then.y), per_time * (now.z - then.z)};
        }
        recorded[i] = now;
    }
};

struct MoveCenter {
    const Body* recorded;
    const Vec3<float>* velocity;
    Body* center;
    float elapsed;
    KS_FN void operator()(index_t i) const {
        const Body then = recorded[i];
        const auto v = velocity[i];
        center[i] = {then.x + elapsed * v.x, then.y + elapsed * v.y, then.z + elapsed * v.z, then.m};
    }
};

}  // namespace

template <Space S>
void NodeMotion<S>::record(View<const Body> center, double time) {
    if (recorded_.size() < center.n) {
        recorded_ = {};
        velocity_ = {};
        recorded_ = Buffer<Body, S>(on_, center.n + center.n / 16);
        velocity_ = Buffer<Vec3<float>, S>(on_, recorded_.size());
        records_ = 0;
    }
    interval_ = records_ > 0 ? time - time_ : 0;
    const bool known = interval_ != 0;
    parallel_for(on_, center.n,
                 RecordCenter{center.ptr, recorded_.data(), velocity_.data(), known ? static_cast<float>(1 / interval_) : 0.f});
    time_ = time;
    records_ = known ? 2 : 1;
}

template <Space S>
void NodeMotion<S>::move(View<Body> center, double time) const {
    parallel_for(on_, center.n, MoveCenter{recorded_.data(), velocity_.data(), center.ptr, static_cast<float>(time - time_)});
}

template class NodeMotion<KS_SPACE>;

}  // namespace kasane::gravity
