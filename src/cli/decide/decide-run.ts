import { shownText } from '../../kernel/text/shown-text.js';
import { createExplanation } from '../../policy/explanation.js';
import { contentKey } from '../../policy/host/content-key.js';
import type { PolicyHost } from '../../policy/host/policy-host.js';
import { badEvent } from '../errors.js';
import type { DecideEvent } from './decide-event.js';
import { explainedDecision } from './decide-explain.js';

/** Feeds events to a policy host: names in events become the small numbers that it works with. */
export class DecideRun {
  readonly #host: PolicyHost;
  readonly #requests = new Map<string, number>();
  readonly #blocks = new Map<number | string, number>();
  readonly #why;

  constructor(host: PolicyHost, explain: boolean) {
    this.#host = host;
    this.#why = explain ? createExplanation(host.view.eligible.length) : undefined;
  }

  /** Returns what to print: the decision for a request, nothing for other events. `place` is the event's line. */
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
        this.#progress(event, place);
        return '';
    }
  }

  #setReplicas(ids: readonly string[], place: string): void {
    const most = this.#host.view.eligible.length;
    if (ids.length > most) throw badEvent(`${place} (ids)`, `names ${ids.length} replicas`, `name at most ${most}`);
    this.#host.setReplicas(ids);
  }

  #report(event: DecideEvent & { type: 'signals' }, place: string): void {
    const { view } = this.#host;
    const slot = this.#host.slot(event.replica);
    if (slot < 0) {
      const problem = `${shownText(event.replica)} is not in the fleet`;
      throw badEvent(`${place} (replica)`, problem, "name it in a 'replicas' event first");
    }
    view.queued[slot] = event.queued;
    view.running[slot] = event.running;
    view.kvUsed[slot] = event.kvUtilization;
  }

  #decide(event: DecideEvent & { type: 'request' }, place: string): Decision {
    const { id, body } = event;
    if (this.#requests.has(id)) {
      throw badEvent(`${place} (id)`, `request ${shownText(id)} is a duplicate`, 'give every request its own id');
    }
    const { needsBody, routing } = this.#host.policies;
    if (body === null && needsBody) {
      throw badEvent(`${place} (body)`, 'is missing', `give the request body: ${routing.name} keys by its messages`);
    }
    const request = this.#requests.size;
    this.#requests.set(id, request);
    this.#describe(event);

    const host = this.#host;
    const why = this.#why;
    const chosen = host.pick(why);
    const decision = { id, replica: chosen < 0 ? null : host.view.ids[chosen]! };
    const printed = why === undefined ? decision : { ...decision, ...explainedDecision(host, chosen, why) };
    if (chosen >= 0) host.placed(request, chosen);
    return printed;
  }

  /** Fills in what the policy may know of the request. */
  #describe({ id, inputTokens, blocks, session, body }: DecideEvent & { type: 'request' }): void {
    const host = this.#host;
    const { features } = host;
    host.describe(0, inputTokens, host.priorities.classOf(''), host.tenantNumber(''), session);
    if (features.blocks.length < blocks.length) features.blocks = new Int32Array(blocks.length * 2);
    for (const [i, block] of blocks.entries()) features.blocks[i] = this.#numberOf(block);
    features.blockCount = blocks.length;
    features.body = body;
    if (host.policies.needsContentKey) features.contentKey = contentKey(blocks[0] ?? null, session, id);
  }

  #numberOf(block: number | string): number {
    const known = this.#blocks.get(block);
    if (known !== undefined) return known;
    const fresh = this.#blocks.size;
    this.#blocks.set(block, fresh);
    return fresh;
  }

  #progress({ type, id }: DecideEvent & { type: 'first_token' | 'finished' }, place: string): void {
    const request = this.#requests.get(id);
    if (request === undefined) {
      throw badEvent(`${place} (id)`, `request ${shownText(id)} is unknown`, "its 'request' event has to come first");
    }
    const isNews = type === 'finished' ? this.#host.finished(request) : this.#host.firstToken(request);
    if (isNews) return;
    const problem = type === 'finished' ? 'is not in flight' : 'is not in flight, or has had its first token';
    const hint = 'a request is gone when it was not placed, when it has finished, and with its replica';
    throw badEvent(`${place} (id)`, `request ${shownText(id)} ${problem}`, hint);
  }
}

/** The printed decision; with `--explain` there is more. */
interface Decision {
  id: string;
  replica: string | null;
}

/** One line of output, with a space after every colon and comma between fields: as the recorded vectors are written. */
function decisionLine({ id, replica, ...rest }: Decision): string {
  const more = Object.keys(rest).length === 0 ? '' : `, ${JSON.stringify(rest).slice(1, -1)}`;
  return `{"id": ${JSON.stringify(id)}, "replica": ${JSON.stringify(replica)}${more}}\n`;
}
