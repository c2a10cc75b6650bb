import type { Gateway } from '../../gateway/gateway.js';
import { installShadows } from './install-shadows.js';
import type { ShadowClock } from './time/shadow-clock.js';

/** Nothing takes any time: no decision is dropped, however slow the machine is. */
const PATIENT: ShadowClock = {
  later: (run) => void setImmediate(run),
  soon: (run) => void setImmediate(run),
  usedUs: () => 0,
  isBusy: () => false,
};

/** Shadows for a test that waits for their decisions; before the API of the gateway is served. */
export function installPatientShadows(gateway: Gateway): void {
  installShadows(gateway, { clock: PATIENT });
}
