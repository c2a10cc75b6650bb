import { escaped } from '../chart/svg.js';

const STYLE = `
:root { color-scheme: light dark; --ink: #1f2328; --faint: #59636e; --line: #d1d9e0; --back: #ffffff; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --faint: #9198a1; --line: #3d444d; --back: #0d1117; } }
body { margin: 2rem auto; padding: 0 1rem; max-width: 60rem; color: var(--ink); background: var(--back);
  font: 15px/1.5 system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif; }
h1 { font-size: 1.5rem; }
p { color: var(--faint); }
svg { max-width: 100%; height: auto; }
table { border-collapse: collapse; margin: 1.5rem 0; }
th, td { padding: 0.25rem 0.75rem 0.25rem 0; border-bottom: 1px solid var(--line); text-align: right; font-variant-numeric: tabular-nums; }
th:first-child, td:first-child { text-align: left; }
td + td { white-space: nowrap; }
th { font-weight: 600; }
`;

/** A self-contained page: `body` is escaped HTML, `style` is added to the style of the page. */
export function htmlPage(title: string, body: string, style = ''): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)}</title>
<style>${STYLE}${style}</style>
</head>
<body>
${body}
</body>
</html>
`;
}

/** The first row holds the column names, the first column the names of the rows. */
export function htmlTable([names, ...rows]: readonly (readonly string[])[]): string {
  const line = (cell: 'th' | 'td', cells: readonly string[]) =>
    `<tr>${cells.map((text) => `<${cell}>${escaped(text)}</${cell}>`).join('')}</tr>`;
  return `<table>\n${[line('th', names!), ...rows.map((row) => line('td', row))].join('\n')}\n</table>`;
}
