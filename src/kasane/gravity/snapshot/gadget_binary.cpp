// GADGET formats 1 and 2: Fortran records, [length] bytes [length], of a 256-byte header, POS, VEL, ID, MASS and others; in format 2
// each is preceded by a record of 8 bytes, its four-letter name and its length. [Springel, GADGET-2 user guide, sections 6.1 and 6.2]
// Invariants: a record is used only after both of its lengths agree with each other, with the counts and with the file's size.
#include <kasane/gravity/snapshot/snapshot_file.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <map>

namespace kasane::gravity::snapshot {

namespace {

constexpr std::uint32_t header_bytes = 256;
constexpr std::size_t buffer_bytes = 1 << 20;
constexpr std::array<char, 8> units_mark{'K', 'A', 'S', 'A', 'N', 'E', 'u', '1'};

/// Offsets in GADGET's io_header; the rest up to 256 bytes is unused, and kasane's units are at its end.
namespace at {
constexpr std::size_t count = 0, mass = 24, time = 72, redshift = 80, total = 96, files = 124, total_high = 168, double_precision = 196,
                      units = 216;
}

bool native(ByteOrder order) { return (order == ByteOrder::little) == (std::endian::native == std::endian::little); }

template <class T>
T swapped(T value) {
    auto bytes = std::bit_cast<std::array<char, sizeof(T)>>(value);
    std::reverse(bytes.begin(), bytes.end());
    return std::bit_cast<T>(bytes);
}

template <class T>
T load(const char* from, ByteOrder order) {
    T value;
    std::memcpy(&value, from, sizeof(T));
    return native(order) ? value : swapped(value);
}

template <class T>
void store(char* to, T value, ByteOrder order) {
    if (!native(order)) value = swapped(value);
    std::memcpy(to, &value, sizeof(T));
}

struct Block {
    std::uint64_t offset = 0;  ///< of the first byte in the file
    std::uint64_t bytes = 0;
};

class BinaryFile final : public SnapshotFile {
   public:
    explicit BinaryFile(const std::filesystem::path& path) : path_(path), file_(path, std::ios::binary) {
        if (!file_) throw bad(path_, "", fmt::format("cannot be read: {}", std::strerror(errno)));
        size_ = std::filesystem::file_size(path_);
        recognise();
        read_header();
        find_blocks();
    }

    void read(Snapshot& into, const Counts& first, const Counts& skip, const Counts& count) const override {
        auto& p = into.particles;
        std::uint64_t before = 0, massive = 0;  // particles of the types before this one, and those of them in the block MASS
        for (std::size_t t = 0; t < type_count; ++t) {
            const auto n = count[t], to = first[t], from = before + skip[t];
            const bool own_masses = header_.mass_table[t] == 0;
            if (n > 0) {
                if (!p.position.empty()) read_reals("POS", 3 * from, 3 * n, components(p.position.data() + to));
                if (!p.velocity.empty()) read_reals("VEL", 3 * from, 3 * n, components(p.velocity.data() + to));
                if (!p.id.empty()) read_ids(from, n, p.id.data() + to);
                if (!p.mass.empty() && own_masses)
                    read_reals("MASS", massive + skip[t], n, p.mass.data() + to);
                else if (!p.mass.empty())
                    std::fill_n(p.mass.begin() + static_cast<std::ptrdiff_t>(to), n, header_.mass_table[t]);
            }
            before += header_.here[t];
            if (own_masses) massive += header_.here[t];
        }
    }

   private:
    void recognise() {
        std::array<char, 4> start{};
        if (size_ < start.size()) throw bad(path_, "", fmt::format("is not a snapshot: it has {} bytes", size_));
        fetch(0, start.data(), start.size(), "HEAD");
        for (const auto order : {ByteOrder::little, ByteOrder::big}) {
            const auto length = load<std::uint32_t>(start.data(), order);
            if (length != header_bytes && length != 8) continue;
            header_.format = length == 8 ? SnapshotFormat::gadget2 : SnapshotFormat::gadget1;
            order_ = order;
            return;
        }
        throw bad(path_, "", "is not a snapshot: it begins neither as HDF5 nor as GADGET format 1 or 2");
    }

    void read_header() {
        std::uint64_t from = 0;
        const auto name = next_name(from, "HEAD");
        if (name != "HEAD") throw bad(path_, "block " + name, "is at the place of the block HEAD");
        const auto block = next_record(from, "HEAD", {header_bytes});
        if (block.bytes != header_bytes) throw wrong_size("HEAD", block.bytes, {header_bytes});
        after_header_ = from;
        std::array<char, header_bytes> bytes{};
        fetch(block.offset, bytes.data(), bytes.size(), "HEAD");
        const auto head = [&]<class T>(T, std::size_t offset, std::size_t i = 0) {
            return load<T>(bytes.data() + offset + i * sizeof(T), order_);
        };
        for (std::size_t t = 0; t < type_count; ++t) {
            const auto count = head(std::int32_t{}, at::count, t);
            if (count < 0) throw bad(path_, "block HEAD", fmt::format("{} particles of type {}: a count cannot be negative", count, t));
            header_.here[t] = static_cast<std::uint64_t>(count);
            header_.total[t] = head(std::uint32_t{}, at::total, t);
            header_.mass_table[t] = head(double{}, at::mass, t);
        }
        header_.time = head(double{}, at::time);
        header_.redshift = head(double{}, at::redshift);
        // Programs before GADGET-2 that write single files set this to 0.
        header_.files = std::max(head(std::int32_t{}, at::files), 1);
        if (header_.files > 1) {
            for (std::size_t t = 0; t < type_count; ++t) {
                header_.total[t] += std::uint64_t{head(std::uint32_t{}, at::total_high, t)} << 32;
            }
        } else if (sum(header_.total) == 0) {
            header_.total = header_.here;
        }
        header_.units = galactic_units();
        if (std::memcmp(bytes.data() + at::units, units_mark.data(), units_mark.size()) == 0) {
            const auto number = [&](std::size_t i) { return head(double{}, at::units + units_mark.size(), i); };
            header_.units = units_from_scales(number(0), number(1), number(2), number(3));
            header_.states_units = true;
        }
    }

    /// In format 2 the name of the next record without trailing blanks; in format 1 `expected`.
    std::string next_name(std::uint64_t& from, const std::string& expected) {
        if (header_.format == SnapshotFormat::gadget1) return expected;
        const auto record = next_record(from, expected.empty() ? "(name)" : expected, {8});
        if (record.bytes != 8) throw wrong_size(expected.empty() ? "(name)" : expected, record.bytes, {8});
        std::array<char, 4> letters{};
        fetch(record.offset, letters.data(), letters.size(), "(name)");
        std::string name(letters.begin(), letters.end());
        for (auto& c : name) {
            if (c < ' ' || c > '~') c = '?';
        }
        name.erase(name.find_last_not_of(' ') + 1);
        return name.empty() ? "(blank)" : name;
    }

    /// Returns the record at `from` and sets `from` to the byte after it. Lengths are stored modulo 2^32: of the possible sizes, the first
    /// that agrees with both lengths is taken.
    Block next_record(std::uint64_t& from, const std::string& name, const std::vector<std::uint64_t>& possible) {
        const auto truncated = [&](std::uint64_t bytes) {
            return bad(
                path_, "block " + name,
                fmt::format("is truncated or corrupt: its length is {} bytes at offset {}, but the file has {}", bytes, from, size_));
        };
        if (size_ - from < 8) throw truncated(8);
        const auto length = length_at(from, name);
        const auto closed = [&](std::uint64_t bytes) { return bytes <= size_ - from - 8 && length_at(from + 4 + bytes, name) == length; };
        for (const auto bytes : possible) {
            if (static_cast<std::uint32_t>(bytes) == length && closed(bytes)) {
                const Block found{from + 4, bytes};
                from += bytes + 8;
                return found;
            }
        }
        if (length > size_ - from - 8) throw truncated(length);
        if (!closed(length)) {
            throw bad(path_, "block " + name,
                      fmt::format("is corrupt: its length is {} bytes before it, but {} bytes after it", length,
                                  length_at(from + 4 + length, name)));
        }
        const Block found{from + 4, length};
        from += std::uint64_t{length} + 8;
        return found;
    }

    InputError wrong_size(const std::string& name, std::uint64_t bytes, const std::vector<std::uint64_t>& possible) const {
        std::string wanted;
        for (const auto size : possible) wanted += (wanted.empty() ? "" : " or ") + std::to_string(size);
        return bad(path_, "block " + name, fmt::format("has {} bytes, but the counts of the header need {}", bytes, wanted));
    }

    void find_blocks() {
        const auto n = sum(header_.here);  // below 6 * 2^31, so that no product below overflows
        std::uint64_t massive = 0;
        for (std::size_t t = 0; t < type_count; ++t) massive += header_.mass_table[t] == 0 ? header_.here[t] : 0;
        std::vector<std::string> order{"POS", "VEL", "ID"};
        std::map<std::string, std::vector<std::uint64_t>> sizes{
            {"POS", {12 * n, 24 * n}}, {"VEL", {12 * n, 24 * n}}, {"ID", {4 * n, 8 * n}}};
        if (massive > 0) {
            order.push_back("MASS");
            sizes["MASS"] = {4 * massive, 8 * massive};
        }
        if (n == 0) return;
        std::size_t place = 0;
        for (std::uint64_t from = after_header_; from < size_; ++place) {
            const auto name = next_name(from, place < order.size() ? order[place] : "(optional)");
            const auto wanted = sizes.find(name);
            if (wanted == sizes.end()) {
                next_record(from, name, {});
                continue;
            }
            const auto block = next_record(from, name, wanted->second);
            if (std::find(wanted->second.begin(), wanted->second.end(), block.bytes) == wanted->second.end()) {
                throw wrong_size(name, block.bytes, wanted->second);
            }
            if (!blocks_.emplace(name, block).second) throw bad(path_, "block " + name, "occurs twice");
        }
        for (const auto& name : order) {
            if (!blocks_.contains(name)) {
                throw bad(path_, "block " + name, "is missing: the file ends before it, or is truncated");
            }
        }
        width_ = {{"POS", blocks_["POS"].bytes / (3 * n)}, {"VEL", blocks_["VEL"].bytes / (3 * n)}, {"ID", blocks_["ID"].bytes / n}};
        if (massive > 0) width_["MASS"] = blocks_["MASS"].bytes / massive;
    }

    std::uint32_t length_at(std::uint64_t offset, const std::string& name) const {
        std::array<char, 4> bytes{};
        fetch(offset, bytes.data(), bytes.size(), name);
        return load<std::uint32_t>(bytes.data(), order_);
    }

    void fetch(std::uint64_t offset, char* to, std::size_t bytes, const std::string& name) const {
        file_.clear();
        file_.seekg(static_cast<std::streamoff>(offset));
        if (!file_.read(to, static_cast<std::streamsize>(bytes))) {
            throw bad(path_, "block " + name, fmt::format("cannot be read at offset {}: it is truncated, or the disk failed", offset));
        }
    }

    template <class Stored, class T>
    void read_numbers(const std::string& name, std::uint64_t first, std::uint64_t n, T* to) const {
        constexpr auto at_once = buffer_bytes / sizeof(Stored);
        std::vector<char> buffer(std::min<std::uint64_t>(n, at_once) * sizeof(Stored));
        const auto start = blocks_.at(name).offset + first * sizeof(Stored);
        for (std::uint64_t done = 0; done < n; done += at_once) {
            const auto now = std::min<std::uint64_t>(n - done, at_once);
            fetch(start + done * sizeof(Stored), buffer.data(), now * sizeof(Stored), name);
            for (std::uint64_t i = 0; i < now; ++i) to[done + i] = load<Stored>(buffer.data() + i * sizeof(Stored), order_);
        }
    }
    void read_reals(const std::string& name, std::uint64_t first, std::uint64_t n, double* to) const {
        width_.at(name) == 4 ? read_numbers<float>(name, first, n, to) : read_numbers<double>(name, first, n, to);
    }
    void read_ids(std::uint64_t first, std::uint64_t n, std::uint64_t* to) const {
        width_.at("ID") == 4 ? read_numbers<std::uint32_t>("ID", first, n, to) : read_numbers<std::uint64_t>("ID", first, n, to);
    }

    std::filesystem::path path_;
    mutable std::ifstream file_;
    std::uint64_t size_ = 0;
    ByteOrder order_ = ByteOrder::little;
    std::uint64_t after_header_ = 0;
    std::map<std::string, Block> blocks_;
    std::map<std::string, std::uint64_t> width_;  ///< bytes of one number
};

/// Writes numbers to an AtomicFile in one byte order, through a buffer.
class Sink {
   public:
    Sink(AtomicFile& to, ByteOrder order) : to_(to), order_(order) { buffer_.reserve(buffer_bytes); }
    template <class T>
    void put(T value) {
        if (buffer_.size() + sizeof(T) > buffer_bytes) flush();
        buffer_.resize(buffer_.size() + sizeof(T));
        store(buffer_.data() + buffer_.size() - sizeof(T), value, order_);
    }
    void put_bytes(std::string_view bytes) {
        for (const char c : bytes) put(c);
    }
    void flush() {
        to_.write(buffer_.data(), buffer_.size());
        buffer_.clear();
    }

   private:
    AtomicFile& to_;
    ByteOrder order_;
    std::vector<char> buffer_;
};

std::string header_image(const Part& part) {
    const auto order = part.options.order;
    std::string bytes(header_bytes, '\0');
    const auto set = [&]<class T>(std::size_t offset, T value, std::size_t i = 0) {
        store(bytes.data() + offset + i * sizeof(T), value, order);
    };
    for (std::size_t t = 0; t < type_count; ++t) {
        set(at::count, static_cast<std::int32_t>(part.header.here[t]), t);
        set(at::mass, part.header.mass_table[t], t);
        set(at::total, static_cast<std::uint32_t>(part.header.total[t]), t);
    }
    set(at::time, part.header.time);
    set(at::files, std::int32_t{1});
    set(at::double_precision, std::int32_t{part.options.double_precision});
    const auto& units = part.header.units;
    if (units != galactic_units()) {  // a file in galactic units is the same as one of GADGET
        std::copy(units_mark.begin(), units_mark.end(), bytes.begin() + at::units);
        const std::array numbers{units.length_cm, units.mass_g, units.velocity_cm_s, units.G};
        for (std::size_t i = 0; i < numbers.size(); ++i) set(at::units + units_mark.size(), numbers[i], i);
    }
    return bytes;
}

}  // namespace

std::unique_ptr<SnapshotFile> open_binary(const std::filesystem::path& path) { return std::make_unique<BinaryFile>(path); }

void write_binary(AtomicFile& to, const Part& part) {
    const auto& particles = *part.particles;
    const auto& options = part.options;
    const std::uint64_t n = sum(part.header.here);
    const std::uint64_t width = options.double_precision ? 8 : 4;
    if (n > INT32_MAX || 3 * width * n > UINT32_MAX) {
        throw InputError(fmt::format("cannot be written in a binary format: {} particles are more than its 32-bit block lengths "
                                     "allow. Write HDF5",
                                     n),
                         Where{to.target().string(), 0, 0, {}});
    }
    Sink sink(to, options.order);
    const auto block = [&](std::string_view name, std::uint64_t bytes, auto&& content) {
        const auto length = static_cast<std::uint32_t>(bytes);
        if (options.format == SnapshotFormat::gadget2) {
            sink.put(std::uint32_t{8});
            sink.put_bytes(name);
            sink.put(length + 8);
            sink.put(std::uint32_t{8});
        }
        sink.put(length);
        content();
        sink.put(length);
    };
    const auto real = [&](double value) { options.double_precision ? sink.put(value) : sink.put(static_cast<float>(value)); };
    const auto each = [&](auto&& visit) {
        for (std::size_t t = 0; t < type_count; ++t) {
            for (std::size_t k = 0; k < part.members[t].count; ++k) visit(t, part.members[t][k]);
        }
    };
    const auto vectors = [&](const std::vector<Vec3<double>>& from) {
        each([&](std::size_t, std::size_t i) { real(from[i].x), real(from[i].y), real(from[i].z); });
    };
    block("HEAD", header_bytes, [&] { sink.put_bytes(header_image(part)); });
    block("POS ", 3 * width * n, [&] { vectors(particles.position); });
    block("VEL ", 3 * width * n, [&] { vectors(particles.velocity); });
    bool wide_ids = false;
    std::uint64_t massive = 0;
    each([&](std::size_t t, std::size_t i) {
        wide_ids = wide_ids || particles.id[i] > UINT32_MAX;
        massive += part.header.mass_table[t] == 0;
    });
    block("ID  ", (wide_ids ? 8 : 4) * n, [&] {
        each([&](std::size_t, std::size_t i) {
            wide_ids ? sink.put(particles.id[i]) : sink.put(static_cast<std::uint32_t>(particles.id[i]));
        });
    });
    if (massive > 0) {
        block("MASS", width * massive, [&] {
            each([&](std::size_t t, std::size_t i) {
                if (part.header.mass_table[t] == 0) real(particles.mass[i]);
            });
        });
    }
    sink.flush();
}

}  // namespace kasane::gravity::snapshot
