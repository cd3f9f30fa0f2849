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
        const bool poisson = run::holds_poisson_run(*directory), quenched = !poisson && run::holds_quenched_run(*directory);
        if (poisson || quenched) need_one_rank(common, *directory, "this problem");
        if (poisson) return tell(common, run::resume_poisson(*directory, common.settings(), controls(common)));
        if (quenched) return tell(common, run::resume_quenched(*directory, common.settings(), controls(common)));
        return tell(common, run::resume(*directory, common.settings(), controls(common)));
    };
}

}  // namespace kasane::app
