import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { KubeAccess } from '../access/kube-access.js';
import {
  callKey,
  callText,
  clientOf,
  isWatchCall,
  type LocalTexts,
  type RecordedCall,
  type RecordedLine,
  readRecording,
  replaceVolatile,
  volatileValues,
} from './recorded-exchange.fixture.js';

/** A response or an event, held until all writes that came before it have been made again. */
interface Held {
  readonly afterWrites: number;
  readonly status: number;
  readonly body: unknown;
}

interface RecordedWrite extends Held {
  readonly text: string;
  /** Its place among the writes that have changed something; null: it has changed nothing. */
  readonly effect: number | null;
}

/** A watch: its events with their places in the recording, and the client that follows it now. */
interface Stream {
  readonly events: (Held & { readonly place: number })[];
  response: ServerResponse | null;
}

const STUCK_MS = 10_000;
const TURNS = 4;

/**
 * Serves a recording again. Calls are found by what they are, not by when they come; a read gets its response, and a watch its
 * events, after the writes that came before them. Times and addresses are those of the calls that are made now.
 */
export class ReplayApiServer {
  /** Why the recording and the clients no longer agree. */
  readonly faults: string[] = [];
  /** Serves `pods/NAME/log`, as the API server does by calling the kubelet. */
  podLog: (pod: string, query: URLSearchParams, response: ServerResponse) => void = (_, __, response) => response.end();
  readonly namespace: string;
  readonly #server: Server;
  readonly #writes = new Map<string, RecordedWrite[]>();
  readonly #reads = new Map<string, Held[]>();
  readonly #watches = new Map<string, Stream[]>();
  readonly #open = new Set<Stream>();
  /** The writes that have changed something, in order, and whether they were made again. */
  readonly #effects: { readonly text: string; isMade: boolean }[] = [];
  /** All writes before this one were made again. */
  #made = 0;
  #isSending = false;
  #stuckTimer: NodeJS.Timeout | undefined;
  readonly #waiting = new Set<() => void>();
  /** What stands in the recording, by what it is now. */
  readonly #bound = new Map<string, string>();
  readonly #laterMs: number;

  private constructor(lines: readonly RecordedLine[]) {
    const [head] = lines;
    if (head === undefined || !('recordedAt' in head)) throw new Error('not a recording');
    this.namespace = head.namespace;
    this.#laterMs = Date.now() - head.recordedAt;
    this.#index(lines);
    this.#server = createServer((request, response) => void this.#serve(request, response));
  }

  static start(path: string, texts: LocalTexts): Promise<ReplayApiServer> {
    return ReplayApiServer.of(readRecording(path, texts));
  }

  static async of(lines: readonly RecordedLine[]): Promise<ReplayApiServer> {
    const replay = new ReplayApiServer(lines);
    await new Promise<void>((resolve) => replay.#server.listen(0, '127.0.0.1', resolve));
    return replay;
  }

  get access(): KubeAccess {
    const { port } = this.#server.address() as AddressInfo;
    return {
      ...{ server: `http://127.0.0.1:${port}`, ca: null, skipsTlsVerify: false, tlsServerName: null },
      ...{ namespace: this.namespace, credentials: { read: () => Promise.resolve({ authorization: null }) } },
    };
  }

  async close(): Promise<void> {
    clearTimeout(this.#stuckTimer);
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #index(lines: readonly RecordedLine[]): void {
    const calls = new Map<number, RecordedCall>();
    const responses = new Map<number, Extract<RecordedLine, { response: number }>>();
    for (const line of lines) if ('response' in line) responses.set(line.response, line);
    let latest = 0;
    const streams = new Map<number, Stream>();
    for (const [place, line] of lines.entries()) {
      const afterWrites = this.#effects.length;
      if ('call' in line) {
        calls.set(line.call, line);
        const text = callText(line);
        const response = responses.get(line.call);
        if (isWatchCall(line)) {
          const stream: Stream = { events: [], response: null };
          streams.set(line.call, stream);
          push(this.#watches, callKey(text), stream);
        } else if (line.method !== 'GET' && response !== undefined) {
          // Versions only grow: a write that changes nothing returns one that is not newer than what was seen before it.
          const isEffective = response.status < 300 && versionOf(response.body, latest + 1) > latest;
          if (isEffective) this.#effects.push({ text, isMade: false });
          const effect = isEffective ? afterWrites : null;
          push(this.#writes, callKey(text), { ...response, afterWrites, text, effect });
        }
      } else if ('event' in line) {
        latest = Math.max(latest, versionOf(line.body.object, 0));
        streams.get(line.event)!.events.push({ afterWrites, place, status: 200, body: line.body });
      } else if ('response' in line) {
        const call = calls.get(line.response)!;
        latest = Math.max(latest, versionOf(line.body, 0));
        if (call.method === 'GET') push(this.#reads, callKey(callText(call)), { ...line, afterWrites });
      }
    }
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, search, searchParams } = new URL(request.url ?? '/', 'http://kube');
    let text = '';
    for await (const chunk of request) text += chunk;
    const { by, path } = clientOf(pathname);
    const pod = /\/pods\/([^/]+)\/log$/.exec(path)?.[1];
    if (pod !== undefined) return this.podLog(pod, searchParams, response);
    const live = callText({
      ...{ by, method: request.method ?? 'GET', path, query: search.slice(1) },
      contentType: request.headers['content-type'] ?? '',
      body: text === '' ? null : JSON.parse(text),
    });
    const key = callKey(live);
    if (searchParams.get('watch') === 'true') return this.#watch(key, response);
    const found = request.method === 'GET' ? taken(this.#reads.get(key)) : this.#write(key, live);
    if (found === undefined) return this.#refuse(by, live, response);
    if (request.method === 'GET') await this.#released(found, response);
    response.writeHead(found.status, { 'content-type': 'application/json' }).end(this.#live(found.body));
  }

  /**
   * A write after the end of the recording is none of its business: the test may have been faster when it was made. A read that
   * matters shows in what the runner does.
   */
  #refuse(by: string, live: string, response: ServerResponse): void {
    const isBeforeEnd = this.#effects.some(({ isMade, text }) => !isMade && text.startsWith(`${by}: `));
    const isRead = live.startsWith(`${by}: GET `);
    if (by === 'runner' && !isRead && isBeforeEnd) this.faults.push(`not recorded: ${live.slice(0, 1500)}`);
    const message = 'this call was not recorded';
    response.writeHead(501).end(JSON.stringify({ kind: 'Status', reason: 'NotRecorded', message }));
  }

  #write(key: string, live: string): Held | undefined {
    const write = taken(this.#writes.get(key));
    if (write === undefined) return undefined;
    this.#bind(write.text, live);
    if (write.effect !== null) this.#effects[write.effect]!.isMade = true;
    while (this.#effects[this.#made]?.isMade) this.#made++;
    for (const look of [...this.#waiting]) look();
    void this.#send();
    return write;
  }

  #watch(key: string, response: ServerResponse): void {
    response.writeHead(200, { 'content-type': 'application/json' }).flushHeaders();
    const stream = this.#watches.get(key)?.shift();
    if (stream === undefined) return;
    stream.response = response;
    this.#open.add(stream);
    response.on('close', () => this.#open.delete(stream));
    void this.#send();
  }

  /** Events of all watches in the order of the recording: what a client learns first is part of what it does. */
  async #send(): Promise<void> {
    if (this.#isSending) return;
    this.#isSending = true;
    for (let next = this.#next(); next !== null; next = this.#next()) {
      const { body } = next.events.shift()!;
      next.response!.write(`${this.#live(body)}\n`);
      // Two connections have no common order: the client reads this one first.
      for (let turn = 0; turn < TURNS; turn++) await new Promise((resolve) => setImmediate(resolve));
    }
    this.#isSending = false;
    this.#watchdog();
  }

  /** Names the write that all wait for: without it the test only times out. */
  #watchdog(): void {
    clearTimeout(this.#stuckTimer);
    const waits = [...this.#open].some(({ events }) => events.length > 0) || this.#waiting.size > 0;
    const report = () => this.faults.push(`not made: ${this.#effects[this.#made]?.text}`);
    if (waits) this.#stuckTimer = setTimeout(report, STUCK_MS);
  }

  #next(): Stream | null {
    let first: Stream | null = null;
    for (const stream of this.#open) {
      const [event] = stream.events;
      if (event === undefined || event.afterWrites > this.#made) continue;
      if (first === null || event.place < first.events[0]!.place) first = stream;
    }
    return first;
  }

  /** Resolves when all writes before it were made, or when the client has gone. */
  async #released({ afterWrites }: Held, response: ServerResponse): Promise<void> {
    if (this.#made >= afterWrites) return;
    await new Promise<void>((resolve) => {
      const look = () => {
        if (this.#made < afterWrites && !response.destroyed) return;
        this.#waiting.delete(look);
        resolve();
      };
      this.#waiting.add(look);
      response.on('close', look);
      this.#watchdog();
    });
  }

  #bind(recorded: string, live: string): void {
    const now = volatileValues(live);
    for (const [i, { name, value }] of volatileValues(recorded).entries()) {
      const { value: bound } = now[i]!;
      this.#bound.set(name + value, bound);
      // The API server keeps whole seconds.
      if (value.includes('T')) this.#bound.set(inSeconds(value), inSeconds(bound));
    }
  }

  #live(body: unknown): string {
    return replaceVolatile(JSON.stringify(body), (value, name) => {
      const bound = this.#bound.get(name + value);
      if (bound !== undefined || !value.includes('T')) return bound ?? value;
      return inSeconds(new Date(Date.parse(value) + this.#laterMs).toISOString());
    });
  }
}

const inSeconds = (time: string) => time.replace(/\.\d+/, '');

/** A `Status` has none. */
const versionOf = (body: { metadata?: { resourceVersion?: string } } | null, otherwise: number): number =>
  Number(body?.metadata?.resourceVersion ?? otherwise);

function push<T>(map: Map<string, T[]>, key: string, value: T): void {
  const values = map.get(key);
  if (values === undefined) map.set(key, [value]);
  else values.push(value);
}

/** In the order of the recording; the last one again and again: calls that change nothing may be repeated. */
function taken<T>(queue: T[] | undefined): T | undefined {
  return queue !== undefined && queue.length > 1 ? queue.shift() : queue?.[0];
}
