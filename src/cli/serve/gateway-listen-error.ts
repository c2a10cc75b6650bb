import type { GatewayConfig } from '../../gateway/config/gateway-config.js';
import { listenError } from '../../kernel/listen-error.js';

/** A gateway has two ports; Node's error has the number of the one that failed. */
export function gatewayListenError(
  error: unknown,
  { admin, listen }: Pick<GatewayConfig, 'admin' | 'listen'>,
): unknown {
  const { port } = error as { port?: number };
  const isAdmin = port === admin.port && port !== listen.port;
  const { host } = isAdmin ? admin : listen;
  return listenError(error, { host, port: port ?? listen.port, portFlag: isAdmin ? '--admin-port' : '--port' });
}
