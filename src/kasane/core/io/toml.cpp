// The only file that includes toml++. Its asserts stop the program on some malformed input ("[/J"), where the parser would
// report a clean error: they are switched off here, and files too short to be valid are refused before it.
#define TOML_ASSERT(condition) static_cast<void>(0)
#include <kasane/core/base/nearest_name.hpp>
#include <kasane/core/io/input_file.hpp>
#include <kasane/core/io/toml.hpp>
#include <kasane/core/io/toml_depth.hpp>

#include <toml++/toml.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <sstream>

namespace kasane::io {
namespace {

constexpr std::uintmax_t largest_toml_file = 16u << 20;  // people write run files by hand; a larger file is something else

std::string read_text(const std::filesystem::path& path) {
    auto text = read_text_file(path, largest_toml_file, "a TOML file");
    KS_VALIDATE(text.size() >= 4,
                "is empty or too short: a run file has tables such as [run], a model file a model or [[component]] tables",
                {path.string(), 0, 0, ""});
    return text;
}

std::string toml_string(const std::string& text) {
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\')
            out += std::string("\\") + c;
        else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
            out += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
        else
            out += c;
    }
    return out + "\"";
}

std::string real(double value) {
    auto text = fmt::format("{}", value);
    return text.find_first_of(".einf") == std::string::npos ? text + ".0" : text;
}

std::string kind_of(const toml::node& node) {
    switch (node.type()) {
        case toml::node_type::table: return "a table";
        case toml::node_type::array: return "an array";
        case toml::node_type::string: return "a string";
        case toml::node_type::integer: return "an integer";
        case toml::node_type::floating_point: return "a number";
        case toml::node_type::boolean: return "a truth value";
        default: return "a date or time";
    }
}

std::string joined(const std::vector<std::string>& words) {
    std::string text;
    for (const auto& word : words) text += (text.empty() ? "" : ", ") + word;
    return text;
}

std::string nearest(const std::string& name, const std::vector<std::string>& known) {
    if (name.size() > 100) return "";  // more than a misspelling
    const std::vector<std::string_view> names(known.begin(), known.end());
    return nearest_name(name, names);
}

std::vector<std::string> split(const std::string& text, char at) {
    std::vector<std::string> parts;
    std::istringstream stream(text);
    for (std::string part; std::getline(stream, part, at);) parts.push_back(part);
    if (!text.empty() && text.back() == at) parts.emplace_back();
    return parts;
}

std::string below(const std::string& path, const std::string& key) { return path.empty() ? key : key.empty() ? path : path + "." + key; }

std::optional<std::size_t> array_index(const std::string& text) {
    if (text.empty() || text.size() > 9 || text.find_first_not_of("0123456789") != std::string::npos) return {};
    return static_cast<std::size_t>(std::stoul(text));
}

}  // namespace

std::string Range::text() const {
    const bool bounded = std::isfinite(most);
    if (!std::isfinite(least)) return bounded ? fmt::format("at most {}", most) : "any finite number";
    if (!bounded) return fmt::format("{} {}", open_least ? "above" : "at least", least);
    return fmt::format("{} {} and {} {}", open_least ? "above" : "at least", least, "at most", most);
}

struct Section::Node {
    struct Entry {
        std::string key, value, comment;
    };
    RunFileReader::State* state = nullptr;
    std::string name, path, help;  // path: dotted, from the root
    toml::table* table = nullptr;  // null: not in the file
    bool in_array = false;
    std::vector<std::string> known;
    std::vector<Entry> entries;
    std::vector<std::unique_ptr<Node>> children;

    /// Whether any part of it is written out.
    bool spoken() const {
        const auto below = [](const auto& child) { return child->spoken(); };
        return table || in_array || !entries.empty() || std::any_of(children.begin(), children.end(), below);
    }
    void learn(const std::string& key) {
        if (std::find(known.begin(), known.end(), key) == known.end()) known.push_back(key);
    }
    toml::node* find(const std::string& key) {
        learn(key);
        return table ? table->get(key) : nullptr;
    }
    void enter(const std::string& key, std::string value, std::string comment) {
        for (auto& entry : entries)
            if (entry.key == key) {
                entry = {key, std::move(value), std::move(comment)};
                return;
            }
        entries.push_back({key, std::move(value), std::move(comment)});
    }
};

struct RunFileReader::State {
    std::filesystem::path path;
    toml::table table;
    std::map<std::string, std::string> set_keys;  // dotted names that settings gave, with the origin of each
    std::vector<InputProblem> problems;
    std::vector<std::string> unused;
    Section::Node root;

    /// "--set" or the like when a setting gave this key or a table above it, empty otherwise.
    std::string set_by(const std::string& key) const {
        for (std::size_t end = key.size(); end != std::string::npos && end > 0; end = key.rfind('.', end - 1))
            if (const auto found = set_keys.find(key.substr(0, end)); found != set_keys.end()) return found->second;
        return "";
    }
    Where where(const std::string& key, const toml::node* node) const {
        if (const auto source = set_by(key); !source.empty()) return {source, 0, 0, key};
        if (node && node->source().begin.line == 0)  // a table that a setting below it created
            if (const auto below = set_keys.lower_bound(key + "."); below != set_keys.end() && below->first.starts_with(key + "."))
                return {below->second, 0, 0, key};
        Where place{path.string(), 0, 0, key};
        if (node) {
            place.line = static_cast<int>(node->source().begin.line);
            place.column = static_cast<int>(node->source().begin.column);
        }
        return place;
    }
    void apply(const Setting& setting);
};

void RunFileReader::State::apply(const Setting& given) {
    const auto& setting = given.text;
    const auto equals = setting.find('=');
    const auto key = setting.substr(0, equals);
    const Where here{given.source, 0, 0, key};
    const auto names = split(key, '.');
    KS_VALIDATE(
        equals != std::string::npos && !names.empty() && std::find(names.begin(), names.end(), "") == names.end(),
        fmt::format("'{}' is not a setting; a setting has the form key=value with a dotted key, such as force.softening=0.02", setting),
        {given.source, 0, 0, ""});
    check_toml_depth(setting, given.source);
    toml::table* table_here = &this->table;
    for (std::size_t i = 0; i + 1 < names.size(); ++i) {
        auto* next = table_here->get(names[i]);
        if (!next) {
            table_here->insert(names[i], toml::table{});
            next = table_here->get(names[i]);
        }
        if (auto* list = next->as_array(); list && i + 2 < names.size()) {
            const auto index = array_index(names[++i]);
            KS_VALIDATE(index && *index < list->size(),
                        fmt::format("there is no element '{}' of {}: it has {}, numbered from 0", names[i], names[i - 1], list->size()),
                        here);
            next = list->get(*index);
        }
        table_here = next->as_table();
        KS_VALIDATE(table_here, fmt::format("{} is {}, not a table", names[i], kind_of(*next)), here);
    }
    const auto value = setting.substr(equals + 1);
    bool inserted = false;
    try {
        auto parsed = toml::parse("value = " + value);
        if (parsed.size() == 1 && value.find('\n') == std::string::npos) {
            table_here->insert_or_assign(names.back(), std::move(*parsed.get("value")));
            inserted = true;
        }
    } catch (const toml::parse_error&) {  // a bare word (device=cpu) or a quantity (until=1.2 Gyr): text
    }
    if (!inserted) table_here->insert_or_assign(names.back(), value);
    set_keys[key] = given.source;
}

RunFileReader::RunFileReader(const std::filesystem::path& path, const std::vector<Setting>& settings)
    : RunFileReader(path, settings, read_text(path)) {}

RunFileReader::RunFileReader(const std::filesystem::path& path, const std::vector<Setting>& settings, const std::string& text)
    : state_(std::make_unique<State>()) {
    state_->path = path;
    check_toml_depth(text, path);
    try {
        state_->table = toml::parse(text, path.string());
    } catch (const toml::parse_error& error) {
        const auto& at = error.source().begin;
        throw InputError(fmt::format("is not valid TOML: {}", error.description()),
                         {path.string(), static_cast<int>(at.line), static_cast<int>(at.column), ""});
    }
    std::vector<InputProblem> problems;
    for (const auto& setting : settings) {
        try {
            state_->apply(setting);
        } catch (const InputError& error) {
            problems.insert(problems.end(), error.problems().begin(), error.problems().end());
        }
    }
    if (!problems.empty()) throw InputError(std::move(problems));
    state_->root.state = state_.get();
    state_->root.table = &state_->table;
}

RunFileReader::~RunFileReader() = default;

Section RunFileReader::root() { return Section(&state_->root); }
const std::filesystem::path& RunFileReader::path() const { return state_->path; }
bool RunFileReader::good() const { return state_->problems.empty(); }
std::vector<std::string> RunFileReader::unused_keys() const { return state_->unused; }

void RunFileReader::stop_if_bad() const {
    if (good()) return;
    auto problems = state_->problems;
    // First problems from the command line, then the file's order, then those without a line (missing tables).
    const auto key = [&](const InputProblem& p) {
        const bool elsewhere = p.where.file != state_->path.string();
        return std::pair(elsewhere ? 0 : p.where.line > 0 ? p.where.line : std::numeric_limits<int>::max(), p.where.column);
    };
    std::stable_sort(problems.begin(), problems.end(), [&](const auto& a, const auto& b) { return key(a) < key(b); });
    throw InputError(std::move(problems));
}

void RunFileReader::finish() {
    const auto visit = [&](auto&& self, const Section::Node& node) -> void {
        if (node.table) {
            for (const auto& [raw_key, value] : *node.table) {
                const std::string key(raw_key.str());
                if (std::find(node.known.begin(), node.known.end(), key) != node.known.end()) continue;
                std::string message = "is not known here";
                if (const auto near = nearest(key, node.known); !near.empty())
                    message += fmt::format("; did you mean '{}'?", near);
                else if (const auto* home = find_home(key))
                    message += fmt::format("; it belongs to [{}]", home->path);
                else if (!node.known.empty())
                    message += fmt::format("; known are {}", joined(node.known));
                auto place = state_->where(below(node.path, key), &value);
                if (const auto& at = raw_key.source().begin; at.line > 0 && place.line > 0)
                    place.line = static_cast<int>(at.line), place.column = static_cast<int>(at.column);
                state_->problems.push_back({message, place});
            }
        }
        for (const auto& child : node.children) self(self, *child);
    };
    visit(visit, state_->root);
    stop_if_bad();
}

const Section::Node* RunFileReader::find_home(const std::string& key) const {
    const Section::Node* home = nullptr;
    const auto visit = [&](auto&& self, const Section::Node& node) -> void {
        const bool entry = std::any_of(node.entries.begin(), node.entries.end(), [&](const auto& e) { return e.key == key; });
        if (entry && !home && !node.path.empty()) home = &node;
        for (const auto& child : node.children) self(self, *child);
    };
    visit(visit, state_->root);
    return home;
}

std::string RunFileReader::resolved(const std::string& head) const {
    std::string text;
    for (const auto& line : split(head, '\n')) text += "# " + line + "\n";
    const auto visit = [&](auto&& self, const Section::Node& node) -> void {
        const bool any = !node.entries.empty() || node.in_array;
        if (any && !node.path.empty()) {
            std::string name;  // without the element numbers of arrays of tables, which TOML writes by position
            for (const auto& part : split(node.path, '.'))
                if (!array_index(part)) name += (name.empty() ? "" : ".") + part;
            text += "\n" + (node.in_array ? "[[" + name + "]]" : "[" + name + "]") + (node.help.empty() ? "" : "  # " + node.help) + "\n";
        }
        for (const auto& entry : node.entries) {
            const auto line = entry.key + " = " + entry.value;
            text += entry.comment.empty() ? line + "\n" : fmt::format("{:<40}  # {}\n", line, entry.comment);
        }
        for (const auto& child : node.children)
            if (child->spoken()) self(self, *child);
    };
    visit(visit, state_->root);
    return text;
}

bool Section::has(const std::string& key) const { return node_->find(key) != nullptr; }
bool Section::present() const { return node_->table != nullptr; }

bool Section::has_table(const std::string& key) const {
    const auto* node = node_->find(key);
    return node && node->is_table();
}

std::vector<std::string> Section::keys() const {
    std::vector<std::string> names;
    if (node_->table)
        for (const auto& [key, value] : *node_->table) names.emplace_back(key.str());
    std::sort(names.begin(), names.end());
    return names;
}

std::optional<std::string> Section::peek(const std::string& key) const {
    const auto* node = node_->find(key);
    const auto* text = node ? node->as_string() : nullptr;
    return text ? std::optional(text->get()) : std::nullopt;
}

Where Section::where(const std::string& key) const {
    const toml::node* place = node_->table && node_ != &node_->state->root ? node_->table : nullptr;
    if (const auto* node = key.empty() || !node_->table ? nullptr : node_->table->get(key)) place = node;
    return node_->state->where(below(node_->path, key), place);
}

bool Section::faulty(const std::string& dotted) const {
    const auto& problems = node_->state->problems;
    return std::any_of(problems.begin(), problems.end(), [&](const InputProblem& each) {
        const auto& key = each.where.key;
        return key == dotted || (key.starts_with(dotted) && key[dotted.size()] == '.');
    });
}

void Section::problem(const std::string& key, const std::string& message) { node_->state->problems.push_back({message, where(key)}); }

void Section::problem(const std::string& key, const InputError& error) {
    for (auto each : error.problems()) {
        if (each.where.file.empty()) each.where = where(key);
        node_->state->problems.push_back(std::move(each));
    }
}

namespace {

/// "[kpc] Plummer softening; default 0"
std::string comment(const std::string& help, const std::string& unit, const std::string& fallback, const std::string& extra = "") {
    std::string text = unit.empty() ? help : "[" + unit + "] " + help;
    if (!extra.empty()) text += (text.empty() ? "" : ": ") + extra;
    text += (text.empty() ? "" : "; ") + (fallback.empty() ? "required" : "default " + fallback);
    return text;
}

std::string missing(const std::string& help) { return help.empty() ? "is missing" : "is missing: give it (" + help + ")"; }

/// A bare number or, with `parse`, a string with its unit. @throws InputError
double number_in(const toml::node& node, const ParseQuantity& parse) {
    double value = 0;
    if (node.is_number())
        value = *node.value<double>();
    else if (const auto* text = node.as_string(); text && parse)
        value = parse(text->get());
    else
        throw InputError(fmt::format("must be a number{}, not {}", parse ? " or a string with a unit" : "", kind_of(node)));
    KS_VALIDATE(std::isfinite(value), fmt::format("is {}: it must be finite", value));
    return value;
}

std::string vector_text(const Vec3<double>& v) { return fmt::format("[{}, {}, {}]", real(v.x), real(v.y), real(v.z)); }

}  // namespace

double Section::number(const std::string& key, const NumberKey& schema) {
    double value = schema.fallback.value_or(0);
    if (const auto* node = node_->find(key)) {
        try {
            value = number_in(*node, schema.parse);
            KS_VALIDATE(schema.range.contains(value), fmt::format("is {}{}, out of range: it must be {}", value,
                                                                  schema.unit.empty() ? "" : " " + schema.unit, schema.range.text()));
        } catch (const InputError& error) {
            problem(key, error);
        }
    } else if (!schema.fallback)
        problem(key, missing(schema.help));
    node_->enter(key, real(value), comment(schema.help, schema.unit, schema.fallback ? fmt::format("{}", *schema.fallback) : ""));
    return value;
}

Vec3<double> Section::vector(const std::string& key, const VectorKey& schema) {
    auto value = schema.fallback.value_or(Vec3<double>{});
    if (auto* node = node_->find(key)) {
        try {
            const auto* list = node->as_array();
            KS_VALIDATE(list && list->size() == 3, list ? fmt::format("must have 3 numbers, not {}", list->size())
                                                        : fmt::format("must be an array of 3 numbers, not {}", kind_of(*node)));
            value = {number_in(*list->get(0), schema.parse), number_in(*list->get(1), schema.parse),
                     number_in(*list->get(2), schema.parse)};
        } catch (const InputError& error) {
            problem(key, error);
        }
    } else if (!schema.fallback)
        problem(key, missing(schema.help));
    node_->enter(key, vector_text(value), comment(schema.help, schema.unit, schema.fallback ? vector_text(*schema.fallback) : ""));
    return value;
}

namespace {

/// The problem of a whole number, or nothing; `value` is set where it is valid.
std::string whole_number(const toml::node& node, std::int64_t least, std::int64_t most, std::int64_t& value) {
    const auto* whole = node.as_integer();
    const auto* decimal = node.as_floating_point();
    const double number = whole ? static_cast<double>(whole->get()) : decimal ? decimal->get() : 0;
    const auto out_of_range = [&](const auto& given) {
        const bool low = least > std::numeric_limits<std::int64_t>::min(), high = most < std::numeric_limits<std::int64_t>::max();
        return fmt::format("is {}, out of range: it must be {}{}{}", given, low ? fmt::format("at least {}", least) : "",
                           low && high ? " and " : "", high || !low ? fmt::format("at most {}", most) : "");
    };
    if (const auto* text = node.as_string())  // of a setting: a whole number beyond 64 bits is not TOML
        if (std::int64_t beyond = 0;
            std::from_chars(text->get().data(), text->get().data() + text->get().size(), beyond).ec == std::errc::result_out_of_range)
            return out_of_range(text->get());
    if (!whole && !decimal) return fmt::format("must be a whole number, not {}", kind_of(node));
    if (decimal && !(std::floor(number) == number && std::abs(number) < 9e15))  // 1e6 is accepted, 1.5 and nan are not
        return fmt::format("is {}: it must be a whole number", number);
    value = whole ? whole->get() : static_cast<std::int64_t>(number);
    if (value >= least && value <= most) return "";
    const auto text = out_of_range(value);
    value = std::clamp(value, least, most);
    return text;
}

/// "[1.0, 2.0]"; a single number without brackets.
std::string list_text(const std::vector<double>& list) {
    if (list.size() == 1) return real(list[0]);
    std::string text;
    for (const double value : list) text += (text.empty() ? "[" : ", ") + real(value);
    return (text.empty() ? "[" : text) + "]";
}

}  // namespace

std::int64_t Section::integer(const std::string& key, const IntegerKey& schema) {
    auto value = schema.fallback.value_or(schema.least > 0 ? schema.least : 0);
    if (const auto* node = node_->find(key)) {
        if (const auto bad = whole_number(*node, schema.least, schema.most, value); !bad.empty()) problem(key, bad);
    } else if (!schema.fallback)
        problem(key, missing(schema.help));
    node_->enter(key, fmt::format("{}", value), comment(schema.help, "", schema.fallback ? fmt::format("{}", *schema.fallback) : ""));
    return value;
}

std::vector<std::int64_t> Section::integers(const std::string& key, const IntegersKey& schema) {
    const std::vector<std::int64_t> none(schema.count, std::max<std::int64_t>(schema.least, 0));
    auto values = schema.fallback.value_or(none);
    if (const auto* node = node_->find(key)) {
        const auto* list = node->as_array();
        if (!list)
            problem(key, fmt::format("must be an array of {} whole numbers, not {}", schema.count, kind_of(*node)));
        else if (list->size() != schema.count)
            problem(key, fmt::format("must have {} whole numbers, not {}", schema.count, list->size()));
        else
            for (std::size_t i = 0; i < schema.count; ++i)
                if (const auto bad = whole_number(*list->get(i), schema.least, schema.most, values[i]); !bad.empty())
                    problem(key, fmt::format("number {}: {}", i + 1, bad));
    } else if (!schema.fallback)
        problem(key, missing(schema.help));
    const auto text = [](const std::vector<std::int64_t>& list) {
        std::vector<std::string> words;
        for (const auto value : list) words.push_back(std::to_string(value));
        return "[" + joined(words) + "]";
    };
    node_->enter(key, text(values), comment(schema.help, "", schema.fallback ? text(*schema.fallback) : ""));
    return values;
}

std::vector<std::vector<double>> Section::number_lists(const std::string& key, const NumberListsKey& schema) {
    std::vector<std::vector<double>> lists(schema.count, {schema.fallback.value_or(0)});
    if (const auto* node = node_->find(key)) {
        const auto one = [&](const toml::node& element) {
            const double value = number_in(element, {});
            KS_VALIDATE(schema.range.contains(value), fmt::format("is {}, out of range: it must be {}", value, schema.range.text()));
            return value;
        };
        try {
            const auto* outer = node->as_array();
            if (!outer)
                lists.assign(schema.count, {one(*node)});
            else
                KS_VALIDATE(outer->size() == schema.count,
                            fmt::format("must have {} elements, numbers or arrays of numbers, not {}", schema.count, outer->size()));
            for (std::size_t i = 0; outer && i < schema.count; ++i) {
                const auto* inner = outer->get(i)->as_array();
                lists[i].clear();
                for (std::size_t n = 0; n < (inner ? inner->size() : 1); ++n) {
                    try {
                        lists[i].push_back(one(inner ? *inner->get(n) : *outer->get(i)));
                    } catch (const InputError& error) {
                        throw InputError(fmt::format("element {}{}: {}", i + 1, inner ? fmt::format(", number {}", n + 1) : "",
                                                     error.problems()[0].message));
                    }
                }
                KS_VALIDATE(!lists[i].empty(), fmt::format("element {}: is an empty array", i + 1));
            }
        } catch (const InputError& error) {
            problem(key, error);
        }
    } else if (!schema.fallback)
        problem(key, missing(schema.help));
    std::string text;
    for (const auto& list : lists) text += (text.empty() ? "[" : ", ") + list_text(list);
    node_->enter(key, text + "]", comment(schema.help, schema.unit, schema.fallback ? real(*schema.fallback) : ""));
    return lists;
}

std::string Section::text(const std::string& key, const TextKey& schema) {
    auto value = schema.fallback.value_or("");
    if (const auto* node = node_->find(key)) {
        const auto* given = node->as_string();
        if (!given)
            problem(key, fmt::format("must be a string, not {}", kind_of(*node)));
        else if (!schema.choices.empty() && std::find(schema.choices.begin(), schema.choices.end(), given->get()) == schema.choices.end()) {
            const auto near = nearest(given->get(), schema.choices);
            problem(key, fmt::format("'{}' is not known; there are {}{}", given->get(), joined(schema.choices),
                                     near.empty() ? "" : ". Did you mean '" + near + "'?"));
        } else
            value = given->get();
    } else if (!schema.fallback)
        problem(key, missing(schema.help));
    std::string choices;
    for (const auto& choice : schema.choices) choices += (choices.empty() ? "" : " | ") + choice;
    node_->enter(key, toml_string(value), comment(schema.help, "", schema.fallback ? toml_string(*schema.fallback) : "", choices));
    return value;
}

bool Section::flag(const std::string& key, const FlagKey& schema) {
    bool value = schema.fallback;
    if (const auto* node = node_->find(key)) {
        if (const auto* given = node->as_boolean())
            value = given->get();
        else
            problem(key, fmt::format("must be true or false, not {}", kind_of(*node)));
    }
    node_->enter(key, value ? "true" : "false", comment(schema.help, "", schema.fallback ? "true" : "false"));
    return value;
}

Section Section::table(const std::string& key, const std::string& help) {
    auto* node = node_->find(key);
    for (const auto& child : node_->children)
        if (child->name == key && !child->in_array) return Section(child.get());
    auto child = std::make_unique<Node>();
    child->state = node_->state;
    child->name = key;
    child->path = below(node_->path, key);
    child->help = help;
    if (node && !(child->table = node->as_table())) problem(key, fmt::format("must be a table, not {}", kind_of(*node)));
    node_->children.push_back(std::move(child));
    return Section(node_->children.back().get());
}

std::vector<Section> Section::tables(const std::string& key) {
    auto* node = node_->find(key);
    std::vector<Section> all;
    for (const auto& child : node_->children)
        if (child->name == key && child->in_array) all.push_back(Section(child.get()));
    if (!node || !all.empty()) return all;
    auto* list = node->as_array();
    if (!list || !std::all_of(list->begin(), list->end(), [](const auto& each) { return each.is_table(); })) {
        problem(key, fmt::format("must be an array of tables, written [[{}]]", below(node_->path, key)));
        return all;
    }
    for (std::size_t i = 0; i < list->size(); ++i) {
        auto child = std::make_unique<Node>();
        child->state = node_->state;
        child->name = key;
        child->path = below(node_->path, key) + "." + std::to_string(i);
        child->in_array = true;
        child->table = list->get(i)->as_table();
        node_->children.push_back(std::move(child));
        all.push_back(Section(node_->children.back().get()));
    }
    return all;
}

void Section::unused(const std::string& key) {
    if (node_->find(key)) node_->state->unused.push_back(below(node_->path, key));
}

void Section::resolve(const std::string& key, const std::string& value) {
    for (auto& entry : node_->entries)
        if (entry.key == key) entry.value = toml_string(value);
}

void Section::resolve(const std::string& key, double value) {
    for (auto& entry : node_->entries)
        if (entry.key == key) entry.value = real(value);
}

}  // namespace kasane::io
