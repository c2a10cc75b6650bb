import { connect } from 'node:net';
import { DEFAULT_WORKSPACE } from '../../control/resources/resource.js';
import { RunError } from '../../kernel/errors.js';
import { ApiClient } from '../api/api-client.js';
import { findServer, type Server, workspaceFor } from '../api/find-server.js';
import { HttpTransport } from '../api/http-transport.js';
import { serverFlags, workspaceFlags } from '../api/server-flags.js';
import { conflictingFlags } from '../errors.js';
import type { FlagValues } from '../flags/flag.js';
import { choiceFlag } from '../flags/kinds.js';
import type { CliIo } from '../io.js';
import { classesIn, storeFlags, withStore } from './flags/store-flags.js';
import { KeyApi } from './key-api.js';

/** The keys of a command: through the API of a gateway, or in a store. */
const placeFlags = { ...workspaceFlags, ...serverFlags, ...storeFlags };

/** How a command prints a key. */
const formatFlags = {
  format: choiceFlag({ default: 'table', known: ['table', 'json'], help: 'output format' }),
};

/** The flags of every command on keys. */
export const keyApiFlags = { ...placeFlags, ...formatFlags };

/** The same in groups, for help. */
export const KEY_API_GROUPS = [
  { title: 'Workspace', flags: workspaceFlags },
  { title: 'Server', flags: serverFlags },
  { title: 'Store', flags: storeFlags },
];

export const FORMAT_GROUP = { title: 'Output', flags: formatFlags };

type PlaceValues = FlagValues<typeof placeFlags>['values'];

/**
 * Works on the keys of a gateway, through its API, or on those of a store where one is named or no local gateway is running.
 * @param create whether a store that does not exist is created
 */
export async function withKeys<Result>(
  values: PlaceValues,
  io: CliIo,
  create: boolean,
  work: (keys: KeyApi) => Promise<Result>,
): Promise<Result> {
  const server = serverOf(values, io);
  const isLeftOver = server !== null && !namesServer(values) && (await refusesConnections(server));
  if (server !== null && !isLeftOver) {
    return work(new KeyApi(new ApiClient(new HttpTransport(server)), workspaceFor(values, io)));
  }
  if (isLeftOver) {
    io.stderr.write(`twinyard: the gateway recorded in ${server.recordedIn} is not running: using the store itself\n`);
  }
  const { StoreTransport } = await import('../api/store-transport.js');
  const workspace = values.workspace ?? DEFAULT_WORKSPACE;
  const classes = values.config === null ? [] : await classesIn(values.config);
  return withStore(values, io, create, (store) =>
    work(new KeyApi(new ApiClient(new StoreTransport(store, classes)), workspace)),
  );
}

const namesServer = (values: PlaceValues) =>
  values.server !== null || values.token !== null || values['data-dir'] !== null || values.context !== null;

/** A gateway; null where a store is named, or no gateway is. */
function serverOf(values: PlaceValues, io: CliIo): Server | null {
  const isStore = values.store !== null || values.config !== null;
  const isServer = namesServer(values);
  if (isStore && isServer) {
    const flag = values.store === null ? '--config' : '--store';
    throw conflictingFlags(flag, 'is given together with a server', 'name a store or a server');
  }
  if (isStore || (!isServer && io.env.TWINYARD_STORE !== undefined)) return null;
  try {
    return findServer(values, io);
  } catch (error) {
    if (!isServer && error instanceof RunError && error.code === 'SERVER_UNNAMED') return null;
    throw error;
  }
}

/** The admin.json of a gateway that was killed remains: nothing listens at its address. */
function refusesConnections({ recordedIn, url }: Server): Promise<boolean> {
  if (recordedIn === undefined) return Promise.resolve(false);
  const { hostname, port, protocol } = new URL(url);
  return new Promise((resolve) => {
    const host = hostname.replace(/^\[|\]$/g, '');
    const socket = connect({ host, port: Number(port) || (protocol === 'https:' ? 443 : 80) });
    socket.once('connect', () => {
      socket.destroy();
      resolve(false);
    });
    socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code === 'ECONNREFUSED'));
  });
}
