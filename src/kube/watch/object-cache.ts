import type { KubeObject } from '../kube-object.js';

/** The objects of one kind as last seen, by namespace and name. */
export class ObjectCache<T extends KubeObject> {
  readonly #objects = new Map<string, T>();

  get size(): number {
    return this.#objects.size;
  }

  values(): IterableIterator<T> {
    return this.#objects.values();
  }

  get(namespace: string, name: string): T | undefined {
    return this.#objects.get(`${namespace}/${name}`);
  }

  /** Returns whether something has changed: watches that begin again repeat what was seen, and may repeat older states. */
  set(object: T): boolean {
    const key = keyOf(object);
    const before = this.#objects.get(key);
    if (before !== undefined && before.metadata.uid === object.metadata.uid && !isNewer(object, before)) return false;
    this.#objects.set(key, object);
    return true;
  }

  /** A deletion of an object that has been replaced under its name since is old news. */
  delete(object: T): boolean {
    const key = keyOf(object);
    const before = this.#objects.get(key);
    if (before === undefined || before.metadata.uid !== object.metadata.uid) return false;
    return this.#objects.delete(key);
  }

  /** Replaces everything by a complete list. A list is the truth, also where it is older. */
  replace(objects: readonly T[]): boolean {
    const listed = new Set<string>();
    let hasChanged = false;
    for (const object of objects) {
      const key = keyOf(object);
      listed.add(key);
      if (isSame(object, this.#objects.get(key))) continue;
      this.#objects.set(key, object);
      hasChanged = true;
    }
    for (const key of this.#objects.keys()) {
      if (listed.has(key)) continue;
      this.#objects.delete(key);
      hasChanged = true;
    }
    return hasChanged;
  }
}

function keyOf({ metadata: { name, namespace = '' } }: KubeObject): string {
  return `${namespace}/${name}`;
}

function isSame(object: KubeObject, before: KubeObject | undefined): boolean {
  const { resourceVersion, uid } = object.metadata;
  return before?.metadata.uid === uid && before?.metadata.resourceVersion === resourceVersion;
}

/** Versions that are numbers are compared, as the API server's are; others only for equality. */
function isNewer(object: KubeObject, before: KubeObject): boolean {
  const [now, then] = [object.metadata.resourceVersion ?? '', before.metadata.resourceVersion ?? ''];
  if (now === then) return false;
  if (!/^\d+$/.test(now) || !/^\d+$/.test(then)) return true;
  return now.length === then.length ? now > then : now.length > then.length;
}
