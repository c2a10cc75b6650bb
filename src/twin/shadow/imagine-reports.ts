import type { FleetView } from '../../policy/fleet-view.js';

/**
 * Fills in what replicas would report if they had the requests of the imagined view. KV use is in proportion to the tokens in
 * flight, as it is in the real fleet. A replica that really has a queue shows how many requests run at once: more of them wait.
 */
export function imagineReports(real: FleetView, imagined: FleetView): void {
  const { size } = real;
  let kvUsed = 0;
  let tokens = 0;
  let seats = 0;
  for (let slot = 0; slot < size; slot++) {
    kvUsed += real.kvUsed[slot]!;
    tokens += real.ongoingTokens[slot]!;
    if (real.queued[slot]! > 0) seats = Math.max(seats, real.running[slot]!);
  }
  const kvPerToken = tokens > 0 ? kvUsed / tokens : 0;
  for (let slot = 0; slot < size; slot++) {
    const inFlight = imagined.inFlight[slot]!;
    const running = seats > 0 ? Math.min(seats, inFlight) : inFlight;
    const used = Math.min(1, imagined.ongoingTokens[slot]! * kvPerToken);
    const realUsed = real.kvUsed[slot]!;
    imagined.running[slot] = running;
    imagined.queued[slot] = inFlight - running;
    imagined.kvUsed[slot] = used;
    const blocks = realUsed < 1 ? real.freeBlocks[slot]! / (1 - realUsed) : 0;
    imagined.freeBlocks[slot] = Math.round(blocks * (1 - used));
    imagined.cacheHitRate[slot] = real.cacheHitRate[slot]!;
    imagined.reportedAgeUs[slot] = real.reportedAgeUs[slot]!;
  }
}
