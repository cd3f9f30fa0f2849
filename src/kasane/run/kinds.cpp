#include <kasane/run/gravity/gravity.hpp>
#include <kasane/run/hmc/hmc.hpp>
#include <kasane/run/kinds.hpp>
#include <kasane/run/poisson/poisson.hpp>
#include <kasane/run/quenched/quenched.hpp>

namespace kasane::run {

const Kinds& kinds() {
    static const Kinds all{&gravity_kind, &poisson_kind, &quenched_kind, &hmc_kind};
    return all;
}

}  // namespace kasane::run
