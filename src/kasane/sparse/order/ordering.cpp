#include <kasane/core/base/error.hpp>
#include <kasane/core/base/nearest_name.hpp>
#include <kasane/sparse/order/orders.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>

namespace kasane::sparse {
namespace {

struct Form {
    OrderingKind kind;
    std::string_view name;
    bool has_block, has_colors;
};

constexpr Form forms[] = {
    {OrderingKind::automatic, "auto", false, false},
    {OrderingKind::natural, "natural", false, false},
    {OrderingKind::multicolor, "mc", false, true},
    {OrderingKind::cuthill_mckee, "cm", false, false},
    {OrderingKind::reverse_cuthill_mckee, "rcm", false, false},
    {OrderingKind::cm_rcm, "cm-rcm", false, true},
    {OrderingKind::block, "block", true, true},
};

/// Longer blocks bring no further gain: a thread eliminates the rows of a block one after the other.
constexpr int longest_block = 4096;

std::string spelling(const Form& form) { return fmt::format("{}{}{}", form.name, form.has_block ? ":B" : "", form.has_colors ? ":K" : ""); }

int positive(std::string_view digits, std::string_view what, int most, const std::string& text) {
    int value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc() || end != digits.data() + digits.size() || value < 1 || value > most)
        throw InputError(
            fmt::format("ordering \"{}\": \"{}\" is not a number of {}: a whole number from 1 to {} is needed", text, digits, what, most));
    return value;
}

using detail::Pattern, detail::RowSets;

ColoredOrder of_sets(const Ordering& asked, RowSets sets, std::string note = {}) {
    return {asked, std::move(sets.row), std::move(sets.begin), 1, std::move(note)};
}

ColoredOrder multicolor(const Pattern& graph, const Ordering& asked) {
    auto sets = detail::multicolor(graph, asked.colors);
    std::string note;
    if (asked.colors > graph.rows())
        note = fmt::format("{} asks for more colours than the {} rows", asked.text(), graph.rows());
    else if (sets.count() != asked.colors)
        note = fmt::format("{} needs {} colours: they were taken", asked.text(), sets.count());
    return of_sets(asked, std::move(sets), std::move(note));
}

ColoredOrder cm_rcm(const Pattern& graph, const Ordering& asked) {
    const auto levels = detail::reversed(detail::cuthill_mckee_levels(graph));
    const int colors = detail::conflict_free_colors(graph, levels, asked.colors);
    std::string note;
    if (asked.colors > levels.count())
        note = fmt::format("{} asks for more colours than the {} levels: rcm was taken", asked.text(), levels.count());
    else if (colors > asked.colors)
        note = fmt::format("{} has conflicts: {} colours were taken{}", asked.text(), colors,
                           colors == levels.count() ? ", which is rcm" : "");
    return of_sets(asked, detail::cyclic(levels, colors), std::move(note));
}

ColoredOrder block(const Pattern& graph, const Ordering& asked) {
    const auto blocks = detail::compact_blocks(graph, asked.block);
    const auto [color, colors] = detail::color_blocks(graph, blocks, asked.colors);
    const auto by_color = detail::sorted_by_set(color, colors);
    index_t steps = 1;
    for (std::size_t b = 1; b < blocks.begin.size(); ++b) steps = std::max(steps, blocks.begin[b] - blocks.begin[b - 1]);

    ColoredOrder out{asked, {}, by_color.begin, static_cast<int>(steps), {}};
    for (auto& begin : out.color_begin) begin *= steps;
    out.row.assign(static_cast<std::size_t>(out.color_begin.back()), -1);
    for (std::size_t at = 0; at < by_color.row.size(); ++at) {
        const auto b = static_cast<std::size_t>(by_color.row[at]);
        std::copy(blocks.row.begin() + blocks.begin[b], blocks.row.begin() + blocks.begin[b + 1],
                  out.row.begin() + static_cast<std::ptrdiff_t>(at) * steps);
    }
    if (colors > asked.colors)
        out.note = fmt::format("{} has conflicts: {} colours were taken", asked.text(), colors);
    else if (colors < asked.colors)
        out.note = fmt::format("{} has blocks for {} colours only", asked.text(), colors);
    return out;
}

}  // namespace

Ordering Ordering::parse(const std::string& text) {
    std::vector<std::string_view> parts;
    for (std::string_view rest = text;;) {
        const auto colon = rest.find(':');
        parts.push_back(rest.substr(0, colon));
        if (colon == std::string_view::npos) break;
        rest.remove_prefix(colon + 1);
    }
    const auto form = std::ranges::find(forms, parts[0], &Form::name);
    if (form == std::end(forms)) {
        std::vector<std::string_view> names;
        std::string known;
        for (const auto& f : forms) {
            names.push_back(f.name);
            known += (known.empty() ? "" : ", ") + spelling(f);
        }
        const auto near = nearest_name(parts[0], names);
        const auto meant = std::ranges::find(forms, near, &Form::name);
        throw InputError(fmt::format("\"{}\" is not an ordering: {}the orderings are {} (K colours, blocks of B rows)", text,
                                     near.empty() ? "" : fmt::format("did you mean \"{}\"? ", spelling(*meant)), known));
    }
    if (parts.size() != 1u + form->has_block + form->has_colors) {
        const auto example = fmt::format("{}{}{}", form->name, form->has_block ? ":32" : "", form->has_colors ? ":8" : "");
        throw InputError(fmt::format("ordering \"{}\": {} is written {}, for instance \"{}\"", text, form->name, spelling(*form), example));
    }
    Ordering out;
    out.kind = form->kind;
    if (form->has_block) out.block = positive(parts[1], "rows of a block", longest_block, text);
    if (form->has_colors) out.colors = positive(parts.back(), "colours", static_cast<int>(most_rows), text);
    return out;
}

std::string Ordering::text() const {
    const auto& form = *std::ranges::find(forms, kind, &Form::kind);
    return std::string(form.name) + (form.has_block ? fmt::format(":{}", block) : "") + (form.has_colors ? fmt::format(":{}", colors) : "");
}

ColoredOrder order_rows(const CsrView& A, const Ordering& ordering) {
    KS_EXPECT(ordering.kind != OrderingKind::automatic);
    const Pattern graph(A);
    switch (ordering.kind) {
        case OrderingKind::automatic:
        case OrderingKind::natural: break;
        case OrderingKind::multicolor: return multicolor(graph, ordering);
        case OrderingKind::cuthill_mckee: return of_sets(ordering, detail::cuthill_mckee_levels(graph));
        case OrderingKind::reverse_cuthill_mckee: return of_sets(ordering, detail::reversed(detail::cuthill_mckee_levels(graph)));
        case OrderingKind::cm_rcm: return cm_rcm(graph, ordering);
        case OrderingKind::block: return block(graph, ordering);
    }
    return of_sets(ordering, detail::natural_levels(graph));
}

std::vector<index_t> color_sizes(const ColoredOrder& order) {
    std::vector<index_t> sizes;
    for (int c = 0; c < order.colors(); ++c)
        sizes.push_back(std::count_if(order.row.begin() + order.color_begin[static_cast<std::size_t>(c)],
                                      order.row.begin() + order.color_begin[static_cast<std::size_t>(c) + 1],
                                      [](std::int32_t row) { return row >= 0; }));
    return sizes;
}

}  // namespace kasane::sparse
