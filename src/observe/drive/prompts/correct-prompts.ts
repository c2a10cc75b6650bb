import type { RequestTable } from '../../../workload/request-table.js';
import type { PromptBuilder } from './prompt-builder.js';
import type { TokenScale } from './token-scale.js';
import type { Tokenizer } from './tokenizer.js';

/** If this many prompts of a plan are exact, all are: they consist of the same words. */
const SAMPLE = 16;
/** Questions at the same time, and changes to one prompt. */
const AT_ONCE = 8;
const TRIES = 4;

/**
 * Counts the prompts of a plan with the server's tokenizer and corrects those that are too long or too short; returns
 * how many were counted. Turns that need a response first cannot be counted.
 */
export async function correctPrompts(
  table: RequestTable,
  prompts: PromptBuilder,
  tokenize: Tokenizer,
  { uncountedTokens }: TokenScale,
): Promise<number> {
  const rows = Array.from({ length: table.count }, (_, row) => row).filter((row) => !prompts.continues(row));
  /** Whether the prompt was right at once. */
  const correct = async (row: number): Promise<boolean> => {
    const wanted = table.inputTokens[row]! - uncountedTokens;
    let least = { off: Number.POSITIVE_INFINITY, change: 0 };
    let change = 0;
    for (let i = 0; i < TRIES; i++) {
      prompts.correct(row, change);
      const counted = await tokenize(prompts.turns(row));
      const off = counted === null ? 0 : wanted - counted.count;
      if (off === 0) return i === 0;
      if (Math.abs(off) < least.off) least = { off: Math.abs(off), change };
      change += off;
    }
    prompts.correct(row, least.change);
    return false;
  };
  const step = Math.max(1, Math.floor(rows.length / SAMPLE));
  const sample = rows.filter((_, i) => i % step === 0).slice(0, SAMPLE);
  const exact = await Promise.all(sample.map(correct));
  if (exact.every(Boolean)) return sample.length;
  const left = rows.filter((row) => !sample.includes(row));
  const worker = async () => {
    for (let row = left.pop(); row !== undefined; row = left.pop()) await correct(row);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return rows.length;
}
