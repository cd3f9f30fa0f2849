#include <kasane/core/base/error.hpp>
#include <kasane/gravity/softening/softening.hpp>

namespace kasane::gravity {

SofteningKernel softening_kernel_named(const std::string& wanted) {
    for (const auto kernel : {SofteningKernel::plummer, SofteningKernel::spline})
        if (wanted == name(kernel)) return kernel;
    throw InputError("no softening kernel is called '" + wanted + "'; there are plummer and spline");
}

std::string name(SofteningKernel kernel) { return kernel == SofteningKernel::plummer ? "plummer" : "spline"; }

}  // namespace kasane::gravity
