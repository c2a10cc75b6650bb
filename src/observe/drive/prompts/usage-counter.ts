import { ResponseScanner } from '../../../protocol/response-scanner.js';
import type { TokenCounts } from '../../../protocol/usage.js';
import { serverFails } from '../client/errors.js';
import type { ServerAddress, ServerClient } from '../client/server-client.js';
import type { UsageCounter } from './measure-scale.js';
import { type ApiFormat, FORMAT_PATHS, promptMember } from './prompt-turns.js';

/** A server that fails now and then is still worth measuring. */
const TRIES = 3;

/** Sends whole requests for a single token and reads how long the server found their prompts. Throws when it takes none. */
export function usageCounter(
  client: ServerClient,
  { model, url }: ServerAddress & { model: string },
  format: ApiFormat,
  timeoutMs: number,
): UsageCounter {
  return async (turns) => {
    const body = `{"model":${JSON.stringify(model)},${promptMember(format, turns)},"max_tokens":1}`;
    for (let i = 1; ; i++) {
      const { problem, text } = await client.ask(FORMAT_PATHS[format], timeoutMs, body);
      if (text !== undefined) return promptTokens(text);
      if (i === TRIES || !isPassing(problem.class)) throw serverFails(url, 'a first request', problem);
    }
  };
}

function isPassing(problem: string): boolean {
  return problem === 'cut' || problem.startsWith('http_5');
}

function promptTokens(text: string): number | null {
  const bytes = Buffer.from(text);
  const scanner = new ResponseScanner();
  const counts: TokenCounts = { inputTokens: -1, cachedTokens: -1, outputTokens: -1, reasoningTokens: -1 };
  scanner.push(bytes, 0, bytes.length);
  scanner.readUsage(counts);
  return counts.inputTokens > 0 ? counts.inputTokens : null;
}
