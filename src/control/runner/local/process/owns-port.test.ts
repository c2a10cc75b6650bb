import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect, test } from 'vitest';
import { listeners, ownsPort } from './owns-port.js';

test.each(['127.0.0.1', '0.0.0.0', undefined])('finds the process that listens at %s', async (address) => {
  const server = createServer().listen(0, address);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const other = spawn('sleep', ['1000']);
  await once(other, 'spawn');
  expect(await ownsPort(port, [other.pid!])).toBe(false);
  expect(await ownsPort(port, [])).toBe(false);
  expect(await ownsPort(port, [other.pid!, process.pid])).toBe(true);
  other.kill('SIGKILL');
  await once(other, 'exit');
  expect(await ownsPort(port, [other.pid!])).toBe(false);
  server.close();
  await once(server, 'close');
  // The owner is unknown: an engine in another network namespace is not visible.
  expect(await ownsPort(port, [process.pid])).toBe(true);
});

test('reads the socket table of the kernel', () => {
  const line = (local: string, state: string, inode: number) =>
    `   0: ${local} 00000000:0000 ${state} 00000000:00000000 00:00000000 00000000     0        0 ${inode} 1 0 100 0 0 10 0`;
  const table = [
    '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode',
    line('0100007F:1F90', '0A', 1),
    line('0100007F:1F90', '01', 2),
    line('0100007F:1F91', '0A', 3),
    line('0101A8C0:1F90', '0A', 4),
    line('00000000:1F90', '0A', 5),
    '',
  ].join('\n');
  expect(listeners(table, 8080)).toEqual(['1', '5']);
  expect(listeners('', 8080)).toEqual([]);
});
