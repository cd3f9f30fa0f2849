#include <kasane/sparse/multigrid/restrict_lines.hpp>

#include <algorithm>
#include <type_traits>

namespace kasane::sparse::box {
namespace {

/// Restrict of the coarse cells (., J, K). Requires by.line[0].by_pairs(), and cells that are joined along y or z.
struct RestrictLine {
    Restrict of;

    void operator()(int J, int K) const {
        const Transfer& by = of.by;
        float* const b = of.b + by.coarse.cell(0, J, K);
        std::fill_n(b, by.coarse.n[0], 0.f);
        const TakenCells along_y(by.line[1], J), along_z(by.line[2], K);
        for (int z = along_z.low; z < along_z.high; ++z)
            for (int y = along_y.low; y < along_y.high; ++y) {
                const Row row{by.fine.of_colour(0, by.line[1].cell(y), by.fine.in_memory(by.line[2].cell(z))), along_y.own(y),
                              along_z.own(z), (y + z) % 2 != 0};
                using Yes = std::true_type;
                using No = std::false_type;
                if (by.line[1].joins() && by.line[2].joins())
                    add(row, b, Yes{}, Yes{});
                else if (by.line[1].joins())
                    add(row, b, Yes{}, No{});
                else
                    add(row, b, No{}, Yes{});
            }
    }

   private:
    /// A line of fine cells.
    struct Row {
        index_t place;      ///< of its first one among those of the colour
        bool own_y, own_z;  ///< its cells are the coarse cell's own along y, along z
        bool odd;           ///< cells 2 I + 1 have the colour, and else 2 I
    };

    template <class JoinsY, class JoinsZ>
    void add(const Row& row, float* __restrict b, JoinsY, JoinsZ) const {
        const auto& line = of.by.line[0];
        const float *const r = of.r + row.place, *const share_x = of.by.share[0] + row.place;
        const float* const share_y = JoinsY{} ? of.by.share[1] + row.place : nullptr;
        const float* const share_z = JoinsZ{} ? of.by.share[2] + row.place : nullptr;
        // own + (1 - 2 own) share is 1 - share or share, without a branch.
        const float own_y = row.own_y ? 1 : 0, sign_y = row.own_y ? -1 : 1, own_z = row.own_z ? 1 : 0, sign_z = row.own_z ? -1 : 1;
        const auto term = [=](float part, int place) {
            if constexpr (JoinsY{}) part *= own_y + sign_y * share_y[place];
            if constexpr (JoinsZ{}) part *= own_z + sign_z * share_z[place];
            return part * r[place];
        };
        const auto own = [=](int place) { return term(1 - share_x[place], place); };
        const auto beyond = [=](int place) { return term(share_x[place], place); };
        const int last = line.coarse - 1, pairs = line.n / 2;
        if (row.odd) {  // cells 2 I - 1 and 2 I + 1
            if (line.periodic) b[0] += beyond(last);
            b[0] += own(0);
            for (int I = 1; I < pairs; ++I) b[I] = b[I] + beyond(I - 1) + own(I);
            if (pairs == last) b[last] += beyond(last - 1);
        } else {  // cells 2 I and 2 I + 2
            for (int I = 0; I < last; ++I) b[I] = b[I] + own(I) + beyond(I + 1);
            b[last] += own(last);
            if (line.periodic) b[last] += beyond(0);
        }
    }
};

}  // namespace

void restrict_planes(Cpu on, Planes planes, const Restrict& body) {
    if (body.by.line[0].by_pairs() && (body.by.line[1].joins() || body.by.line[2].joins()))
        for_each_line(on, body.by.coarse, planes, RestrictLine{body});
    else
        for_each_cell(on, body.by.coarse, planes, body);
}

}  // namespace kasane::sparse::box
