type Fields = Readonly<Record<string, unknown>>;

/** Lists whose items are merged by a field of theirs, as Kubernetes does. Other lists are replaced. */
const MERGED_BY: Readonly<Record<string, string>> = {
  containers: 'name',
  initContainers: 'name',
  volumes: 'name',
  env: 'name',
  ports: 'name',
  imagePullSecrets: 'name',
  volumeMounts: 'mountPath',
};

/** Lists to which items are added. */
const EXTENDED = ['tolerations'];

/** A pod with the fields of another one: maps by key, lists as above; null removes a field. */
export function mergedPod(base: Fields, change: Fields): Fields {
  const merged: Record<string, unknown> = { ...base };
  for (const [key, value] of Object.entries(change)) {
    const before = merged[key];
    if (value === null) delete merged[key];
    else if (isFields(value) && isFields(before)) merged[key] = mergedPod(before, value);
    else if (Array.isArray(value) && Array.isArray(before)) merged[key] = mergedList(key, before, value);
    else merged[key] = value;
  }
  return merged;
}

function mergedList(key: string, before: readonly unknown[], change: readonly unknown[]): readonly unknown[] {
  if (EXTENDED.includes(key)) return [...before, ...change];
  const field = MERGED_BY[key];
  if (field === undefined) return change;
  const merged = [...before];
  for (const item of change) {
    const name = isFields(item) ? item[field] : undefined;
    const at = name === undefined ? -1 : merged.findIndex((one) => isFields(one) && one[field] === name);
    if (at < 0) merged.push(item);
    else merged[at] = mergedPod(merged[at] as Fields, item as Fields);
  }
  return merged;
}

export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
