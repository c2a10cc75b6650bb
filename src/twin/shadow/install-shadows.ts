import type { Gateway } from '../../gateway/gateway.js';
import { addEndpointEvent } from '../../gateway/history/endpoint-events.js';
import { type BoardParts, ShadowBoard } from './shadow-board.js';

/** Lets shadow policies follow the endpoints of a gateway: those of its configuration at once, others when they are added. */
export function installShadows(
  gateway: Pick<Gateway, 'clock' | 'config' | 'endpoints' | 'fault' | 'fleet' | 'store'>,
  change: Partial<BoardParts> = {},
): void {
  const { clock, config, fleet } = gateway;
  if (fleet.shadows !== null) return;
  fleet.installShadows(
    new ShadowBoard({
      seed: config.seed,
      nowUs: clock.nowUs,
      fault: (error) => gateway.fault(error),
      event: (endpoint, type, reason, message) => void addEndpointEvent(gateway, endpoint, { type, reason, message }),
      ...change,
    }),
  );
}
