import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { fakeProfile } from '../../replica/latency/fake-profile.fixture.js';
import { ObservedEngines } from '../prediction/observed-engines.js';
import type { EngineProfileState } from '../prediction/profile-book.js';
import { finishedRequest } from '../request/finished-request.fixture.js';
import { parseExposition } from './exposition.fixture.js';
import { GatewayMetrics } from './gateway-metrics.js';
import { FAMILIES } from './metric-families.js';
import type { GatewayView, MetricParts, PredictionView } from './metric-sources.js';
import { metricsText } from './metrics-text.js';
import { ProcessMetrics } from './process-metrics.js';

const STRANGE = 'quote " slash \\ line\nend';

/** A gateway with two replicas, one of them with an unusual name, after some traffic. */
function gatewayView(): GatewayView {
  const metrics = new GatewayMetrics();
  metrics.ended(finishedRequest({ endpoint: { name: 'default' }, model: STRANGE }));
  metrics.refused(404);
  metrics.decisions.add(1, metrics.decisionRow('default', 'weighted'));
  metrics.observeGap(metrics.endpointIndex('default'), 12_345);
  metrics.replicas.signalMissing(STRANGE, 'waiting');
  metrics.replicas.scrapeFailed('dead');
  metrics.replicas.scrapeFailed('gone');
  metrics.replicas.breakerOpened('dead');
  metrics.replicas.firstByteTimedOut('dead');
  const replicas = [
    { id: STRANGE, state: 'ready', active: 3, sent: 12, breaker: { isOpen: false }, signals: { atUs: 1_500_000 } },
    { id: 'dead', state: 'starting', active: 0, sent: 0, breaker: { isOpen: true }, signals: null },
  ];
  const endpoint = {
    name: 'default',
    policy: { name: 'weighted' },
    discovery: { problem: null },
    policyHash: '67e2677def6b',
    inFlight: 3,
    replicas,
    inFlightOf: (replica: { id: string }) => (replica.id === STRANGE ? 2 : 0),
    suspicionOf: ({ id }: { id: string }) => (id === 'dead' ? 'suspect: no first byte for 3.1 s, 20 ms expected' : ''),
  };
  return {
    metrics,
    inFlight: 4,
    endpoints: new Map([['default', endpoint]]),
    log: { isBroken: false },
    nowUs: () => 2_000_000,
  };
}

/** Two predictions, 100 % too long and exact; a pinned profile that has drifted once. */
function predictionView(): PredictionView {
  const observed = new ObservedEngines();
  for (const predictedTtftUs of [295_000, 147_500]) {
    const request = finishedRequest({ predictedTtftUs, predictedItlUs: 850_000 / 19 });
    observed.of('default', 'vllm')!.finished(request);
  }
  const named = { endpoint: 'default', engine: 'vllm' };
  const state: EngineProfileState = {
    ...{ ...named, profile: fakeProfile(), source: 'fitted', isUsed: true, isPinned: true, madeMs: 0, ageS: 60 },
    ...{ score: { ttft: 0.1, itl: 0.01, e2e: 0.02, requests: 50 }, assumes: [], problem: '' },
    drift: { reason: 'host', message: 'slower', sinceUs: 0 },
  };
  const drifts = { 'engine-version': 0, gpu: 0, 'model-length': 0, host: 1, unknown: 0 };
  const counts = [{ ...named, fits: { kept: 2, discarded: 1, failed: 0 }, drifts }];
  const profiles = { states: () => [state], counts: () => counts, fitSeconds: 1.5, pin: () => state };
  return { observed, profiles };
}

const PARTS: MetricParts = {
  prediction: predictionView(),
  flow: new Map([
    [
      'default',
      {
        waiting: 7,
        counts: {
          ...{ admitted: 50, refused: new Map([['no tokens left', 4]]) },
          ...{ rejected: 1, shed: 3, expired: 2, left: 0, turnedOut: 6 },
        },
      },
    ],
  ]),
  shadows: new Map([
    [
      'default',
      [
        {
          ...{ name: 'lm', policy: 'lmetric', options: {}, source: 'added' as const, servingPolicy: 'weighted' },
          ...{ sinceUs: 0, dropped: 9, droppedBusy: 4, knownPrefix: { real: 0.25, own: 0.5 } },
          stopped: { atUs: 5, problem: 'a bug' },
          onRealPlacements: [
            { sloClass: 'batch', same: 5, tied: 1, different: 2, forced: 4, compared: 16, agreed: 12 },
          ],
          onOwnPlacements: [{ sloClass: 'batch', same: 3, tied: 0, different: 5, forced: 4, compared: 16, agreed: 6 }],
          ttft: { count: 2, gainedUs: 1_500_000, lostUs: 250_000, meanUs: -625_000 },
          predicted: { count: 0, realUs: 0, ownUs: 0 },
        },
      ],
    ],
  ]),
  access: { limited: { tokensPerMinute: 5, concurrent: 0 }, wrongKeys: 6, mode: 'shared', storeFailures: 1 },
  journal: { faults: 1, pending: 12 },
  kept: { written: 7, dropped: 2 },
  listeners: [
    { dropped: 2, tlsFailures: 3 },
    { dropped: 0, tlsFailures: 1 },
  ],
  logs: new Map([
    ['traffic', { written: 100, dropped: 0, isBroken: false }],
    ['access', { written: 99, dropped: 1, isBroken: true }],
  ]),
  spans: { exported: 30, failed: 2, dropped: 1 },
  process: new ProcessMetrics(),
};

describe('metricsText', () => {
  it('exports every family, with any names', () => {
    const samples = parseExposition(metricsText(gatewayView(), PARTS));
    const id = '"quote \\" slash \\\\ line\\nend"';
    const expected = {
      [`twinyard_requests_total{endpoint="default",model=${id},outcome="ok",status="2xx"}`]: 1,
      'twinyard_refused_total{status="404"}': 1,
      twinyard_in_flight: 4,
      'twinyard_endpoint_in_flight{endpoint="default"}': 3,
      'twinyard_policy_info{endpoint="default",policy="weighted",hash="67e2677def6b"}': 1,
      [`twinyard_replica_in_flight{replica=${id}}`]: 3,
      [`twinyard_replica_requests_total{replica=${id}}`]: 12,
      [`twinyard_replica_booked{replica=${id}}`]: 2,
      [`twinyard_replica_ready{replica=${id}}`]: 1,
      'twinyard_replica_ready{replica="dead"}': 0,
      'twinyard_replica_breaker_open{replica="dead"}': 1,
      'twinyard_replica_breaker_opens_total{replica="dead"}': 1,
      'twinyard_replica_suspect{replica="dead"}': 1,
      [`twinyard_replica_suspect{replica=${id}}`]: 0,
      'twinyard_replica_first_byte_timeouts_total{replica="dead"}': 1,
      [`twinyard_replica_breaker_opens_total{replica=${id}}`]: 0,
      [`twinyard_replica_signals_age_seconds{replica=${id}}`]: 0.5,
      'twinyard_scrapes_failed_total{replica="dead"}': 1,
      [`twinyard_signals_missing_total{replica=${id},signal="waiting"}`]: 1,
      'twinyard_queued{endpoint="default"}': 7,
      'twinyard_admitted_total{endpoint="default"}': 50,
      'twinyard_queue_refused_total{endpoint="default",reason="full"}': 1,
      'twinyard_queue_refused_total{endpoint="default",reason="shed"}': 3,
      'twinyard_queue_refused_total{endpoint="default",reason="expired"}': 2,
      'twinyard_queue_refused_total{endpoint="default",reason="client_left"}': 0,
      'twinyard_queue_refused_total{endpoint="default",reason="turned_out"}': 6,
      'twinyard_admission_refused_total{endpoint="default",reason="no tokens left"}': 4,
      'twinyard_shadow_decisions_total{endpoint="default",shadow="lm",placements="real",slo_class="batch",outcome="tied"}': 1,
      'twinyard_shadow_decisions_total{endpoint="default",shadow="lm",placements="own",slo_class="batch",outcome="same"}': 3,
      'twinyard_shadow_agreement_ratio{endpoint="default",shadow="lm",slo_class="batch"}': 0.75,
      'twinyard_shadow_dropped_total{endpoint="default",shadow="lm"}': 9,
      'twinyard_shadow_stopped{endpoint="default",shadow="lm"}': 1,
      'twinyard_shadow_known_prefix_ratio{endpoint="default",shadow="lm",placements="own"}': 0.5,
      'twinyard_shadow_ttft_predictions_total{endpoint="default",shadow="lm"}': 2,
      'twinyard_shadow_ttft_gained_seconds_total{endpoint="default",shadow="lm"}': 1.5,
      'twinyard_shadow_ttft_lost_seconds_total{endpoint="default",shadow="lm"}': 0.25,
      'twinyard_prediction_error{endpoint="default",engine="vllm",metric="ttft",stat="mean"}': 0.5,
      'twinyard_prediction_error{endpoint="default",engine="vllm",metric="ttft",stat="p90"}': 1,
      'twinyard_prediction_error{endpoint="default",engine="vllm",metric="ttft",stat="bias"}': 0.5,
      'twinyard_predictions_total{endpoint="default",engine="vllm"}': 2,
      'twinyard_profile_age_seconds{endpoint="default",engine="vllm"}': 60,
      'twinyard_profile_score{endpoint="default",engine="vllm",metric="itl"}': 0.01,
      'twinyard_profile_pinned{endpoint="default",engine="vllm"}': 1,
      'twinyard_profile_drift{endpoint="default",engine="vllm"}': 1,
      'twinyard_profile_drifts_total{endpoint="default",engine="vllm",reason="host"}': 1,
      'twinyard_profile_fits_total{endpoint="default",engine="vllm",result="kept"}': 2,
      twinyard_profile_fit_seconds_total: 1.5,
      'twinyard_limits_hit_total{limit="tokens_per_minute"}': 5,
      'twinyard_limits_hit_total{limit="concurrent"}': 0,
      twinyard_tls_failures_total: 4,
      twinyard_connections_dropped_total: 2,
      twinyard_wrong_keys_total: 6,
      'twinyard_accounting_info{mode="shared"}': 1,
      twinyard_store_failures_total: 1,
      twinyard_usage_journal_faults_total: 1,
      twinyard_usage_journal_pending: 12,
      twinyard_requests_kept_total: 7,
      twinyard_requests_not_kept_total: 2,
      twinyard_decision_log_broken: 0,
      'twinyard_log_lines_total{log="traffic"}': 100,
      'twinyard_log_lines_dropped_total{log="access"}': 1,
      'twinyard_log_broken{log="access"}': 1,
      'twinyard_log_broken{log="traffic"}': 0,
      'twinyard_spans_total{result="exported"}': 30,
      'twinyard_spans_total{result="failed"}': 2,
      'twinyard_spans_total{result="dropped"}': 1,
    };
    for (const [key, value] of Object.entries(expected)) expect(samples.get(key), key).toBe(value);
    expect(samples.has('twinyard_replica_signals_age_seconds{replica="dead"}')).toBe(false);
    expect([...samples.keys()].filter((key) => key.includes('gone'))).toEqual([]);
  });

  it('has a sample of every family there is, and of no other', () => {
    const view = gatewayView();
    view.metrics.control = { isLeading: true };
    const text = metricsText(view, PARTS);
    const told = [...text.matchAll(/^# TYPE (\S+) /gm)].map(([, name]) => name);
    const names = Object.values(FAMILIES).map(({ name }) => name);
    expect(told.toSorted()).toEqual(names.toSorted());
    for (const name of names) expect(text).toMatch(new RegExp(`^${name}(_count)?[{ ]`, 'm'));
  });

  it('leaves out what is switched off', () => {
    const text = metricsText({ ...gatewayView(), log: null });
    parseExposition(text);
    expect(text).not.toMatch(/queued|accounting|journal|log|spans|process_/);
  });

  it('can be read while nothing has happened', () => {
    const nothing = { metrics: new GatewayMetrics(), inFlight: 0, endpoints: new Map(), log: null, nowUs: () => 0 };
    expect(parseExposition(metricsText(nothing)).get('twinyard_in_flight')).toBe(0);
  });

  const promtool = spawnSync('promtool', ['--version']).status === 0;
  it.skipIf(!promtool)(`passes promtool${promtool ? '' : ', which is not installed here'}`, () => {
    const nothing = { metrics: new GatewayMetrics(), inFlight: 0, endpoints: new Map(), log: null, nowUs: () => 0 };
    for (const text of [metricsText(gatewayView(), PARTS), metricsText(nothing)]) {
      const { status, stderr, stdout } = spawnSync('promtool', ['check', 'metrics'], { input: text, encoding: 'utf8' });
      expect([status, stdout, stderr]).toEqual([0, '', '']);
    }
  });
});

describe('parseExposition', () => {
  const help = `# HELP twinyard_in_flight ${FAMILIES.inFlight.help}\n# TYPE twinyard_in_flight gauge\n`;
  it.each([
    ['a line that does not end', help.trimEnd()],
    ['an unknown family', '# HELP twinyard_x y\n'],
    ['a wrong type', help.replace('gauge', 'counter')],
    ['a family told twice', help + help],
    ['a sample of another', `${help}twinyard_queued 1\n`],
    ['a sample twice', `${help}twinyard_in_flight 1\ntwinyard_in_flight 1\n`],
    ['labels that are not its own', `${help}twinyard_in_flight{x="y"} 1\n`],
    ['a value that is no number', `${help}twinyard_in_flight NaN\n`],
  ])('refuses %s', (_, text) => {
    expect(() => parseExposition(text)).toThrow();
  });

  const histogram = FAMILIES.lag.name;
  const lagHelp = `# HELP ${histogram} ${FAMILIES.lag.help}\n# TYPE ${histogram} histogram\n`;
  const rows = (buckets: [string, number][], sum: number, count: number) =>
    `${lagHelp}${buckets.map(([le, value]) => `${histogram}_bucket{le="${le}"} ${value}\n`).join('')}${histogram}_sum ${sum}\n${histogram}_count ${count}\n`;
  it('accepts only a consistent histogram', () => {
    const good: [string, number][] = [
      ['1', 1],
      ['+Inf', 2],
    ];
    parseExposition(rows(good, 2, 2));
    expect(() => parseExposition(rows(good, 2, 3))).toThrow();
    expect(() => parseExposition(rows(good, 0.5, 2))).toThrow();
    expect(() => parseExposition(rows([good[0]!], 1, 1))).toThrow();
    expect(() =>
      parseExposition(
        rows(
          [
            ['1', 3],
            ['+Inf', 2],
          ],
          2,
          2,
        ),
      ),
    ).toThrow();
    expect(() =>
      parseExposition(
        rows(
          [
            ['2', 1],
            ['1', 1],
            ['+Inf', 2],
          ],
          2,
          2,
        ),
      ),
    ).toThrow();
  });
});
