import { NameTable } from '../../kernel/name-table.js';
import {
  OBSERVED_OUTCOMES,
  type Observed,
  type ObservedOutcome,
  SENT_COLUMNS,
  type SentColumn,
  type SentFacts,
} from '../observed.js';
import type { RequestTable } from '../request-table.js';
import type { CsvColumn } from './csv-columns.js';

const MAX_COUNT = 2 ** 31 - 1;
const MAX_TIME = Number.MAX_SAFE_INTEGER;

/** Columns that only a trace has whose requests were sent by ourselves. */
const OWN_COLUMNS: readonly string[] = ['server_output_tokens', 'lateness_us'];
const NAME_COLUMNS = { status: 'status', problem: 'error_class', finishReason: 'finish_reason' } as const;
type NameColumn = keyof typeof NAME_COLUMNS;

/** What a trace tells of the answers that its requests got: columns that are read only where somebody saw answers. */
export class SeenColumns {
  readonly #firstUs: Float64Array;
  readonly #lastUs: Float64Array;
  readonly #cached: Float64Array;
  readonly #sent: Record<SentColumn, Float64Array>;
  readonly #words: Record<NameColumn, { names: NameTable; into: Int32Array }>;

  constructor(capacity: number, before?: SeenColumns) {
    const column = (old: Float64Array | undefined) => {
      const made = new Float64Array(capacity);
      if (old !== undefined) made.set(old);
      return made;
    };
    this.#firstUs = column(before?.#firstUs);
    this.#lastUs = column(before?.#lastUs);
    this.#cached = column(before?.#cached);
    const sent = Object.keys(SENT_COLUMNS).map((name) => [name, column(before?.#sent[name as SentColumn])]);
    this.#sent = Object.fromEntries(sent);
    const words = Object.keys(NAME_COLUMNS).map((name) => {
      const old = before?.#words[name as NameColumn];
      const into = new Int32Array(capacity);
      if (old !== undefined) into.set(old.into);
      return [name, { names: old?.names ?? new NameTable(), into }];
    });
    this.#words = Object.fromEntries(words);
  }

  /** What takes the place of the columns of the same names. */
  columns(): CsvColumn[] {
    const time = { holds: 'whole', min: -MAX_TIME, max: MAX_TIME } as const;
    const count = { holds: 'whole', min: -1, max: MAX_TIME, emptyIsZero: true } as const;
    const sent = Object.entries(SENT_COLUMNS).filter(([name]) => name !== 'serverInputTokens' && name !== 'priority');
    return [
      { name: 'first_chunk_time_us', ...time, into: this.#firstUs },
      { name: 'last_chunk_time_us', ...time, into: this.#lastUs },
      { name: 'server_cached_tokens', ...count, into: this.#cached },
      ...sent.map(([name, column]) => ({ name: column, ...count, into: this.#sent[name as SentColumn] })),
      ...Object.entries(NAME_COLUMNS).map(([name, column]): CsvColumn => {
        const { names, into } = this.#words[name as NameColumn];
        return { name: column, holds: 'name', names, max: MAX_COUNT, into };
      }),
    ];
  }

  /**
   * @param names the columns that the file has
   * @param originUs what was taken off the times of sending
   * @param serverTokens the server's counts of prompts, 0 where it gave none
   */
  observed(table: RequestTable, names: readonly string[], originUs: number, serverTokens: Int32Array): Observed {
    const { arrivalUs, count } = table;
    const after = (us: Float64Array) =>
      Float64Array.from({ length: count }, (_, row) =>
        us[row]! > 0 ? Math.max(0, us[row]! - originUs - arrivalUs[row]!) : Number.NaN,
      );
    const hasCached = names.includes('server_cached_tokens');
    const { names: statuses, into: status } = this.#words.status;
    return {
      dispatchUs: new Float64Array(count),
      ttftUs: after(this.#firstUs),
      e2eUs: after(this.#lastUs),
      cachedTokens: Int32Array.from({ length: count }, (_, row) => (hasCached ? this.#cached[row]! : -1)),
      outcome: Uint8Array.from({ length: count }, (_, row) => outcomeOf(statuses.name(status[row]!))),
      ...(OWN_COLUMNS.every((name) => names.includes(name)) ? { sent: this.#sentFacts(count, serverTokens) } : {}),
    };
  }

  #sentFacts(count: number, serverTokens: Int32Array): SentFacts {
    const numbers = Object.entries(this.#sent).map(([name, column]) => [name, column.subarray(0, count)]);
    const words = (name: NameColumn) => {
      const { names, into } = this.#words[name];
      return Array.from({ length: count }, (_, row) => names.name(into[row]!));
    };
    const nothing = new Array<string>(count).fill('');
    return {
      ...(Object.fromEntries(numbers) as Record<SentColumn, Float64Array>),
      serverInputTokens: Float64Array.from({ length: count }, (_, row) => serverTokens[row]! || -1),
      problem: words('problem'),
      finishReason: words('finishReason'),
      message: nothing,
      xRequestId: nothing,
    };
  }
}

function outcomeOf(status: string): number {
  const known: ObservedOutcome = status === 'ok' || status === 'timeout' ? status : 'incomplete';
  return OBSERVED_OUTCOMES.indexOf(known);
}
