import { badSockets } from '../errors.js';

/** Listening sockets that the service manager has opened and keeps open over restarts; null: open the port here. */
export interface InheritedSockets {
  readonly public: number | null;
  readonly admin: number | null;
}

export const NO_SOCKETS: InheritedSockets = { public: null, admin: null };
/** The first descriptor that systemd passes, by sd_listen_fds(3). */
const FIRST = 3;
const MOST = 2;

/**
 * The sockets of systemd's socket activation: the first is the port for clients, a second one the admin port. The variables
 * are removed, since they are not meant for child processes.
 */
export function takeInheritedSockets(env: NodeJS.ProcessEnv, pid: number): InheritedSockets {
  const { LISTEN_FDS, LISTEN_PID } = env;
  for (const name of ['LISTEN_FDS', 'LISTEN_PID', 'LISTEN_FDNAMES']) delete env[name];
  if (LISTEN_FDS === undefined || LISTEN_PID !== String(pid)) return NO_SOCKETS;
  const count = Number(LISTEN_FDS);
  if (!Number.isInteger(count) || count < 1 || count > MOST) {
    throw badSockets(`is '${LISTEN_FDS}'`, 'pass one socket, for clients, or two, the second for the admin port');
  }
  return { public: FIRST, admin: count > 1 ? FIRST + 1 : null };
}
