import { InputError } from './errors.js';

/** Where a server was to listen, and the flag that chooses its port. */
export interface ListenPlace {
  readonly host: string;
  readonly port: number;
  readonly portFlag: string;
}

/** A port that is in use or forbidden, and an address of another machine, are wrong input; other errors stay what they are. */
export function listenError(error: unknown, { host, port, portFlag }: ListenPlace): unknown {
  const { code } = error as NodeJS.ErrnoException;
  switch (code) {
    case 'EADDRINUSE': {
      const problem = `port ${port} of ${host} is already in use`;
      return new InputError('PORT_TAKEN', portFlag, problem, 'choose another port, or 0 for a free one');
    }
    case 'EACCES': {
      const hint = 'choose a port from 1024 on, or run with the capability CAP_NET_BIND_SERVICE';
      return new InputError('PORT_FORBIDDEN', portFlag, `no permission to listen on port ${port}`, hint);
    }
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND': {
      const problem = `'${host}' is not an address of this machine`;
      return new InputError('ADDRESS_REFUSED', '--host', problem, 'give one of its addresses, or 0.0.0.0 for all');
    }
    default:
      return error;
  }
}
