// The mapping between a record and JSON, stated once: a list of fields is a template, which FieldWriter and FieldReader execute.
//   template <class Fields, class Record> void list_fields(Fields& f, Record& r) { f("beta", r.beta), f.later()("seed", r.seed); }
// Numbers that are not finite are written as null, which is read back as NaN.
#pragma once

#include <kasane/core/io/json_value.hpp>

#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace kasane::run {

class FieldWriter {
   public:
    using Json = io::Json;
    Json object = Json::object();

    template <class T>
    void operator()(const std::string& key, const T& value) {
        object[key] = value;
    }
    void operator()(const std::string& key, const std::vector<std::pair<std::string, double>>& named) {
        object[key] = Json::object();
        for (const auto& [name, number] : named) object[key][name] = number;
    }
    /// Fields that records of earlier versions may lack.
    FieldWriter& later() { return *this; }
    /// Writes a value that follows from others, and is not read.
    template <class T>
    void derived(const std::string& key, const T& value) {
        object[key] = value;
    }
    /// Null where it is empty.
    void text(const std::string& key, const std::string& value) { object[key] = value.empty() ? Json(nullptr) : Json(value); }
    /// Null where it is not positive: not known.
    void positive(const std::string& key, double value) { object[key] = value > 0 ? Json(value) : Json(nullptr); }

    /// An object. @param visit  lists the fields inside it: visit(fields)
    template <class Visit>
    void part(const std::string& key, Visit visit) {
        FieldWriter in;
        visit(in);
        object[key] = std::move(in.object);
    }
    /// An object, or null.
    template <class Visit>
    void part_or_null(const std::string& key, bool known, Visit visit) {
        if (known) return part(key, visit);
        object[key] = nullptr;
    }
    /// An object that is left out where there is no value. @param visit  visit(fields, value)
    template <class T, class Visit>
    void optional(const std::string& key, const std::optional<T>& value, Visit visit) {
        if (value) part(key, [&](auto& in) { visit(in, *value); });
    }
    /// An array of objects.
    template <class T, class Visit>
    void list(const std::string& key, const std::vector<T>& values, Visit visit) {
        object[key] = Json::array();
        for (const auto& value : values) {
            FieldWriter in;
            visit(in, value);
            object[key].push_back(std::move(in.object));
        }
    }
    /// An object of objects.
    template <class T, class Visit>
    void map(const std::string& key, const std::map<std::string, T>& values, Visit visit) {
        part(key, [&](auto& all) {
            for (const auto& [name, value] : values) all.part(name, [&](auto& in) { visit(in, value); });
        });
    }
};

/// Handling of a field that is missing or of another type: throw an io::Json::exception, or keep the value.
enum class Gaps { refuse, keep };

class FieldReader {
   public:
    using Json = io::Json;
    /// @param object  must outlive this
    explicit FieldReader(const Json& object, Gaps gaps = Gaps::refuse) : object_(&object), gaps_(gaps) {}

    template <class T>
    void operator()(const std::string& key, T& value) const {
        if (const auto* found = find(key)) read(*found, value);
    }
    bool has(const std::string& key) const { return object_->contains(key); }
    FieldReader later() const { return FieldReader(*object_, Gaps::keep); }
    template <class T>
    void derived(const std::string&, const T&) const {}
    void text(const std::string& key, std::string& value) const {
        if (const auto* found = find(key)) value = found->is_string() ? found->get<std::string>() : std::string();
    }
    void positive(const std::string& key, double& value) const { (*this)(key, value); }

    template <class Visit>
    void part(const std::string& key, Visit visit) const {
        const auto* found = find(key);
        if (!found || (gaps_ == Gaps::keep && !found->is_object())) return;
        FieldReader in(*found, gaps_);
        visit(in);
    }
    template <class Visit>
    void part_or_null(const std::string& key, bool, Visit visit) const {
        later().part(key, visit);
    }
    template <class T, class Visit>
    void optional(const std::string& key, std::optional<T>& value, Visit visit) const {
        later().part(key, [&](auto& in) { visit(in, value.emplace()); });
    }
    template <class T, class Visit>
    void list(const std::string& key, std::vector<T>& values, Visit visit) const {
        const auto* found = find(key);
        if (!found || (gaps_ == Gaps::keep && !found->is_array())) return;
        values.clear();
        for (const auto& each : found->get_ref<const Json::array_t&>()) {
            FieldReader in(each, gaps_);
            if (gaps_ == Gaps::refuse || each.is_object()) visit(in, values.emplace_back());
        }
    }
    template <class T, class Visit>
    void map(const std::string& key, std::map<std::string, T>& values, Visit visit) const {
        part(key, [&](auto& all) {
            for (const auto& [name, each] : all.object_->items()) all.part(name, [&](auto& in) { visit(in, values[name]); });
        });
    }

   private:
    const Json* find(const std::string& key) const {
        if (gaps_ == Gaps::refuse) return &object_->at(key);
        const auto found = object_->find(key);
        return found == object_->end() ? nullptr : &*found;
    }
    template <class T>
    static bool fits(const Json& found) {
        if constexpr (std::is_same_v<T, bool>) return found.is_boolean();
        if constexpr (std::is_integral_v<T>) return found.is_number_integer();
        if constexpr (std::is_floating_point_v<T>) return found.is_number();
        return found.is_string();
    }
    template <class T>
    void read(const Json& found, T& value) const {
        if (gaps_ == Gaps::keep && !fits<T>(found)) return;
        if constexpr (std::is_floating_point_v<T>)
            value = found.is_number() ? found.get<T>() : std::nan("");
        else
            value = found.get<T>();
    }
    template <class T, std::size_t N>
    void read(const Json& found, std::array<T, N>& values) const {
        read_each(found, std::span<T>(values));
    }
    template <class T, std::size_t N>
    void read(const Json& found, T (&values)[N]) const {
        read_each(found, std::span<T>(values));
    }
    template <class T>
    void read_each(const Json& found, std::span<T> values) const {
        if (gaps_ == Gaps::keep && (!found.is_array() || found.size() != values.size())) return;
        for (std::size_t i = 0; i < values.size(); ++i) read(found.at(i), values[i]);
    }
    template <class T>
    void read(const Json& found, std::vector<T>& values) const {
        if (gaps_ == Gaps::keep && !found.is_array()) return;
        values.clear();
        for (const auto& each : found.get_ref<const Json::array_t&>())
            if (gaps_ == Gaps::refuse || fits<T>(each)) read(each, values.emplace_back());
    }
    void read(const Json& found, std::vector<std::pair<std::string, double>>& named) const {
        if (gaps_ == Gaps::keep && !found.is_object()) return;
        named.clear();
        for (const auto& [name, number] : found.get_ref<const Json::object_t&>()) read(number, named.emplace_back(name, 0.0).second);
    }

    const Json* object_;
    Gaps gaps_;
};

}  // namespace kasane::run
