/** The content type of Prometheus' text format. */
export const PROMETHEUS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** A metric as the format describes it. */
export interface ExpositionFamily {
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
}

const SPECIAL = /["\\\n]/g;

/** A label with its value as the format writes it: `endpoint="chat"`. */
export function labelText(label: string, value: string): string {
  return `${label}="${value.replace(SPECIAL, (character) => (character === '\n' ? '\\n' : `\\${character}`))}"`;
}

/** Several labels, separated by commas. */
export function labelTexts(labels: Readonly<Record<string, string>>): string {
  return Object.entries(labels)
    .map(([label, value]) => labelText(label, value))
    .join(',');
}

/** Writes metrics in Prometheus' text format, family by family. */
export class Exposition {
  readonly #lines: string[] = [];
  readonly #common: string;
  #name = '';

  /** @param common labels of every sample, as `labelTexts` writes them */
  constructor(common = '') {
    this.#common = common;
  }

  /** Begins a family: the samples that follow belong to it. */
  family({ help, name, type }: ExpositionFamily): void {
    this.#name = name;
    this.#lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`);
  }

  /** @param labels without their braces; empty for none */
  sample(labels: string, value: number, suffix = ''): void {
    const all = joined(this.#common, labels);
    this.#lines.push(`${this.#name}${suffix}${all === '' ? '' : `{${all}}`} ${value}`);
  }

  /** A family with one sample. */
  single(family: ExpositionFamily, value: number, labels = ''): void {
    this.family(family);
    this.sample(labels, value);
  }

  text(): string {
    return `${this.#lines.join('\n')}\n`;
  }
}

/** Two groups of labels, of which either may be empty. */
export function joined(first: string, second: string): string {
  return first === '' || second === '' ? first + second : `${first},${second}`;
}
