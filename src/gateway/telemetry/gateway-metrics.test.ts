import { describe, expect, it } from 'vitest';
import { Exposition } from '../../protocol/prometheus/exposition.js';
import { finishedRequest } from '../request/finished-request.fixture.js';
import type { Outcome } from '../request/request-record.js';
import { parseExposition, type Samples } from './exposition.fixture.js';
import { GatewayMetrics } from './gateway-metrics.js';

function samplesOf(metrics: GatewayMetrics): Samples {
  const out = new Exposition();
  metrics.writeTo(out);
  return parseExposition(out.text());
}

const totalOf = (samples: Samples, name: string) =>
  [...samples].filter(([key]) => key.startsWith(`${name}{`)).reduce((sum, [, value]) => sum + value, 0);

describe('GatewayMetrics', () => {
  it('counts requests, tokens and times of what has ended', () => {
    const metrics = new GatewayMetrics();
    metrics.ended(finishedRequest());
    metrics.ended(finishedRequest({ cachedTokens: 0, reasoningTokens: 0 }));
    metrics.ended(finishedRequest({ outcome: 'upstream_error', status: 502, isMetered: false, firstTokenUs: -1 }));
    const samples = samplesOf(metrics);
    const of = 'endpoint="chat",model="m"';
    expect(samples.get(`twinyard_requests_total{${of},outcome="ok",status="2xx"}`)).toBe(2);
    expect(samples.get(`twinyard_requests_total{${of},outcome="upstream_error",status="5xx"}`)).toBe(1);
    const tokens = ['input', 'cached', 'output', 'reasoning'].map((kind) =>
      samples.get(`twinyard_${kind}_tokens_total{${of}}`),
    );
    expect(tokens).toEqual([300, 128, 60, 10]);
    expect(samples.get(`twinyard_unmetered_total{${of}}`)).toBe(1);
    expect(samples.get('twinyard_queue_time_seconds_count{endpoint="chat"}')).toBe(3);
    expect(samples.get('twinyard_queue_time_seconds_bucket{endpoint="chat",le="0.002"}')).toBe(3);
    expect(samples.get('twinyard_time_to_first_token_seconds_sum{endpoint="chat"}')).toBe(0.3);
    expect(samples.get('twinyard_request_duration_seconds_bucket{endpoint="chat",le="0.5"}')).toBe(0);
    expect(samples.get('twinyard_request_duration_seconds_bucket{endpoint="chat",le="1"}')).toBe(2);
    expect(samples.get('twinyard_request_duration_seconds_count{endpoint="chat"}')).toBe(2);
  });

  it('counts the units of audio', () => {
    const metrics = new GatewayMetrics();
    metrics.ended(finishedRequest({ characters: 40 }));
    metrics.ended(finishedRequest({ audioSeconds: 1.5 }));
    const samples = samplesOf(metrics);
    expect(samples.get('twinyard_speech_characters_total{endpoint="chat",model="m"}')).toBe(40);
    expect(samples.get('twinyard_audio_seconds_total{endpoint="chat",model="m"}')).toBe(1.5);
  });

  it('leaves out the tokens of requests that reached no engine', () => {
    const metrics = new GatewayMetrics();
    metrics.ended(finishedRequest({ outcome: 'no_replica', status: 503, attempts: 0, isMetered: false }));
    const samples = samplesOf(metrics);
    for (const name of ['input_tokens', 'output_tokens', 'unmetered']) {
      expect(samples.get(`twinyard_${name}_total{endpoint="chat",model="m"}`), name).toBe(0);
    }
  });

  it('leaves out times of what did not happen', () => {
    const metrics = new GatewayMetrics();
    metrics.ended(finishedRequest({ isStreamed: false, queuedUs: -1 }));
    metrics.ended(finishedRequest({ outcome: 'client_left', status: 499, firstTokenUs: -1, queuedUs: -1 }));
    const samples = samplesOf(metrics);
    expect(samples.get('twinyard_time_to_first_token_seconds_count{endpoint="chat"}')).toBe(0);
    expect(samples.get('twinyard_queue_time_seconds_count{endpoint="chat"}')).toBe(0);
    expect(samples.get('twinyard_request_duration_seconds_count{endpoint="chat"}')).toBe(1);
  });

  it('counts outcomes, refusals, decisions, gaps and errors', () => {
    const metrics = new GatewayMetrics();
    for (const outcome of ['ok', 'ok', 'timeout'] as const) metrics.ended(finishedRequest({ outcome }));
    metrics.ended(finishedRequest({ outcome: 'ok', model: 'another', status: 0 }));
    for (const status of [404, 404, 503]) metrics.refused(status);
    metrics.decisions.add(1, metrics.decisionRow('chat', 'weighted'));
    metrics.decisions.add(1, metrics.decisionRow('chat', 'weighted'));
    metrics.decisions.add(1, metrics.decisionRow('code', 'weighted'));
    const chat = metrics.endpointIndex('chat');
    for (const us of [900, 15_000, 3_000_000]) metrics.observeGap(chat, us);
    metrics.retries += 2;
    metrics.faults++;
    expect(Object.fromEntries(metrics.outcomes)).toEqual({ ok: 3, timeout: 1 });
    const samples = samplesOf(metrics);
    const expected = {
      'twinyard_requests_total{endpoint="chat",model="another",outcome="ok",status="other"}': 1,
      'twinyard_refused_total{status="404"}': 2,
      'twinyard_refused_total{status="503"}': 1,
      'twinyard_decisions_total{endpoint="chat",policy="weighted"}': 2,
      'twinyard_decisions_total{endpoint="code",policy="weighted"}': 1,
      'twinyard_inter_token_latency_seconds_bucket{endpoint="chat",le="0.001"}': 1,
      'twinyard_inter_token_latency_seconds_bucket{endpoint="chat",le="2"}': 2,
      'twinyard_inter_token_latency_seconds_count{endpoint="chat"}': 3,
      twinyard_retries_total: 2,
      twinyard_faults_total: 1,
    };
    for (const [key, value] of Object.entries(expected)) expect(samples.get(key), key).toBe(value);
  });

  it('stays small for any names, and loses no count', () => {
    const metrics = new GatewayMetrics();
    for (let i = 0; i < 10_000; i++) {
      const [model, name] = [`model-${i}`, `endpoint-${i % 500}`];
      metrics.ended(finishedRequest({ model, endpoint: { name }, outcome: `outcome-${i % 40}` as Outcome }));
      metrics.decisions.add(1, metrics.decisionRow(name, `policy-${i}`));
      metrics.observeGap(metrics.endpointIndex(name), i);
      metrics.refused(i);
    }
    const samples = samplesOf(metrics);
    expect(totalOf(samples, 'twinyard_requests_total')).toBe(10_000);
    expect(totalOf(samples, 'twinyard_input_tokens_total')).toBe(1_000_000);
    expect(totalOf(samples, 'twinyard_decisions_total')).toBe(10_000);
    expect(totalOf(samples, 'twinyard_refused_total')).toBe(10_000);
    expect(totalOf(samples, 'twinyard_inter_token_latency_seconds_count')).toBe(10_000);
    const seriesOf = (name: string) => [...samples.keys()].filter((key) => key.startsWith(`${name}{`)).length;
    // At most 200 pairs and an `other` of each of 51 endpoints.
    expect(seriesOf('twinyard_input_tokens_total')).toBeLessThanOrEqual(251);
    expect(seriesOf('twinyard_decisions_total')).toBeLessThanOrEqual(251);
    expect(seriesOf('twinyard_time_to_first_token_seconds_count')).toBe(51);
    expect(seriesOf('twinyard_refused_total')).toBe(51);
    expect(samples.size).toBeLessThan(10_000);
  });

  it('keeps its own overflow label for every endpoint', () => {
    const metrics = new GatewayMetrics();
    for (let i = 0; i < 10_000; i++) metrics.ended(finishedRequest({ model: `model-${i}` }));
    metrics.ended(finishedRequest({ endpoint: { name: 'code' } }));
    const samples = samplesOf(metrics);
    const ok = 'outcome="ok",status="2xx"';
    expect(samples.get(`twinyard_requests_total{endpoint="chat",model="model-199",${ok}}`)).toBe(1);
    expect(samples.get(`twinyard_requests_total{endpoint="chat",model="other",${ok}}`)).toBe(9800);
    expect(samples.get(`twinyard_requests_total{endpoint="code",model="other",${ok}}`)).toBe(1);
    expect([...samples.keys()].filter((key) => key.startsWith('twinyard_requests_total')).length).toBe(202);
  });

  it('forgets replicas that left', () => {
    const metrics = new GatewayMetrics();
    for (const replica of ['a', 'a', 'b']) {
      metrics.replicas.scrapeFailed(replica);
      metrics.replicas.signalMissing(replica, 'kvUsed');
      metrics.replicas.breakerOpened(replica);
    }
    metrics.replicas.signalMissing('a', 'waiting');
    metrics.replicas.forget('b');
    expect([...metrics.replicas.failedScrapes]).toEqual([['a', 2]]);
    expect([...metrics.replicas.breakerOpens]).toEqual([['a', 2]]);
    expect(
      [...metrics.replicas.missingSignals].map(([replica, signals]) => [replica, Object.fromEntries(signals)]),
    ).toEqual([['a', { kvUsed: 2, waiting: 1 }]]);
  });
});

it('says whether this process leads the control plane, where it has one', () => {
  const metrics = new GatewayMetrics();
  expect(samplesOf(metrics).has('twinyard_leader')).toBe(false);
  for (const isLeading of [true, false]) {
    metrics.control = { isLeading };
    expect(samplesOf(metrics).get('twinyard_leader')).toBe(isLeading ? 1 : 0);
  }
});
