// kasane resume DIR: continues a run from its newest valid checkpoint.
#include <app/command.hpp>
#include <app/run_result.hpp>
#include <kasane/run/kinds.hpp>

namespace kasane::app {

Action add_resume(CLI::App& app, const Common& common) {
    auto directory = std::make_shared<std::string>();
    app.add_option("DIR", *directory, "Directory of the run")->required();
    return [directory, &common] {
        catch_interrupts();
        return print_result(common, run::resume(run::kinds(), *directory, common.settings(), controls(common)));
    };
}

}  // namespace kasane::app
