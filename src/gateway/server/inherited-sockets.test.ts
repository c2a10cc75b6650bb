import { expect, test } from 'vitest';
import { NO_SOCKETS, takeInheritedSockets } from './inherited-sockets.js';

test('takes the sockets that were passed to this process, and removes their variables', () => {
  const env = { LISTEN_FDS: '1', LISTEN_PID: '7', LISTEN_FDNAMES: 'a', PATH: '/bin' };
  expect(takeInheritedSockets(env, 7)).toEqual({ public: 3, admin: null });
  expect(env).toEqual({ PATH: '/bin' });
  expect(takeInheritedSockets({ LISTEN_FDS: '2', LISTEN_PID: '7' }, 7)).toEqual({ public: 3, admin: 4 });
});

test('takes none that were passed to another process, and refuses a number that it has no use for', () => {
  expect(takeInheritedSockets({}, 7)).toEqual(NO_SOCKETS);
  expect(takeInheritedSockets({ LISTEN_FDS: '1', LISTEN_PID: '8' }, 7)).toEqual(NO_SOCKETS);
  for (const count of ['0', '3', 'x']) {
    const take = () => takeInheritedSockets({ LISTEN_FDS: count, LISTEN_PID: '7' }, 7);
    expect(take).toThrow(/^LISTEN_FDS: is '.'; pass one socket, for clients, or two/);
  }
});
