import type { Dispatcher } from 'undici';
import { connectionProblem, failedStatus, type ResponseProblem } from '../client/response-problem.js';
import type { ResponseReader } from '../client/response-reader.js';
import type { ServerClient } from '../client/server-client.js';
import type { SendClock } from './send-clock.js';

/** As much of an error's body is read. */
const MAX_ERROR_BYTES = 4096;

/** What is sent. */
export interface Outgoing {
  path: string;
  body: Buffer;
  headers: Readonly<Record<string, string>>;
  /** Microseconds until the request is cancelled; Infinity: never. */
  timeoutUs: number;
}

/** One request to the server and its response. Notifies its owner once, at its end. */
export class SentRequest implements Dispatcher.DispatchHandler {
  readonly row: number;
  readonly reader: ResponseReader;
  /** When it was handed to the connections, when its bytes went out, and when it was over. */
  handedUs = Number.NaN;
  sentUs = Number.NaN;
  endUs = Number.NaN;
  problem: ResponseProblem | null = null;
  readonly #clock: SendClock;
  readonly #over: (exchange: SentRequest) => void;
  #controller: Dispatcher.DispatchController | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isOver = false;
  #status = 0;
  #errorText = '';

  constructor(row: number, reader: ResponseReader, clock: SendClock, over: (exchange: SentRequest) => void) {
    this.row = row;
    this.reader = reader;
    this.#clock = clock;
    this.#over = over;
  }

  start(client: ServerClient, { body, headers, path, timeoutUs }: Outgoing): void {
    if (timeoutUs < Number.POSITIVE_INFINITY) this.#timer = setTimeout(() => this.#giveUp(timeoutUs), timeoutUs / 1000);
    this.handedUs = this.#clock.nowUs();
    client.dispatch(path, body, headers, this);
  }

  /** Cancels the request. */
  interrupt(): void {
    this.#breakOff({ class: 'interrupted', message: 'cancelled by the sender' });
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#isOver) controller.abort(new Error('timed out'));
    else this.sentUs = this.#clock.nowUs();
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number): void {
    this.#status = status;
  }

  onResponseData(_: Dispatcher.DispatchController, bytes: Buffer): void {
    if (this.#isOver) return;
    const nowUs = this.#clock.nowUs();
    if (this.#status >= 300) {
      if (this.#errorText.length < MAX_ERROR_BYTES) this.#errorText += bytes.toString('utf8');
      return;
    }
    this.reader.push(bytes, nowUs);
    if (this.reader.problem !== null) this.#breakOff(this.reader.problem);
  }

  onResponseEnd(): void {
    if (this.#isOver) return;
    if (this.#status >= 300) this.problem = failedStatus(this.#status, this.#errorText);
    else {
      this.reader.end();
      this.problem = this.reader.problem;
    }
    this.#end();
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    if (this.#isOver) return;
    const { isDone, problem } = this.reader;
    this.problem = isDone ? problem : connectionProblem(error, !Number.isNaN(this.sentUs));
    this.#end();
  }

  #giveUp(timeoutUs: number): void {
    const within = `within ${timeoutUs / 1e6} s`;
    const { chunks } = this.reader;
    if (chunks === 0) this.#breakOff({ class: 'hang', message: `no response ${within}` });
    else
      this.#breakOff({ class: 'timeout', message: `the response was not complete ${within}, after ${chunks} chunks` });
  }

  #breakOff(problem: ResponseProblem): void {
    if (this.#isOver) return;
    this.problem = problem;
    this.#end();
    this.#controller?.abort(new Error(problem.message));
  }

  #end(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.endUs = this.#clock.nowUs();
    this.#over(this);
  }
}
