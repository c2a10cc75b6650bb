/** The samples of an exposition of metrics as Prometheus reads it. */
export interface MetricSamples {
  /** Sum over all label sets of the first of these metrics that is there; NaN when none is. */
  sum(...names: string[]): number;
  /** The labels of a metric's first sample; empty when it is not there. */
  labels(name: string): Readonly<Record<string, string>>;
}

const SAMPLE = /^([A-Za-z_:][\w:]*)(?:\{(.*)\})?\s+(\S+)/;
const LABEL = /([A-Za-z_]\w*)="((?:[^"\\]|\\.)*)"/g;

export function readMetrics(text: string): MetricSamples {
  const sums = new Map<string, number>();
  const labels = new Map<string, string>();
  for (const line of text.split('\n')) {
    const [, name, labelText = '', value] = (line.startsWith('#') ? null : SAMPLE.exec(line)) ?? [];
    if (name === undefined) continue;
    sums.set(name, (sums.get(name) ?? 0) + Number(value));
    if (!labels.has(name)) labels.set(name, labelText);
  }
  return {
    sum: (...names) => sums.get(names.find((name) => sums.has(name)) ?? '') ?? Number.NaN,
    labels: (name) =>
      Object.fromEntries([...(labels.get(name) ?? '').matchAll(LABEL)].map(([, key, value]) => [key!, value!])),
  };
}
