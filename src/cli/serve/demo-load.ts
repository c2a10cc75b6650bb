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

/** Sends light, uneven traffic to a gateway until it is stopped: short and long chats of several turns, in waves. */
export class DemoLoad {
  readonly #url: string;
  readonly #model: string;
  readonly #stopped = new AbortController();
  readonly #done: Promise<void>;

  constructor(url: string, model: string) {
    this.#url = url;
    this.#model = model;
    this.#done = Promise.all(Array.from({ length: SESSIONS }, (_, i) => this.#session(i))).then(() => {});
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#done;
  }

  async #session(number: number): Promise<void> {
    const random = randomStream(SEED, `demo-${number}`);
    for (let chat = 0; !this.#stopped.signal.aborted; chat++) {
      await this.#chat(`demo-${number}-${chat}`, random);
    }
  }

  /** A chat: each turn sends all turns before it. */
  async #chat(session: string, random: RandomStream): Promise<void> {
    const prompt = PROMPTS[Math.floor(PROMPTS.length * random.next() ** 2.5)]!;
    const messages: object[] = [{ role: 'system', content: prompt }];
    const turns = 1 + Math.floor(4 * random.next());
    for (let turn = 0; turn < turns && !this.#stopped.signal.aborted; turn++) {
      messages.push({
        role: 'user',
        content: `turn ${turn}: ${'and so on '.repeat(1 + Math.floor(20 * random.next()))}`,
      });
      const mostTokens = 20 + Math.floor(240 * random.next() ** 3);
      await this.#send(session, `${session}-${turn}`, messages, mostTokens);
      messages.push({ role: 'assistant', content: 'ok '.repeat(mostTokens) });
      const wave = 1.6 + Math.sin((2 * Math.PI * Date.now()) / WAVE_MS);
      await this.#pause((400 + 3000 * random.next()) * wave);
    }
  }

  async #send(session: string, id: string, messages: readonly object[], mostTokens: number): Promise<void> {
    try {
      const response = await fetch(`${this.#url}/v1/chat/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-request-id': id, 'x-session-id': session },
        body: JSON.stringify({ model: this.#model, messages, max_tokens: mostTokens, stream: true }),
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
