#include <kasane/core/base/error.hpp>
#include <kasane/core/comm/module.hpp>

#include <dlfcn.h>

#include <filesystem>

namespace kasane::comm {

void* module_function(const std::string& name, const std::string& function, Symbols symbols) {
    namespace fs = std::filesystem;
    const std::string file = "libkasane_" + name + ".so";
    std::error_code unknown;
    const auto here = fs::read_symlink("/proc/self/exe", unknown).parent_path();
    const int how = RTLD_NOW | (symbols == Symbols::global ? RTLD_GLOBAL : RTLD_LOCAL);
    auto path = fs::path(file);  // where the loader searches
    for (const auto& place : {here / file, here / ".." / "lib" / "kasane" / file})
        if (fs::exists(place, unknown)) {
            path = place;
            break;
        }
    void* module = dlopen(path.c_str(), how);
    const char* says = module ? "" : dlerror();
    KS_VALIDATE(module, "the plugin " + file + " cannot be loaded: " + (says ? says : "the loader gives no reason") +
                            "; it belongs beside the program, in ../lib/kasane from there, or on LD_LIBRARY_PATH");
    const auto address = [&](const std::string& wanted) { return dlsym(module, wanted.c_str()); };
    const auto build = reinterpret_cast<const char* (*)()>(address("kasane_" + name + "_build"));
    const std::string theirs = build ? build() : "unknown";
    KS_VALIDATE(theirs == this_build(), "the plugin " + file + " is of kasane " + theirs + ", the program of kasane " + this_build() +
                                            "; build and install both together");
    void* found = address(function);
    KS_VALIDATE(found, "the plugin " + file + " has no function " + function + "; build and install it together with the program");
    return found;
}

}  // namespace kasane::comm
