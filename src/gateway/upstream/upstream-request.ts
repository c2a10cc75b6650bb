import type { RequestParts } from './request-encoder.js';

/**
 * Receives a response. Nothing is called after `onComplete`, `onError` or `abort`. An error it throws ends its own
 * request and is passed to its own `onError`; errors of `onError` and `onComplete` are rethrown once the pool is
 * consistent.
 */
export interface UpstreamHandler {
  /** @param headers name, value, name, value, as they came; the handler's to keep */
  onHeaders(status: number, headers: string[]): void;
  /**
   * At most once per read, however many chunks it has.
   * @param data the handler's to keep
   * @param isLast nothing but `onComplete` follows, before anything else happens
   * @returns false: no more is read until `resume`. Data that has already been read may still be passed.
   */
  onData(data: Buffer, isLast: boolean): boolean;
  onComplete(): void;
  onError(error: Error & { code?: string }): void;
}

/** Where a request under way is: on a connection, or in the queue for one. */
export interface Carrier {
  /** The request is aborted. */
  abandon(request: UpstreamRequest): void;
  resume(): void;
}

/** The sender's handle of a dispatched request. */
export class UpstreamRequest {
  carrier: Carrier | null = null;

  constructor(
    readonly parts: RequestParts,
    readonly handler: UpstreamHandler,
    /** The deadline for the head of its response. */
    readonly deadlineMs: number,
  ) {}

  /** Aborts it; its handler is not called again. */
  abort(): void {
    const { carrier } = this;
    this.carrier = null;
    carrier?.abandon(this);
  }

  /** Resumes reading after `onData` returned false. */
  resume(): void {
    this.carrier?.resume();
  }

  complete(): void {
    this.carrier = null;
    try {
      this.handler.onComplete();
    } catch (error) {
      process.nextTick(rethrow, error);
    }
  }

  fail(error: Error): void {
    this.carrier = null;
    try {
      this.handler.onError(error);
    } catch (thrown) {
      process.nextTick(rethrow, thrown);
    }
  }

  /** The handler threw: its request fails; if it had ended before, the error is thrown to the process. */
  handlerFailed(thrown: unknown): void {
    if (this.carrier === null) process.nextTick(rethrow, thrown);
    else this.fail(thrown instanceof Error ? thrown : new Error(String(thrown)));
  }
}

/** In a separate tick, where all state is consistent. */
function rethrow(error: unknown): never {
  throw error;
}
