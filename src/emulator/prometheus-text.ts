import type { Histogram } from './histogram.js';

export const PROMETHEUS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

type Labels = Readonly<Record<string, string>>;

/** Metrics in Prometheus' text format, put together one family at a time. */
export class PrometheusText {
  readonly #common: Labels;
  #text = '';

  /** @param common labels of every sample */
  constructor(common: Labels) {
    this.#common = common;
  }

  gauge(name: string, help: string, value: number, labels: Labels = {}): void {
    this.#family(name, help, 'gauge');
    this.#sample(name, labels, value);
  }

  /** Counters are named with `_total`; their family is without it. */
  counter(name: string, help: string, samples: readonly { labels?: Labels; value: number }[]): void {
    this.#family(`${name}_total`, help, 'counter');
    for (const { labels = {}, value } of samples) this.#sample(`${name}_total`, labels, value);
  }

  histogram(name: string, help: string, histogram: Histogram): void {
    this.#family(name, help, 'histogram');
    const counts = histogram.cumulative();
    histogram.bounds.forEach((bound, i) => {
      this.#sample(`${name}_bucket`, { le: Number.isInteger(bound) ? `${bound}.0` : String(bound) }, counts[i]!);
    });
    this.#sample(`${name}_bucket`, { le: '+Inf' }, histogram.count);
    this.#sample(`${name}_count`, {}, histogram.count);
    this.#sample(`${name}_sum`, {}, histogram.sum);
  }

  text(): string {
    return this.#text;
  }

  #family(name: string, help: string, type: string): void {
    this.#text += `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`;
  }

  #sample(name: string, labels: Labels, value: number): void {
    const all = Object.entries({ ...this.#common, ...labels });
    const shown = all.map(([label, text]) => `${label}="${escaped(text)}"`).join(',');
    this.#text += `${name}{${shown}} ${value}\n`;
  }
}

function escaped(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}
