/** Microseconds per call of some calls, numbered from `first`. */
export function usPerCall(first: number, times: number, run: (i: number) => unknown): number {
  const began = process.hrtime.bigint();
  for (let i = first; i < first + times; i++) run(i);
  return Number(process.hrtime.bigint() - began) / 1000 / times;
}

export function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1]!;
}

export const us = (value: number): string => `${value.toFixed(2)} us`;

export const ms = (value: number): string => `${value.toFixed(2)} ms`;
