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
    void* module = nullptr;
    std::string reason;
    for (const auto& path : {here / file, here / ".." / "lib" / "kasane" / file, fs::path(file)}) {
        if (path.has_parent_path() && !fs::exists(path, unknown)) continue;
        module = dlopen(path.c_str(), how);
        if (module) break;
        const char* says = dlerror();
        if (reason.empty()) reason = says ? says : "the loader gives no reason";  // of the first: one that is there and does not load
    }
    KS_VALIDATE(module, "the module " + file + " cannot be loaded: " + reason +
                            "; it belongs beside the program, in ../lib/kasane from there, or on LD_LIBRARY_PATH");
    const auto address = [&](const std::string& wanted) { return dlsym(module, wanted.c_str()); };
    const auto build = reinterpret_cast<const char* (*)()>(address("kasane_" + name + "_build"));
    const std::string theirs = build ? build() : "unknown";
    KS_VALIDATE(theirs == this_build(), "the module " + file + " is of kasane " + theirs + ", the program of kasane " + this_build() +
                                            "; build and install both together");
    void* found = address(function);
    KS_VALIDATE(found, "the module " + file + " has no function " + function + "; build and install it together with the program");
    return found;
}

}  // namespace kasane::comm
