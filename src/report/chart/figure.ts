import { type Chart, drawChart } from './chart.js';
import { element, escaped, label } from './svg.js';

const CHART = { width: 460, height: 280 };
const COLUMNS = 2;
const MARGIN = 16;
const HEAD = 64;

interface Palette {
  back: string;
  ink: string;
  faint: string;
  grid: string;
  series: readonly string[];
}

const LIGHT: Palette = {
  back: '#ffffff',
  ink: '#1f2328',
  faint: '#59636e',
  grid: '#e4e8ec',
  series: ['#0969da', '#bc4c00', '#1a7f37', '#8250df'],
};
const DARK: Palette = {
  back: '#0d1117',
  ink: '#e6edf3',
  faint: '#9198a1',
  grid: '#2a313c',
  series: ['#4493f8', '#f0883e', '#3fb950', '#ab7df8'],
};

/** Plain colours instead of variables: not every program that shows a picture knows those. */
function colours({ back, ink, faint, grid, series }: Palette): string {
  const rules = [`text { fill: ${faint}; } .back { fill: ${back}; } .ink { fill: ${ink}; }`];
  rules.push(`.grid { stroke: ${grid}; } .axis { stroke: ${faint}; }`);
  series.forEach((colour, i) => {
    rules.push(`.line.c${i} { stroke: ${colour}; } .fill.c${i} { fill: ${colour}; }`);
  });
  return rules.join('\n');
}

/** The style of chart classes, for light and for dark pages. */
const STYLE = `
text { font: 12px system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif; }
.heading { font-size: 18px; font-weight: 600; }
.title { font-size: 14px; font-weight: 600; }
.middle { text-anchor: middle; }
.end { text-anchor: end; }
.grid, .axis, .line { fill: none; }
.line { stroke-width: 2; stroke-linejoin: round; }
${colours(LIGHT)}
@media (prefers-color-scheme: dark) {
${colours(DARK)}
}
`;

export interface Figure {
  heading: string;
  /** One line below it. */
  note: string;
  charts: readonly Chart[];
}

/** Charts side by side as an SVG document that needs nothing else: no fonts, no styles, no scripts from elsewhere. */
export function drawFigure({ heading, note, charts }: Figure): string {
  const rows = Math.ceil(charts.length / COLUMNS);
  const width = COLUMNS * CHART.width + (COLUMNS + 1) * MARGIN;
  const height = HEAD + rows * (CHART.height + MARGIN);
  const drawn = charts.map((chart, i) =>
    drawChart(chart, {
      x: MARGIN + (i % COLUMNS) * (CHART.width + MARGIN),
      y: HEAD + Math.floor(i / COLUMNS) * (CHART.height + MARGIN),
      ...CHART,
    }),
  );
  const parts = [
    element('title', {}, escaped(heading)),
    `<style>${STYLE}</style>`,
    element('rect', { class: 'back', width, height, rx: 8 }),
    label('ink heading', MARGIN + 8, 30, heading),
    label('note', MARGIN + 8, 50, note),
    ...drawn,
  ];
  const attributes = { xmlns: 'http://www.w3.org/2000/svg', viewBox: `0 0 ${width} ${height}`, width, height };
  return `${element('svg', attributes, `\n${parts.join('\n')}\n`)}\n`;
}
