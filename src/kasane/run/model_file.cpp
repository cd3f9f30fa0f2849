#include <kasane/run/model_file.hpp>
#include <kasane/run/run_file.hpp>

namespace kasane::run {

ModelFile read_model_file(const std::filesystem::path& path, const std::vector<io::Setting>& settings) {
    io::RunFileReader file(path, settings);
    auto root = file.root();
    if (root.has("run")) {
        auto run_file = read_run_file(path, settings);
        return {std::move(run_file.initial), std::move(run_file.units)};
    }
    root.text("title", {.fallback = ""});
    const auto units = gravity::units_named(root.text("units", {.fallback = "galactic", .choices = {"galactic", "nbody"}}));
    ModelFile model{read_initial(root, root, {units, std::filesystem::absolute(path).parent_path()}), units};
    file.finish();
    return model;
}

}  // namespace kasane::run
