import type { BenchTable } from '../bench-table.js';
import type { ControlServer } from './control-server.js';

const MOST_TURN_MS = 100;
const BYTES = 1_000_000;
const filled = (unit: string) => unit.repeat(Math.floor(BYTES / unit.length));
const numbered = (text: (i: number) => string) => {
  let all = '';
  for (let i = 0; all.length < BYTES; i++) all += text(i);
  return all;
};
const resource = (kind: string, spec: string, labels = '{}') =>
  `{"apiVersion":"twinyard/v1","kind":"${kind}","metadata":{"name":"x","labels":${labels}},"spec":${spec}}`;

/** Texts of a megabyte or of as much as is accepted that take long to read. */
const DOCUMENTS: Readonly<Record<string, () => string>> = {
  'YAML anchors': () => numbered((i) => `- &a${i} x\n`),
  'YAML aliases': () => `- &a x\n${filled('- *a\n')}`,
  'open brackets': () => filled('['),
  'YAML keys': () => numbered((i) => `k${i}: 1\n`),
  'YAML documents': () => filled('---\na: 1\n'),
  'YAML text': () => `a: "${filled('\\n')}"`,
  'YAML within the limits': () => numberedLines(1900),
  'JSON keys': () => `{${numbered((i) => `"k${i}":1,`)}"z":1}`,
  'JSON lists': () => `[${filled('[],')}[]]`,
  'JSON within the limits': () => resource('Endpoint', `{"env":{${pairs(9000)}}}`),
  'JSON documents, each wrong': () => `${resource('Endpoint', '{}')}\n`.repeat(2000),
  'unknown fields': () => resource('Endpoint', `{${pairs(9000)}}`),
  labels: () => resource('Workspace', '{}', `{${pairs(9000)}}`),
  'a schema of an engine': () =>
    resource(
      'Engine',
      `{"versions":{"v":{"tasks":["text-generation"],"command":["x"],"metrics":"vllm","parameters":{"type":"object","properties":{${schemas(2000)}}}}}}`,
    ),
};

const range = (count: number) => Array.from({ length: count }, (_, i) => i);
const pairs = (count: number) =>
  range(count)
    .map((i) => `"k${i}":"v"`)
    .join();
const schemas = (count: number) =>
  range(count)
    .map((i) => `"p${i}":{"type":"integer"}`)
    .join();
const numberedLines = (count: number) =>
  range(count)
    .map((i) => `k${i}: 1\n`)
    .join('');

/** The longest turn of the event loop while a document is read and refused, of each kind. */
export async function hostileDocumentRows(table: BenchTable, server: ControlServer): Promise<void> {
  for (const [kind, document] of Object.entries(DOCUMENTS)) {
    const text = document();
    const turnMs = await server.longestTurn(async () =>
      (await server.send('POST', '/api/v1/apply?dry_run=true', text)).arrayBuffer(),
    );
    const what = `document of ${Math.round(text.length / 1000)} kB, ${kind}: longest turn`;
    table.report(what, `${turnMs.toFixed(0)} ms`, `<= ${MOST_TURN_MS} ms`, turnMs <= MOST_TURN_MS);
  }
}
