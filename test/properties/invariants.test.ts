import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { STATUSES } from '../../src/replica/request-outcomes.js';
import type { ClusterConfig } from '../../src/simulator/cluster-config.js';
import { simulate } from '../../src/simulator/simulate.js';
import { loneReplica } from '../support/lone-replica.js';
import { latencyModels, randomConfig } from '../support/random-cluster.js';
import { buildWorkload, type PlainWorkload, randomWorkload } from '../support/random-workload.js';

const run = (config: ClusterConfig, plain: PlainWorkload) =>
  simulate(config, buildWorkload(plain), latencyModels[config.replica.latencyModel]!);

function property(check: (config: ClusterConfig, plain: PlainWorkload) => void, numRuns = 200): void {
  fc.assert(fc.property(randomConfig, randomWorkload, check), { numRuns });
}

/** One replica and nothing in front of it. */
const alone = (config: ClusterConfig): ClusterConfig => ({
  ...config,
  instances: 1,
  horizonUs: null,
  admission: { policy: 'always-admit', options: {} },
  tenantBudgets: {},
  admissionLatencyUs: 0,
  routingLatencyUs: 0,
  flowControl: null,
});

describe('invariants of every simulation', () => {
  test('conservation: every request is in exactly one place', () => {
    property((config, plain) => {
      const { cluster: c, instances } = run(config, plain).document;
      const gateway = c.gateway_queued + c.gateway_rejected + c.gateway_shed + c.gateway_expired + c.gateway_evicted;
      expect(c.generated_requests).toBe(
        c.not_arrived + c.in_pipeline + c.rejected_requests + c.routing_rejected + gateway + c.injected_requests,
      );
      for (const one of [c, ...instances]) {
        expect(one.injected_requests).toBe(
          one.completed_requests +
            one.still_queued +
            one.still_running +
            one.dropped_unservable +
            one.timed_out_requests,
        );
      }
      expect(instances.reduce((sum, one) => sum + one.injected_requests, 0)).toBe(c.injected_requests);
      if (config.horizonUs === null) expect(c.not_arrived + c.in_pipeline + c.still_queued + c.still_running).toBe(0);
    });
  });

  test('causality: arrival <= enqueue <= schedule <= first token <= end', () => {
    property((config, plain) => {
      const queueingUs = latencyModels[config.replica.latencyModel]!.queueingUs;
      const before = config.admissionLatencyUs + config.routingLatencyUs + queueingUs;
      for (const one of run(config, plain).requests()) {
        if (one.scheduling_delay_us !== null) expect(one.scheduling_delay_us).toBeGreaterThanOrEqual(before);
        if (one.e2e_us !== null) {
          expect(one.ttft_us!).toBeGreaterThan(one.scheduling_delay_us!);
          expect(one.e2e_us).toBeGreaterThanOrEqual(one.ttft_us!);
        }
      }
    });
  });

  test('the same inputs give the same bytes', () => {
    property((config, plain) => {
      const text = () => {
        const result = run(config, plain);
        return JSON.stringify([result.document, result.requests()]);
      };
      expect(text()).toBe(text());
    }, 60);
  });

  test('every request leaves exactly one decision line, routed or refused', () => {
    property((config, plain) => {
      const latency = latencyModels[config.replica.latencyModel]!;
      const ids: string[] = [];
      const decision = (line: string) => ids.push(JSON.parse(line).request_id);
      const result = simulate({ ...config, horizonUs: null }, buildWorkload(plain), latency, { decision });
      const decided = result.requests().filter(({ status }) => status !== 'gateway_queued');
      expect(ids.sort()).toEqual(decided.map(({ request_id }) => request_id).sort());
    });
  });

  test('watching decisions changes nothing', () => {
    property((config, plain) => {
      const { decisions: _, ...watched } = run(config, plain).document;
      expect(run({ ...config, traceLevel: 'none', summarizeTrace: false }, plain).document).toEqual(watched);
    });
  });

  test('admission and routing never see the true output length', () => {
    property((config, plain) => {
      // What happens to the last arrival before it runs cannot depend on how long its response will be.
      const last = plain.requests.length - 1;
      const longer = plain.requests.map((one, i) =>
        i === last ? { ...one, session: 0, output: one.output + 7 } : one,
      );
      const shorter = plain.requests.map((one, i) => (i === last ? { ...one, session: 0 } : one));
      const open = { ...plain, chats: 'recorded', shuffled: false } as const;
      const lone = { ...config, flowControl: null };
      const fate = (requests: PlainWorkload['requests']) => {
        const { outcomes } = run(lone, { ...open, requests });
        return [outcomes.instance[last], STATUSES[outcomes.status[last]!]!.includes('rejected')];
      };
      expect(fate(longer)).toEqual(fate(shorter));
    });
  });

  test('a cluster of one without latencies is the replica alone', () => {
    property((config, plain) => {
      const open = {
        ...plain,
        chats: 'recorded' as const,
        requests: plain.requests.map((one) => ({ ...one, model: '' })),
      };
      const single = alone(config);
      const cluster = run(single, open);
      const lone = loneReplica(single.replica, buildWorkload(open).table, latencyModels[config.replica.latencyModel]!);
      lone.run();
      expect(lone.outcomes.e2eUs).toEqual(cluster.outcomes.e2eUs);
      expect(lone.outcomes.ttftUs).toEqual(cluster.outcomes.ttftUs);
      expect(lone.outcomes.status).toEqual(cluster.outcomes.status);
      expect(lone.replica.clockUs / 1e6).toBe(cluster.document.cluster.duration_s);
    });
  });
});

describe('invariants of a replica, after every event', () => {
  test('clocks never go back, blocks add up, and it is never idle while work is queued', () => {
    property((config, plain) => {
      const { table } = buildWorkload({ ...plain, chats: 'recorded' });
      const { replica, run: runAlone } = loneReplica(
        config.replica,
        table,
        latencyModels[config.replica.latencyModel]!,
      );
      let clock = 0;
      runAlone(() => {
        expect(replica.clockUs).toBeGreaterThanOrEqual(clock);
        clock = replica.clockUs;
        expect(replica.kv.ownedBlocks() + replica.kv.pool.free).toBe(config.replica.totalKvBlocks);
        if (replica.queueDepth + replica.batchSize > 0) expect(replica.nextUs).toBeLessThan(Number.POSITIVE_INFINITY);
      });
      expect(replica.kv.pool.free).toBe(config.replica.totalKvBlocks);
    });
  });
});
