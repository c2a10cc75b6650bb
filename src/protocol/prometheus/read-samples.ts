/** The samples of a Prometheus exposition, by metric. */
export interface Samples {
  /** Sum over all label sets of the first of these metrics that exists; NaN when none does. */
  sum(...names: string[]): number;
  /** Sum over the samples in which `label` is empty or absent: the total of a metric that is also broken down by it. */
  sumWithout(label: string, name: string): number;
  /** Mean over all label sets, for ratios: a server may report one for each of its ranks. NaN when the metric is absent. */
  mean(name: string): number;
  /** A label of the metric's first sample, as it is written; undefined when there is none. */
  label(name: string, label: string): string | undefined;
  /** All samples of a metric with their labels. */
  rows(name: string): LabelledSample[];
}

export interface LabelledSample {
  readonly labels: ReadonlyMap<string, string>;
  readonly value: number;
}

interface Sample {
  readonly labels: string;
  readonly value: number;
}

const SAMPLE = /^([A-Za-z_:][\w:]*)(?:\{(.*)\})?\s+(\S+)/;
const LABEL = /([A-Za-z_]\w*)="((?:[^"\\]|\\.)*)"/g;

/** Reads an exposition; lines that are not samples are ignored. */
export function readSamples(text: string): Samples {
  const samples = new Map<string, Sample[]>();
  let begin = 0;
  while (begin < text.length) {
    const newline = text.indexOf('\n', begin);
    const end = newline < 0 ? text.length : newline;
    const match = text.charCodeAt(begin) === 35 ? null : SAMPLE.exec(text.slice(begin, end));
    begin = end + 1;
    if (match === null) continue;
    const [, name = '', labels = '', value = ''] = match;
    const sample = { labels, value: Number(value) };
    const others = samples.get(name);
    if (others === undefined) samples.set(name, [sample]);
    else others.push(sample);
  }
  const of = (name: string) => samples.get(name) ?? [];
  return {
    sum: (...names) => sumOf(of(names.find((name) => samples.has(name)) ?? '')),
    sumWithout: (label, name) => sumOf(of(name).filter(({ labels }) => !labelOf(labels, label))),
    mean: (name) => sumOf(of(name)) / of(name).length,
    label: (name, label) => labelOf(of(name)[0]?.labels ?? '', label),
    rows: (name) => of(name).map(({ labels, value }) => ({ labels: labelsOf(labels), value })),
  };
}

function sumOf(samples: readonly Sample[]): number {
  return samples.length === 0 ? Number.NaN : samples.reduce((sum, { value }) => sum + value, 0);
}

function labelOf(labels: string, label: string): string | undefined {
  for (const [, key, value] of labels.matchAll(LABEL)) if (key === label) return value;
  return undefined;
}

function labelsOf(labels: string): Map<string, string> {
  return new Map(
    [...labels.matchAll(LABEL)].map(([, key, value]) => [
      key!,
      value!.replace(/\\(.)/g, (_, character) => (character === 'n' ? '\n' : character)),
    ]),
  );
}
