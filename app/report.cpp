// kasane report DIR: writes the run's report.html again.
#include <app/command.hpp>
#include <kasane/run/driver/driver.hpp>
#include <kasane/run/kinds.hpp>

namespace kasane::app {

Action add_report(CLI::App& app, const Common& common) {
    auto directory = std::make_shared<std::string>();
    app.add_option("DIR", *directory, "Directory of the run")->required();
    return [directory, &common] {
        const auto path = std::filesystem::absolute(run::write_report(run::kinds(), *directory)).lexically_normal().string();
        print(common, {{"directory", *directory}, {"report", path}}, "open " + path);
        return static_cast<int>(success);
    };
}

}  // namespace kasane::app
