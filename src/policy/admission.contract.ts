import { expect, it } from 'vitest';
import { randomStream } from '../kernel/random-stream.js';
import {
  type DecisionInput,
  expectSame,
  forDecisions,
  MOST_REPLICAS,
  withOtherSignals,
} from './arbitraries.fixture.js';
import type { AdmissionPolicy } from './contract.js';
import { policyOptions } from './policy-options.js';

/** What every admission policy promises, with any options. */
export function admissionContract(policy: AdmissionPolicy, given: unknown): void {
  const options = policyOptions(policy, given, 'test');

  function results(inputs: readonly DecisionInput[]): (string | null)[] {
    const gate = policy.create(options, { random: randomStream(7, 'admission'), replicas: MOST_REPLICAS });
    return inputs.map(({ request, view }) => gate.refuse(request, view));
  }

  it('admits, or refuses for one of a few constant reasons', () => {
    const reasons = new Set<string>();
    forDecisions((inputs) => {
      for (const response of results(inputs)) if (response !== null) reasons.add(response);
      expect(reasons.size).toBeLessThanOrEqual(3);
      expect(reasons.has('')).toBe(false);
    });
  });

  it('gives equal results for equal inputs and does not change its inputs', () => {
    forDecisions((inputs) => {
      const before = structuredClone(inputs);
      expectSame(results(inputs), results(inputs));
      expectSame(inputs, before);
    });
  });

  it('admits a refused request after its own retry time, if no other arrives', () => {
    forDecisions((inputs) => {
      const gate = policy.create(options, { random: randomStream(7, 'admission'), replicas: MOST_REPLICAS });
      let nowUs = 0;
      for (const { request, view } of inputs) {
        nowUs = Math.max(nowUs, request.nowUs);
        const refused = { ...request, nowUs };
        if (gate.refuse(refused, view) === null) continue;
        const waitUs = gate.retryAfterUs?.(refused) ?? Number.NaN;
        if (!Number.isFinite(waitUs)) continue;
        expect(waitUs).toBeGreaterThan(0);
        nowUs += waitUs;
        expect(gate.refuse({ ...refused, nowUs }, view)).toBeNull();
      }
    });
  });

  it('says of a refused request what it lacked, with how much it would have been admitted', () => {
    forDecisions((inputs) => {
      const gate = policy.create(options, { random: randomStream(7, 'admission'), replicas: MOST_REPLICAS });
      for (const { request, view } of inputs) {
        if (gate.refuse(request, view) === null) continue;
        const short = gate.shortfall?.(request, view);
        if (short === undefined) continue;
        const { bound, needed, value } = short;
        const isMet = { 'at least': value >= bound, 'at most': value <= bound, below: value < bound }[needed];
        expect([short.name === '', isMet]).toEqual([false, false]);
      }
    });
  });

  it('depends on no signal that it does not declare', () => {
    const declared = policy.reads(options);
    forDecisions((inputs) => {
      expectSame(results(inputs.map((input) => withOtherSignals(input, declared))), results(inputs));
    });
  });
}
