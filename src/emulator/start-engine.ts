import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { listenError } from '../kernel/listen-error.js';
import { Engine, type EngineStats } from './engine.js';
import type { EngineOptions } from './engine-options.js';
import type { Faults } from './faults.js';
import { dispatch } from './http/dispatch.js';
import { EngineExchange } from './http/engine-exchange.js';

/** How long an idle connection is kept, in milliseconds: longer than clients keep theirs. */
const KEEP_ALIVE_MS = 75_000;

/** An engine that listens. */
export interface RunningEngine {
  /** Without a slash at its end. */
  url: string;
  port: number;
  /** Changes the named faults from now on. */
  faults(changes: Partial<Faults>): void;
  stats(): EngineStats;
  /** Stops listening, gives requests `graceMs` milliseconds to end, then aborts them. Resolves when all have ended. */
  close(graceMs?: number): Promise<void>;
}

/** Starts an engine and resolves when it listens. Any number of engines can run in one process. */
export async function startEngine(options: EngineOptions): Promise<RunningEngine> {
  const engine = new Engine(options);
  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, (request, response) => {
    dispatch(new EngineExchange(engine, request, response));
    // A connection that outlives the last request would keep a closing server open.
    response.on('close', () => {
      if (engine.isClosing) setImmediate(() => server.closeIdleConnections());
    });
  });
  const { host, port } = engine.options;
  server.listen(port, host);
  try {
    await once(server, 'listening');
  } catch (error) {
    throw listenError(error, { host, port, portFlag: '--port' });
  }
  const address = server.address() as AddressInfo;
  const shown = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  return {
    url: `http://${shown}:${address.port}`,
    port: address.port,
    faults: (changes) => engine.setFaults({ ...engine.dice.settings, ...changes }),
    stats: () => engine.stats(),
    close: closing(engine, server),
  };
}

function closing(engine: Engine, server: Server): RunningEngine['close'] {
  let closed: Promise<unknown> | undefined;
  return async (graceMs = 0) => {
    engine.isClosing = true;
    const breakOff = () => server.closeAllConnections();
    const timer = setTimeout(breakOff, graceMs);
    if (closed === undefined) {
      closed = once(server, 'close');
      server.close();
    }
    if (graceMs === 0) breakOff();
    await closed;
    clearTimeout(timer);
    engine.live.freeze();
  };
}
