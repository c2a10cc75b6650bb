import { NameTable } from '../../../kernel/name-table.js';
import {
  OBSERVED_OUTCOMES,
  type Observed,
  type ObservedOutcome,
  SENT_COLUMNS,
  type SentColumn,
  type SentFacts,
} from '../../observed.js';
import type { RequestTable } from '../../request-table.js';
import type { CsvColumn } from './csv-columns.js';

const MAX_COUNT = 2 ** 31 - 1;
const MAX_TIME = Number.MAX_SAFE_INTEGER;

/** Columns that exist only in traces of `twinyard observe`. */
const OWN_COLUMNS: readonly string[] = ['server_output_tokens', 'lateness_us'];
/** Columns of whole numbers that are read nowhere else, and columns of words. */
const NUMBERS: readonly string[] = [
  'first_chunk_time_us',
  'last_chunk_time_us',
  'server_cached_tokens',
  ...Object.values(SENT_COLUMNS).filter((name) => name !== 'server_input_tokens' && name !== 'vllm_priority'),
];
const WORDS = ['status', 'error_class', 'finish_reason'] as const;

interface Words {
  names: NameTable;
  into: Int32Array;
}

/** Measurements of responses in a trace: columns that are read only for observed traces. */
export class SeenColumns {
  readonly #numbers = new Map<string, Float64Array>();
  readonly #words = new Map<string, Words>();

  constructor(capacity: number) {
    for (const name of NUMBERS) this.#numbers.set(name, new Float64Array(capacity));
    for (const name of WORDS) this.#words.set(name, { names: new NameTable(), into: new Int32Array(capacity) });
  }

  grown(capacity: number): SeenColumns {
    const next = new SeenColumns(capacity);
    for (const [name, column] of this.#numbers) next.#numbers.get(name)!.set(column);
    for (const [name, { into, names }] of this.#words) {
      const larger = new Int32Array(capacity);
      larger.set(into);
      next.#words.set(name, { names, into: larger });
    }
    return next;
  }

  /** What takes the place of the columns of the same names. */
  columns(): CsvColumn[] {
    const whole = { holds: 'whole', min: -MAX_TIME, max: MAX_TIME, emptyIsZero: true } as const;
    const word = { holds: 'name', max: MAX_COUNT } as const;
    return [
      ...[...this.#numbers].map(([name, into]) => ({ name, ...whole, into })),
      ...[...this.#words].map(([name, words]) => ({ name, ...word, ...words })),
    ];
  }

  /**
   * The measurements; undefined when no row has an outcome.
   * @param names the columns of the file
   * @param originUs subtracted from send times
   * @param serverTokens the server's counts of prompt tokens, 0 where it gave none
   */
  observed(
    table: RequestTable,
    names: readonly string[],
    originUs: number,
    serverTokens: Int32Array,
  ): Observed | undefined {
    const { arrivalUs, count } = table;
    const { into: status } = this.#words.get('status')!;
    if (status.subarray(0, count).every((word) => word === 0)) return undefined;
    const after = (name: string) => {
      const us = this.#numbers.get(name)!;
      return Float64Array.from({ length: count }, (_, row) =>
        us[row]! > 0 ? Math.max(0, us[row]! - originUs - arrivalUs[row]!) : Number.NaN,
      );
    };
    const cached = this.#numbers.get('server_cached_tokens')!;
    const hasCached = names.includes('server_cached_tokens');
    return {
      dispatchUs: new Float64Array(count),
      ttftUs: after('first_chunk_time_us'),
      e2eUs: after('last_chunk_time_us'),
      cachedTokens: Int32Array.from({ length: count }, (_, row) => (hasCached ? cached[row]! : -1)),
      outcome: Uint8Array.from(this.#wordsOf('status', count), outcomeOf),
      ...(OWN_COLUMNS.every((name) => names.includes(name)) ? { sent: this.#sentFacts(count, serverTokens) } : {}),
    };
  }

  #wordsOf(column: (typeof WORDS)[number], count: number): string[] {
    const { names, into } = this.#words.get(column)!;
    return Array.from({ length: count }, (_, row) => names.name(into[row]!));
  }

  #sentFacts(count: number, serverTokens: Int32Array): SentFacts {
    const numbers = Object.entries(SENT_COLUMNS).map(([name, column]) => {
      return [name, this.#numbers.get(column)?.subarray(0, count) ?? new Float64Array(count)];
    });
    const nothing = new Array<string>(count).fill('');
    return {
      ...(Object.fromEntries(numbers) as Record<SentColumn, Float64Array>),
      serverInputTokens: Float64Array.from({ length: count }, (_, row) => serverTokens[row]! || -1),
      problem: this.#wordsOf('error_class', count),
      finishReason: this.#wordsOf('finish_reason', count),
      message: nothing,
      xRequestId: nothing,
    };
  }
}

function outcomeOf(status: string): number {
  const known: ObservedOutcome = status === 'ok' || status === 'timeout' ? status : 'incomplete';
  return OBSERVED_OUTCOMES.indexOf(known);
}
