import { canonicalJson } from '../../../kernel/text/canonical-json.js';
import type { RayRequest, RayResponse, RayTransport } from '../../../ray/ray-transport.js';

/** Something that happened between a runner and a Ray cluster, in order. */
export interface Exchange {
  /** Method and path, or what the test did. */
  readonly call: string;
  readonly status?: number;
  readonly body?: string;
}

/** The recordings of a suite by test. Many responses are the same: each is written once. */
interface RecordedSuite {
  readonly bodies: readonly string[];
  readonly tests: Readonly<Record<string, readonly (readonly [call: string, status?: number, body?: number])[]>>;
}

export function recordedText(recorded: ReadonlyMap<string, readonly Exchange[]>): string {
  const bodies: string[] = [];
  const bodyAt = (body: string) => (bodies.includes(body) ? bodies.indexOf(body) : bodies.push(body) - 1);
  const tests = [...recorded].map(([title, exchanges]) => {
    const lines = exchanges.map(({ body, call, status = 0 }) => {
      return JSON.stringify([
        call,
        ...(status === 0 && body === undefined ? [] : [status]),
        ...(body === undefined ? [] : [bodyAt(body)]),
      ]);
    });
    return `${JSON.stringify(title)}: [\n${lines.join(',\n')}]`;
  });
  const texts = bodies.map((body) => JSON.stringify(body));
  return `{"bodies": [\n${texts.join(',\n')}],\n"tests": {\n${tests.join(',\n')}}}\n`;
}

export function readRecorded(text: string): Map<string, Exchange[]> {
  const { bodies, tests } = JSON.parse(text) as RecordedSuite;
  const exchanges = ([call, status = 0, body]: RecordedSuite['tests'][string][number]): Exchange => ({
    call,
    ...(status === 0 ? {} : { status }),
    ...(body === undefined ? {} : { body: bodies[body]! }),
  });
  return new Map(Object.entries(tests).map(([title, all]) => [title, all.map(exchanges)]));
}

type Responds = (url: string, timeoutMs: number) => Promise<boolean>;

/** Ids that differ from run to run, by the order in which they appear. */
class Aliases {
  readonly #alias = new Map<string, string>();

  /** Names ids by replica and number of its start. */
  hide(text: string): string {
    return text
      .replace(/_ray_pkg_[0-9a-f]{32}/g, '_ray_pkg_')
      .replace(/twinyard-lab-([a-z0-9-]+?)-([0-9a-z]{8})(?![0-9a-z])/g, (id, replica: string) => {
        const known = this.#alias.get(id) ?? `twinyard-lab-${replica}-#${this.#count(replica)}`;
        this.#alias.set(id, known);
        return known;
      });
  }

  /** The reverse. */
  show(text: string): string {
    let shown = text;
    for (const [id, alias] of this.#alias) shown = shown.replaceAll(alias, id);
    return shown;
  }

  #count(replica: string): number {
    return [...this.#alias.values()].filter((alias) => alias.startsWith(`twinyard-lab-${replica}-#`)).length;
  }
}

/** Writes down what a runner and a test do. Neither request bodies nor headers: they hold tokens and secrets. */
export class RayRecorder {
  readonly exchanges: Exchange[] = [];
  readonly #aliases = new Aliases();
  readonly #last = new Map<string, string>();

  transport(inner: RayTransport): RayTransport {
    return {
      send: async (request) => {
        const response = await inner.send(request);
        this.#add(callOf(request), response.status, response.body.toString('utf8'));
        return response;
      },
      close: () => inner.close(),
    };
  }

  responds(inner: Responds): Responds {
    return async (url, timeoutMs) => {
      const isWell = await inner(url, timeoutMs);
      this.#add(`health ${url}`, isWell ? 200 : 503, '');
      return isWell;
    };
  }

  /** What a test did. */
  step(what: string): void {
    this.#add(`step ${what}`, 0, '');
  }

  /** What a test saw. */
  seen(what: string, value: number): number {
    this.#add(what, 0, String(value));
    return value;
  }

  /** A state that is read again is recorded once. */
  #add(call: string, status: number, text: string): void {
    const shown = this.#aliases.hide(call);
    const body = this.#aliases.hide(inOrder(text));
    const value = `${status} ${body}`;
    if (!isStep(shown) && this.#last.get(shown) === value) return;
    this.#last.set(shown, value);
    this.exchanges.push({ call: shown, ...(status === 0 ? {} : { status }), ...(body === '' ? {} : { body }) });
  }
}

/**
 * Returns what was recorded, by the identity of the request. A change is found wherever it was recorded. A state is the next one of the
 * recording, but none from behind a change that has not been made yet, and none from before one that has.
 */
export class RayReplayer implements RayTransport {
  readonly #exchanges: readonly Exchange[];
  readonly #aliases = new Aliases();
  readonly #made = new Set<number>();
  readonly #at = new Map<string, number>();

  constructor(exchanges: readonly Exchange[]) {
    this.#exchanges = exchanges;
  }

  async send(request: RayRequest): Promise<RayResponse> {
    // Ids are named when a job is submitted.
    if (typeof request.body === 'string') this.#aliases.hide(request.body);
    const { body = '', status = 200 } = this.#find(callOf(request));
    return { status, body: Buffer.from(this.#aliases.show(body)), isCut: false };
  }

  async close(): Promise<void> {}

  readonly responds: Responds = async (url) => this.#find(`health ${url}`).status === 200;

  step(what: string): void {
    this.#find(`step ${what}`);
  }

  seen(what: string): number {
    return Number(this.#find(what).body);
  }

  #find(request: string): Exchange {
    const call = this.#aliases.hide(request);
    const all = this.#exchanges.flatMap((one, i) => (one.call === call ? [i] : []));
    const at = isStep(call) ? all.find((i) => !this.#made.has(i)) : this.#stateAt(call, all);
    if (at === undefined) throw new Error(`not recorded: ${call}; run npm run test:ray`);
    if (isStep(call)) this.#made.add(at);
    else this.#at.set(call, at);
    return this.#exchanges[at]!;
  }

  #stateAt(call: string, all: readonly number[]): number | undefined {
    const next = this.#exchanges.findIndex((one, i) => isStep(one.call) && !this.#made.has(i));
    const horizon = next === -1 ? this.#exchanges.length : next;
    const done = Math.max(-1, ...this.#made);
    const before = Math.max(this.#at.get(call) ?? -1, ...all.filter((i) => i < Math.min(done, horizon)));
    return all.find((i) => i > before && i < horizon) ?? (before === -1 ? all[0] : before);
  }
}

/** Ray writes the keys of an object in any order. */
function inOrder(text: string): string {
  try {
    return canonicalJson(JSON.parse(text));
  } catch {
    return text;
  }
}

const isStep = (call: string) => /^(?:step|POST|PUT|DELETE) /.test(call);
const callOf = ({ method, path }: RayRequest) => `${method} ${path}`;
