/** How values of an axis become places on it, and which of them are marked. */
export interface Scale {
  ticks: readonly number[];
  /** 0 at the start of the axis, 1 at its end; values outside are moved to the nearer end. */
  at(value: number): number;
}

const STEPS = [1, 2, 2.5, 5, 10];

/**
 * Even steps of 1, 2, 2.5 or 5 times a power of ten, about `wanted` of them, from 0 or the step below `min` to that
 * above `max`.
 */
export function linearScale(min: number, max: number, wanted = 5): Scale {
  const span = max - min || Math.abs(max) || 1;
  const power = 10 ** Math.floor(Math.log10(span / wanted));
  const step = power * STEPS.find((candidate) => candidate * power * wanted >= span)!;
  const first = Math.floor(min / step);
  const last = Math.max(first + 1, Math.ceil(max / step));
  const ticks = Array.from({ length: last - first + 1 }, (_, i) => plain((first + i) * step));
  return { ticks, at: (value) => within((value / step - first) / (last - first)) };
}

/** From the power of ten at or below `min` to the one at or above `max`; both above 0. */
export function logScale(min: number, max: number): Scale {
  const first = Math.floor(Math.log10(min));
  const last = Math.max(first + 1, Math.ceil(Math.log10(max)));
  const ticks = Array.from({ length: last - first + 1 }, (_, i) => plain(10 ** (first + i)));
  return { ticks, at: (value) => within((Math.log10(value) - first) / (last - first)) };
}

/** 0.30000000000000004 as 0.3. */
function plain(value: number): number {
  return Number(value.toPrecision(12));
}

function within(place: number): number {
  return Math.min(1, Math.max(0, place));
}

const UNITS: readonly [number, string][] = [
  [1e12, 'T'],
  [1e9, 'G'],
  [1e6, 'M'],
  [1e3, 'k'],
];

/** A value as an axis shows it: `0.25`, `50`, `1.5k`, `20M`. */
export function tickLabel(value: number): string {
  const [size, unit] = UNITS.find(([least]) => Math.abs(value) >= least) ?? [1, ''];
  return `${plain(value / size)}${unit}`;
}

export function least(values: readonly number[]): number {
  return values.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
}

export function most(values: readonly number[]): number {
  return values.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
}
