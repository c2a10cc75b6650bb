import type { AgenticSession } from './agentic-sessions.js';
import { PUBLISHED } from './published.js';

/** As the published trace counts blocks. */
export const BLOCK_TOKENS = 512;
/** Blocks that only one session's prompts start with, after the agent's: the project's rules, its list of files. */
export const PROJECT_BLOCKS = 4;
/** By agent: how many blocks its prompt is longer than the shortest. */
const AGENT_EXTRA_BLOCKS = [3, 0, 5, 8];
const MOST_AGENT_BLOCKS = 200;

/** How long prompts are. */
export interface PromptScale {
  /** Blocks of the shortest of the agents' system prompts and tool lists: what sessions share with each other. */
  agentBlocks: number;
  /** Factor on all tokens that turns add, responses excluded. */
  freshScale: number;
}

/** Blocks that a session shares with all others of its agent. */
export function agentBlocksOf(session: AgenticSession, scale: PromptScale): number {
  return scale.agentBlocks + AGENT_EXTRA_BLOCKS[session.agent]!;
}

/** Prompt tokens of each turn of a session: the context so far, the response included, and what is new. */
export function promptTokens(session: AgenticSession, scale: PromptScale): number[] {
  const base = (agentBlocksOf(session, scale) + PROJECT_BLOCKS) * BLOCK_TOKENS;
  const lengths: number[] = [];
  let context = base;
  for (const turn of session.turns) {
    if (turn.restarts) context = base;
    context += Math.max(1, Math.round(turn.fresh * scale.freshScale));
    lengths.push(context);
    context += turn.output;
  }
  return lengths;
}

/**
 * The scale that gives the published mean prompt, and of all such scales the one whose reuse inside sessions is nearest
 * to the published share: longer system prompts mean more reuse between sessions, and fewer tokens for all else.
 */
export function promptScale(sessions: readonly AgenticSession[]): PromptScale {
  let best: PromptScale | undefined;
  let smallest = Number.POSITIVE_INFINITY;
  for (let agentBlocks = 1; agentBlocks <= MOST_AGENT_BLOCKS; agentBlocks++) {
    const scale = { agentBlocks, freshScale: freshScaleFor(sessions, agentBlocks) };
    if (scale.freshScale <= 0) break;
    const miss = Math.abs(insideShare(sessions, scale) - PUBLISHED.insideShare);
    if (miss >= smallest) continue;
    smallest = miss;
    best = scale;
  }
  return best!;
}

/** Prompt lengths are linear in the scale of what is new. */
function freshScaleFor(sessions: readonly AgenticSession[], agentBlocks: number): number {
  let fixed = 0;
  let scaled = 0;
  let turns = 0;
  for (const session of sessions) {
    const lengths = promptTokens(session, { agentBlocks, freshScale: 0 });
    let fresh = 0;
    // A turn adds at least one token, which a scale of 0 leaves in `lengths`.
    let least = 0;
    session.turns.forEach((turn, i) => {
      fresh = turn.restarts ? turn.fresh : fresh + turn.fresh;
      least = turn.restarts ? 1 : least + 1;
      fixed += lengths[i]! - least;
      scaled += fresh;
    });
    turns += lengths.length;
  }
  return (PUBLISHED.meanInput * turns - fixed) / scaled;
}

/** Of the blocks a prompt shares with earlier ones, those it shares with its own session's. */
function insideShare(sessions: readonly AgenticSession[], scale: PromptScale): number {
  let inside = 0;
  let across = 0;
  const firstOf = new Set<number>();
  for (const session of sessions) {
    const lengths = promptTokens(session, scale);
    const shared = agentBlocksOf(session, scale);
    // The first session of an agent finds nothing; which session that is does not matter here.
    if (firstOf.has(session.agent)) across += shared;
    firstOf.add(session.agent);
    for (let i = 1; i < lengths.length; i++) {
      inside += session.turns[i]!.restarts ? shared + PROJECT_BLOCKS : Math.floor(lengths[i - 1]! / BLOCK_TOKENS);
    }
  }
  return inside / (inside + across);
}
