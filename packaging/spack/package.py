# Spack recipe, for Spack 1.0 or newer: `spack repo create ~/recipes`, copy it to packages/kasane/package.py there, set `git` to where the source
# is, then: spack repo add ~/recipes && spack install kasane +cuda cuda_arch=90
from spack_repo.builtin.build_systems.cmake import CMakePackage, generator
from spack_repo.builtin.build_systems.cuda import CudaPackage

from spack.package import *


class Kasane(CMakePackage, CudaPackage):
    """Self-gravity, sparse symmetric positive definite systems and lattice QCD on CPUs and GPUs."""

    git = "file:///path/to/kasane"
    license("MIT")
    version("main", branch="main")

    variant("mpi", default=True, description="Runs on several ranks")
    variant("nccl", default=False, when="+cuda+mpi", description="Messages between the devices of ranks by NCCL")

    depends_on("cxx", type="build")
    depends_on("c", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("hdf5@1.10.5:~mpi")
    depends_on("fmt")
    depends_on("spdlog@1.4:")  # from this version on the recipe of spdlog takes fmt from outside: one fmt in the program
    depends_on("tomlplusplus")
    depends_on("nlohmann-json")
    depends_on("cli11")
    depends_on("highway")
    depends_on("random123")
    depends_on("xxhash")
    depends_on("muparser")
    depends_on("libpng")
    depends_on("zlib-api")
    depends_on("mpi", when="+mpi")
    depends_on("cuda@12:", when="+cuda")
    depends_on("nccl", when="+nccl")
    for _arch in CudaPackage.cuda_arch_values:
        depends_on(f"nccl cuda_arch={_arch}", when=f"+nccl cuda_arch={_arch}")
    conflicts("%gcc@:11", msg="kasane is C++20")

    generator("ninja")

    def cmake_args(self):
        args = [
            self.define("KASANE_TESTS", False),
            self.define("KASANE_CUDA", "ON" if self.spec.satisfies("+cuda") else "OFF"),
            self.define("KASANE_MPI", "ON" if self.spec.satisfies("+mpi") else "OFF"),
        ]
        if self.spec.satisfies("+cuda") and self.spec.variants["cuda_arch"].value[0] != "none":
            args.append(self.define("CMAKE_CUDA_ARCHITECTURES", ";".join(self.spec.variants["cuda_arch"].value)))
        return args
