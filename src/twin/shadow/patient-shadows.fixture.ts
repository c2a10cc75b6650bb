import type { Gateway } from '../../gateway/gateway.js';
import { ShadowBoard } from './shadow-board.js';
import type { ShadowClock } from './shadow-clock.js';

/** Nothing takes any time: no decision is dropped, however slow the machine is. */
const PATIENT: ShadowClock = {
  later: (run) => void setImmediate(run),
  soon: (run) => void setImmediate(run),
  usedUs: () => 0,
  isBusy: () => false,
};

/** Shadows for a test that waits for their decisions; before the API of the gateway is served. */
export function installPatientShadows(gateway: Gateway): void {
  const { clock, config, fleet } = gateway;
  const fault = (error: unknown) => gateway.fault(error);
  fleet.installShadows(new ShadowBoard({ seed: config.seed, nowUs: clock.nowUs, fault, clock: PATIENT }));
}
