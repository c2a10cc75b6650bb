import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import * as v from 'valibot';
import { ENDPOINT_SWITCH, type EndpointSwitch } from '../../control/resources/kinds/endpoint.js';
import { makeFolder } from '../../files/make-folder.js';
import { replaceFile } from '../../files/replace-file.js';

interface Called {
  readonly workspace: string;
  readonly name: string;
}

/** Of more endpoints only the latest are kept. */
const MOST_SWITCHED = 1000;
const KEPT = v.record(v.string(), ENDPOINT_SWITCH);

/**
 * The latest guarded switch of each endpoint. It survives the process in a file of the data folder: one that was being watched when the
 * process was killed is reported as interrupted.
 */
export class SwitchBook {
  /** Null: nothing survives. */
  readonly #path: string | null;
  /** The latest last. */
  readonly #latest: Map<string, EndpointSwitch>;

  constructor(path: string | null) {
    this.#path = path;
    this.#latest = new Map(Object.entries(path === null ? {} : readKept(path)));
  }

  begin(called: Called, made: Omit<EndpointSwitch, 'at' | 'reason' | 'state'>, nowMs: number): void {
    const key = keyOf(called);
    this.#latest.delete(key);
    this.#latest.set(key, { ...made, at: timeOf(nowMs), state: 'watching', reason: '' });
    for (const oldest of this.#latest.keys()) {
      if (this.#latest.size <= MOST_SWITCHED) break;
      this.#latest.delete(oldest);
    }
    this.#write();
  }

  /** A later switch of the endpoint is left as it is. */
  end(called: Called, job: string, state: EndpointSwitch['state'], reason: string, nowMs: number): void {
    const present = this.#latest.get(keyOf(called));
    if (present?.job !== job) return;
    this.#latest.set(keyOf(called), { ...present, at: timeOf(nowMs), state, reason });
    this.#write();
  }

  /** Forgets what it has of a workspace that has been removed. @param untilMs later switches are of another one of that name */
  forget(workspace: string, untilMs: number): void {
    const gone = [...this.#latest].filter(
      ([key, { at }]) => key.startsWith(`${workspace}/`) && Date.parse(at) <= untilMs,
    );
    for (const [key] of gone) this.#latest.delete(key);
    if (gone.length > 0) this.#write();
  }

  of(called: Called): EndpointSwitch | undefined {
    return this.#latest.get(keyOf(called));
  }

  #write(): void {
    if (this.#path === null) return;
    try {
      makeFolder(dirname(this.#path));
      replaceFile(this.#path, `${JSON.stringify(Object.fromEntries(this.#latest))}\n`, 0o600);
    } catch {
      // A disk that is full takes nothing from the switch itself: only its report is lost with the process.
    }
  }
}

const INTERRUPTED = {
  state: 'interrupted',
  reason: 'the gateway stopped while it was watched: the former policy is in force again',
} as const;

/** A file that is not there, or that cannot be read, says nothing. */
function readKept(path: string): Record<string, EndpointSwitch> {
  try {
    const found = v.parse(KEPT, JSON.parse(readFileSync(path, 'utf8')));
    const now = ([key, one]: [string, EndpointSwitch]) => [
      key,
      one.state === 'watching' ? { ...one, ...INTERRUPTED } : one,
    ];
    return Object.fromEntries(Object.entries(found).map(now));
  } catch {
    return {};
  }
}

const keyOf = ({ name, workspace }: Called) => `${workspace}/${name}`;
const timeOf = (ms: number) => new Date(ms).toISOString();
