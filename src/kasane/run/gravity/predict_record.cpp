#include <kasane/core/io/json_value.hpp>
#include <kasane/core/base/error.hpp>
#include <kasane/core/io/json.hpp>
#include <kasane/gravity/distributed/memory.hpp>
#include <kasane/run/driver/run_texts.hpp>
#include <kasane/run/gravity/predict_parts.hpp>
#include <kasane/run/gravity/predict_record.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace kasane::run {
namespace {

constexpr double record_error = 0.15;  ///< assumed relative error of the parts of a step within the measured sizes
/// More for each doubling of a device's particles beyond the measured: 2^28 particles on four H200 take 1.26 times the prediction.
constexpr double record_per_doubling = 0.1;
/// Where ranks send messages, the own tree and the LETs are walked one after the other: 7.5 ms in place of 5.2 for 2^22 particles on H100.
constexpr double two_walks = 1.45;

/// The two numbers a, b >= 0 that minimise the relative errors of a x + b y against t.
std::array<double, 2> fitted(const std::vector<std::array<double, 3>>& points) {
    double xx = 0, xy = 0, yy = 0, xt = 0, yt = 0;
    for (const auto& [x, y, t] : points) {
        if (!(t > 0)) continue;
        const double w = 1 / (t * t);
        xx += w * x * x, xy += w * x * y, yy += w * y * y, xt += w * x * t, yt += w * y * t;
    }
    const double determinant = xx * yy - xy * xy;
    double a = 0, b = 0;
    if (determinant > 1e-9 * xx * yy) a = (xt * yy - yt * xy) / determinant, b = (yt * xx - xt * xy) / determinant;
    if (!(a > 0 && b >= 0) || determinant <= 1e-9 * xx * yy) {  // one of them alone
        const double only_a = xx > 0 ? xt / xx : 0, only_b = yy > 0 ? yt / yy : 0;
        if (b < 0 || !(a > 0 || b > 0))
            a = only_a, b = 0;
        else
            a = 0, b = only_b;
    }
    return {a, b};
}

}  // namespace

ScalingRecord read_scaling_record(const std::filesystem::path& path) {
    const auto text = content(path);
    KS_VALIDATE(text, "cannot be read: give a record of `kasane bench gravity.tree.scaling`", {path.string(), 0, 0, ""});
    ScalingRecord found;
    bool one = false;
    int several = 0;
    try {
        const auto record = io::parse_json(*text, path);
        for (const auto& each : record.at("results")) {
            const auto name = each.at("case").get<std::string>();
            const auto number = [&](const char* key) { return each.at(key).get<double>(); };
            if (name.starts_with("gravity.tree.lets, "))
                found.lets.push_back({number("seconds") + number("merge_seconds"), number("bytes")});
            if (!name.starts_with("gravity.tree.scaling, all, P ")) continue;
            ScalingRow row{number("n"),
                           static_cast<int>(number("members")),
                           number("walk_seconds"),
                           number("moments_seconds"),
                           number("tree_seconds"),
                           number("step_seconds"),
                           number("domains_seconds"),
                           number("lets_seconds"),
                           number("messages_seconds"),
                           number("received_bytes")};
            if (!(row.particles >= 1 && row.workers >= 1 && row.walk > 0)) continue;
            one |= row.workers == 1;
            several += row.workers > 1;
            found.steps.push_back(row);
        }
    } catch (const io::Json::exception&) {
        throw InputError("is not a record of `kasane bench gravity.tree.scaling`", {path.string(), 0, 0, ""});
    }
    KS_VALIDATE(one && several >= 2,
                "has no steps of one device and of several: give a record of `kasane bench gravity.tree.scaling` on several devices",
                {path.string(), 0, 0, ""});
    return found;
}

ScalingModel::ScalingModel(const ScalingRecord& record) {
    std::vector<std::array<double, 3>> lets, messages, received, made;
    for (const auto& row : record.lets) made.push_back({1, row.bytes, row.seconds});
    const auto s = fitted(made);
    lets_all_ = s[0], lets_byte_ = s[1];
    double doublings = 0, domains = 0;
    for (const auto& row : record.steps) {
        const double own = row.particles / row.workers, others = row.workers - 1, log = std::log2(row.workers);
        fewest_own_ = fewest_own_ > 0 ? std::min(fewest_own_, own) : own;
        most_own_ = std::max(most_own_, own);
        most_workers_ = std::max(most_workers_, row.workers);
        if (row.workers == 1) {
            one_.push_back(row);
            continue;
        }
        if (made.empty())
            lets.push_back({own, others, row.lets});
        else  // boxes
            lets.push_back({own, 0, row.lets - lets_all_ - lets_byte_ * row.received});
        messages.push_back({row.received, others, row.messages});
        received.push_back({own, own * (log - 1), row.received});
        doublings += log * log, domains += log * row.domains;
    }
    std::ranges::sort(one_, {}, &ScalingRow::particles);
    const auto l = fitted(lets), m = fitted(messages), r = fitted(received);
    lets_own_ = l[0], lets_other_ = l[1];
    messages_byte_ = m[0], messages_other_ = m[1];
    received_two_ = r[0], received_doubling_ = r[1];
    domains_ = doublings > 0 ? domains / doublings : 0;
}

double ScalingModel::on_one(double ScalingRow::* part, double own) const {
    const auto &first = one_.front(), &last = one_.back();
    const double t1 = first.*part, t2 = last.*part;
    const double slope = last.particles > first.particles ? std::max(0., (t2 - t1) / (last.particles - first.particles)) : 0;
    const double start = t2 - slope * last.particles;
    if (slope == 0 || start < 0) return t2 * own / last.particles;
    return start + slope * own;
}

ScaledStep ScalingModel::step(double particles, int workers, double growth, const gravity::LinkTime& link) const {
    const double own = particles / workers, log = std::log2(workers), others = workers - 1;
    ScaledStep out;
    out.walk = on_one(&ScalingRow::walk, own);
    out.moments = on_one(&ScalingRow::moments, own);
    out.tree = on_one(&ScalingRow::tree, own);
    out.step = on_one(&ScalingRow::step, own);
    if (workers == 1) return out;
    out.domains = domains_ * log;
    const double measured = std::log2(most_workers_), beyond = std::max(0., log - measured);
    out.received = std::min(own * (received_two_ + received_doubling_ * (std::min(log, measured) + growth * beyond - 1)),
                            (particles - own) * 40);  // at most all other bodies and nodes
    out.lets = lets_own_ * own + lets_other_ * others + lets_all_ + lets_byte_ * out.received;
    if (link.bytes_per_second <= 0) {
        out.messages = messages_byte_ * out.received + messages_other_ * others;
        return out;
    }
    // Messages to one worker after the other, three rounds of counts, and one reduction; the walk of the own tree hides the first.
    const double sent = out.received / link.bytes_per_second + others * link.latency;
    out.messages = std::max(0., sent - out.walk) + 4 * std::ceil(log) * link.latency;
    out.walk *= two_walks;
    return out;
}

Prediction predict_from_record(const GravityFile& file, const PredictionRequest& request) {
    KS_VALIDATE(std::holds_alternative<gravity::Tree>(file.force), "a record of `kasane bench gravity.tree.scaling` predicts trees alone",
                {file.path.string(), 0, 0, "force.method"});
    KS_VALIDATE(std::holds_alternative<gravity::Leapfrog>(file.steps), "with a record only constant steps are predicted",
                {file.path.string(), 0, 0, "step.method"});
    check_request(request);
    const ScalingModel model(read_scaling_record(request.record));
    const auto n = static_cast<double>(file.initial.count());
    const int workers = request.ranks * request.workers;
    const gravity::LinkTime link{request.latency, request.ranks > 1 ? request.bandwidth : 0};
    const auto low = model.step(n, workers, 0, link), high = model.step(n, workers, 1, link), step = model.step(n, workers, 0.5, link);

    Prediction out;
    out.method = "tree";
    out.device = "devices of " + request.record.filename().string();
    out.particles = file.initial.count();
    out.steps = file.schedule.last();
    out.ranks = request.ranks, out.workers = request.workers;
    out.parts = {{"block steps", 1},  {"walk", step.walk},       {"moments", step.moments}, {"tree", step.tree},
                 {"step", step.step}, {"domains", step.domains}, {"LETs", step.lets},       {"messages", step.messages}};
    out.step.seconds = step.total();
    out.step.exposed = step.messages;
    out.step.messages = workers - 1;
    out.step.bytes = step.received;
    const auto one = [&](double particles) { return model.step(particles, 1, 0, {}).total(); };
    out.strong_efficiency = one(n) / (workers * step.total());
    out.weak_efficiency = one(n / workers) / step.total();
    double off = record_error;
    const double own = n / workers;
    if (own > model.most_own() || own < model.fewest_own()) {
        const double away = std::abs(std::log2(own > model.most_own() ? own / model.most_own() : own / model.fewest_own()));
        off += record_per_doubling * away;
        out.doubts.push_back(fmt::format("{:.3g} particles on a device were not measured", own));
    }
    if (workers > model.most_workers())
        out.doubts.push_back(fmt::format("at most {} devices were measured: LETs between those of {} and a growth with log2 of the devices",
                                         model.most_workers(), model.most_workers()));
    if (link.bytes_per_second > 0)
        out.doubts.push_back(
            fmt::format("{:.3g} us and {:.3g} GB/s between ranks are assumed", 1e6 * link.latency, 1e-9 * link.bytes_per_second));
    out.doubts.push_back("model, criterion and softening of the record are assumed");
    out.seconds_per_step = {step.total(), low.total() * std::max(0.1, 1 - off), high.total() * (1 + off)};
    const auto steps = static_cast<double>(out.steps);
    out.run_seconds = {steps * out.seconds_per_step.expected, steps * out.seconds_per_step.low, steps * out.seconds_per_step.high};
    const auto most =
        std::max_element(out.parts.begin() + 1, out.parts.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    out.bound = fmt::format("{}: {:.0f}% of a step", most->first, 100 * most->second / step.total());
#if defined(KASANE_CUDA)
    const AnySpace kind = Cuda{};
#else
    const AnySpace kind = file.space;
#endif
    for (int m = 0; m < request.workers; ++m) {
        const auto memory = workers > 1 ? gravity::worker_memory(kind, out.particles, file.force, file.exchange, workers, m,
                                                                 request.workers, request.ranks > 1)
                                        : gravity::simulation_memory(kind, out.particles, file.force);
        out.host_bytes += memory.host_bytes, out.device_bytes += memory.device_bytes;
    }
    out.host_bytes = root_host_bytes(file, out.host_bytes, request.ranks, available_memory(Cpu{}));
    return out;
}

}  // namespace kasane::run
