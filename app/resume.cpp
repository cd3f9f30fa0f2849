// kasane resume DIR
#include <app/command.hpp>
#include <app/run_result.hpp>
#include <kasane/run/poisson/poisson_report.hpp>
#include <kasane/run/quenched/quenched_report.hpp>

namespace kasane::app {

Action add_resume(CLI::App& app, const Common& common) {
    auto directory = std::make_shared<std::string>();
    app.add_option("DIR", *directory, "Directory of the run")->required();
    return [directory, &common] {
        catch_interrupts();
        if (run::holds_poisson_run(*directory)) return tell(common, run::resume_poisson(*directory, common.settings(), controls(common)));
        if (run::holds_quenched_run(*directory)) return tell(common, run::resume_quenched(*directory, common.settings(), controls(common)));
        return tell(common, run::resume(*directory, common.settings(), controls(common)));
    };
}

}  // namespace kasane::app
