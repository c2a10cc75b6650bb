import { expect, it } from 'vitest';
import { finishedRequest } from '../request/finished-request.fixture.js';
import { STEP_S, TrafficSeries } from './traffic-series.js';

const STEP_US = STEP_S * 1e6;

function atTime() {
  const clock = { us: 0 };
  const gone = new Set<string>();
  const series = new TrafficSeries(
    () => clock.us,
    (endpoint) => !gone.has(endpoint),
  );
  const end = (endpoint: string, atUs: number, change: Parameters<typeof finishedRequest>[0] = {}) =>
    series.ended(
      finishedRequest({
        endpoint: { name: endpoint },
        arrivedUs: atUs - 500_000,
        firstTokenUs: atUs - 400_000,
        endedUs: atUs,
        ...change,
      }),
    );
  return { clock, series, end, gone };
}

it('sums up requests by endpoint and step', () => {
  const { end, series } = atTime();
  end('chat', 1, { inputTokens: 100, cachedTokens: 60, outputTokens: 7 });
  end('chat', STEP_US - 1, { outcome: 'timeout', inputTokens: 1, cachedTokens: 0, outputTokens: 0 });
  end('chat', STEP_US, { outcome: 'refused', attempts: 0 });
  end('other', 1);
  const sums = { requests: 2, errors: 1, refused: 0, inputTokens: 101, cachedTokens: 60, outputTokens: 7 };
  expect(series.sum(['chat'], 0, 1)).toMatchObject(sums);
  expect(series.sum(['chat'], 1, 2)).toMatchObject({ requests: 1, errors: 0, refused: 1, inputTokens: 0 });
  expect(series.sum(['chat', 'other', 'none'], 0, 2).requests).toBe(4);
});

it('forgets steps that are older than half an hour', () => {
  const { end, series } = atTime();
  end('chat', 1);
  end('chat', 180 * STEP_US);
  expect(series.sum(['chat'], 0, 1).requests).toBe(0);
  expect(series.sum(['chat'], 0, 181).requests).toBe(1);
});

it('returns percentiles of the time to first token, within an eighth', () => {
  const { end, series } = atTime();
  for (let ms = 1; ms <= 1000; ms++) end('chat', 2e6, { arrivedUs: 0, firstTokenUs: 1000 * ms });
  const { ttftP50Ms, ttftP95Ms } = series.sum(['chat'], 0, 1);
  expect(Math.abs(ttftP50Ms! / 500 - 1)).toBeLessThan(0.125);
  expect(Math.abs(ttftP95Ms! / 950 - 1)).toBeLessThan(0.125);
  expect(series.sum(['chat'], 1, 2).ttftP50Ms).toBeNull();
});

it('puts a time beyond all bounds into the last one', () => {
  const { end, series } = atTime();
  end('chat', 2e9, { arrivedUs: 0, firstTokenUs: 1e9 });
  expect(series.sum(['chat'], 200, 201).ttftP50Ms).toBeGreaterThan(100_000);
  end('fast', 1, { arrivedUs: 0, firstTokenUs: 1 });
  expect(series.sum(['fast'], 0, 1).ttftP50Ms).toBeLessThan(1);
});

it('knows the step under way', () => {
  const { clock, series } = atTime();
  clock.us = 3.5 * STEP_US;
  expect(series.step).toBe(3);
});

it('counts new endpoints however many there were, and none that are gone', () => {
  const { end, gone, series } = atTime();
  for (let i = 0; i <= 1000; i++) end(`e${i}`, 1);
  expect(series.sum(['e999', 'e1000'], 0, 1).requests).toBe(1);
  for (let i = 0; i < 1000; i++) gone.add(`e${i}`);
  end('e1000', 1);
  end('e0', 1);
  expect(series.sum(['e0', 'e999', 'e1000'], 0, 1).requests).toBe(1);
});
