import { LF, SPACE } from '../../kernel/text/ascii.js';
import { COUNTS, type CountedRequest, type UsageLabel, UsageTotals } from './usage-totals.js';

const ZERO = 48;
/** Digits of the largest number, and what follows it. */
const MOST_BYTES = 17;

/**
 * The lines of a usage journal. Each begins with the number of a label: first a line with the label itself, in braces,
 * then any number of lines with counts that add to its sums, and after them the `liveId` of a request whose running sums
 * were written. A line is complete when its line end is written.
 */
export class UsageLines {
  #bytes: Buffer = Buffer.allocUnsafe(16 * 1024);
  length = 0;

  /** The lines so far, valid until the next is added. */
  get bytes(): Buffer {
    return this.#bytes;
  }

  clear(): void {
    this.length = 0;
  }

  label(index: number, { keyId, model, endpoint, day, outcome }: UsageLabel): void {
    const text = `${index} ${JSON.stringify({ keyId, model, endpoint, day, outcome })}\n`;
    this.#makeRoom(Buffer.byteLength(text));
    this.length += this.#bytes.write(text, this.length, 'utf8');
  }

  /** Begins a line of counts: `count` for each of them, then `end`. */
  begin(label: number): void {
    this.#makeRoom((COUNTS.length + 2) * MOST_BYTES);
    this.#number(label);
  }

  count(value: number): void {
    this.#bytes[this.length++] = SPACE;
    this.#number(value);
  }

  end(): void {
    this.#bytes[this.length++] = LF;
  }

  /** Adds a request to sums, and the line for it: with its `liveId` at the end if it has one. */
  request(totals: UsageTotals, request: CountedRequest, day: string, outcome: string, costNanos: number): void {
    const { endpoint, keyId, liveId, model } = request;
    let label = totals.find(keyId, model, endpoint.name, day, outcome);
    if (label < 0) {
      label = totals.addLabel({ keyId, model, endpoint: endpoint.name, day, outcome });
      this.label(label, totals.label(label));
    }
    this.begin(label);
    this.#sum(totals, label, 0, 1);
    this.#sum(totals, label, 1, request.inputTokens);
    this.#sum(totals, label, 2, request.cachedTokens);
    this.#sum(totals, label, 3, request.outputTokens);
    this.#sum(totals, label, 4, request.reasoningTokens);
    this.#sum(totals, label, 5, request.isMetered ? 0 : 1);
    this.#sum(totals, label, 6, costNanos);
    this.#sum(totals, label, 7, request.characters);
    this.#sum(totals, label, 8, request.audioSeconds);
    if (liveId > 0) this.count(liveId);
    this.end();
  }

  /** All of some sums, in as few lines as possible. */
  totals(totals: UsageTotals): void {
    for (let label = 0; label < totals.size; label++) {
      this.label(label, totals.label(label));
      this.begin(label);
      for (let i = 0; i < COUNTS.length; i++) this.count(totals.sum(label, i));
      this.end();
    }
  }

  #sum(totals: UsageTotals, label: number, count: number, value: number): void {
    totals.add(label, count, value);
    this.count(value);
  }

  #number(value: number): void {
    if (value < 10) {
      this.#bytes[this.length++] = ZERO + value;
      return;
    }
    let digits = 1;
    for (let rest = value; rest >= 10; rest = Math.floor(rest / 10)) digits++;
    let rest = value;
    for (let at = this.length + digits - 1; at >= this.length; at--) {
      const next = Math.floor(rest / 10);
      this.#bytes[at] = ZERO + (rest - next * 10);
      rest = next;
    }
    this.length += digits;
  }

  #makeRoom(bytes: number): void {
    if (this.length + bytes <= this.#bytes.length) return;
    const grown = Buffer.allocUnsafe(Math.max(this.length + bytes, this.#bytes.length * 2));
    this.#bytes.copy(grown, 0, 0, this.length);
    this.#bytes = grown;
  }
}

const LINE = /^(\d{1,9}) (\{.*\}|\d{1,16}(?: \d{1,16})*)$/;

/** The content of a journal. */
export interface ReadUsage {
  readonly totals: UsageTotals;
  /** Lines that could not be read. */
  readonly damaged: number;
  /** The requests in it that have one. */
  readonly liveIds: ReadonlySet<number>;
}

const NO_IDS: ReadonlySet<number> = new Set();

/**
 * Reads a journal. Bytes after the last line end were being written when the writer crashed, and were not acknowledged;
 * any other invalid line is damaged.
 * @param ended requests that do not count, by `liveId`: their final usage is in another journal
 */
export function readUsageLines(bytes: Buffer, ended: ReadonlySet<number> = NO_IDS): ReadUsage {
  const totals = new UsageTotals();
  const labels = new Map<string, number>();
  const liveIds = new Set<number>();
  const lines = bytes.toString('utf8', 0, bytes.lastIndexOf(LF) + 1).split('\n');
  lines.pop();
  let damaged = 0;
  for (const line of lines) {
    const [, number, rest] = LINE.exec(line) ?? ['', '', ''];
    const isRead = rest!.startsWith('{')
      ? readLabel(rest!, (label) => labels.set(number!, totals.addLabel(label)))
      : readCounts(rest!, labels.get(number!), (label, counts) => {
          const liveId = counts[COUNTS.length];
          if (liveId !== undefined) liveIds.add(liveId);
          if (liveId !== undefined && ended.has(liveId)) return;
          for (let i = 0; i < COUNTS.length; i++) totals.add(label, i, counts[i]!);
        });
    if (!isRead) damaged++;
  }
  return { totals, damaged, liveIds };
}

function readLabel(text: string, add: (label: UsageLabel) => void): boolean {
  let label: UsageLabel;
  try {
    const { keyId, model, endpoint, day, outcome } = JSON.parse(text) as UsageLabel;
    label = { keyId, model, endpoint, day, outcome };
  } catch {
    return false;
  }
  if (Object.values(label).some((value) => typeof value !== 'string')) return false;
  add(label);
  return true;
}

function readCounts(
  text: string,
  label: number | undefined,
  add: (label: number, counts: readonly number[]) => void,
): boolean {
  const counts = text.split(' ').map(Number);
  const isLong = counts.length === COUNTS.length || counts.length === COUNTS.length + 1;
  if (label === undefined || !isLong || !counts.every(Number.isSafeInteger)) return false;
  add(label, counts);
  return true;
}
