import { InputError } from '../../kernel/errors.js';
import { type RandomStream, randomStream } from '../../kernel/random-stream.js';
import { type SweepAxis, spanValue } from './axis.js';

/** How points are chosen: every combination, or some of them by a seeded draw. */
export type SweepSample = { kind: 'grid' } | { kind: 'random' | 'latin-hypercube'; points: number };

/** The value of every axis, in the order of the axes. */
export type SweepPoint = readonly string[];

export const MOST_SWEEP_POINTS = 100_000;
export const SAMPLE_FORMS = "'grid', 'random:100' or 'latin-hypercube:100'";

export function readSample(text: string, place: string): SweepSample {
  if (text === 'grid') return { kind: 'grid' };
  const match = /^(random|latin-hypercube|lhs):(\d+)$/.exec(text);
  const points = Number(match?.[2]);
  if (match === null || points < 1 || points > MOST_SWEEP_POINTS) {
    const problem = `'${text}' is no way to choose points`;
    throw new InputError('BAD_VALUE', place, problem, `give ${SAMPLE_FORMS}, at most ${MOST_SWEEP_POINTS} points`);
  }
  return { kind: match[1] === 'random' ? 'random' : 'latin-hypercube', points };
}

/** The points of a sweep, each once. The same seed draws the same points, and an axis more does not change the others. */
export function samplePoints(axes: readonly SweepAxis[], sample: SweepSample, seed: number): SweepPoint[] {
  if (sample.kind === 'grid') return gridPoints(axes);
  const columns = axes.map((axis) => {
    const stream = randomStream(seed, `sweep ${axis.name}`);
    const shares = sample.kind === 'random' ? randomShares(sample.points, stream) : strata(sample.points, stream);
    return shares.map((share) => axisValue(axis, share));
  });
  const points = Array.from({ length: sample.points }, (_, i) => columns.map((column) => column[i]!));
  return [...new Map(points.map((point) => [JSON.stringify(point), point])).values()];
}

/** The last axis varies fastest. */
function gridPoints(axes: readonly SweepAxis[]): SweepPoint[] {
  const lists = axes.map(({ place, values }) => {
    if (values.kind === 'list') return values.values;
    const hint =
      'add a step as in 10..100:10 or a number of values as in 10..100:log5, or draw with --sample random:50';
    throw new InputError('BAD_AXIS', place, 'has no step, which a grid needs', hint);
  });
  const count = lists.reduce((product, list) => product * list.length, 1);
  if (count > MOST_SWEEP_POINTS) {
    const problem = `the grid has ${count} points, more than ${MOST_SWEEP_POINTS}`;
    throw new InputError(
      'TOO_MANY_POINTS',
      'axes',
      problem,
      'use fewer values, or draw some with --sample random:1000',
    );
  }
  return lists.reduce<string[][]>(
    (points, list) => points.flatMap((one) => list.map((value) => [...one, value])),
    [[]],
  );
}

function randomShares(count: number, stream: RandomStream): number[] {
  return Array.from({ length: count }, () => stream.next());
}

/** One draw in each of `count` equal parts, in a random order: every axis is covered evenly. */
function strata(count: number, stream: RandomStream): number[] {
  const order = Array.from({ length: count }, (_, i) => i);
  for (let i = count - 1; i > 0; i--) {
    const other = stream.below(i + 1);
    [order[i], order[other]] = [order[other]!, order[i]!];
  }
  return order.map((part) => (part + stream.next()) / count);
}

function axisValue({ values }: SweepAxis, share: number): string {
  return values.kind === 'span' ? spanValue(values, share) : values.values[Math.floor(share * values.values.length)]!;
}
