import { expect, it } from 'vitest';
import { GatewayMetrics } from './gateway-metrics.js';

it('counts by what it is told, and forgets replicas that left', () => {
  const metrics = new GatewayMetrics();
  for (const outcome of ['ok', 'ok', 'timeout'] as const) metrics.ended(outcome);
  for (const status of [404, 404, 503]) metrics.refused(status);
  for (const replica of ['a', 'a', 'b']) {
    metrics.scrapeFailed(replica);
    metrics.signalMissing(replica, 'kvUsed');
  }
  metrics.signalMissing('a', 'waiting');
  metrics.forget('b');
  expect(Object.fromEntries(metrics.outcomes)).toEqual({ ok: 2, timeout: 1 });
  expect(Object.fromEntries(metrics.refusals)).toEqual({ 404: 2, 503: 1 });
  expect([...metrics.failedScrapes]).toEqual([['a', 2]]);
  expect([...metrics.missingSignals].map(([replica, signals]) => [replica, Object.fromEntries(signals)])).toEqual([
    ['a', { kvUsed: 2, waiting: 1 }],
  ]);
});
