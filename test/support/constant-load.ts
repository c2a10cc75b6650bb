import type { RandomStream } from '../../src/kernel/random-stream.js';
import { anyChat, type Clients, type Ended } from './gateway-load.js';

/** Clients that send one request after the other until they are stopped. */
export class ConstantLoad {
  readonly ended: Ended[] = [];
  /** Streams begin with the first token and cannot be retried when a replica crashes. */
  streams = true;
  readonly #running: Promise<unknown>;
  #streaming = 0;
  #isOver = false;
  #heard: () => void = () => {};

  constructor(
    private readonly clients: Clients,
    private readonly random: RandomStream,
    atOnce: number,
  ) {
    this.#running = Promise.all(Array.from({ length: atOnce }, () => this.#client()));
  }

  /** Resolves after `count` more responses. */
  async more(count: number): Promise<void> {
    const wanted = this.ended.length + count;
    await this.#until(() => this.ended.length >= wanted);
  }

  /** Sends no more streams; resolves when those under way have ended. */
  async withoutStreams(): Promise<void> {
    this.streams = false;
    await this.#until(() => this.#streaming === 0);
  }

  /** Stops sending; resolves when every request has its response. */
  async end(): Promise<void> {
    this.#isOver = true;
    await this.#running;
  }

  async #client(): Promise<void> {
    while (!this.#isOver) {
      const chat = anyChat(this.random) as { stream: boolean };
      const isStream = chat.stream && this.streams;
      if (isStream) this.#streaming++;
      this.ended.push(await this.clients.send({ ...chat, stream: isStream }));
      if (isStream) this.#streaming--;
      this.#heard();
    }
  }

  async #until(isSo: () => boolean): Promise<void> {
    while (!isSo()) {
      await new Promise<void>((resolve) => {
        this.#heard = resolve;
      });
    }
  }
}
