"""Recipes of packaging/: what they name exists. The Spack recipe is executed with stand-ins for the classes and directives of Spack."""

import json
import re
import subprocess
import sys
import types
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CMAKE = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "CMakeLists.txt", *sorted((ROOT / "cmake").glob("*.cmake"))))
OPTIONS = {name for pair in re.findall(r"option\((\w+)|set\((KASANE_\w+) .*CACHE", CMAKE) for name in pair if name}


class Spec:
    """A spec of Spack: its variants."""

    def __init__(self, on, arch):
        self.on = on
        self.variants = {"cuda_arch": types.SimpleNamespace(value=arch)}

    def satisfies(self, variant):
        return (variant[1:] in self.on) == (variant[0] == "+")


@pytest.fixture
def recipe(monkeypatch):
    """(the class of the recipe, its directives: (name, arguments, keywords))."""
    directives = []

    class Package:
        cuda_arch_values = ("80", "90")

        def define(self, name, value):
            return f"-D{name}={value}"

    def module(name, **content):
        made = types.ModuleType(name)
        made.__dict__.update(content)
        monkeypatch.setitem(sys.modules, name, made)

    def directive(name):
        return lambda *arguments, **keywords: directives.append((name, arguments, keywords))

    known = ("license", "version", "variant", "depends_on", "conflicts")
    for parent in ("spack", "spack_repo", "spack_repo.builtin", "spack_repo.builtin.build_systems"):
        module(parent)
    module("spack.package", **{name: directive(name) for name in known})
    module("spack_repo.builtin.build_systems.cmake", CMakePackage=type("CMakePackage", (Package,), {}), generator=directive("generator"))
    module("spack_repo.builtin.build_systems.cuda", CudaPackage=type("CudaPackage", (Package,), {}))
    names = {}
    exec(compile((ROOT / "packaging/spack/package.py").read_text(encoding="utf-8"), "package.py", "exec"), names)
    return names["Kasane"], directives


# The package of Spack for what CMake looks for; OpenMP comes with the compiler, PkgConfig is a virtual package.
SPACK = {
    "fmt": "fmt", "spdlog": "spdlog", "tomlplusplus": "tomlplusplus", "nlohmann_json": "nlohmann-json", "CLI11": "cli11", "HDF5": "hdf5",
    "PNG": "libpng", "ZLIB": "zlib-api", "PkgConfig": "pkgconfig", "libhwy": "highway", "libhwy-contrib": "highway", "libxxhash": "xxhash",
    "muparser": "muparser", "Random123/philox.h": "random123", "OpenMP": "cxx",
}  # fmt: skip


def test_the_spack_recipe_has_what_cmake_looks_for(recipe):
    text = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
    wanted = {a or b or c for a, b, c in re.findall(r"find_package\((\w+).*REQUIRED|REQUIRED IMPORTED_TARGET ([\w-]+)|find_path\(\w+ (\S+) REQUIRED", text)}
    assert len(wanted) >= 15
    has = {re.split(r"[@~+ ]", arguments[0])[0] for name, arguments, _ in recipe[1] if name == "depends_on"}
    assert {SPACK[name] for name in wanted} <= has


@pytest.mark.parametrize("on, arch, expected", [((), ("none",), ["OFF", "OFF"]), (("cuda", "mpi"), ("80", "90"), ["ON", "ON", "80;90"])])
def test_the_spack_recipe_sets_options_of_cmake(recipe, on, arch, expected):
    package = recipe[0]()
    package.spec = Spec(on, arch)
    options = dict(re.fullmatch(r"-D(\w+)=(.*)", word).groups() for word in package.cmake_args())
    assert options.pop("KASANE_TESTS") == "False" and list(options.values()) == expected
    assert {name for name in options if name.startswith("KASANE_")} <= OPTIONS
    for name, arguments, keywords in recipe[1]:  # conditions name variants of the recipe or of Spack's CUDA class
        for variant in re.findall(r"[+~](\w+)", str(keywords.get("when", ""))):
            assert variant == "cuda" or any(n == "variant" and a[0] == variant for n, a, _ in recipe[1]), (name, arguments, variant)


@pytest.mark.parametrize("file", sorted(path.name for path in (ROOT / "packaging/container").iterdir()))
def test_the_containers_build_a_package(file):
    text = (ROOT / "packaging/container" / file).read_text(encoding="utf-8").replace("\\\n", " ")
    build, run = text.split("\nFROM ")[-2:]
    assert "--no-install-recommends make ca-certificates dpkg-dev file\n" in build  # dpkg-shlibdeps and file find the dependencies of the package
    presets = {preset["name"] for preset in json.loads((ROOT / "CMakePresets.json").read_text(encoding="utf-8"))["configurePresets"]}
    (preset,) = set(re.findall(r"--preset (\w+)", build))
    assert preset in presets and f"cd build/{preset} && cpack -G DEB" in build and f"/kasane/build/{preset}/kasane_*.deb" in run
    assert set(re.findall(r"-D(KASANE_\w+)", build)) <= OPTIONS and run.rstrip().endswith('ENTRYPOINT ["kasane"]')


@pytest.mark.parametrize("file", sorted(path.name for path in (ROOT / "packaging/slurm").iterdir()))
def test_the_job_scripts_are_shell(file):
    subprocess.run(["bash", "-n", str(ROOT / "packaging/slurm" / file)], check=True)
