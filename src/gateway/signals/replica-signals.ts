import type { EngineReport } from '../../engines/signals.js';

/** The load that a replica reported, and when. */
export interface ReplicaSignals extends EngineReport {
  /** When the response arrived, in the gateway's microseconds. */
  atUs: number;
  /** Names of signals that the engine should have reported and did not. */
  missing: readonly string[];
}
