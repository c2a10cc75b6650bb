import { RunError } from '../../kernel/errors.js';
import { type PlainError, thrownError } from '../runs/worker-message.js';

/** The error of a shard as its worker threw it, with the shard that is to blame. */
export function shardError(hash: string, reason: string): Error {
  try {
    return thrownError(JSON.parse(reason) as PlainError);
  } catch {
    const problem = /stalled/.test(reason) ? 'its workers ended or hung again and again' : reason;
    return new RunError('SHARD_FAILED', `shard ${hash.slice(0, 12)} failed: ${problem}`);
  }
}
