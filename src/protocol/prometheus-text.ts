/** The samples of some metrics in a Prometheus exposition. */
export interface Samples {
  /** Sum over all label sets of the first of these metrics that is there; NaN when none is. */
  sum(...names: string[]): number;
  /** Mean over all label sets, for shares of something: a server may report one for each of its ranks. NaN when it is not there. */
  mean(name: string): number;
  /** A label of the metric's first sample, as it is written; undefined when there is none. */
  label(name: string, label: string): string | undefined;
}

const SAMPLE = /^([A-Za-z_:][\w:]*)(?:\{(.*)\})?\s+(\S+)/;
const LABEL = /([A-Za-z_]\w*)="((?:[^"\\]|\\.)*)"/g;

/** Reads an exposition; lines that are no samples are passed over. */
export function readSamples(text: string): Samples {
  const sums = new Map<string, number>();
  const counts = new Map<string, number>();
  const labels = new Map<string, string>();
  let begin = 0;
  while (begin < text.length) {
    const newline = text.indexOf('\n', begin);
    const end = newline < 0 ? text.length : newline;
    const match = text.charCodeAt(begin) === 35 ? null : SAMPLE.exec(text.slice(begin, end));
    begin = end + 1;
    if (match === null) continue;
    const [, name = '', labelText = '', value = ''] = match;
    sums.set(name, (sums.get(name) ?? 0) + Number(value));
    counts.set(name, (counts.get(name) ?? 0) + 1);
    if (!labels.has(name)) labels.set(name, labelText);
  }
  return {
    sum: (...names) => sums.get(names.find((name) => sums.has(name)) ?? '') ?? Number.NaN,
    mean: (name) => (sums.get(name) ?? Number.NaN) / (counts.get(name) ?? 1),
    label: (name, label) => {
      for (const [, key, value] of (labels.get(name) ?? '').matchAll(LABEL)) if (key === label) return value;
      return undefined;
    },
  };
}
