import { randomStream, type SavableStream } from '../../kernel/random-stream.js';

/**
 * The random streams of a host: one per purpose, so that a draw of one does not move another. The names are part of every
 * result and decision log. `weights` is drawn from by live endpoints whose replicas have weights, before the policy chooses.
 */
export function policyStream(seed: number, purpose: 'router' | 'admission' | `weights/${string}`): SavableStream {
  return randomStream(seed, purpose);
}
