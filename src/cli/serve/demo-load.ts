import { type RandomStream, randomStream } from '../../kernel/random-stream.js';

/** Sessions that are open at the same time; each has one request under way or waits for its next turn. */
const SESSIONS = 14;
const SEED = 7;
/** The load rises and falls over this time, so that charts have something to show. */
const WAVE_MS = 180_000;
/** System prompts of unequal popularity: the first is sent most, and stays in the caches of few replicas. */
const PROMPTS = [900, 400, 2400, 150, 1200].map((words, i) =>
  Array.from({ length: words }, (_, word) => `w${(word * 7 + i * 131) % 997}`).join(' '),
);

interface DemoTarget {
  readonly url: string;
  readonly model: string;
  /** API keys that sessions use in turn; one more session of each turn has none. */
  readonly keys: readonly string[];
}

/** Sends light, uneven traffic to a gateway until it is stopped: short and long chats of several turns, in waves. */
export class DemoLoad {
  readonly #target: DemoTarget;
  readonly #stopped = new AbortController();
  readonly #done: Promise<void>;

  constructor(target: DemoTarget) {
    this.#target = target;
    this.#done = Promise.all(Array.from({ length: SESSIONS }, (_, i) => this.#session(i))).then(() => {});
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#done;
  }

  async #session(number: number): Promise<void> {
    const random = randomStream(SEED, `demo-${number}`);
    const { keys } = this.#target;
    const key = keys[number % (keys.length + 1)];
    for (let chat = 0; !this.#stopped.signal.aborted; chat++) {
      await this.#chat(`demo-${number}-${chat}`, key, random);
    }
  }

  /** A chat: each turn sends all turns before it. */
  async #chat(session: string, key: string | undefined, random: RandomStream): Promise<void> {
    const prompt = PROMPTS[Math.floor(PROMPTS.length * random.next() ** 2.5)]!;
    const messages: object[] = [{ role: 'system', content: prompt }];
    const credentials: Record<string, string> = key === undefined ? {} : { authorization: `Bearer ${key}` };
    const turns = 1 + Math.floor(4 * random.next());
    for (let turn = 0; turn < turns && !this.#stopped.signal.aborted; turn++) {
      messages.push({
        role: 'user',
        content: `turn ${turn}: ${'and so on '.repeat(1 + Math.floor(20 * random.next()))}`,
      });
      const mostTokens = 20 + Math.floor(240 * random.next() ** 3);
      await this.#send(
        { 'x-session-id': session, 'x-request-id': `${session}-${turn}`, ...credentials },
        messages,
        mostTokens,
      );
      messages.push({ role: 'assistant', content: 'ok '.repeat(mostTokens) });
      const wave = 1.6 + Math.sin((2 * Math.PI * Date.now()) / WAVE_MS);
      await this.#pause((400 + 3000 * random.next()) * wave);
    }
  }

  async #send(
    headers: Readonly<Record<string, string>>,
    messages: readonly object[],
    mostTokens: number,
  ): Promise<void> {
    try {
      const response = await fetch(`${this.#target.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify({ model: this.#target.model, messages, max_tokens: mostTokens, stream: true }),
        signal: this.#stopped.signal,
      });
      for await (const _ of response.body ?? []);
    } catch {
      // Stopped, or refused: the next turn tries again.
    }
  }

  #pause(ms: number): Promise<void> {
    const { signal } = this.#stopped;
    if (signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      signal.addEventListener(
        'abort',
        () => {
          clearTimeout(timer);
          resolve();
        },
        { once: true },
      );
    });
  }
}
