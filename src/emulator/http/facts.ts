import { ApiError } from '../../protocol/errors.js';
import type { JsonObject } from '../../protocol/json/json-body.js';
import { PROMETHEUS_TYPE } from '../../protocol/prometheus/exposition.js';
import { unknownModel } from '../errors.js';
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
  exchange.sendJson(200, { object: 'list', data: [modelCard(exchange)] });
}

/** `GET /v1/models/{id}` */
export function model(exchange: EngineExchange): void {
  const [path = ''] = exchange.request.url!.split('?', 1);
  const name = decodeURIComponent(path.slice('/v1/models/'.length));
  if (name !== exchange.engine.options.modelName) throw unknownModel(name);
  exchange.sendJson(200, modelCard(exchange));
}

function modelCard({ created, engine }: EngineExchange): JsonObject {
  const { modelName, config } = engine.options;
  return {
    id: modelName,
    object: 'model',
    created,
    owned_by: 'vllm',
    root: config.model,
    parent: null,
    max_model_len: config.maxModelLen,
  };
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
