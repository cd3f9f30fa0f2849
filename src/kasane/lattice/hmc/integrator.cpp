#include <kasane/lattice/hmc/integrator.hpp>

#include <kasane/core/base/error.hpp>

#include <utility>

namespace kasane::lattice {
namespace {

/// A part of one step of length 1; the shift is in units of its square.
struct Stage {
    Operation::Kind kind;
    double step, shift = 0;
};

/// Kicks and drifts in turn, a kick first and last.
std::vector<Stage> stages_of(Integrator integrator) {
    constexpr auto kick = Operation::Kind::kick, drift = Operation::Kind::drift;
    switch (integrator) {
        case Integrator::leapfrog: return {{kick, 0.5}, {drift, 1}, {kick, 0.5}};
        case Integrator::omelyan2: {
            constexpr double lambda = 0.1931833275037836;  // [Omelyan, Mryglod & Folk 2003]
            return {{kick, lambda}, {drift, 0.5}, {kick, 1 - 2 * lambda}, {drift, 0.5}, {kick, lambda}};
        }
        case Integrator::omelyan4: {
            // [Omelyan, Mryglod & Folk 2003; Takaishi & de Forcrand 2006, hep-lat/0505020, "4MN5FV"]
            constexpr double theta = 0.08398315262876693, rho = 0.2539785108410595, lambda = 0.6822365335719091, mu = -0.03230286765269967;
            constexpr double outer = 0.5 - lambda - theta, middle = 1 - 2 * (mu + rho);
            return {{kick, theta}, {drift, rho}, {kick, lambda}, {drift, mu},  {kick, outer}, {drift, middle},
                    {kick, outer}, {drift, mu},  {kick, lambda}, {drift, rho}, {kick, theta}};
        }
        case Integrator::force_gradient:
            // Chin's algorithm A, whose middle force F + h^2 / 48 grad |F|^2 is that of links moved by h^2 / 24 F.
            return {{kick, 1. / 6}, {drift, 0.5}, {Operation::Kind::gradient_kick, 2. / 3, 1. / 24}, {drift, 0.5}, {kick, 1. / 6}};
    }
    return {};
}

class Schedule {
   public:
    explicit Schedule(const std::vector<Level>& levels) : levels_(levels), pending_(levels.size()) {}

    void integrate(std::size_t level, double length) {
        if (level == levels_.size()) {
            drift(length);
            return;
        }
        const auto stages = stages_of(levels_[level].integrator);
        const double h = length / levels_[level].steps;
        for (int step = 0; step < levels_[level].steps; ++step)
            for (const auto& stage : stages) {
                if (stage.kind == Operation::Kind::drift)
                    integrate(level + 1, stage.step * h);
                else if (stage.kind == Operation::Kind::kick)
                    pending_[level] += stage.step * h;
                else
                    operations_.push_back({stage.kind, static_cast<int>(level), stage.step * h, stage.shift * h * h});
            }
    }
    std::vector<Operation> end() {
        kick();
        return std::move(operations_);
    }

   private:
    void drift(double length) {
        kick();
        operations_.push_back({Operation::Kind::drift, 0, length, 0});
    }
    /// Between two drifts the links stay, so that kicks commute.
    void kick() {
        for (std::size_t level = 0; level < pending_.size(); ++level) {
            if (pending_[level] != 0) operations_.push_back({Operation::Kind::kick, static_cast<int>(level), pending_[level], 0});
            pending_[level] = 0;
        }
    }

    const std::vector<Level>& levels_;
    std::vector<double> pending_;  ///< kicks of each level since the last drift
    std::vector<Operation> operations_;
};

}  // namespace

std::vector<Operation> operations_of(const std::vector<Level>& levels, double length) {
    KS_REQUIRE(!levels.empty(), "an integrator needs at least one level");
    for (const auto& level : levels) KS_REQUIRE(level.steps >= 1, "a level of the integrator needs at least one step");
    Schedule schedule(levels);
    schedule.integrate(0, length);
    return schedule.end();
}

}  // namespace kasane::lattice
