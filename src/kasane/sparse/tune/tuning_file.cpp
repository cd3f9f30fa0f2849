#include <kasane/core/base/error.hpp>
#include <kasane/core/io/atomic_file.hpp>
#include <kasane/core/io/checksum.hpp>
#include <kasane/sparse/tune/tuning_file.hpp>
#include <kasane/version.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <thread>
#include <utility>

namespace kasane::sparse {
namespace {

using json = nlohmann::ordered_json;
namespace fs = std::filesystem;

constexpr std::uintmax_t largest_file = 4 << 20;  ///< bytes; a thousand entries are half of one MiB
constexpr std::size_t most_entries = 1000;        ///< the oldest leave first

constexpr const char* entries_key = "choices";

struct Entries {
    json list = json::array();
    std::string note;
};

/// The entries of a file as they stand there, unchecked.
Entries read(const fs::path& file) {
    Entries out;
    const auto passed_over = [&](const std::string& reason) {
        out.list = json::array();
        out.note = fmt::format("{} is passed over: {}. It is written anew with the next choice.", file.string(), reason);
        return out;
    };
    std::error_code error;
    const auto status = fs::status(file, error);
    if (!fs::exists(status)) return out;
    if (!fs::is_regular_file(status)) return passed_over("it is not a regular file");
    if (const auto size = fs::file_size(file, error); error || size > largest_file)
        return passed_over(fmt::format("it is longer than {} bytes", largest_file));
    std::ifstream stream(file, std::ios::binary);
    if (!stream) return passed_over("it cannot be read");
    const std::string text((std::istreambuf_iterator<char>(stream)), {});
    const auto parsed = json::parse(text, nullptr, false);
    if (parsed.is_discarded()) return passed_over("it is not JSON");
    if (!parsed.is_object() || !parsed.contains(entries_key) || !parsed[entries_key].is_array())
        return passed_over(fmt::format("it has no list \"{}\"", entries_key));
    for (const auto& entry : parsed[entries_key])
        if (entry.is_object()) out.list.push_back(entry);
    return out;
}

/// A member that is text; empty when there is none.
std::string text_of(const json& object, const char* name) {
    const auto found = object.find(name);
    return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

bool is_for(const json& entry, const TuningKey& key) {
    return text_of(entry, "version") == version && text_of(entry, "device") == key.device && text_of(entry, "matrix") == key.matrix &&
           text_of(entry, "asked") == key.asked;
}

/// `asked` with its open fields from the entry. @throws InputError where the entry says nothing that can be taken
SolverOptions filled_in(SolverOptions asked, const json& entry) {
    const auto decided = [&](auto value, auto open, const char* name) {
        KS_VALIDATE(!(value == open), fmt::format("it leaves {} open", name));
        return value;
    };
    if (asked.ordering.kind == OrderingKind::automatic)
        asked.ordering = decided(Ordering::parse(text_of(entry, "ordering")), Ordering{}, "ordering");
    if (asked.format.kind == FormatKind::automatic) asked.format = decided(Format::parse(text_of(entry, "format")), Format{}, "format");
    if (asked.numbering == Numbering::automatic)
        asked.numbering = decided(parse_numbering(text_of(entry, "numbering")), Numbering::automatic, "numbering");
    // These two may stay open: iteration is decided by what applies, launch means nothing on a CPU.
    if (asked.iteration == Iteration::automatic) asked.iteration = parse_iteration(text_of(entry, "iteration"));
    if (asked.launch == Launch::automatic) asked.launch = parse_launch(text_of(entry, "launch"));
    return asked;
}

/// Held while a file is read, changed and written, so that no program loses what another one writes.
class Lock {
   public:
    explicit Lock(const fs::path& file) : descriptor_(::open((file.string() + ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)) {
        // Others hold it for milliseconds; who holds it for longer is stuck, and must not hold up a solve.
        for (int attempt = 0; descriptor_ >= 0 && attempt < 50; ++attempt) {
            held_ = ::flock(descriptor_, LOCK_EX | LOCK_NB) == 0;
            if (held_) return;
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
    }
    ~Lock() {
        if (descriptor_ >= 0) ::close(descriptor_);
    }
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;
    bool held() const { return held_; }

   private:
    int descriptor_;
    bool held_ = false;
};

std::string number_of_lengths(const CsrView& A) {
    index_t longest = 0;
    for (index_t row = 0; row < A.n; ++row) longest = std::max(longest, A.end(row) - A.begin(row));
    std::vector<std::int64_t> count(static_cast<std::size_t>(longest) + 1, 0);
    for (index_t row = 0; row < A.n; ++row) ++count[static_cast<std::size_t>(A.end(row) - A.begin(row))];
    io::Checksum sum;
    sum.add(count);
    return fmt::format("{:016x}", sum.value());
}

/// Distances from the diagonal that a gather spans, to a factor of two: of the farthest entry of each row, on average.
int bandwidth_class(const CsrView& A) {
    double sum = 0;
    for (index_t row = 0; row < A.n; ++row) {
        index_t far = 0;
        for (index_t e = A.begin(row); e < A.end(row); ++e) far = std::max(far, std::abs(A.column(e) - row));
        sum += static_cast<double>(far);
    }
    return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(A.n > 0 ? sum / static_cast<double>(A.n) : 0.)));
}

}  // namespace

TuningKey tuning_key(const std::string& device, const CsrView& A, const SolverOptions& asked) {
    return {device,
            fmt::format("rows {} entries {} lengths {} bandwidth 2^{}", A.n, A.n > 0 ? A.end(A.n - 1) : 0, number_of_lengths(A),
                        bandwidth_class(A)),
            fmt::format("ordering {} numbering {} format {} precondition {}{}{} iteration {} launch {}", asked.ordering.text(),
                        name(asked.numbering), asked.format.text(), name(asked.precondition),
                        asked.precondition == Precondition::ssor ? fmt::format(" omega {}", asked.ssor_omega) : "",
                        asked.single_factor ? " in float" : "", name(asked.iteration), name(asked.launch))};
}

fs::path default_tuning_file() {
    const auto directory = [](const char* variable) {
        const char* value = std::getenv(variable);
        const fs::path path = value ? value : "";
        return path.is_absolute() ? path : fs::path();  // a relative one is to be ignored, says the XDG specification
    };
    if (const auto cache = directory("XDG_CACHE_HOME"); !cache.empty()) return cache / "kasane" / "tuning.json";
    if (const auto home = directory("HOME"); !home.empty()) return home / ".cache" / "kasane" / "tuning.json";
    return {};
}

Recalled recall(const fs::path& file, const TuningKey& key, const SolverOptions& asked) {
    Recalled out;
    if (file.empty()) return out;
    const auto entries = read(file);
    out.note = entries.note;
    for (auto entry = entries.list.rbegin(); entry != entries.list.rend(); ++entry) {  // the latest first
        if (!is_for(*entry, key)) continue;
        try {
            out.options = filled_in(asked, *entry);
            return out;
        } catch (const InputError& error) {
            out.note = fmt::format("{} has a choice for this matrix that cannot be taken: {}", file.string(), error.what());
        }
    }
    return out;
}

std::string remember(const fs::path& file, const TuningKey& key, const SolverOptions& chosen) {
    if (file.empty()) return "";
    try {
        if (file.has_parent_path()) fs::create_directories(file.parent_path());
        const Lock lock(file);
        if (!lock.held()) return fmt::format("the choice was not kept: {} is locked by another program, or not writable", file.string());
        json list = json::array();
        for (auto& entry : read(file).list)
            if (!is_for(entry, key)) list.push_back(std::move(entry));
        list.push_back({{"version", version},
                        {"device", key.device},
                        {"matrix", key.matrix},
                        {"asked", key.asked},
                        {"ordering", chosen.ordering.text()},
                        {"numbering", name(chosen.numbering)},
                        {"format", chosen.format.text()},
                        {"iteration", name(chosen.iteration)},
                        {"launch", name(chosen.launch)}});
        while (list.size() > most_entries) list.erase(list.begin());
        // Foreign entries may hold text that is no UTF-8.
        write_atomically(file, json{{entries_key, std::move(list)}}.dump(1, ' ', false, json::error_handler_t::replace) + "\n");
    } catch (const std::exception& error) {  // a full disk, a directory without permission: the solve goes on
        return fmt::format("the choice was not kept: {}", error.what());
    }
    return "";
}

}  // namespace kasane::sparse
