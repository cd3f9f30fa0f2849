// The common CSS. One column of figures and text; colours are variables, so that dark mode is a second set of them.
#include <kasane/report/page.hpp>

namespace kasane::report {

const char* const style = R"css(
:root {
  --paper: #fbfaf7; --card: #ffffff; --ink: #1b1e24; --muted: #5f6672; --line: #e4e1da; --axis: #9a9da5;
  --accent: #a84f0a; --accent-soft: #f1e3d5; --good: #24673f; --good-soft: #e0efe5; --bad: #a3262f; --bad-soft: #f7e2e2;
  --s0: #b45309; --s1: #1c6db5; --s2: #6a4bb5; --s3: #26724a; --s4: #a33b63; --s5: #0f7490; --s6: #7a6410; --s7: #8a4b2a;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #0f1115; --card: #171a20; --ink: #ebe8e2; --muted: #a2a8b4; --line: #2a2e36; --axis: #5c626e;
    --accent: #f0a45d; --accent-soft: #3a2a1b; --good: #86d1a2; --good-soft: #1b3226; --bad: #f29a9f; --bad-soft: #3b1f22;
    --s0: #f0a45d; --s1: #6fb6f2; --s2: #b39df0; --s3: #7fcf9f; --s4: #f08fb2; --s5: #62c8de; --s6: #d9c25e; --s7: #d79b78;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 16px/1.6 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Liberation Sans", sans-serif; }
main { max-width: 1000px; margin: 0 auto; padding: 56px 28px 96px; }
h1 { font-size: clamp(1.8rem, 1.2rem + 2.6vw, 2.75rem); line-height: 1.12; letter-spacing: -0.02em; font-weight: 680; margin: 0 0 18px;
  overflow-wrap: anywhere; text-wrap: balance; }
h2 { font-size: 1.4rem; letter-spacing: -0.01em; font-weight: 650; margin: 0 0 24px; }
h3 { font-size: 1rem; font-weight: 650; margin: 0 0 10px; }
p { margin: 0 0 14px; }
code, pre { font-family: ui-monospace, "SF Mono", "Cascadia Mono", "DejaVu Sans Mono", "Liberation Mono", monospace; font-size: 0.875em; }
code { overflow-wrap: anywhere; }
section { margin-top: 72px; }
.muted, figcaption { color: var(--muted); }
.eyebrow { display: flex; align-items: center; gap: 12px; color: var(--muted); font-size: 0.9rem; margin: 0 0 14px; }
.badge { padding: 1px 10px; border-radius: 99px; font-size: 0.8rem; font-weight: 600; }
.badge.good { color: var(--good); background: var(--good-soft); }
.badge.wait { color: var(--accent); background: var(--accent-soft); }
.badge.bad { color: var(--bad); background: var(--bad-soft); }
.lead { font-size: 1.125rem; max-width: 44em; text-wrap: pretty; }
.lead strong { font-weight: 650; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(150px, 1fr)); gap: 20px 32px; margin: 32px 0 0; }
.tiles div { border-top: 1px solid var(--line); padding-top: 12px; display: flex; flex-direction: column-reverse; }
.tiles dt { color: var(--muted); font-size: 0.875rem; }
.tiles dd { margin: 0; font-size: 1.5rem; line-height: 1.3; letter-spacing: -0.01em; font-weight: 620; font-variant-numeric: tabular-nums;
  white-space: nowrap; }
.note { margin-top: 36px; padding: 16px 20px; border-radius: 10px; background: var(--accent-soft); overflow-wrap: anywhere; }
.note p, .note ul { margin: 0; }
.note p + ul { margin-top: 8px; }
.note ul { padding-left: 1.2em; }

.film { margin-top: 48px; }
figure { margin: 0; }
.screens { display: grid; gap: 4px; overflow: hidden; border-radius: 12px; width: 100%; max-width: max(560px, calc(88vh * var(--ratio)));
  margin: 0 auto; }
.screens.beside { grid-template-columns: 1fr 1fr; }
.screen { position: relative; overflow: hidden; border-radius: 12px; background: #05060a; width: 100%; }
.screens .screen { border-radius: 0; }
.screen canvas, .screen noscript img { display: block; width: 100%; height: 100%; }
html:not(.js) .screen canvas, html:not(.js) .controls { display: none; }
.clock, .bar, .view { position: absolute; left: 18px; color: #fff; font-size: clamp(0.8rem, 0.6rem + 0.8vw, 1rem); text-shadow: 0 0 6px #000, 0 0 2px #000;
  font-variant-numeric: tabular-nums; pointer-events: none; }
.clock { top: 12px; font-weight: 600; }
.view { top: 12px; left: auto; right: 18px; font-size: clamp(0.7rem, 0.6rem + 0.5vw, 0.875rem); }
.bar { bottom: 14px; border-bottom: 2px solid #fff; text-align: center; line-height: 1.5; white-space: nowrap; font-size: clamp(0.7rem, 0.6rem + 0.5vw, 0.875rem); }
.controls { display: flex; align-items: center; gap: 16px; margin: 14px 0 4px; }
#play { flex: none; width: 44px; height: 44px; border-radius: 50%; border: 0; padding: 11px; background: var(--ink); color: var(--paper); cursor: pointer; }
#play svg { display: block; fill: currentColor; }
#play .stop, #play.playing .start { display: none; }
#play.playing .stop { display: inline; }
#seek { flex: 1; min-width: 0; height: 28px; accent-color: var(--accent); cursor: pointer; }
:is(button, input, summary, pre):focus-visible { outline: 3px solid var(--s1); outline-offset: 2px; }
.legend { display: flex; flex-wrap: wrap; gap: 4px 24px; font-size: 0.875rem; margin-top: 10px; }
.key i { display: inline-block; width: 54px; height: 10px; border-radius: 5px; margin-right: 8px; vertical-align: 0; }
.key { color: var(--ink); }
.key small { color: var(--muted); font-size: 1em; }
.stills { list-style: none; padding: 0; margin: 28px 0 0; display: grid; grid-template-columns: repeat(4, 1fr); gap: 14px; }
.stills button { display: block; width: 100%; padding: 0; border: 0; background: none; color: var(--muted); font: inherit; font-size: 0.85rem;
  text-align: left; cursor: pointer; font-variant-numeric: tabular-nums; border-radius: 8px; }
html:not(.js) .stills button { cursor: default; }
.stills img { display: block; width: 100%; height: auto; border-radius: 8px; margin-bottom: 4px; }
.stills img:has(+ img) { margin-bottom: 2px; border-radius: 8px 8px 0 0; }
.stills img + img { border-radius: 0 0 8px 8px; }

.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 400px), 1fr)); gap: 48px 44px; }
.chart figcaption { font-size: 0.9rem; line-height: 1.5; margin-top: 4px; }
@media (min-width: 900px) {  /* the last of an odd number has its caption beside it */
  .chart:last-child:nth-child(odd) { grid-column: 1 / -1; display: grid; grid-template-columns: 1fr 1fr; column-gap: 44px; align-items: center; }
  .chart:last-child:nth-child(odd) h3 { grid-column: 1 / -1; }
}
.plot { display: block; width: 100%; height: auto; overflow: visible; font-size: 13px; }
.plot text { fill: var(--muted); font-variant-numeric: tabular-nums; }
.plot .grid { stroke: var(--line); }
.plot .axis { stroke: var(--axis); }
.plot .reference { stroke: var(--axis); stroke-dasharray: 5 4; }
.plot .now { stroke: var(--axis); visibility: hidden; }
.js .plot .now.shown { visibility: visible; }
.plot .curve { fill: none; stroke-width: 2.25; stroke-linejoin: round; stroke-linecap: round; }
.plot .name { font-weight: 600; }
.plot .on-plot { paint-order: stroke; stroke: var(--paper); stroke-width: 4px; stroke-linejoin: round; }  /* grid lines end at the text */
.s0 { --own: var(--s0); } .s1 { --own: var(--s1); } .s2 { --own: var(--s2); }
.s3 { --own: var(--s3); } .s4 { --own: var(--s4); } .s5 { --own: var(--s5); }
.s6 { --own: var(--s6); } .s7 { --own: var(--s7); } .s8 { --own: var(--ink); }
.plot .curve { stroke: var(--own); } .plot .name, .plot .mark { fill: var(--own); }
.plot .dashed { stroke-dasharray: 9 5; } .plot .dotted { stroke-dasharray: 1 5; }
.plot .hover circle { fill: transparent; }
.plot .hover circle:hover { fill: var(--ink); fill-opacity: 0.35; }

.halves { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 400px), 1fr)); gap: 40px 44px; }
.big strong { font-size: 1.5rem; font-weight: 650; letter-spacing: -0.01em; white-space: nowrap; }
.big span { color: var(--muted); white-space: nowrap; }
.gauge { height: 14px; border-radius: 7px; background: var(--line); overflow: hidden; }
.gauge i { display: block; height: 100%; background: var(--s1); border-radius: 7px; }
.ends { display: flex; justify-content: space-between; color: var(--muted); font-size: 0.85rem; margin: 6px 0 18px; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
.bars { list-style: none; margin: 0; padding: 0; font-variant-numeric: tabular-nums; }
.bars li { display: grid; grid-template-columns: 1fr auto; column-gap: 16px; margin-bottom: 12px; line-height: 1.4; }
.bars span + span { color: var(--muted); }
.bars i { grid-column: 1 / -1; display: block; height: 6px; min-width: 2px; margin-top: 4px; border-radius: 3px; background: var(--s0); }

.facts { margin: 0 0 36px; columns: 400px 2; column-gap: 44px; }
.facts div { break-inside: avoid; display: grid; grid-template-columns: 8.5em 1fr; gap: 12px; padding: 8px 0; border-top: 1px solid var(--line); }
.facts dt { color: var(--muted); }
.facts dd { margin: 0; overflow-wrap: anywhere; }
details { border: 1px solid var(--line); border-radius: 10px; background: var(--card); margin-bottom: 36px; }
summary { cursor: pointer; padding: 12px 18px; font-weight: 600; border-radius: 10px; }
pre { margin: 0; padding: 4px 18px 18px; overflow-x: auto; line-height: 1.5; }
.commands { margin-bottom: 36px; }
.commands td { padding: 8px 24px 8px 0; border-top: 1px solid var(--line); vertical-align: top; }
.commands td + td { color: var(--muted); }
.papers { padding-left: 1.2em; margin: 0; }
.papers li { margin-bottom: 6px; overflow-wrap: anywhere; }

@media (max-width: 640px) {
  main { padding: 32px 18px 64px; }
  section { margin-top: 56px; }
  .film { margin-top: 32px; margin-inline: -18px; }
  .film .screens { border-radius: 0; }
  .screens.beside { grid-template-columns: 1fr; }
  .film .controls, .film figcaption, .film .stills, .film > p, .film > h2 { margin-inline: 18px; }
  .stills { grid-template-columns: repeat(2, 1fr); }
  .tiles { grid-template-columns: 1fr 1fr; gap: 16px 20px; }
  .tiles dd { font-size: 1.25rem; }
  .facts div { grid-template-columns: 6.5em 1fr; }
  .plot { font-size: 15px; }
  .commands td { display: block; padding-right: 0; }
  .commands td + td { border-top: 0; padding-top: 0; }
}
@media print {
  .controls { display: none; }
  .chart, .stills li, .screen { break-inside: avoid; }
  details { display: none; }
}
)css";

}  // namespace kasane::report
