// libFuzzer target: run files against a schema of every kind of key. Built and run by test/fuzz/run.
#include <kasane/core/io/toml.hpp>

#include <cstdint>
#include <stdexcept>

namespace {

using namespace kasane;

/// The text written out with every key. @throws InputError where it is refused
std::string resolved(const std::string& text) {
    io::RunFileReader file("fuzz.toml", {}, text);
    auto root = file.root();
    auto run = root.table("run", "what every run has");
    run.text("problem", {.help = "kind", .fallback = "a", .choices = {"a", "b"}});
    run.text("title", {.help = "any text", .fallback = "none"});
    run.flag("flag", {.help = "a truth value"});
    run.integer("count", {.help = "whole", .fallback = 4, .least = 1, .most = 1000000});
    auto force = root.table("force");
    force.number("softening", {.help = "length", .unit = "kpc", .fallback = 1, .range = io::above(0)});
    force.vector("at", {.fallback = Vec3<double>{1, 2, 3}});
    force.integers("extents", {.fallback = std::vector<std::int64_t>{1, 2, 3}});
    force.number_lists("edges", {.fallback = 1});
    for (auto& object : root.tables("object")) {
        object.number("mass", {.fallback = 1});
        object.text("name", {.fallback = ""});
        object.table("orbit").number("time", {.fallback = 0});
    }
    auto names = root.table("names", "keys of the user");
    for (const auto& name : names.keys()) names.number(name, {});
    file.finish();
    return file.resolved("head");
}

}  // namespace

// A file is refused with an InputError, or written out as a file that is read as the same.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::string once;
    try {
        once = resolved({reinterpret_cast<const char*>(data), size});
    } catch (const InputError&) {
        return 0;
    }
    if (resolved(once) != once) throw std::logic_error("another file was written out");
    return 0;
}
