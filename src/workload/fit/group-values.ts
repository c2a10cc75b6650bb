import type { RequestTable } from '../request-table.js';
import { type FoundSessions, rowGrowsContext } from './find-sessions.js';
import { type SessionGroup, turnsOf } from './session-groups.js';

/** The measured values of a group's sessions. */
export interface GroupValues {
  firstInputs: Float64Array;
  /** What later turns add. */
  laterInputs: Float64Array;
  outputs: Float64Array;
  rounds: Float64Array;
  pauses: Float64Array;
  /** The prompts of later turns start with the session so far. */
  grows: boolean;
}

/** @param prefix tokens that all prompts of the group start with */
export function groupValues(
  table: RequestTable,
  chats: FoundSessions,
  prefix: number,
  group: SessionGroup,
): GroupValues {
  const { arrivalUs, inputTokens, outputTokens } = table;
  const first: number[] = [];
  const later: number[] = [];
  const outputs: number[] = [];
  const rounds: number[] = [];
  const pauses: number[] = [];
  let grows = false;
  for (const chat of group.chats) {
    rounds.push(turnsOf(chats, chat));
    for (let i = chats.begin[chat]!; i < chats.begin[chat + 1]!; i++) {
      const row = chats.rows[i]!;
      outputs.push(Math.max(1, outputTokens[row]!));
      if (i === chats.begin[chat]) {
        first.push(Math.max(1, inputTokens[row]! - prefix));
        continue;
      }
      const before = chats.rows[i - 1]!;
      const rowGrows = rowGrowsContext(table, row);
      grows ||= rowGrows;
      // As the generator builds them: the context is the prompt before and its response without the last token.
      const past = rowGrows ? inputTokens[before]! + Math.max(0, outputTokens[before]! - 1) : prefix;
      later.push(Math.max(1, inputTokens[row]! - past));
      pauses.push(Math.max(0, Math.round(arrivalUs[row]! - arrivalUs[before]! - outputTokens[before]!)));
    }
  }
  return {
    firstInputs: Float64Array.from(first),
    laterInputs: Float64Array.from(later),
    outputs: Float64Array.from(outputs),
    rounds: Float64Array.from(rounds),
    pauses: Float64Array.from(pauses),
    grows,
  };
}
