import { PromptBlocks } from '../prompt-blocks.js';
import { RequestTable } from '../request-table.js';
import type { Trace } from '../trace.js';
import {
  agentBlocksOf,
  BLOCK_TOKENS,
  PROJECT_BLOCKS,
  type PromptScale,
  promptScale,
  promptTokens,
} from './agentic-prompts.js';
import { type AgenticOptions, type AgenticSession, agenticSessions } from './agentic-sessions.js';
import { PUBLISHED } from './published.js';

/** The format's `type` of every request. */
const CLIENT = 'coder';

/** A turn with all that its row needs. */
interface Call {
  session: number;
  turn: number;
  arrivalUs: number;
  input: number;
}

/**
 * A synthetic trace like the unpublished one of an agentic coder: the published statistics hold, at the default size
 * and at others; everything else is assumed (`agentic-sessions.ts`, `agentic-prompts.ts`). The same options give the
 * same trace.
 */
export function synthAgenticCoder(options: Partial<AgenticOptions> = {}): Trace {
  const { requests, durationS, sessions: count } = PUBLISHED;
  const sessions = agenticSessions({ seed: 42, requests, sessions: count, durationS, ...options });
  const scale = promptScale(sessions);
  const calls: Call[] = [];
  sessions.forEach((session, s) => {
    const lengths = promptTokens(session, scale);
    session.turns.forEach(({ arrivalUs }, turn) => {
      calls.push({ session: s, turn, arrivalUs, input: lengths[turn]! });
    });
  });
  calls.sort((a, b) => a.arrivalUs - b.arrivalUs || a.session - b.session || a.turn - b.turn);
  return traceOf(calls, sessions, scale);
}

function traceOf(calls: readonly Call[], sessions: readonly AgenticSession[], scale: PromptScale): Trace {
  const table = new RequestTable(calls.length);
  const thinkTimeUs = new Float64Array(calls.length);
  const prompts = new PromptWriter(sessions, scale);
  const client = table.clients.index(CLIENT);
  for (const call of calls) {
    const { output, pauseUs } = sessions[call.session]!.turns[call.turn]!;
    const row = table.append();
    table.arrivalUs[row] = call.arrivalUs;
    table.inputTokens[row] = call.input;
    table.outputTokens[row] = output;
    table.client[row] = client;
    // By first appearance, as a reader of the file would number them.
    table.session[row] = table.sessions.index(`session_${call.session}`);
    table.round[row] = call.turn;
    thinkTimeUs[row] = pauseUs;
    prompts.write(row, call);
  }
  table.blocks = prompts.blocks;
  const name = 'agentic-coder';
  return {
    format: 'bailian',
    header: { mode: 'generated', sessionContextGrowth: '', goodputTargets: {}, place: (key) => `${name} (${key})` },
    table,
    wantedUs: table.arrivalUs,
    thinkTimeUs,
    unsorted: false,
    place: (row, column) => `${name}:${row + 1} (${column})`,
  };
}

/**
 * Creates the blocks of prompts. Full blocks of a context keep their ids as it grows; the last, half-full block of a
 * prompt is unique.
 */
class PromptWriter {
  readonly blocks = new PromptBlocks(BLOCK_TOKENS);
  readonly #sessions: readonly AgenticSession[];
  readonly #scale: PromptScale;
  /** Ids by agent, by session (the project's part), and by session (the present context). */
  readonly #agentIds: number[][] = [];
  readonly #projectIds: number[][] = [];
  readonly #contextIds: number[][] = [];
  #nextId = 0;

  constructor(sessions: readonly AgenticSession[], scale: PromptScale) {
    this.#sessions = sessions;
    this.#scale = scale;
  }

  write(row: number, { session, turn, input }: Call): void {
    const { agent, turns } = this.#sessions[session]!;
    const shared = agentBlocksOf(this.#sessions[session]!, this.#scale);
    if (turns[turn]!.restarts) this.#contextIds[session] = [];
    const full = Math.floor(input / BLOCK_TOKENS);
    this.#add(this.#agentIds, agent, shared);
    this.#add(this.#projectIds, session, PROJECT_BLOCKS);
    this.#add(this.#contextIds, session, full - shared - PROJECT_BLOCKS);
    if (input > full * BLOCK_TOKENS) this.blocks.add(this.#nextId++);
    this.blocks.endRow(row);
  }

  /** Adds the first `count` ids of a list, which grows as needed. */
  #add(lists: number[][], index: number, count: number): void {
    lists[index] ??= [];
    const ids = lists[index];
    while (ids.length < count) ids.push(this.#nextId++);
    for (let i = 0; i < count; i++) this.blocks.add(ids[i]!);
  }
}
