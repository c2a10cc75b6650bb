/**
 * The figures of a benchmark: printed as they are measured, and as a table at the end. A figure that misses its bound
 * fails the run.
 */
export class BenchTable {
  readonly #rows: string[][] = [];

  /** @param holds null for a figure without a bound */
  report(what: string, measured: string, bound: string, holds: boolean | null): void {
    const row = [what, measured, bound, holds === null ? '' : holds ? 'holds' : 'MISSED'];
    this.#rows.push(row);
    process.stderr.write(`${row.join(' | ')}\n`);
  }

  print(): void {
    const width = this.#rows[0]!.map((_, column) => Math.max(...this.#rows.map((row) => row[column]!.length)));
    for (const row of this.#rows) {
      const cells = row.map((cell, i) => cell.padEnd(width[i]!));
      process.stdout.write(`${cells.join('  ').trimEnd()}\n`);
    }
    process.exitCode = this.#rows.some((row) => row[3] === 'MISSED') ? 1 : 0;
  }
}

export const seconds = (ms: number): string => `${(ms / 1000).toFixed(3)} s`;

/** The best of several runs. */
export function best<T>(times: number, run: () => T, value: (result: T) => number): T {
  const results = Array.from({ length: times }, run);
  return results.reduce((a, b) => (value(b) < value(a) ? b : a));
}
