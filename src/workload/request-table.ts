import { NameTable } from '../kernel/name-table.js';
import type { PromptBlocks } from './prompt-blocks.js';

/**
 * Columns parallel to a RequestTable: how a prompt's tokens divide into kinds, and how much of the output is reasoning.
 */
export interface TokenKinds {
  text: Int32Array;
  image: Int32Array;
  audio: Int32Array;
  video: Int32Array;
  reasonRatio: Float64Array;
}

/** The network between a client and the cluster. */
export interface ClientNetwork {
  /** Round trip. */
  rttUs: number;
  /** 0: the tokens themselves take no time. */
  bandwidthMbps: number;
}

/**
 * Requests as columns: one row per request, plain typed arrays, about 60 bytes a row. Rows are in file or generation
 * order; `arrivalOrder` returns the order in time. Rows may be appended while a simulation runs (the next turn of a
 * session), so read columns through the table and do not keep them.
 */
export class RequestTable {
  count = 0;
  /**
   * How far the number in `request_<n>` is from the row (see `sourceIdOf`); for a session's later turns, the number is the global
   * counter that ends their id. Zero where requests are numbered in order: memory that is not written is never taken.
   */
  idShift = new Float64Array(0);
  arrivalUs = new Float64Array(0);
  /** Whole prompt, shared prefix included. */
  inputTokens = new Int32Array(0);
  /** True output length: known only to the replica. */
  outputTokens = new Int32Array(0);
  /** Absolute, on the arrival axis; 0 for none. */
  deadlineUs = new Float64Array(0);
  /** Per-request target for `slo-deadline` dispatch; 0 for none. */
  sloTargetUs = new Float64Array(0);
  /** Index into `sloClasses`, `tenants`, `models`, `clients`, `prefixGroups`, `sessions`; 0 is the empty name: none. */
  sloClass = new Uint16Array(0);
  tenant = new Int32Array(0);
  model = new Uint16Array(0);
  client = new Int32Array(0);
  prefixGroup = new Int32Array(0);
  session = new Int32Array(0);
  /** Turn of the session, from 0. */
  round = new Int32Array(0);
  /** Pause between the previous response and this turn, where the simulation created it. */
  pauseUs = new Float64Array(0);
  /** Bit flags, see ROW_*. */
  flags = new Uint8Array(0);

  readonly sloClasses = new NameTable();
  readonly tenants = new NameTable();
  readonly models = new NameTable();
  readonly clients = new NameTable();
  readonly prefixGroups = new NameTable();
  readonly sessions = new NameTable();
  /** Tokens of each group's shared prefix, by group index. */
  readonly prefixTokens: number[] = [0];
  /** For sessions whose context grows: tokens the whole session can reach, by session index. */
  readonly contextTokens: number[] = [0];

  /** The blocks of recorded prompts; null when unknown. Rows without blocks consist of fresh tokens. */
  blocks: PromptBlocks | null = null;
  /** How tokens divide into kinds; null when unknown. */
  kinds: TokenKinds | null = null;
  /** How far away each client is, by client index; absent for one on the same host. */
  readonly networks: (ClientNetwork | undefined)[] = [];

  constructor(capacity = 1024) {
    this.#resize(Math.max(1, capacity));
  }

  /** Appends an empty row (all zero) and returns its index. */
  append(): number {
    if (this.count === this.arrivalUs.length) this.#resize(this.count * 2);
    return this.count++;
  }

  /** Reserves this many rows in total; returns whether the columns are new arrays now. */
  reserve(rows: number): boolean {
    if (rows <= this.arrivalUs.length) return false;
    this.#resize(Math.max(rows, this.arrivalUs.length * 2));
    return true;
  }

  /** The columns of token kinds, created on first use. */
  ensureKinds(): TokenKinds {
    this.kinds ??= {
      text: new Int32Array(this.arrivalUs.length),
      image: new Int32Array(this.arrivalUs.length),
      audio: new Int32Array(this.arrivalUs.length),
      video: new Int32Array(this.arrivalUs.length),
      reasonRatio: new Float64Array(this.arrivalUs.length),
    };
    return this.kinds;
  }

  #resize(capacity: number): void {
    const grow = <T extends Float64Array | Int32Array | Uint16Array | Uint8Array>(old: T): T => {
      const next = new (old.constructor as new (n: number) => T)(capacity);
      // Unused columns stay memory that was never touched.
      if (!isZero(old)) next.set(old);
      return next;
    };
    if (this.kinds !== null) {
      const { text, image, audio, video, reasonRatio } = this.kinds;
      this.kinds = {
        text: grow(text),
        image: grow(image),
        audio: grow(audio),
        video: grow(video),
        reasonRatio: grow(reasonRatio),
      };
    }
    this.idShift = grow(this.idShift);
    this.arrivalUs = grow(this.arrivalUs);
    this.inputTokens = grow(this.inputTokens);
    this.outputTokens = grow(this.outputTokens);
    this.deadlineUs = grow(this.deadlineUs);
    this.sloTargetUs = grow(this.sloTargetUs);
    this.sloClass = grow(this.sloClass);
    this.tenant = grow(this.tenant);
    this.model = grow(this.model);
    this.client = grow(this.client);
    this.prefixGroup = grow(this.prefixGroup);
    this.session = grow(this.session);
    this.round = grow(this.round);
    this.pauseUs = grow(this.pauseUs);
    this.flags = grow(this.flags);
  }
}

/** The client reads the response as a stream. */
export const ROW_STREAMING = 1;
/** The row is a later turn created by the simulation: its id is `session_<sid>_round_<r>_<counter>`. */
export const ROW_FOLLOW_UP = 2;
/** The prompt starts with the session's whole context so far. */
export const ROW_GROWS_CONTEXT = 4;

/** The client set no maximum output length; otherwise it requested the length that it gets. */
export const ROW_OPEN_ENDED = 8;

/**
 * Tokens of a request, prompt first, that later prompts may repeat: the response, too, where the next turn does, but for
 * its last token, which an engine returns without computing it.
 */
export function repeatedTokens(table: RequestTable, row: number): number {
  const returns = (table.flags[row]! & ROW_GROWS_CONTEXT) !== 0 || (table.blocks?.continuation(row) ?? -1) >= 0;
  return table.inputTokens[row]! + (returns ? Math.max(0, table.outputTokens[row]! - 1) : 0);
}

/** The number of a request in its source. */
export function sourceIdOf(table: RequestTable, row: number): number {
  return row + table.idShift[row]!;
}

export function setSourceId(table: RequestTable, row: number, id: number): void {
  if (id !== row || table.idShift[row] !== 0) table.idShift[row] = id - row;
}

function isZero(column: ArrayLike<number>): boolean {
  for (let i = 0; i < column.length; i++) if (column[i] !== 0) return false;
  return true;
}

/** The id of a row as results and logs name it. */
export function requestId(table: RequestTable, row: number): string {
  if ((table.flags[row]! & ROW_FOLLOW_UP) === 0) return `request_${sourceIdOf(table, row)}`;
  return `session_${table.sessions.name(table.session[row]!)}_round_${table.round[row]!}_${sourceIdOf(table, row)}`;
}
