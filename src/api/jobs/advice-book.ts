import type { EndpointAdvice } from '../../control/resources/kinds/endpoint.js';
import type { AdviceDocument } from '../../twin/advise/advice-document.js';

interface Called {
  readonly workspace: string;
  readonly name: string;
}

/** More endpoints have no advice in their status: the latest are kept. */
export const MOST_ADVISED = 1000;

/** The latest advice about the policy of each endpoint, until the gateway stops. It outlives the jobs that found it. */
export class AdviceBook {
  /** The latest last. */
  readonly #latest = new Map<string, EndpointAdvice>();

  add(called: Called, job: string, { best, metric, present, verdict }: AdviceDocument, nowMs: number): void {
    const key = keyOf(called);
    this.#latest.delete(key);
    this.#latest.set(key, {
      ...{ job, at: new Date(nowMs).toISOString(), verdict, metric, present: present.policy },
      policy: best?.policy ?? null,
      ...{ change: best?.change ?? null, change_low: best?.changeLow ?? null, change_high: best?.changeHigh ?? null },
    });
    for (const oldest of this.#latest.keys()) {
      if (this.#latest.size <= MOST_ADVISED) break;
      this.#latest.delete(oldest);
    }
  }

  /** Forgets what it has of a workspace that has been removed. */
  forget(workspace: string): void {
    for (const key of this.#latest.keys()) if (key.startsWith(`${workspace}/`)) this.#latest.delete(key);
  }

  of(called: Called): EndpointAdvice | undefined {
    return this.#latest.get(keyOf(called));
  }
}

const keyOf = ({ name, workspace }: Called) => `${workspace}/${name}`;
