import {
  type RequestTable,
  type ROW_FOLLOW_UP,
  type ROW_GROWS_CONTEXT,
  sourceIdOf,
} from '../../src/workload/request-table.js';
import type { ChainTable } from './chain-table.js';

// Types alone are imported, so that the compiled benchmark stands on its own; these types pin the values.
const FOLLOW_UP: typeof ROW_FOLLOW_UP = 2;
const GROWS_CONTEXT: typeof ROW_GROWS_CONTEXT = 4;

export type RequestStatus =
  | 'not_arrived'
  | 'in_pipeline'
  | 'rejected'
  | 'routing_rejected'
  | 'gateway_queued'
  | 'gateway_rejected'
  | 'gateway_shed'
  | 'gateway_expired'
  | 'queued'
  | 'running'
  | 'completed'
  | 'length_capped'
  | 'dropped'
  | 'timed_out';

/** One request with everything that ever happens to it. */
export interface ReferenceRequest {
  readonly row: number;
  readonly id: string;
  readonly arrivalUs: number;
  readonly prompt: readonly number[];
  readonly response: readonly number[];
  /** Chains of the prompt's full blocks. */
  readonly promptChains: readonly number[];
  readonly deadlineUs: number;
  readonly sloTargetUs: number;
  readonly sloClass: string;
  readonly sloPriority: number;
  readonly tenant: string;
  readonly model: string;

  status: RequestStatus;
  instance: number | null;
  maxOutputTokens: number;
  /** Lower is more urgent; set when the request joins an instance's queue. */
  instancePriority: number;
  /** Prompt tokens processed plus decode steps done. */
  progress: number;
  /** What `progress` becomes when the current prefill chunk is done. */
  computed: number;
  newTokens: number;
  /** Tokens of the response that a preempted request has kept, and computes again as part of its prompt. */
  kept: number;
  lastTokenUs: number;
  hasFirstToken: boolean;
  tokenGapsUs: number[];

  schedulingDelayUs: number | null;
  ttftUs: number | null;
  e2eUs: number | null;
  producedTokens: number;
  gatewayEnqueuedUs: number | null;
  gatewayDispatchedUs: number | null;
}

/** What a request computes before it decodes: its prompt, and of its response what it has kept. */
export function workOf({ prompt, response, kept }: ReferenceRequest): readonly number[] {
  return kept === 0 ? prompt : [...prompt, ...response.slice(0, kept)];
}

/**
 * Turns rows into requests with real token ids: a prefix group's are shared, a session's context is repeated, the rest
 * are unique.
 */
export class RequestMaker {
  readonly #table: RequestTable;
  readonly #chains: ChainTable;
  readonly #blockSize: number;
  readonly #sloPriority: (sloClass: string) => number;
  readonly #groupPrefixes = new Map<number, number[]>();
  readonly #turns = new Map<string, ReferenceRequest>();
  #lastToken = 0;

  constructor(table: RequestTable, chains: ChainTable, blockSize: number, sloPriority: (sloClass: string) => number) {
    this.#table = table;
    this.#chains = chains;
    this.#blockSize = blockSize;
    this.#sloPriority = sloPriority;
  }

  make(row: number): ReferenceRequest {
    const table = this.#table;
    const prompt = this.#prompt(row);
    const sloClass = table.sloClasses.name(table.sloClass[row]!);
    const request: ReferenceRequest = {
      row,
      id: this.#id(row),
      arrivalUs: table.arrivalUs[row]!,
      prompt,
      response: this.#freshTokens(table.outputTokens[row]!),
      promptChains: this.#chains.ofPrompt(prompt, this.#blockSize),
      deadlineUs: table.deadlineUs[row]!,
      sloTargetUs: table.sloTargetUs[row]!,
      sloClass,
      sloPriority: this.#sloPriority(sloClass),
      tenant: table.tenants.name(table.tenant[row]!),
      model: table.models.name(table.model[row]!),
      status: 'not_arrived',
      instance: null,
      maxOutputTokens: table.outputTokens[row]!,
      instancePriority: 0,
      progress: 0,
      computed: 0,
      newTokens: 0,
      kept: 0,
      lastTokenUs: 0,
      hasFirstToken: false,
      tokenGapsUs: [],
      schedulingDelayUs: null,
      ttftUs: null,
      e2eUs: null,
      producedTokens: 0,
      gatewayEnqueuedUs: null,
      gatewayDispatchedUs: null,
    };
    if (table.session[row] !== 0) this.#turns.set(`${table.session[row]}/${table.round[row]}`, request);
    return request;
  }

  #prompt(row: number): number[] {
    const length = this.#table.inputTokens[row]!;
    const start = this.#recorded(row) ?? this.#context(row) ?? this.#groupPrefix(this.#table.prefixGroup[row]!);
    if (start.length >= length) return start.slice(0, length);
    return start.concat(this.#freshTokens(length - start.length));
  }

  /** The tokens of recorded blocks: negative, so that no others are equal to them. */
  #recorded(row: number): number[] | undefined {
    const blocks = this.#table.blocks;
    const count = blocks?.blocksOf(row) ?? 0;
    if (blocks === null || count === 0) return undefined;
    const tokens: number[] = [];
    for (let i = 0; i < count; i++) {
      for (let j = 0; j < blocks.blockTokens; j++) tokens.push(-1 - (blocks.block(row, i) * blocks.blockTokens + j));
    }
    return tokens;
  }

  /** The context of the session: the last turn's prompt and output. The last output token was never fed back. */
  #context(row: number): number[] | undefined {
    if ((this.#table.flags[row]! & GROWS_CONTEXT) === 0) return undefined;
    const last = this.#turns.get(`${this.#table.session[row]}/${this.#table.round[row]! - 1}`);
    if (last === undefined) return undefined;
    return last.prompt.concat(last.response.slice(0, -1));
  }

  #groupPrefix(group: number): number[] {
    let prefix = this.#groupPrefixes.get(group);
    if (prefix === undefined) {
      prefix = this.#freshTokens(this.#table.prefixTokens[group]!);
      this.#groupPrefixes.set(group, prefix);
    }
    return prefix;
  }

  #freshTokens(count: number): number[] {
    const tokens: number[] = [];
    for (let i = 0; i < count; i++) tokens.push(++this.#lastToken);
    return tokens;
  }

  #id(row: number): string {
    const table = this.#table;
    const number = sourceIdOf(table, row);
    if ((table.flags[row]! & FOLLOW_UP) === 0) return `request_${number}`;
    return `session_${table.sessions.name(table.session[row]!)}_round_${table.round[row]!}_${number}`;
  }
}
