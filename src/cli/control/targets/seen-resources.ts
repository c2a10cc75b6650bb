import type { Resource } from '../../../control/resources/resource.js';
import type { Seen } from './watch-resources.js';

/** The resources that a watch has reported, to report each change once. */
export class SeenResources {
  readonly #known = new Map<string, Resource>();

  /** @param selects by labels */
  constructor(private readonly selects: (labels: Readonly<Record<string, string>>) => boolean) {}

  /** What a change means for the watch; null where it was reported before, or concerns a resource that is not selected. */
  changed({ resource, type }: Seen): Seen | null {
    const { labels, resource_version = 0, uid = '' } = resource.metadata;
    const before = this.#known.get(uid);
    if (type === 'removed' || !this.selects(labels)) {
      // A resource whose labels are no longer selected leaves the watch.
      return this.#known.delete(uid) ? { type: 'removed', resource } : null;
    }
    if (before !== undefined && (before.metadata.resource_version ?? 0) >= resource_version) return null;
    this.#known.set(uid, resource);
    return before === undefined && type !== 'listed' ? { type: 'created', resource } : { type, resource };
  }

  /** What has changed since the last report, by a new list. @param isFirst nothing was reported yet */
  relisted(items: readonly Resource[], isFirst: boolean): Seen[] {
    const present = new Set(items.map(({ metadata }) => metadata.uid));
    const gone = [...this.#known.values()].filter(({ metadata }) => !present.has(metadata.uid));
    const removed = gone.map((resource): Seen => ({ type: 'removed', resource }));
    for (const { metadata } of gone) this.#known.delete(metadata.uid!);
    const changes = items.map((resource): Seen => {
      const before = this.#known.get(resource.metadata.uid ?? '');
      return { type: isFirst ? 'listed' : kindOfChange(before, resource), resource };
    });
    return [...removed, ...changes.flatMap((one) => this.changed(one) ?? [])];
  }
}

function kindOfChange(before: Resource | undefined, { metadata }: Resource): Seen['type'] {
  if (before === undefined) return 'created';
  if (metadata.deleted_at !== undefined && before.metadata.deleted_at === undefined) return 'deleting';
  return metadata.updated_at === before.metadata.updated_at ? 'status' : 'changed';
}
