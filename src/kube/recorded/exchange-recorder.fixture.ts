import {
  type LocalTexts,
  NAMESPACE_IN_RECORDINGS,
  type RecordedCall,
  type RecordedLine,
  writeRecording,
} from './recorded-exchange.fixture.js';

/** Takes down what passes between clients and an API server. */
export class ExchangeRecorder {
  readonly #namespace: string;
  readonly #lines: RecordedLine[];
  #calls = 0;
  #isOver = false;

  /** @param namespace of this run; recordings have the same one for all */
  constructor(namespace: string) {
    this.#namespace = namespace;
    this.#lines = [{ recordedAt: Date.now(), namespace }];
  }

  /** Returns the number of the call. */
  call(call: RecordedCall): number {
    this.#add({ call: this.#calls, ...call });
    return this.#calls++;
  }

  response(call: number, status: number, text: string): void {
    this.#add({ response: call, status, body: bodyOf(text) });
  }

  /** One line of a watch. */
  event(call: number, line: string): void {
    this.#add({ event: call, body: bodyOf(line) });
  }

  /** What follows clears up and is not part of the exchange. */
  stop(): void {
    this.#isOver = true;
  }

  save(path: string, texts: LocalTexts): void {
    const text = JSON.stringify(this.#lines).replaceAll(this.#namespace, NAMESPACE_IN_RECORDINGS);
    writeRecording(path, JSON.parse(text) as RecordedLine[], texts);
  }

  #add(line: RecordedLine): void {
    if (!this.#isOver) this.#lines.push(line);
  }
}

/** Without the bookkeeping of server-side apply, which is most of an object. */
const bodyOf = (text: string): unknown =>
  text === '' ? null : JSON.parse(text, (key, value) => (key === 'managedFields' ? undefined : value));
