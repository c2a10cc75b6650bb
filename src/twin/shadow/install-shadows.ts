import type { Gateway } from '../../gateway/gateway.js';
import { ShadowBoard } from './shadow-board.js';

/** Lets shadow policies follow the endpoints of a gateway: those of its configuration at once, others when they are added. */
export function installShadows(gateway: Pick<Gateway, 'clock' | 'config' | 'fault' | 'fleet'>): void {
  const { clock, config, fleet } = gateway;
  if (fleet.shadows !== null) return;
  const fault = (error: unknown) => gateway.fault(error);
  fleet.installShadows(new ShadowBoard({ seed: config.seed, nowUs: clock.nowUs, fault }));
}
