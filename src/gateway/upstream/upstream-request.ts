import type { RequestParts } from './request-encoder.js';

/**
 * Receives a response. Nothing is called after `onComplete`, `onError` or `abort`. What it throws ends its own request
 * and is given to its own `onError`; what that or `onComplete` throws is thrown again when the pool is in order.
 */
export interface UpstreamHandler {
  /** @param headers name, value, name, value, as they came; the handler's to keep */
  onHeaders(status: number, headers: string[]): void;
  /**
   * At most once for what was read at once, however many chunks that were.
   * @param data the handler's to keep
   * @param isLast nothing but `onComplete` follows, before anything else happens
   * @returns false: no more is read until `resume`. What has been read already may still come.
   */
  onData(data: Buffer, isLast: boolean): boolean;
  onComplete(): void;
  onError(error: Error & { code?: string }): void;
}

/** What a request under way is on: a connection, or the line for one. */
export interface Carrier {
  /** The request is not wanted any longer. */
  abandon(request: UpstreamRequest): void;
  resume(): void;
}

/** A request that was dispatched, as its sender holds it. */
export class UpstreamRequest {
  carrier: Carrier | null = null;

  constructor(
    readonly parts: RequestParts,
    readonly handler: UpstreamHandler,
    /** When the head of its response must be there. */
    readonly deadlineMs: number,
  ) {}

  /** Aborts it; its handler is not called again. */
  abort(): void {
    const { carrier } = this;
    this.carrier = null;
    carrier?.abandon(this);
  }

  /** Goes on reading after `onData` said false. */
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

/** In a tick of its own, where no state is half changed. */
function rethrow(error: unknown): never {
  throw error;
}
