/** Colours of the charts of a page, on a light and on a dark background. The first four are those of single figures. */
const LIGHT = ['#0969da', '#bc4c00', '#1a7f37', '#8250df', '#bf3989', '#0a7d8c', '#9a6700', '#57606a'];
const DARK = ['#4493f8', '#f0883e', '#3fb950', '#ab7df8', '#f778ba', '#39c5cf', '#d29922', '#9198a1'];

export const COLOURS = LIGHT.length;

function colours(back: string, grid: string, series: readonly string[]): string {
  const rules = series.map(
    (colour, i) =>
      `.line.c${i} { stroke: ${colour}; } .fill.c${i} { fill: ${colour}; } .swatch.c${i} { background: ${colour}; } .hollow.c${i} { stroke: ${colour}; }`,
  );
  return `.grid { stroke: ${grid}; } .whisker { stroke: var(--ink); } .panel { background: ${back}; }\n${rules.join('\n')}`;
}

export const CHART_STYLE = `
body { max-width: 76rem; }
h2 { font-size: 1.15rem; margin: 2.5rem 0 0.5rem; }
h3 { font-size: 1rem; margin: 1.25rem 0 0.25rem; }
ul { margin: 0.25rem 0; padding-left: 1.2rem; }
li { margin: 0.15rem 0; }
.panels { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(28rem, 100%), 1fr)); gap: 1rem; margin: 0.75rem 0; }
.panels svg, .picture svg { width: 100%; }
.panels svg { max-width: 38rem; }
h1.verdict { font-size: 1.35rem; line-height: 1.35; margin: 0.25rem 0 1rem; }
.over { margin: 0; }
.legend { display: flex; flex-wrap: wrap; gap: 0.25rem 1.25rem; margin: 0.5rem 0; padding: 0; list-style: none; }
.swatch { display: inline-block; width: 0.7rem; height: 0.7rem; border-radius: 2px; margin-right: 0.4rem; }
.scroll { overflow-x: auto; }
.better { color: #1a7f37; } .worse { color: #bc4c00; } .noise { color: var(--faint); }
code { font-size: 0.9em; }
svg text { font: 12px system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif; fill: var(--faint); }
svg .ink { fill: var(--ink); }
svg .title { font-weight: 600; font-size: 13px; }
.middle { text-anchor: middle; }
.end { text-anchor: end; }
.grid, .line, .whisker { fill: none; }
.axis { fill: none; stroke: var(--faint); }
.line { stroke-width: 2; stroke-linejoin: round; }
.line.thin { stroke-width: 1; opacity: 0.7; }
.line.bar { stroke-width: 12; }
.limit { fill: none; stroke: var(--ink); stroke-width: 1.5; stroke-dasharray: 6 4; }
.hollow { fill: var(--back); stroke-width: 2; }
${colours('#ffffff', '#e4e8ec', LIGHT)}
@media (prefers-color-scheme: dark) {
.better { color: #3fb950; } .worse { color: #f0883e; }
${colours('#0d1117', '#2a313c', DARK)}
}
@media print {
:root { color-scheme: light; --ink: #1f2328; --faint: #59636e; --line: #d1d9e0; --back: #ffffff; }
body { max-width: none; margin: 0; font-size: 11px; }
svg, tr, h2, h3 { break-inside: avoid; } h2, h3 { break-after: avoid; }
.scroll { overflow: visible; }
${colours('#ffffff', '#e4e8ec', LIGHT)}
}
`;
