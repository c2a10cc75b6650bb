import type { KubeObject } from '../../../kube/kube-object.js';

/** What is read of an event. */
export interface PodEvent extends KubeObject {
  readonly involvedObject: { readonly uid?: string };
  readonly reason?: string;
  readonly message?: string;
  readonly lastTimestamp?: string | null;
  readonly eventTime?: string | null;
  readonly series?: { readonly lastObservedTime?: string } | null;
}

/** Selects the events that say why a pod does not start. */
export const POD_WARNINGS = 'involvedObject.kind=Pod,type=Warning';

/** The last warning about each pod. What its status does not have is only there: a volume that cannot be mounted. */
export class PodWarnings {
  #last: Map<string, PodEvent> | null = null;

  constructor(private readonly events: () => Iterable<PodEvent>) {}

  /** The events have changed: they are read again when a warning is wanted. */
  changed(): void {
    this.#last = null;
  }

  of(uid: string): PodEvent | null {
    this.#last ??= this.#read();
    return this.#last.get(uid) ?? null;
  }

  #read(): Map<string, PodEvent> {
    const last = new Map<string, PodEvent>();
    for (const event of this.events()) {
      const { uid = '' } = event.involvedObject;
      const before = last.get(uid);
      if (before === undefined || timeOf(event) >= timeOf(before)) last.set(uid, event);
    }
    return last;
  }
}

function timeOf({ eventTime, lastTimestamp, metadata, series }: PodEvent): number {
  const text = series?.lastObservedTime ?? lastTimestamp ?? eventTime ?? metadata.creationTimestamp ?? '';
  return Date.parse(text) || 0;
}
