import { setTimeout as pause } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { randomStream } from '../../src/kernel/random-stream.js';
import { SseScanner } from '../../src/protocol/sse/sse-scanner.js';
import { isDoneEvent } from '../../src/protocol/sse/sse-writer.js';

interface Message {
  role: 'system' | 'user' | 'assistant';
  content: string;
}

const ASSISTANTS = 8;
const WORDS = 'rose garden water stone river light house winter bread letter morning paper window music'.split(' ');
const random = randomStream(42, 'bench recording');
const decoder = new TextDecoder();

/** `tokens` tokens of four bytes each that no earlier prompt contains. */
function words(tokens: number): string {
  let text = '';
  while (text.length < tokens * 4) text += `${WORDS[random.below(WORDS.length)]} ${random.below(1000)} `;
  return text.slice(0, tokens * 4);
}

/** Sessions through a gateway: each begins with one of eight system prompts and repeats its earlier turns. */
export class Chats {
  responses = 0;
  errors = 0;
  readonly #url: string;
  readonly #model: string;
  readonly #agent = new Agent({ connections: 1024, headersTimeout: 0, bodyTimeout: 0 });
  readonly #assistants = Array.from({ length: ASSISTANTS }, () => words(1500));

  constructor(url: string, model: string) {
    this.#url = url;
    this.#model = model;
  }

  /** Starts sessions at random times, open loop; resolves when the last has ended. */
  async drive(chatsPerSecond: number, secondsLong: number): Promise<void> {
    const running: Promise<void>[] = [];
    const begun = performance.now();
    for (let atMs = 0; ; ) {
      atMs += (-Math.log(1 - random.next()) / chatsPerSecond) * 1000;
      if (atMs > secondsLong * 1000) break;
      await pause(Math.max(0, begun + atMs - performance.now()));
      running.push(this.#chat(running.length));
    }
    await Promise.all(running);
    await this.#agent.destroy();
  }

  async #chat(number: number): Promise<void> {
    const messages: Message[] = [{ role: 'system', content: this.#assistants[random.below(ASSISTANTS)]! }];
    const turns = 1 + random.below(5);
    for (let turn = 0; turn < turns; turn++) {
      if (turn > 0) await pause(1000 + random.below(3000));
      messages.push({ role: 'user', content: words(50 + random.below(250)) });
      try {
        messages.push({
          role: 'assistant',
          content: await this.#ask(messages, 40 + random.below(120), `chat-${number}`),
        });
        this.responses++;
      } catch {
        this.errors++;
        return;
      }
    }
  }

  async #ask(messages: readonly Message[], tokens: number, session: string): Promise<string> {
    const body = { model: this.#model, messages, stream: true, max_tokens: tokens, ignore_eos: true };
    const { body: response, statusCode } = await request(`${this.#url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-session-id': session },
      body: JSON.stringify(body),
      dispatcher: this.#agent,
    });
    let said = '';
    let isDone = false;
    const scanner = new SseScanner({
      event(bytes, from, to) {
        if (isDoneEvent(bytes, from, to)) isDone = true;
        else said += JSON.parse(decoder.decode(bytes.subarray(from, to))).choices[0]?.delta.content ?? '';
      },
    });
    for await (const piece of response) scanner.push(piece as Buffer);
    if (statusCode !== 200 || !isDone) throw new Error(`status ${statusCode}`);
    return said;
  }
}
