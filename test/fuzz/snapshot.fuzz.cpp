// libFuzzer target: snapshots in GADGET's formats 1 and 2. Built and run by test/fuzz/run.
#include <kasane/core/base/error.hpp>
#include <kasane/gravity/snapshot/snapshot.hpp>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <unistd.h>

namespace {

namespace fs = std::filesystem;

/// A file of the name that files of a set have, removed at the end.
struct Workplace {
    fs::path file = fs::temp_directory_path() / ("kasane_fuzz_snapshot_" + std::to_string(::getpid()) + ".0");
    ~Workplace() { fs::remove(file); }
};

}  // namespace

// A file is refused with an InputError, or gives as many particles as its header states.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace kasane;
    static const Workplace place;
    std::ofstream(place.file, std::ios::binary).write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
    try {
        const auto summary = gravity::inspect_snapshot(place.file);
        const auto read = gravity::read_snapshot(place.file);
        const auto n = static_cast<std::size_t>(summary.total());
        const auto& p = read.particles;
        if (n == 0 || p.position.size() != n || p.velocity.size() != n || p.mass.size() != n || p.id.size() != n || p.type.size() != n)
            throw std::logic_error("as many particles as the header states");
    } catch (const InputError&) {
    }
    return 0;
}
