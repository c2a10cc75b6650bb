import { afterEach, describe, expect, it } from 'vitest';
import { GATEWAY_DEFAULTS } from '../../config/gateway-config.js';
import { LiveReplica } from '../replica/live-replica.js';
import { hasEnough, isWarm, removal } from './eligibility.js';

const made: LiveReplica[] = [];
afterEach(async () => {
  await Promise.all(made.splice(0).map((replica) => replica.close()));
});

function replicaOf(models: string[] | null = ['m']): LiveReplica {
  const replica = new LiveReplica({ id: 'r', url: 'http://127.0.0.1:1', engine: 'vllm', models }, GATEWAY_DEFAULTS);
  made.push(replica);
  return replica;
}

describe('removal', () => {
  it('is nothing for a replica that is ready and serves the model', () => {
    const replica = replicaOf();
    replica.healthy(0);
    expect(removal(replica, 'm', 0)).toBeNull();
  });

  it('returns why a replica is not eligible', () => {
    const replica = replicaOf();
    expect(removal(replica, 'other', 0)).toBe('does not serve other');
    expect(removal(replica, 'm', 0)).toBe('starting: not checked yet');
    replica.healthy(0);
    for (let i = 0; i < GATEWAY_DEFAULTS.health.failures; i++) replica.unhealthy('ECONNREFUSED', 2);
    expect(removal(replica, 'm', 0)).toBe('unhealthy: ECONNREFUSED');
    replica.healthy(0);
    for (let i = 0; i < GATEWAY_DEFAULTS.breaker.failures; i++) replica.breaker.failed(i, 0);
    expect(removal(replica, 'm', 0)).toBe('circuit breaker open');
    replica.drain();
    expect(removal(replica, 'm', 0)).toBe('draining: leaving the fleet');
  });
});

describe('slow start', () => {
  it('is over after its time', () => {
    const replica = replicaOf();
    replica.healthy(1000);
    expect([isWarm(replica, 1999, 1000), isWarm(replica, 2000, 1000)]).toEqual([false, true]);
    expect(isWarm(replica, 1000, 0)).toBe(true);
  });

  it('gives a new replica one request at first and then a growing share', () => {
    const replica = replicaOf();
    replica.healthy(1000);
    const most = (nowMs: number) => {
      let inFlight = 0;
      while (!hasEnough(replica, inFlight, 40, nowMs, 10_000)) inFlight++;
      return inFlight;
    };
    expect([1000, 2000, 3500, 6000, 11_000].map(most)).toEqual([1, 4, 10, 20, 40]);
  });

  it('never keeps a new replica idle, however idle the others are', () => {
    const replica = replicaOf();
    replica.healthy(0);
    expect([hasEnough(replica, 0, 0, 0, 1000), hasEnough(replica, 1, 0, 0, 1000)]).toEqual([false, true]);
  });
});
