// Run files: TOML read against a schema that the reader's own calls define. Each getter names a key with its type, default, range and help.
// Problems are collected, so that finish() can report all of them at once with line and column. Invariants: a getter never throws for bad
// input (it returns the default or zero). finish() throws if there was a problem; a key of the file that no getter has read is a problem.
// The resolved text holds every key that a getter has read, in the order of the calls.
#pragma once

#include <kasane/core/base/error.hpp>
#include <kasane/core/math/vec3.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace kasane::io {

/// Allowed values of a number; the ends belong to it unless `open`.
struct Range {
    double least = -std::numeric_limits<double>::infinity();
    double most = std::numeric_limits<double>::infinity();
    bool open_least = false;
    bool contains(double value) const { return (open_least ? value > least : value >= least) && value <= most; }
    std::string text() const;
};
inline Range at_least(double least) { return {.least = least}; }
inline Range above(double least) { return {.least = least, .open_least = true}; }
inline Range between(double least, double most) { return {.least = least, .most = most}; }

/// Converts a string such as "50 pc" into a number in the file's system. @throws InputError with the reason
using ParseQuantity = std::function<double(const std::string&)>;

// Schema of a key. A key without a default is required.
struct NumberKey {
    std::string help = {};
    std::string unit = {};  ///< for people: "kpc"
    std::optional<double> fallback = {};
    Range range = {};
    ParseQuantity parse = {};  ///< empty: only bare numbers
};
struct VectorKey {
    std::string help = {};
    std::string unit = {};
    std::optional<Vec3<double>> fallback = {};
    ParseQuantity parse = {};
};
struct IntegerKey {
    std::string help = {};
    std::optional<std::int64_t> fallback = {};
    std::int64_t least = std::numeric_limits<std::int64_t>::min();
    std::int64_t most = std::numeric_limits<std::int64_t>::max();
};
struct IntegersKey {
    std::string help = {};
    std::size_t count = 3;
    std::optional<std::vector<std::int64_t>> fallback = {};
    std::int64_t least = std::numeric_limits<std::int64_t>::min();
    std::int64_t most = std::numeric_limits<std::int64_t>::max();
};
struct NumberListsKey {
    std::string help = {};
    std::string unit = {};
    std::size_t count = 3;
    std::optional<double> fallback = {};
    Range range = {};  ///< of each number
};
struct TextKey {
    std::string help = {};
    std::optional<std::string> fallback = {};
    std::vector<std::string> choices = {};  ///< empty: any text
};
struct FlagKey {
    std::string help = {};
    bool fallback = false;
};

/// "dotted.key=value": replaces or adds a value; elements of an array of tables by number, object.0.mass=2. A value that is not
/// TOML (device=cpu, until=1.2 Gyr) is text. `source` stands in messages in place of a file name.
struct Setting {
    std::string text;
    std::string source = "--set";
};

/// One table of the file (present or not). A cheap handle, valid as long as its RunFileReader.
class Section {
   public:
    /// Whether the table itself is in the file.
    bool present() const;
    bool has(const std::string& key) const;
    /// Whether the key is given as a table.
    bool has_table(const std::string& key) const;
    /// Names of all given keys, in alphabetical order, for tables whose keys are names of the user.
    std::vector<std::string> keys() const;
    /// Returns the text of a key before its getter is called, for keys that decide which keys follow; empty if it has no text.
    std::optional<std::string> peek(const std::string& key) const;

    double number(const std::string& key, const NumberKey& schema);
    Vec3<double> vector(const std::string& key, const VectorKey& schema);
    std::int64_t integer(const std::string& key, const IntegerKey& schema);
    /// Returns an array of `count` whole numbers.
    std::vector<std::int64_t> integers(const std::string& key, const IntegersKey& schema);
    /// Returns `count` lists of numbers. The file has one number for all of them, or an array of `count` elements, each a number or an
    /// array of numbers; a single number is a list of one.
    std::vector<std::vector<double>> number_lists(const std::string& key, const NumberListsKey& schema);
    std::string text(const std::string& key, const TextKey& schema);
    bool flag(const std::string& key, const FlagKey& schema);

    /// The table `key`, given or not; `help` heads it in the resolved file. Only given tables are written out, unless asked for.
    Section table(const std::string& key, const std::string& help = "");
    /// The array of tables [[key]]; empty when there is none.
    std::vector<Section> tables(const std::string& key);

    /// Marks a key that this problem has but does not use in this combination; if given, it is listed as unused.
    void unused(const std::string& key);
    /// Replaces the value that the resolved file shows (for example a path made absolute, or a default computed later).
    void resolve(const std::string& key, const std::string& value);
    void resolve(const std::string& key, double value);
    /// Records a problem with a key (or with the table itself, when the key is empty).
    void problem(const std::string& key, const std::string& message);
    /// Takes over the problems of a failed part; those without a place get this key's.
    void problem(const std::string& key, const InputError& error);
    /// Whether there is already a problem with the key of this dotted name (from the root), or with a key below it.
    bool faulty(const std::string& dotted) const;
    /// Place of a key, for errors that are found later; dotted name from the root.
    Where where(const std::string& key) const;

    struct Node;

   private:
    friend class RunFileReader;
    explicit Section(Node* node) : node_(node) {}
    Node* node_;
};

class RunFileReader {
   public:
    /// Reads and parses. @throws InputError: not found, not readable, not TOML, or a setting that cannot be applied
    explicit RunFileReader(const std::filesystem::path& path, const std::vector<Setting>& settings = {});
    /// Parses the text of a file that another process has read. @param path  of the file, for messages
    RunFileReader(const std::filesystem::path& path, const std::vector<Setting>& settings, const std::string& text);
    ~RunFileReader();
    RunFileReader(const RunFileReader&) = delete;
    RunFileReader& operator=(const RunFileReader&) = delete;

    Section root();
    const std::filesystem::path& path() const;

    /// True while no getter has found a problem.
    bool good() const;
    /// @throws InputError with the problems so far, in the order of the file
    void stop_if_bad() const;
    /// As stop_if_bad(); also reports the keys that no getter has read, each with the nearest name that exists.
    void finish();
    /// Dotted names of the given keys that were marked unused.
    std::vector<std::string> unused_keys() const;
    /// Returns an equivalent file with every key written out and commented. @param head comment lines at the top
    std::string resolved(const std::string& head) const;

   private:
    friend class Section;
    struct State;
    const Section::Node* find_home(const std::string& key) const;
    std::unique_ptr<State> state_;
};

}  // namespace kasane::io
