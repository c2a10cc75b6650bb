import type { SweepAxis } from './axis.js';
import { LOAD_AXES } from './ranking.js';
import type { SweepDocument, SweptPoint } from './sweep-document.js';

/** Points that differ in the load only, by growing load. */
export interface LoadSeries {
  /** The values of the other axes; empty where the load is all that varies. */
  name: string;
  points: readonly { load: number; point: SweptPoint }[];
  /** The greatest load up to which every point is feasible; null where already the least is not. */
  keeps: number | null;
}

/** The axis of a sweep that is the load on the fleet, and the series along it. */
export interface LoadAxis {
  name: string;
  unit: string;
  series: readonly LoadSeries[];
}

/** Null where the load does not vary, or points were drawn and have no neighbours. */
export function loadAxis(axes: readonly SweepAxis[], { points, sample }: SweepDocument): LoadAxis | null {
  const axis = axes.find(({ name, values }) => {
    return LOAD_AXES.includes(name) && values.kind === 'list' && values.values.length > 1;
  });
  if (axis === undefined || sample !== 'grid') return null;
  const others = axes.filter((one) => one !== axis);
  const groups = new Map<string, { load: number; point: SweptPoint }[]>();
  for (const point of points) {
    const values = others.map(({ name }) => {
      return others.length === 1 && !isNumber(point.settings[name]!)
        ? point.settings[name]
        : `${name}=${point.settings[name]}`;
    });
    const name = values.join(', ');
    groups.set(name, [...(groups.get(name) ?? []), { load: Number(point.settings[axis.name]), point }]);
  }
  const series = [...groups].map(([name, own]) => {
    own.sort((a, b) => a.load - b.load);
    const broken = own.findIndex(({ point }) => !point.feasible);
    const last = broken < 0 ? own.at(-1)! : own[broken - 1];
    return { name, points: own, keeps: last?.load ?? null };
  });
  return { name: axis.name, unit: axis.name === 'rate' ? 'requests/s' : 'clients', series };
}

function isNumber(text: string): boolean {
  return text !== '' && !Number.isNaN(Number(text));
}
