import { describe, expect, test } from 'vitest';
import { listenError } from './listen-error.js';

const place = { host: '127.0.0.1', port: 80, portFlag: '--port' };
const failed = (code: string) => Object.assign(new Error(`listen ${code}`), { code });

describe('listenError', () => {
  test.each([
    ['EADDRINUSE', '--port: port 80 of 127.0.0.1 is already in use; choose another port, or 0 for a free one'],
    [
      'EACCES',
      '--port: no permission to listen on port 80; choose a port from 1024 on, or run with the capability CAP_NET_BIND_SERVICE',
    ],
    [
      'EADDRNOTAVAIL',
      "--host: '127.0.0.1' is not an address of this machine; give one of its addresses, or 0.0.0.0 for all",
    ],
  ])('%s has a hint', (code, message) => {
    expect(listenError(failed(code), place)).toMatchObject({ message });
  });

  test('leaves other errors alone', () => {
    const error = failed('EIO');
    expect(listenError(error, place)).toBe(error);
  });
});
