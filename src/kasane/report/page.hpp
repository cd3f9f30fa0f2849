// The frame of every page: one self-contained HTML document, and the parts that pages of runs, models and benchmarks share.
// Invariant: everything is inline; a page fetches nothing.
#pragma once

#include <kasane/report/color.hpp>

#include <string>
#include <vector>

namespace kasane::report {

/// The parts of a document. All but `title` are HTML.
struct Page {
    std::string title = {};    ///< plain text: of the window, and of the heading where `heading` is empty
    std::string heading = {};  ///< plain text
    std::string eyebrow = {};  ///< the line above the heading
    std::string style = {};    ///< CSS of this page beside the common one
    std::string head = {};     ///< below the heading: a summary, tiles
    std::string body = {};     ///< sections
    std::string script = {};   ///< JavaScript; may be empty
};

/// The whole document.
std::string html(const Page& page);

/// The common CSS: one column of text and figures, colours as variables, a dark mode.
extern const char* const style;

/// A number with its label, for tiles(). @param value, label  HTML
std::string tile(const std::string& value, const std::string& label);
/// A row of tiles; empty where there are none.
std::string tiles(const std::string& all);

/// A short text on a coloured background. @param kind  "good", "wait" or "bad"
std::string badge(const std::string& kind, const std::string& text);

/// Remarks at the top of a page: paragraphs (HTML) and a list of notes (plain text). Empty where there is neither.
std::string remarks(const std::string& paragraphs, const std::vector<std::string>& notes);

/// A plot with its heading and caption; empty without a plot. @param caption  HTML
std::string chart(const std::string& heading, const std::string& svg, const std::string& caption);

/// A section of charts; empty without any. @param charts  HTML of chart()
std::string chart_section(const std::string& heading, const std::string& charts);

/// An entry of a legend: a bar of colours, a name, and a remark in smaller type. @param name, remark  plain text
std::string ramp_key(const std::vector<Rgb>& colors, const std::string& name, const std::string& remark);

/// Two columns under the heading "Speed"; empty where both are. @param rate, times  HTML
std::string speed_section(const std::string& rate, const std::string& times);

}  // namespace kasane::report
