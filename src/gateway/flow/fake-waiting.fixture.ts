import type { ApiError } from '../../protocol/errors.js';
import { type FactsChange, fakeFacts } from '../request/fake-facts.fixture.js';
import type { RequestFacts } from '../request/request-facts.js';
import type { Waiting } from './waiting.js';

/** A request at flow control that records its callbacks. */
export class FakeWaiting implements Waiting {
  readonly facts: RequestFacts;
  queueSlot = -1;
  /** At most one entry in the end. */
  readonly heard: string[] = [];
  error: ApiError | null = null;
  /** How long it had waited when it was refused. */
  refusedAfterUs = Number.NaN;
  /** Called when it may go. */
  go: () => void = () => {};

  constructor(change: FactsChange = {}) {
    this.facts = fakeFacts(change);
  }

  mayGo(queuedUs: number): void {
    this.heard.push(`went after ${queuedUs}`);
    this.go();
  }

  refused(error: ApiError, cause: string, queuedUs: number): void {
    this.error = error;
    this.refusedAfterUs = queuedUs;
    this.heard.push(cause);
  }
}
