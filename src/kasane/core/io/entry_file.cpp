#include <kasane/core/base/error.hpp>
#include <kasane/core/io/atomic_file.hpp>
#include <kasane/core/io/entry_file.hpp>
#include <kasane/core/io/json.hpp>

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <thread>

namespace kasane::io {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t largest_entry_file = 4 << 20;  ///< bytes; a thousand entries take half a MiB

/// Held while a file is read, changed and written, so that no program overwrites the entries of another one.
class Lock {
   public:
    explicit Lock(const fs::path& file) : descriptor_(::open((file.string() + ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)) {
        // Other programs hold the lock for milliseconds; one that holds it longer hangs, and must not delay a solve.
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

}  // namespace

fs::path cache_file(const std::string& name) {
    const auto directory = [](const char* variable) {
        const char* value = std::getenv(variable);
        const fs::path path = value ? value : "";
        return path.is_absolute() ? path : fs::path();  // the XDG specification says to ignore a relative path
    };
    if (const auto cache = directory("XDG_CACHE_HOME"); !cache.empty()) return cache / "kasane" / name;
    if (const auto home = directory("HOME"); !home.empty()) return home / ".cache" / "kasane" / name;
    return {};
}

Entries read_entries(const EntryFile& file) {
    Entries out;
    // A mistyped option can name any file of the user, such as a matrix.
    const bool replaceable = file.path.extension() == ".json";
    const auto passed_over = [&](const std::string& reason) {
        out.list = Json::array();
        out.note = fmt::format("{} is passed over: {}. It is {}.", file.path.string(), reason,
                               replaceable ? "written anew " + file.anew : "not replaced: name a new file, or one that ends in .json");
        if (!replaceable) out.why_kept = fmt::format("is not replaced, because {}: name a new file, or one that ends in .json", reason);
        return out;
    };
    std::error_code error;
    const auto status = fs::status(file.path, error);
    if (!fs::exists(status)) return out;
    if (!fs::is_regular_file(status)) return passed_over("it is not a regular file");
    if (const auto size = fs::file_size(file.path, error); error || size > largest_entry_file)
        return passed_over(fmt::format("it is longer than {} bytes", largest_entry_file));
    std::ifstream stream(file.path, std::ios::binary);
    if (!stream) return passed_over("it cannot be read");
    const std::string text((std::istreambuf_iterator<char>(stream)), {});
    Json parsed;
    try {
        parsed = parse_json(text, file.path);
    } catch (const InputError& damaged) {
        return passed_over("it " + damaged.problems().front().message);
    }
    if (!parsed.is_object() || !parsed.contains(file.list) || !parsed[file.list].is_array())
        return passed_over(fmt::format("it has no list \"{}\"", file.list));
    for (const auto& entry : parsed[file.list])
        if (entry.is_object()) out.list.push_back(entry);
    return out;
}

std::string change_entries(const EntryFile& file, const std::function<void(Json& list)>& change) {
    try {
        if (file.path.has_parent_path()) fs::create_directories(file.path.parent_path());
        const Lock lock(file.path);
        if (!lock.held()) return fmt::format("{} is locked by another program, or not writable", file.path.string());
        auto [list, note, why_kept] = read_entries(file);
        if (!why_kept.empty()) return note;
        change(list);
        while (list.size() > file.most) list.erase(list.begin());
        // Entries of other programs may hold text that is not UTF-8.
        write_atomically(file.path, Json{{file.list, std::move(list)}}.dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
    } catch (const std::exception& error) {  // a full disk, a directory without permission
        return error.what();
    }
    return "";
}

std::string text_of(const Json& entry, const char* name) {
    const auto found = entry.find(name);
    return found != entry.end() && found->is_string() ? found->get<std::string>() : std::string();
}

}  // namespace kasane::io
