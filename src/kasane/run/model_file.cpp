#include <kasane/run/model_file.hpp>
#include <kasane/run/gravity/gravity_file.hpp>
#include <kasane/version.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace kasane::run {

bool is_model_file(const std::filesystem::path& path, const std::vector<io::Setting>& settings) {
    io::RunFileReader file(path, settings);
    auto root = file.root();
    const auto has = [&](const char* key) { return root.has(key); };
    constexpr const char* of_runs[] = {"run", "initial", "force", "step", "output"};
    constexpr const char* of_models[] = {"model", "component", "object"};
    return std::none_of(std::begin(of_runs), std::end(of_runs), has) && std::any_of(std::begin(of_models), std::end(of_models), has);
}

ModelFile read_model_file(const std::filesystem::path& path, const std::vector<io::Setting>& settings,
                          const std::optional<index_t>& count) {
    io::RunFileReader file(path, settings);
    auto root = file.root();
    if (root.has("run")) {
        auto run_file =
            read_gravity_file(path, {.settings = settings, .resumed_from = {}, .ranks = nullptr, .count = count, .problems = {}});
        return {std::move(run_file.title), std::move(run_file.initial), std::move(run_file.units), std::move(run_file.resolved),
                std::move(run_file.unused_keys)};
    }
    ModelFile model;
    model.title = root.text("title", {.help = "for people", .fallback = ""});
    if (model.title.empty()) model.title = path.stem().string();
    root.text("source", {.help = "where the parameters come from", .fallback = ""});
    const io::TextKey units{.help = "of bare numbers", .fallback = "galactic", .choices = {"galactic", "nbody"}};
    model.units = gravity::units_named(root.text("units", units));
    model.initial = read_initial(root, root, {model.units, std::filesystem::absolute(path).parent_path(), count});
    file.finish();
    model.unused_keys = file.unused_keys();
    model.resolved = file.resolved(fmt::format("Written by kasane {} ({}): the model file with every key spelled out.", version, commit));
    return model;
}

}  // namespace kasane::run
