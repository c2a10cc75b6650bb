const SPECIAL = /["\\\n]/g;

/** A label with its value as it stands in Prometheus' text format. */
export function labelText(label: string, value: string): string {
  return `${label}="${value.replace(SPECIAL, (character) => (character === '\n' ? '\\n' : `\\${character}`))}"`;
}
