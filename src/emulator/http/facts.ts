import { ApiError } from '../../protocol/errors.js';
import type { JsonObject } from '../../protocol/json/json-body.js';
import { PROMETHEUS_TYPE } from '../../protocol/prometheus/exposition.js';
import { changedFaults, faultsBody } from '../faults.js';
import type { EngineExchange } from './engine-exchange.js';

/** The version of vLLM whose surface this is. */
const VERSION = '0.11.0';

/** `GET /health`, `/ping`: whether requests can be sent. */
export function health(exchange: EngineExchange): void {
  exchange.sendText(200, 'text/plain', '');
}

/** `GET /version` */
export function showVersion(exchange: EngineExchange): void {
  exchange.sendJson(200, { version: VERSION });
}

/** `GET /v1/models` */
export function models(exchange: EngineExchange): void {
  const { modelName, config } = exchange.engine.options;
  const model = {
    id: modelName,
    object: 'model',
    created: exchange.created,
    owned_by: 'vllm',
    root: config.model,
    parent: null,
    max_model_len: config.maxModelLen,
  };
  exchange.sendJson(200, { object: 'list', data: [model] });
}

/** `GET /metrics` */
export function metrics(exchange: EngineExchange): void {
  exchange.sendText(200, PROMETHEUS_TYPE, exchange.engine.metrics.text());
}

/** `GET /admin/faults` */
export function showFaults(exchange: EngineExchange): void {
  checkLoopback(exchange);
  exchange.sendJson(200, faultsBody(exchange.engine.dice.settings));
}

/** `POST /admin/faults` */
export function changeFaults(exchange: EngineExchange, body: JsonObject): void {
  checkLoopback(exchange);
  const { engine } = exchange;
  engine.setFaults(changedFaults(engine.dice.settings, body));
  exchange.sendJson(200, faultsBody(engine.dice.settings));
}

/** Faults can be set from this machine only. */
function checkLoopback({ request }: EngineExchange): void {
  const from = request.socket.remoteAddress ?? '';
  if (/^(::ffff:)?127\./.test(from) || from === '::1') return;
  throw new ApiError('forbidden', 'Faults can be set from the same machine only.');
}
