import { CountedValues } from '../../../kernel/counted-values.js';
import { ROW_GROWS_CONTEXT } from '../../../workload/request-table.js';
import type { Workload } from '../../../workload/workload.js';
import { ResponseReader } from '../client/response-reader.js';
import type { ServerClient } from '../client/server-client.js';
import type { PromptBuilder } from '../prompts/prompt-builder.js';
import type { ChunkTimes } from './chunk-times.js';
import { DueRequests } from './due-requests.js';
import { recordSent } from './record-sent.js';
import { RequestRecords } from './request-records.js';
import type { RequestWriter } from './request-writer.js';
import { MachineClock, type SendClock } from './send-clock.js';
import { SentRequest } from './sent-request.js';
import { WrittenAhead } from './written-ahead.js';

/** Pause before sending to a server that refuses connections. */
const RETRY_US = 100_000;
/** Number of recent first tokens and delays in the live figures. */
const RECENT = 512;

export interface DriverSettings {
  path: string;
  isStream: boolean;
  /** Responses must be exactly as long as planned. */
  isConstrained: boolean;
  /** Requests under way at most. */
  maxConcurrency: number;
  /** The first ones, of which gaps between tokens are not counted. */
  warmUpRequests: number;
  /** Microseconds for a response where the plan has no timeout; Infinity: no limit. */
  timeoutUs: number;
  /** Nothing is sent later. */
  horizonUs: number;
}

export interface DriverParts {
  workload: Workload;
  client: ServerClient;
  prompts: PromptBuilder;
  writer: RequestWriter;
  /** Receives the times of single chunks; null for none. */
  chunkTimes: ChunkTimes | null;
}

/**
 * Sends the requests of a workload, each at its time regardless of the others, and the next turn of a session after the
 * previous response: to a server what the simulator's cluster does to its replicas.
 */
export class LoadDriver {
  readonly records = new RequestRecords();
  readonly live = new LiveFigures();
  /** Gaps between the chunks of responses. */
  readonly gaps = new CountedValues();
  readonly #parts: DriverParts;
  readonly #settings: DriverSettings;
  readonly #due: DueRequests;
  /** Rows that are due but have to wait, oldest first: only while as many as may be are under way. */
  readonly #waiting: number[] = [];
  readonly #underWay = new Set<SentRequest>();
  readonly #written: WrittenAhead;
  #clock: SendClock = new MachineClock();
  #isStopped = false;
  #resolve: () => void = () => {};

  constructor(parts: DriverParts, settings: DriverSettings) {
    this.#parts = parts;
    this.#settings = settings;
    this.#due = new DueRequests(parts.workload.table, settings.horizonUs);
    this.#written = new WrittenAhead(this.#due, parts.prompts, parts.writer);
    this.records.reserve(parts.workload.table.count);
  }

  get inFlight(): number {
    return this.#underWay.size;
  }

  /** Requests that are known to be sent, so far. */
  get planned(): number {
    return this.live.sent + this.#waiting.length + this.#due.left;
  }

  /** Writes the first requests: nothing has to be done for them when it is their time. */
  prepare(): void {
    this.#written.now();
  }

  /** Resolves when everything is over. @param clock one that has just begun */
  run(clock: SendClock): Promise<void> {
    this.#clock = clock;
    return new Promise((resolve) => {
      this.#resolve = resolve;
      this.#pump();
    });
  }

  /** Sends nothing more and breaks off what is under way. */
  stop(): void {
    this.#isStopped = true;
    this.#clock.cancel();
    for (const exchange of [...this.#underWay]) exchange.interrupt();
    this.#endIfOver();
  }

  readonly #pump = (): void => {
    if (this.#isStopped) return;
    const clock = this.#clock;
    while (this.#due.nextUs <= clock.nowUs()) {
      const atUs = this.#due.nextUs;
      const row = this.#due.take();
      if (this.#underWay.size < this.#settings.maxConcurrency) this.#send(row, atUs);
      else this.#waiting.push(row);
    }
    if (this.#due.left > 0) clock.alarm(this.#due.nextUs, this.#pump);
    this.#written.later();
    this.#endIfOver();
  };

  /** @param freeUs since when nothing but this driver has kept the request from being sent */
  #send(row: number, freeUs: number): void {
    const { client, workload, writer } = this.#parts;
    const { path, timeoutUs } = this.#settings;
    const { arrivalUs, deadlineUs } = workload.table;
    const body = this.#written.take(row);
    this.records.order[row] = this.live.sent++;
    this.records.capWaitUs[row] = freeUs - arrivalUs[row]!;
    const exchange = new SentRequest(row, this.#readerOf(row), this.#clock, this.#over);
    this.#underWay.add(exchange);
    const patienceUs = deadlineUs[row]! > 0 ? Math.max(1, deadlineUs[row]! - arrivalUs[row]!) : timeoutUs;
    exchange.start(client, { path, body, headers: writer.headers(row), timeoutUs: Math.min(patienceUs, timeoutUs) });
    const lateUs = Math.max(0, exchange.handedUs - freeUs);
    this.records.latenessUs[row] = lateUs;
    this.live.late(lateUs);
  }

  #readerOf(row: number): ResponseReader {
    const isWarmUp = this.records.order[row]! < this.#settings.warmUpRequests;
    const { chunkTimes } = this.#parts;
    let lastUs = Number.NaN;
    return new ResponseReader(this.#settings.isStream, this.#grows(row), (us) => {
      this.live.chunks++;
      if (isWarmUp) return;
      if (!Number.isNaN(lastUs)) this.gaps.add(Math.round(us - lastUs), 1);
      lastUs = us;
      chunkTimes?.add(row, us);
    });
  }

  readonly #over = (exchange: SentRequest): void => {
    const { reader, row } = exchange;
    const { isConstrained, isStream } = this.#settings;
    const { outputTokens } = this.#parts.workload.table;
    this.#underWay.delete(exchange);
    recordSent(this.records, exchange, isConstrained ? Math.max(1, outputTokens[row]!) : null);
    this.live.ended++;
    if (this.records.isComplete[row] === 0) this.live.failed++;
    if (isStream && reader.chunks > 0) this.live.firstToken(reader.firstUs - this.records.sentUs[row]!);
    if (this.#isStopped) {
      this.#endIfOver();
      return;
    }
    this.#continueChat(exchange);
    const waiting = this.#waiting.shift();
    if (waiting !== undefined) this.#send(waiting, this.#clock.nowUs());
    this.#pump();
  };

  #grows(row: number): boolean {
    return (this.#parts.workload.table.flags[row]! & ROW_GROWS_CONTEXT) !== 0;
  }

  /** Sends the next request of a session or user that waited for this response, if there is one. */
  #continueChat({ endUs, problem, reader, row }: SentRequest): void {
    const { prompts, workload } = this.#parts;
    const { sessions, table } = workload;
    const session = table.session[row]!;
    if (problem === null && this.#grows(row)) {
      prompts.chats.answered(session, row, reader.text, reader.counts.inputTokens, reader.counts.outputTokens);
    }
    if (sessions === undefined) return;
    const atUs = Math.round(endUs);
    const next = sessions.left(table, row, problem === null, atUs, this.#settings.horizonUs);
    if (next < 0) {
      prompts.chats.forget(session);
      return;
    }
    if (problem?.class === 'refused') table.arrivalUs[next] = Math.max(table.arrivalUs[next]!, atUs + RETRY_US);
    table.pauseUs[next] = table.arrivalUs[next]! - atUs;
    this.records.reserve(table.count);
    this.#due.add(next);
  }

  #endIfOver(): void {
    const isLeft = this.#due.left + this.#waiting.length > 0;
    if (this.#underWay.size > 0 || (isLeft && !this.#isStopped)) return;
    this.#written.stop();
    this.#resolve();
  }
}

/** The figures of a run in progress. */
class LiveFigures {
  /** How many were sent, how many are over, and how many of these have no complete response. */
  sent = 0;
  ended = 0;
  failed = 0;
  /** Chunks of responses: usually a token each. */
  chunks = 0;
  readonly recentTtftUs: number[] = [];
  readonly recentLatenessUs: number[] = [];

  late(us: number): void {
    keep(this.recentLatenessUs, us);
  }

  firstToken(us: number): void {
    keep(this.recentTtftUs, us);
  }
}

function keep(values: number[], value: number): void {
  values.push(value);
  if (values.length >= 2 * RECENT) values.splice(0, RECENT);
}
