import type { GatewayConfig, ListenConfig } from './gateway-config.js';

/** What a running gateway makes of a configuration that it has read again. */
export interface Reload {
  config: GatewayConfig;
  /** Keys that have changed and hold only from the next start on. */
  needsRestart: string[];
}

/** The new configuration, except for what is settled when a gateway starts: its ports, the sizes of its buffers, its files. */
export function reloadConfig(before: GatewayConfig, after: GatewayConfig): Reload {
  const { connections, decisions, headerBytes } = before.limits;
  const { headersMs, bodyMs } = before.timeouts;
  const config: GatewayConfig = {
    ...after,
    listen: sameListener(before.listen, after.listen),
    admin: sameListener(before.admin, after.admin),
    limits: { ...after.limits, connections, decisions, headerBytes },
    timeouts: { ...after.timeouts, headersMs, bodyMs },
    access: { ...after.access, keys: before.access.keys },
    decisionLog: before.decisionLog,
    store: before.store,
    dataDir: before.dataDir,
    record: before.record,
    accessLog: before.accessLog,
    tracing: before.tracing,
    seed: before.seed,
  };
  const settled: [key: string, of: (config: GatewayConfig) => unknown][] = [
    ['listen', ({ listen }) => listen],
    ['admin', ({ admin }) => admin],
    ['limits.decisions', ({ limits }) => limits.decisions],
    ['limits.header_bytes', ({ limits }) => limits.headerBytes],
    ['limits.connections', ({ limits }) => limits.connections],
    ['timeouts.headers_ms', ({ timeouts }) => timeouts.headersMs],
    ['timeouts.body_ms', ({ timeouts }) => timeouts.bodyMs],
    ['decision_log', ({ decisionLog }) => decisionLog],
    ['store', ({ store }) => store],
    ['data_dir', ({ dataDir }) => dataDir],
    ['access.keys', ({ access }) => access.keys],
    ['record', ({ record }) => record],
    ['access_log', ({ accessLog }) => accessLog],
    ['tracing', ({ tracing }) => tracing],
    ['seed', ({ seed }) => seed],
  ];
  const differs = (of: (config: GatewayConfig) => unknown) => JSON.stringify(of(config)) !== JSON.stringify(of(after));
  return { config, needsRestart: settled.filter(([, of]) => differs(of)).map(([key]) => key) };
}

/** A port that speaks TLS goes on to, with whatever files. */
function sameListener(before: ListenConfig, after: ListenConfig): ListenConfig {
  return { ...before, tls: before.tls === null || after.tls === null ? before.tls : after.tls };
}
