/** One place where two JSON values differ; undefined where one of them has no value. */
export interface FieldDifference {
  /** `spec.upstreams[1].url` */
  readonly path: string;
  readonly before: unknown;
  readonly after: unknown;
}

/**
 * Where two JSON values differ, in the order of the first and then of the keys that are new. The order of keys does not
 * matter.
 */
export function differences(before: unknown, after: unknown, path = ''): FieldDifference[] {
  if (before === after) return [];
  if (Array.isArray(before) && Array.isArray(after)) {
    const length = Math.max(before.length, after.length);
    return Array.from({ length }, (_, i) => differences(before[i], after[i], `${path}[${i}]`)).flat();
  }
  if (isMap(before) && isMap(after)) {
    const keys = [...Object.keys(before), ...Object.keys(after).filter((key) => !Object.hasOwn(before, key))];
    return keys.flatMap((key) => differences(own(before, key), own(after, key), path === '' ? key : `${path}.${key}`));
  }
  return [{ path, before, after }];
}

const isMap = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const own = (map: Record<string, unknown>, key: string) => (Object.hasOwn(map, key) ? map[key] : undefined);
