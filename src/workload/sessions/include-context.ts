import { type RequestTable, ROW_GROWS_CONTEXT } from '../request-table.js';

/** Lets every turn of a session start with the session so far, where the lengths of prompts already include it. */
export function includeContext(table: RequestTable): void {
  const { contextTokens, count, flags, inputTokens, outputTokens, session, sessions } = table;
  while (contextTokens.length < sessions.size) contextTokens.push(0);
  for (let row = 0; row < count; row++) {
    const chat = session[row]!;
    if (chat === 0) continue;
    flags[row]! |= ROW_GROWS_CONTEXT;
    contextTokens[chat] = Math.max(contextTokens[chat]!, inputTokens[row]! + outputTokens[row]!);
  }
}
