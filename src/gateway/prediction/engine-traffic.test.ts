import { describe, expect, it } from 'vitest';
import { finishedRequest } from '../request/finished-request.fixture.js';
import { EngineTraffic } from './engine-traffic.js';
import { ObservedEngines } from './observed-engines.js';

/** TTFT 147.5 ms, 19 gaps of 44.7 ms. */
const predicted = (predictedTtftUs: number, predictedItlUs: number, change = {}) =>
  finishedRequest({ predictedTtftUs, predictedItlUs, ...change });

describe('EngineTraffic', () => {
  it('compares every prediction with what happened', () => {
    const traffic = new EngineTraffic('chat', 'vllm');
    traffic.finished(predicted(295_000, 850_000 / 19));
    traffic.finished(predicted(147_500, 850_000 / 19));
    expect(traffic.compared).toBe(2);
    const ttft = traffic.errorsOf('ttft').stats()!;
    expect([ttft.count, ttft.bias, ttft.mean, ttft.p90]).toEqual([2, 0.5, 0.5, 1]);
    expect(traffic.errorsOf('itl').stats()!.mean).toBeCloseTo(0, 5);
    expect(traffic.errorsOf('e2e').stats()!.p90).toBeCloseTo(147_500 / 997_500, 5);
  });

  it('compares the end of a response that was not streamed: nothing else of it is seen', () => {
    const traffic = new EngineTraffic('chat', 'vllm');
    const { dispatchedUs, endedUs, outputTokens } = finishedRequest();
    const itlUs = (endedUs - dispatchedUs) / (2 * outputTokens);
    traffic.finished(predicted(itlUs, itlUs, { isStreamed: false, firstTokenUs: -1 }));
    expect(traffic.errorsOf('e2e').stats()).toMatchObject({ count: 1, bias: -0.5 });
    expect([traffic.errorsOf('ttft').stats(), traffic.compared]).toEqual([null, 1]);
    traffic.finished(predicted(itlUs, itlUs, { isStreamed: false, isMetered: false }));
    expect(traffic.errorsOf('e2e').stats()!.count).toBe(1);
  });

  it('samples requests without a prediction, and compares nothing', () => {
    const traffic = new EngineTraffic('chat', 'vllm');
    traffic.finished(finishedRequest());
    traffic.finished(predicted(1000, 1000, { isMetered: false }));
    expect([traffic.samples.count, traffic.compared, traffic.errorsOf('ttft').stats()]).toEqual([2, 0, null]);
  });

  it('forgets the errors of a profile that is replaced', () => {
    const traffic = new EngineTraffic('chat', 'vllm');
    traffic.finished(predicted(295_000, 10));
    traffic.restart();
    expect(traffic.errorsOf('ttft').stats()).toBeNull();
    expect(traffic.samples.count).toBe(1);
  });
});

describe('ObservedEngines', () => {
  it('keeps one record for each endpoint and engine, and forgets endpoints that are gone', () => {
    const observed = new ObservedEngines();
    const chat = observed.of('chat', 'vllm');
    expect(observed.of('chat', 'sglang')).not.toBe(chat);
    expect(observed.of('chat', 'vllm')).toBe(chat);
    observed.of('code', 'vllm');
    observed.keep((endpoint) => endpoint === 'code');
    expect(observed.all().map(({ endpoint }) => endpoint)).toEqual(['code']);
    expect(observed.of('chat', 'vllm')).not.toBe(chat);
  });

  it('observes a bounded number of them', () => {
    const observed = new ObservedEngines();
    for (let i = 0; i < 256; i++) observed.of(`e${i}`, 'vllm');
    expect(observed.of('one-more', 'vllm')).toBeNull();
    expect(observed.of('e7', 'vllm')).not.toBeNull();
    observed.keep((endpoint) => endpoint !== 'e7');
    expect(observed.of('one-more', 'vllm')).not.toBeNull();
  });
});
