import { describe, expect, it } from 'vitest';
import { calibrate, loadAtSend } from './calibrate.js';
import { fakeInputs, fakeOptions, measured, NO_NETWORK, predicted } from './fake-requests.fixture.js';
import { hitRateOfRequests } from './measured-hit-rate.js';
import { pairRequests } from './pair-requests.js';
import { tokenGaps } from './token-gaps.js';

const ids = [0, 1, 2, 3];
const real = ids.map((id) => measured(id, { ttftUs: 100 + id, e2eUs: 500 + 10 * id }));
const sim = ids.map((id) => predicted(id, { ttftUs: 100 + id, e2eUs: 500 + 10 * id }));

describe('calibrate', () => {
  it('reports all that is known of a perfect prediction', () => {
    const { document } = calibrate(fakeInputs({ measured: real, predicted: sim }), fakeOptions());
    expect(Object.keys(document)).toEqual([
      ...['trace_info', 'metrics', 'config_match', 'known_limitations', 'ttft_tolerance'],
      ...['unmatched', 'failures', 'repeatability', 'tolerances', 'notes'],
    ]);
    expect(document).toMatchObject({
      trace_info: { num_requests: 4, warm_up_excluded: 0, matched_pairs: 4, token_mismatches: 0 },
      config_match: {},
      ttft_tolerance: { mape: 0, threshold: 0.15, within: true },
      unmatched: { not_in_results: 0, not_answered: 0, not_predicted: 0, not_in_trace: 0 },
      tolerances: {},
    });
    expect(document.trace_info).not.toHaveProperty('itl_dropped');
    expect(document.known_limitations).toHaveLength(4);
    expect(Object.keys(document.metrics)).toEqual(['ttft', 'e2e', 'itl']);
    for (const { count, request_level } of Object.values(document.metrics)) {
      expect({ count, request_level }).toEqual({
        count: 4,
        request_level: { mape: 0, pearson_r: expect.closeTo(1, 9), bias_direction: 'neutral', quality: 'excellent' },
      });
    }
  });

  it('returns the points behind the numbers in order of sending', () => {
    const late = [measured(0, { sentUs: 9000 }), measured(1, { sentUs: 1000, e2eUs: 9000 }), measured(2)];
    const { points } = calibrate(fakeInputs({ measured: late, predicted: sim }), fakeOptions());
    expect([...points.sentS]).toEqual([0, 0.001, 0.008]);
    expect([...points.load]).toEqual([1, 2, 2]);
    expect([...points.metrics.e2e!.realMs]).toEqual([9, 0.5, 0.5]);
    expect([...points.metrics.e2e!.simMs]).toEqual([0.51, 0.52, 0.5]);
  });

  it('holds errors against the tolerances that are given', () => {
    const slow = ids.map((id) => predicted(id, { ttftUs: 1.2 * (100 + id), e2eUs: 500 + 10 * id }));
    const { document } = calibrate(
      fakeInputs({ measured: real.map((one) => ({ ...one, streamed: false })), predicted: slow }),
      fakeOptions({ tolerances: { ttft_mape: 0.21, ttft_mean: 0.19, e2e_mean: 0, itl_mape: 1 } }),
    );
    expect(document.tolerances).toEqual({
      ttft_mape: { value: expect.closeTo(0.2, 9), threshold: 0.21, within: true },
      ttft_mean: { value: expect.closeTo(0.2, 9), threshold: 0.19, within: false },
      e2e_mean: { value: 0, threshold: 0, within: true },
      itl_mape: { value: null, threshold: 1, within: false },
    });
    expect(document.ttft_tolerance).toMatchObject({ threshold: 0.15, within: false });
  });

  it('compares hit rates up to the last bit of the tolerance', () => {
    const options = fakeOptions({ hitRateTolerancePp: 5 });
    const hitRates = { real: { rate: 0.7, source: 'usage' }, sim: 0.75 };
    const { document } = calibrate(fakeInputs({ measured: real, predicted: sim, hitRates }), options);
    expect(document.hit_rate).toEqual({
      ...{ real_hit_rate: 0.7, sim_hit_rate: 0.75, abs_error_pp: expect.closeTo(5, 9), tolerance_pp: 5 },
      ...{ within: true, source: 'usage' },
    });
    const worse = fakeInputs({ measured: real, predicted: sim, hitRates: { ...hitRates, sim: 0.6 } });
    expect(calibrate(worse, options).document.hit_rate).toMatchObject({ within: false });
  });

  it('compares goodput by class', () => {
    const classes = ['critical', 'critical', 'batch', ''];
    const goodputTargets = {
      critical: { ttftUs: 100, e2eUs: 515 },
      default: { e2eUs: 1 },
      nobody: { itlUs: 5 },
    };
    const { document } = calibrate(
      fakeInputs({
        measured: real.map((one, i) => ({ ...one, sloClass: classes[i]! })),
        predicted: sim.map((one) => ({ ...one, ttftUs: 90 })),
      }),
      fakeOptions({ goodputTargets }),
    );
    // The first is sent at 0, the last ends at 3530 us.
    expect(document.goodput).toEqual({
      targets: { critical: { ttft_ms: 0.1, e2e_ms: 0.515 }, default: { e2e_ms: 0.001 }, nobody: { itl_ms: 0.005 } },
      per_class: {
        critical: {
          ...{ count: 2, real_slo_attainment: 0.5, sim_slo_attainment: 1 },
          ...{ real_goodput_rps: 1 / 0.00353, sim_goodput_rps: 2 / 0.00353 },
          real_attainment_by_dim: { ttft: 0.5, e2e: 1 },
          sim_attainment_by_dim: { ttft: 1, e2e: 1 },
        },
        default: {
          ...{ count: 1, real_slo_attainment: 0, sim_slo_attainment: 0, real_goodput_rps: 0, sim_goodput_rps: 0 },
          ...{ real_attainment_by_dim: { e2e: 0 }, sim_attainment_by_dim: { e2e: 0 } },
        },
        nobody: {
          ...{ count: 0, real_slo_attainment: 0, sim_slo_attainment: 0, real_goodput_rps: 0, sim_goodput_rps: 0 },
          ...{ real_attainment_by_dim: { itl: 0 }, sim_attainment_by_dim: { itl: 0 } },
        },
      },
    });
  });

  it('reports that targets for gaps cannot be judged without gaps', () => {
    const single = { outputTokens: 1 };
    const { document } = calibrate(
      fakeInputs({ measured: [measured(0, single)], predicted: [predicted(0, single)] }),
      fakeOptions({ goodputTargets: { default: { itlUs: 1, ttftUs: 100 } } }),
    );
    expect(document.goodput).toMatchObject({
      skipped_itl: true,
      per_class: { default: { real_slo_attainment: 1, real_attainment_by_dim: { ttft: 1 } } },
    });
    expect(document.metrics).not.toHaveProperty('itl');
  });
});

describe('notes', () => {
  const notesOf = (
    changes: Parameters<typeof fakeInputs>[0],
    options: Parameters<typeof fakeOptions>[0] = {},
  ): readonly string[] => calibrate(fakeInputs(changes), fakeOptions(options)).document.notes;
  const GAPS = 'gaps between tokens follow from the first and the last token: --itl-data gives those of single pieces';

  it('report too few requests', () => {
    expect(notesOf({ measured: [measured(0)], predicted: [predicted(0)] })).toEqual([
      '1 request on both sides: too few to judge by, 3 are needed at least',
      GAPS,
    ]);
  });

  it('report everything that was left out or is uncertain', () => {
    const more = [
      measured(4),
      measured(5, { ttftUs: Number.NaN }),
      measured(6),
      measured(7, { completed: false }),
      measured(8, { ttftUs: 500, streamed: false }),
      measured(9, { countedInputTokens: 3 }),
      measured(10, { outputTokens: 7 }),
    ];
    const others = [5, 7, 8, 9, 10, 77, 78].map((id) => predicted(id));
    const notes = notesOf({
      measured: [...real, ...more],
      predicted: [...sim, ...others, predicted(6, { e2eUs: Number.NaN })],
    });
    expect(notes).toEqual([
      'left out, not in the results: 1 request',
      'left out, not in the trace: 2 requests',
      'left out, without a response: 1 request',
      'left out, not completed in the simulation: 1 request',
      'partial responses, compared by when they were cut off: 1 request; --trace-answered leaves them out',
      'not streamed, so that the first token is as late as the last: 1 request',
      'other lengths in the results than in the trace: 1 request',
      "token mismatches in the count alone: 1 request; the trace's count leaves out a shared prefix or is the server's own, the simulated prompt is the trace's",
      GAPS,
    ]);
  });

  it.each([1000, 1 / 1000])('suspect another unit where one side is %d times the other', (factor) => {
    const other = sim.map((one) => ({ ...one, ttftUs: one.ttftUs * factor, e2eUs: one.e2eUs * factor }));
    expect(notesOf({ measured: real, predicted: other })).toContain(
      'one side is about 1000 times the other: check that both are in microseconds',
    );
    // A long queue delays first tokens only.
    const queued = sim.map((one) => ({ ...one, ttftUs: 1e6 }));
    expect(notesOf({ measured: real, predicted: queued })).toEqual([GAPS]);
    const nothing = sim.map((one) => ({ ...one, ttftUs: 0, e2eUs: 0 }));
    expect(notesOf({ measured: real, predicted: nothing })).toEqual([GAPS]);
  });
});

describe('tokenGaps', () => {
  const { pairs } = pairRequests(real, sim, { network: NO_NETWORK, warmUp: 0 }, '');

  it('takes the mean of gaps that are not negative', () => {
    const times = new Map([
      [0, [100, 150, 140, 240]],
      [1, [10, 5]],
      [2, [10]],
    ]);
    const gaps = tokenGaps(pairs, times);
    expect([...gaps.real]).toEqual([75, Number.NaN, Number.NaN, Number.NaN]);
    expect([...gaps.sim]).toEqual([100, 102.25, 104.5, 106.75]);
    expect(gaps.dropped).toBe(1);
    const { document } = calibrate(fakeInputs({ measured: real, predicted: sim, chunkTimes: times }), fakeOptions());
    expect(document.trace_info.itl_dropped).toBe(1);
    expect(document.metrics.itl).toMatchObject({ count: 1, request_level: { quality: 'too few' } });
    expect(document.notes).toEqual(['without a valid gap, because the clock went back: 1 request']);
  });

  it('divides what is between the first and the last token', () => {
    expect([...tokenGaps(pairs, null).real]).toEqual([100, 102.25, 104.5, 106.75]);
    const whole = pairs.map((one) => ({ ...one, measured: { ...one.measured, streamed: false } }));
    expect([...tokenGaps(whole, null).real].every(Number.isNaN)).toBe(true);
  });
});

describe('loadAtSend', () => {
  it('counts a request from its sending until its end', () => {
    const at = (sentUs: number, e2eUs: number) => measured(sentUs, { sentUs, e2eUs });
    const all = [at(0, 10), at(5, 5), at(10, 1), at(10, 90), at(50, Number.NaN), at(60, 1)];
    expect([...loadAtSend(all, all)]).toEqual([1, 2, 2, 2, 1, 2]);
  });
});

describe('hitRateOfRequests', () => {
  it('is the share of tokens of the requests that report it', () => {
    const requests = [
      measured(0, { cachedTokens: 5 }),
      measured(1),
      measured(2, { cachedTokens: 0, countedInputTokens: 40 }),
    ];
    expect(hitRateOfRequests(requests)).toEqual({ rate: 0.1, source: 'usage of single requests' });
    expect(hitRateOfRequests([measured(1)])).toBeNull();
  });
});
