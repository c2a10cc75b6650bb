import type { Access } from '../access/access.js';
import type { AccessKey } from '../access/keys/access-key.js';
import type { GatewayConfig } from '../config/gateway-config.js';
import type { HttpRequest } from '../http/http-request.js';
import type { HttpResponse } from '../http/http-response.js';
import type { Journalled } from '../metering/commit-turn.js';
import type { MeterPool } from '../metering/response-meter.js';
import type { ObservedEngines } from '../prediction/observed-engines.js';
import type { TrafficRecorder } from '../recording/traffic-recorder.js';
import type { FinishedRequest } from '../request/request-record.js';
import type { GatewayMetrics } from '../telemetry/gateway-metrics.js';
import type { TraceContext } from '../telemetry/tracing/trace-context.js';
import type { Exchange } from './exchange.js';
import type { ExchangeList } from './exchange-list.js';
import type { ResponseHolders } from './response-holders.js';
import type { RetryBudget } from './retry-budget.js';

/** What a gateway does with requests besides passing them on. */
export interface RequestServices {
  /** Null where no API keys are required. */
  readonly access: Access | null;
  /** Null where requests are not recorded. */
  readonly recorder: TrafficRecorder | null;
  /**
   * Records the usage of a request; `waiter.journalled` is called, perhaps at once, when it is durable.
   */
  note(request: FinishedRequest, waiter: Journalled): void;
}

/** What an exchange needs of its gateway. */
export interface ExchangeHost {
  readonly config: Pick<GatewayConfig, 'retries'>;
  readonly services: RequestServices;
  readonly budget: RetryBudget;
  readonly metrics: GatewayMetrics;
  readonly meters: MeterPool;
  /** Where stored responses are. */
  readonly responses: ResponseHolders;
  /** What requests show of their engines. */
  readonly observed: ObservedEngines;
  /** The exchanges under way. */
  readonly exchanges: ExchangeList;
  /** The gateway accepts no more requests: connections close with their responses. */
  readonly isDraining: boolean;
  nowUs(): number;
  /** A number in [0, 1) from the gateway's seeded stream. */
  jitter(): number;
  /** Reports a bug. */
  fault(error: unknown): void;
  /** Called once for each exchange. */
  ended(exchange: Exchange): void;
}

/** The parts of a request that are passed on. */
export interface ExchangeParts {
  request: HttpRequest;
  response: HttpResponse;
  path: string;
  body: Buffer;
  /** The gateway requested the usage at the end of the stream: the client does not get it. */
  strips: boolean;
  /** Null where no API keys are required. */
  key: AccessKey | null;
  /** Null when the request is not traced. */
  trace: TraceContext | null;
  /** Called once, when the body is no longer needed. */
  release: () => void;
}
