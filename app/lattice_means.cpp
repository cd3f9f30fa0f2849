#include <app/lattice_means.hpp>
#include <kasane/run/gauge/estimates.hpp>

#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace kasane::app {
namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

}  // namespace

MeanValue mean_of(const std::string& name, const std::vector<double>& series, int bin) {
    auto mean = function_of_means(name, {series}, bin, [](const std::vector<double>& means) { return means[0]; });
    mean.tau = lattice::estimate(series).tau;
    return mean;
}

MeanValue function_of_means(const std::string& name, const std::vector<std::vector<double>>& series, int bin,
                            const std::function<double(const std::vector<double>&)>& f) {
    const auto of = lattice::jackknife(series, bin, f);
    return {name, of.value, of.error, unknown};
}

std::string text_of(const MeanValue& mean) { return run::text(mean.value, mean.error); }

io::Json as_json(const MeanValue& mean) {
    io::Json object{{"value", mean.value}, {"error", mean.error}};
    if (std::isfinite(mean.tau)) object["autocorrelation_time"] = mean.tau;
    return object;
}

std::string advice_on_bins(const MeanValue& mean, std::size_t count, int bin) {
    constexpr std::size_t least = 20;  // a shorter series hardly determines tau
    if (count < least || !(mean.tau > 0.5 + 2 * std::sqrt(2 / static_cast<double>(count)))) return "";
    const auto wanted = static_cast<int>(std::ceil(4 * mean.tau));
    if (bin >= wanted || wanted > static_cast<int>(count / 2)) return "";
    return fmt::format(
        "neighbouring configurations are correlated ({}: tau = {:.2g} configurations), so that errors are too small: take "
        "--bin {}",
        mean.name, mean.tau, wanted);
}

double number(const io::Json& object, const char* key) {
    const auto at = object.find(key);
    return at != object.end() && at->is_number() ? at->get<double>() : unknown;
}

TableLine& TableLine::operator<<(const std::string& word) {
    begin_cell();
    if (word.find_first_of(",\"\n\r") == std::string::npos) {
        line_ += word;
        return *this;
    }
    line_ += '"';
    for (const char c : word) line_ += c == '"' ? std::string("\"\"") : std::string(1, c);
    line_ += '"';
    return *this;
}

TableLine& TableLine::operator<<(double value) {
    begin_cell();
    if (std::isfinite(value)) line_ += fmt::format("{:.17g}", value);
    return *this;
}

}  // namespace kasane::app
