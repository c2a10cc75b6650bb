import { InputError } from '../../kernel/errors.js';

/** A port of the gateway that is taken or forbidden is a mistake in the input like any other; other errors stay what they are. */
export function cannotListen(error: unknown, adminPort: number): unknown {
  const { code, port, address } = error as NodeJS.ErrnoException & { port?: number; address?: string };
  const isAdmin = port !== undefined && port === adminPort;
  if (code === 'EADDRINUSE') {
    const hint = 'give another port, or 0 for a free one';
    return new InputError('PORT_TAKEN', isAdmin ? '--admin-port' : '--port', `${address}:${port} is taken`, hint);
  }
  if (code === 'EACCES' || code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') {
    const problem = `cannot listen on ${address ?? 'it'} (${code})`;
    return new InputError('ADDRESS_REFUSED', '--host', problem, 'give another address or port');
  }
  return error;
}
