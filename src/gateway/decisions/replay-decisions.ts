import { InputError } from '../../kernel/errors.js';
import type { ReplicaSignals } from '../signals/replica-signals.js';
import { DecidingFleet } from './deciding-fleet.js';
import type { DecisionLine, RequestLine } from './decision-log.js';

const INVALID = 'DECISION_LOG_INVALID';

const LINE_TYPES = ['policy', 'stale', 'replicas', 'signals', 'profile', 'request', 'shadows', 'first', 'done'];

/** A decision that came out differently. */
export interface Difference {
  line: number;
  id: string;
  endpoint: string;
  recorded: string | null;
  decided: string | null;
}

/** Repeats the calls of a decision log, line by line, and compares the outcomes. */
export class DecisionReplay {
  decisions = 0;
  readonly byPolicy = new Map<string, number>();
  readonly differences: Difference[] = [];
  readonly #path: string;
  readonly #fleets = new Map<string, DecidingFleet>();

  constructor(path: string) {
    this.#path = path;
  }

  line(text: string, number: number): void {
    const line = this.#parse(text, number);
    try {
      this.#carryOut(line, number);
    } catch (error) {
      if (error instanceof InputError && error.code === INVALID) throw error;
      throw this.#bad(number, `the line cannot be replayed (${(error as Error).message})`);
    }
  }

  #carryOut(line: DecisionLine, number: number): void {
    if (line.type === 'policy') {
      const fleet = line.isNew ? undefined : this.#fleets.get(line.endpoint);
      if (fleet === undefined) {
        this.#fleets.set(line.endpoint, new DecidingFleet(line.config, line.seed, line.staleMs));
      } else {
        fleet.setPolicy(line.config);
        fleet.signals.staleMs = line.staleMs;
      }
      return;
    }
    const fleet = this.#fleets.get(line.endpoint);
    if (fleet === undefined) throw this.#bad(number, `endpoint '${line.endpoint}' has no policy yet`);
    if (line.type === 'request') this.#decide(fleet, line, number);
    // Shadows change nothing: a replay of the policy that served does not need them.
    else if (line.type === 'shadows') return;
    else if (line.type === 'stale') fleet.signals.staleMs = line.staleMs;
    else if (line.type === 'replicas') fleet.setReplicas(line.ids);
    else if (line.type === 'signals') fleet.signals.set(line.id, withNaN(line.signals));
    else if (line.type === 'profile') {
      fleet.profiles.set(line.id, line.profile);
      fleet.profilesChanged();
    } else if (line.type === 'first') fleet.firstToken(line.request, line.atUs ?? Number.NaN);
    else fleet.finished(line.request, line.atUs, line.outputTokens);
  }

  #decide(fleet: DecidingFleet, line: RequestLine, number: number): void {
    const { blocks, endpoint, id, replica: recorded, request } = line;
    const chosen = fleet.decide(request, { ...line, blocks: Int32Array.from(blocks), blockCount: blocks.length });
    const decided = chosen < 0 ? null : fleet.view.ids[chosen]!;
    this.decisions++;
    this.byPolicy.set(fleet.config.name, (this.byPolicy.get(fleet.config.name) ?? 0) + 1);
    if (decided !== recorded) this.differences.push({ line: number, id, endpoint, recorded, decided });
  }

  #parse(text: string, number: number): DecisionLine {
    let line: unknown;
    try {
      line = JSON.parse(text);
    } catch {
      throw this.#bad(number, 'the line is not JSON');
    }
    const type = (line as { type?: unknown } | null)?.type;
    if (LINE_TYPES.includes(type as string)) return line as DecisionLine;
    throw this.#bad(number, 'the line is not part of a decision log');
  }

  #bad(line: number, problem: string): InputError {
    const hint = 'give a file that serve wrote with --decision-log';
    return new InputError(INVALID, `${this.#path}:${line}`, problem, hint);
  }
}

/** JSON has no NaN: it is written as null. */
function withNaN(signals: ReplicaSignals): ReplicaSignals {
  const entries = Object.entries(signals).map(([key, value]) => [key, value ?? Number.NaN]);
  return Object.fromEntries(entries);
}
