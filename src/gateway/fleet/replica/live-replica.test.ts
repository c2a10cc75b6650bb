import { afterEach, describe, expect, it } from 'vitest';
import { GATEWAY_DEFAULTS } from '../../config/gateway-config.js';
import { LiveReplica } from './live-replica.js';

const made: LiveReplica[] = [];
afterEach(async () => {
  await Promise.all(made.splice(0).map((replica) => replica.close()));
});

function replicaOf(id = 'r'): LiveReplica {
  const replica = new LiveReplica({ id, url: 'http://127.0.0.1:1', engine: 'vllm', models: null }, GATEWAY_DEFAULTS);
  made.push(replica);
  return replica;
}

describe('LiveReplica', () => {
  it('becomes ready with the first good check and unhealthy after bad ones in a row', () => {
    const replica = replicaOf();
    expect(replica.state).toBe('starting');
    replica.unhealthy('loading', 2);
    replica.unhealthy('loading', 2);
    expect([replica.state, replica.problem]).toEqual(['starting', 'loading']);
    replica.healthy(5);
    expect([replica.state, replica.problem, replica.readySinceMs]).toEqual(['ready', '', 5]);
    replica.unhealthy('late', 2);
    expect([replica.state, replica.problem]).toEqual(['ready', 'late']);
    replica.healthy(6);
    expect([replica.problem, replica.readySinceMs]).toEqual(['', 5]);
    replica.unhealthy('late', 2);
    replica.unhealthy('late', 2);
    expect(replica.state).toBe('unhealthy');
    replica.healthy(9);
    expect([replica.state, replica.readySinceMs]).toEqual(['ready', 9]);
  });

  it('does not become ready again once it leaves', () => {
    const replica = replicaOf();
    replica.drain();
    replica.healthy(1);
    replica.unhealthy('x', 1);
    expect([replica.state, replica.problem]).toEqual(['draining', 'leaving the fleet']);
  });

  it('has an id that headers can hold', () => {
    expect(replicaOf('gpu-1').headerId).toBe('gpu-1');
    expect(replicaOf('über\n副').headerId).toBe('?ber??');
  });

  it('applies new timeouts to new connections, and lets the old ones end', async () => {
    const replica = replicaOf();
    const { breaker, timeouts } = GATEWAY_DEFAULTS;
    const first = replica.pool;
    replica.configure({
      breaker: { failures: 1, share: 1, windowMs: 0, openMs: 1 },
      timeouts: { ...timeouts, idleMs: 5, totalMs: 5 },
    });
    expect([replica.pool === first, replica.breaker.options.failures]).toEqual([true, 1]);
    replica.configure({ breaker, timeouts: { ...timeouts, connectMs: 5 } });
    expect([replica.pool === first, first.closed]).toEqual([false, true]);
    await replica.close();
    expect([first.destroyed, replica.pool.destroyed]).toEqual([true, true]);
  });
});
