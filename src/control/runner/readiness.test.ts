import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, test, vi } from 'vitest';
import { Readiness, responds } from './readiness.js';

/** Returns the listed responses, then none, and the states reported for them. */
function heard(list: readonly boolean[], failures: number): Promise<(boolean | number)[]> {
  return new Promise((resolve) => {
    const reports: (boolean | number)[] = [];
    let checks = 0;
    const ask = async () => {
      if (checks === list.length) {
        readiness.stop();
        resolve(reports);
      }
      return list[checks++] ?? false;
    };
    const readiness = new Readiness(ask, { everyMs: 0, timeoutMs: 0, failures }, (isReady) =>
      reports.push(checks, isReady),
    );
    void readiness.start();
  });
}

describe('readiness', () => {
  test('begins with the first successful check and ends after consecutive failures', async () => {
    const list = [false, false, true, true, false, true, false, false, false, true];
    expect(await heard(list, 2)).toEqual([3, true, 8, false, 10, true]);
    expect(await heard(list, 1)).toEqual([3, true, 5, false, 6, true, 7, false, 10, true]);
    expect(await heard([false, false, false], 1)).toEqual([]);
  });

  test('can be stopped by its listener, or during a check', async () => {
    vi.useFakeTimers();
    try {
      const timing = { everyMs: 0, timeoutMs: 0, failures: 1 };
      const readiness = new Readiness(
        async () => true,
        timing,
        () => readiness.stop(),
      );
      await readiness.start();
      expect([readiness.isReady, vi.getTimerCount()]).toEqual([true, 0]);
      const stopped = new Readiness(
        async () => true,
        timing,
        () => expect.unreachable('it was stopped'),
      );
      const answered = stopped.start();
      stopped.stop();
      await answered;
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });
});

describe('a check', () => {
  test('succeeds with a status of 2xx within the time-out', async () => {
    const server = createServer((request, response) => {
      if (request.url !== '/never') response.writeHead(Number(request.url!.slice(1))).end('x'.repeat(100_000));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    expect(await responds(`${url}/200`, 60_000)).toBe(true);
    expect(await responds(`${url}/204`, 60_000)).toBe(true);
    expect(await responds(`${url}/302`, 60_000)).toBe(false);
    expect(await responds(`${url}/503`, 60_000)).toBe(false);
    expect(await responds(`${url}/never`, 5)).toBe(false);
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
    expect(await responds(`${url}/200`, 60_000)).toBe(false);
  });
});
