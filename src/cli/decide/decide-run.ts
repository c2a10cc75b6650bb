import { createExplanation, resetExplanation } from '../../policy/explanation.js';
import type { FleetRouter } from '../../policy/fleet-router.js';
import { badEvent, shown } from '../errors.js';
import type { DecideEvent } from './decide-event.js';
import { explainedDecision } from './decide-explain.js';

interface DecideRunOptions {
  /** The name of the policy if it needs the request's text. */
  needsBody: string | null;
  explain: boolean;
}

/** Feeds events to a router: the names that people give become the small numbers it works with. */
export class DecideRun {
  readonly #router: FleetRouter;
  readonly #options: DecideRunOptions;
  readonly #requests = new Map<string, number>();
  readonly #blocks = new Map<number | string, number>();
  readonly #why;

  constructor(router: FleetRouter, options: DecideRunOptions) {
    this.#router = router;
    this.#options = options;
    this.#why = options.explain ? createExplanation(router.view.eligible.length) : undefined;
  }

  /** What is to be printed: the decision for a request, nothing for other events. `place` is where the event stands. */
  apply(event: DecideEvent, place: string): string {
    switch (event.type) {
      case 'replicas':
        this.#setReplicas(event.ids, place);
        return '';
      case 'signals':
        this.#report(event, place);
        return '';
      case 'request':
        return decisionLine(this.#decide(event, place));
      default:
        this.#tell(event, place);
        return '';
    }
  }

  #setReplicas(ids: readonly string[], place: string): void {
    const most = this.#router.view.eligible.length;
    if (ids.length > most) throw badEvent(`${place} (ids)`, `names ${ids.length} replicas`, `name at most ${most}`);
    this.#router.setReplicas(ids);
  }

  #report(event: DecideEvent & { type: 'signals' }, place: string): void {
    const { view } = this.#router;
    const slot = this.#router.slot(event.replica);
    if (slot < 0) {
      const problem = `${shown(event.replica)} is not in the fleet`;
      throw badEvent(`${place} (replica)`, problem, "name it in a 'replicas' event first");
    }
    view.queued[slot] = event.queued;
    view.running[slot] = event.running;
    view.kvUsed[slot] = event.kvUtilization;
  }

  #decide(event: DecideEvent & { type: 'request' }, place: string): Decision {
    const { id, body } = event;
    if (this.#requests.has(id)) {
      throw badEvent(`${place} (id)`, `request ${shown(id)} was there before`, 'give every request an id of its own');
    }
    if (body === null && this.#options.needsBody !== null) {
      throw badEvent(`${place} (body)`, 'is missing', `give the payload: ${this.#options.needsBody} keys by its text`);
    }
    const request = this.#requests.size;
    this.#requests.set(id, request);
    this.#describe(event);

    const router = this.#router;
    const why = this.#why;
    if (why !== undefined) resetExplanation(why);
    const chosen = router.pick(why);
    const decision = { id, replica: chosen < 0 ? null : router.view.ids[chosen]! };
    const told = why === undefined ? decision : { ...decision, ...explainedDecision(router, chosen, why) };
    if (chosen >= 0) router.placed(request, chosen);
    return told;
  }

  /** Fills in what the policy may know of the request. */
  #describe({ id, inputTokens, blocks, session, body }: DecideEvent & { type: 'request' }): void {
    const { features } = this.#router;
    if (features.blocks.length < blocks.length) features.blocks = new Int32Array(blocks.length * 2);
    for (const [i, block] of blocks.entries()) features.blocks[i] = this.#numberOf(block);
    features.blockCount = blocks.length;
    features.inputTokens = inputTokens;
    features.session = session;
    features.body = body;
    const opening = session === '' ? `request:${id}` : `session:${session}`;
    features.contentKey = blocks.length === 0 ? opening : `block:${blocks[0]!}`;
  }

  #numberOf(block: number | string): number {
    const known = this.#blocks.get(block);
    if (known !== undefined) return known;
    const fresh = this.#blocks.size;
    this.#blocks.set(block, fresh);
    return fresh;
  }

  #tell({ type, id }: DecideEvent & { type: 'first_token' | 'finished' }, place: string): void {
    const request = this.#requests.get(id);
    if (request === undefined) {
      throw badEvent(`${place} (id)`, `request ${shown(id)} is unknown`, "let its 'request' event come first");
    }
    const isNews = type === 'finished' ? this.#router.finished(request) : this.#router.firstToken(request);
    if (isNews) return;
    const problem = type === 'finished' ? 'is not in flight' : 'is not in flight, or has had its first token';
    const hint = 'a request is gone when it was not placed, when it has finished, and with its replica';
    throw badEvent(`${place} (id)`, `request ${shown(id)} ${problem}`, hint);
  }
}

/** What is printed of a request; with `--explain` there is more. */
interface Decision {
  id: string;
  replica: string | null;
}

/** One line of output, with a space behind every colon and comma between fields: as the recorded vectors are written. */
function decisionLine({ id, replica, ...rest }: Decision): string {
  const more = Object.keys(rest).length === 0 ? '' : `, ${JSON.stringify(rest).slice(1, -1)}`;
  return `{"id": ${JSON.stringify(id)}, "replica": ${JSON.stringify(replica)}${more}}\n`;
}
