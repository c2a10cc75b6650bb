import type { MetricFamily } from './metric-families.js';

/** Writes metrics in Prometheus' text format, family by family. */
export class Exposition {
  readonly #lines: string[] = [];
  #name = '';

  /** What follows are samples of this one. */
  family({ help, name, type }: MetricFamily): void {
    this.#name = name;
    this.#lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`);
  }

  /** @param labels without their braces; empty for none */
  sample(labels: string, value: number, suffix = ''): void {
    this.#lines.push(`${this.#name}${suffix}${labels === '' ? '' : `{${labels}}`} ${value}`);
  }

  /** A family with one sample and no labels. */
  single(family: MetricFamily, value: number): void {
    this.family(family);
    this.sample('', value);
  }

  text(): string {
    return `${this.#lines.join('\n')}\n`;
  }
}
