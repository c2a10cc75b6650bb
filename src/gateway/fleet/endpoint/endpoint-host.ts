import type { GatewayConfig } from '../../config/gateway-config.js';
import type { DecisionLog } from '../../decisions/decision-log.js';
import type { DecisionRing } from '../../decisions/decision-ring.js';
import type { NewAlarm } from '../../flow/alarm.js';
import type { GatewayMetrics } from '../../telemetry/gateway-metrics.js';
import type { ShadowPort } from './shadow-port.js';

/** What an endpoint needs of its gateway. */
export interface EndpointHost {
  /** Replaced when the gateway reloads. */
  config: Pick<GatewayConfig, 'seed' | 'signals' | 'slowStartMs' | 'timeouts' | 'waitMs'>;
  metrics: Pick<GatewayMetrics, 'decisions' | 'decisionRow'>;
  ring: DecisionRing;
  log: DecisionLog | null;
  /** Null or absent where there are no shadow policies. */
  shadows?: ShadowPort | null;
  /** Prints a line that operators should see. */
  warn: (line: string) => void;
  /** The gateway's clock, microseconds from its start. */
  nowUs: () => number;
  /** Real time unless set by a test. */
  newAlarm?: NewAlarm;
}
