// libFuzzer target: gauge configurations from NERSC, ILDG, MILC v5 and openQCD files. Built and run by test/fuzz/run.
#include <test/fuzz/read_gauge_bytes.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    kasane::test::read_gauge_bytes({reinterpret_cast<const char*>(data), static_cast<kasane::index_t>(size)});
    return 0;
}
