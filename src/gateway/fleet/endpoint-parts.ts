import type { GatewayConfig } from '../config/gateway-config.js';
import type { DecisionLog } from '../decisions/decision-log.js';
import type { DecisionRing } from '../decisions/decision-ring.js';
import type { NewAlarm } from '../flow/alarm.js';

/** What an endpoint has from its gateway. */
export interface EndpointParts {
  /** Replaced when the gateway reloads. */
  config: Pick<GatewayConfig, 'seed' | 'signals' | 'slowStartMs' | 'waitMs'>;
  ring: DecisionRing;
  log: DecisionLog | null;
  /** The gateway's clock, microseconds from its start. */
  nowUs: () => number;
  /** By the clock on the wall unless told otherwise. */
  newAlarm?: NewAlarm;
}
