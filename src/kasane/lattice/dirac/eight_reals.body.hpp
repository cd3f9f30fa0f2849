// A link from eight real numbers in [-1, 1] and two signs; dirac/eight_reals.hpp explains the parametrisation and makes the numbers.
// Like wilson.body.hpp, and to be included after it: without guard and namespace, V = float, double or a vector of them, with
// + - *, MulAdd, NegMulAdd and Reciprocal.

/// @param r       r[0..4]: stereographic coordinates of row 1; r[5..7]: of row 2 in the frame that row 1 defines
/// @param first   +1 or -1: the hemisphere of row 1      @param second  that of row 2      @param one  1
/// 84 additions, multiplications and multiply-adds, 3 reciprocals.
template <class V>
KS_SITE Link<V> link_of_eight(const V (&r)[8], V first, V second, V one) {
    const V minus_one = one - (one + one);
    const V& y = r[0];
    const Cx<V> p{r[1], r[2]}, q{r[3], r[4]};
    const V square = MulAdd(y, y, one);
    const V size = MulAdd(q.im, q.im, MulAdd(q.re, q.re, MulAdd(p.im, p.im, MulAdd(p.re, p.re, square))));
    const V size_of_second = MulAdd(r[7], r[7], MulAdd(r[6], r[6], MulAdd(r[5], r[5], one)));
    Link<V> u;

    // Row 1 = first ((2 - size + 2 i y), 2 p, 2 q) / size
    V t = Reciprocal(size);
    t = t + t;
    const V a = t * first;
    u.e[0][0] = {a - first, a * y};
    u.e[0][1] = {a * p.re, a * p.im};
    u.e[0][2] = {a * q.re, a * q.im};

    // Row 2 = (n (1 + i y), v + n p, w + n q), n = -t (v p* + w q*) (1 + i y) / (1 + y^2), where (v, w) is its place in the frame
    V m = Reciprocal(size_of_second);
    const V sign = first * second;
    m = (m + m) * sign;
    const Cx<V> v{m - sign, m * r[5]}, w{m * r[6], m * r[7]};
    V re = v.re * p.re, im = v.im * p.re;
    re = MulAdd(v.im, p.im, re);
    im = NegMulAdd(v.re, p.im, im);
    re = MulAdd(w.re, q.re, re);
    im = MulAdd(w.im, q.re, im);
    re = MulAdd(w.im, q.im, re);
    im = NegMulAdd(w.re, q.im, im);
    const V scale = t * Reciprocal(NegMulAdd(y, y, minus_one));
    re = re * scale;
    im = im * scale;
    const Cx<V> n{NegMulAdd(y, im, re), MulAdd(y, re, im)};
    u.e[1][0] = {NegMulAdd(y, n.im, n.re), MulAdd(y, n.re, n.im)};
    u.e[1][1] = {NegMulAdd(n.im, p.im, MulAdd(n.re, p.re, v.re)), MulAdd(n.im, p.re, MulAdd(n.re, p.im, v.im))};
    u.e[1][2] = {NegMulAdd(n.im, q.im, MulAdd(n.re, q.re, w.re)), MulAdd(n.im, q.re, MulAdd(n.re, q.im, w.im))};
    complete(u);
    return u;
}
