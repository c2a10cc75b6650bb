import { describe, expect, it } from 'vitest';
import { measured, NO_NETWORK, predicted } from './fake-requests.fixture.js';
import type { MeasuredRequest, PredictedRequest } from './measured-request.js';
import { pairRequests } from './pair-requests.js';

const pair = (
  real: readonly MeasuredRequest[],
  sim: readonly PredictedRequest[],
  { network = NO_NETWORK, warmUp = 0 } = {},
) => pairRequests(real, sim, { network, warmUp }, 'results.json');

describe('pairRequests', () => {
  it('matches by id, in any order', () => {
    const { pairs, unmatched } = pair(
      [measured(0), measured(1), measured(2)],
      [predicted(2, { ttftUs: 7 }), predicted(0, { ttftUs: 5 }), predicted(9), predicted(-1)],
    );
    expect(pairs.map(({ measured, ttftUs }) => [measured.id, ttftUs])).toEqual([
      [0, 5],
      [2, 7],
    ]);
    expect(unmatched).toEqual({ notInResults: 1, withoutResponse: 0, notPredicted: 0, notInTrace: 2 });
  });

  it('leaves warm-up out of everything', () => {
    const { pairs, requests, unmatched, warmUp } = pair(
      [measured(0), measured(1), measured(2)],
      [predicted(0), predicted(2)],
      { warmUp: 2 },
    );
    expect({ requests, warmUp, ids: pairs.map(({ measured }) => measured.id) }).toEqual({
      ...{ requests: 3, warmUp: 2, ids: [2] },
    });
    expect(unmatched).toMatchObject({ notInResults: 0, notInTrace: 0 });
  });

  it('leaves out requests without a response, with negative times, and without a prediction', () => {
    const real = [
      measured(0, { ttftUs: Number.NaN, e2eUs: Number.NaN }),
      measured(1, { ttftUs: -1 }),
      measured(2, { e2eUs: -1 }),
      measured(3),
      measured(4),
      measured(5),
    ];
    const sim = [0, 1, 2, 5].map((id) => predicted(id));
    const { pairs, unmatched } = pair(real, [
      ...sim,
      predicted(3, { e2eUs: Number.NaN }),
      predicted(4, { ttftUs: Number.NaN }),
    ]);
    expect(pairs.map(({ measured }) => measured.id)).toEqual([5]);
    expect(unmatched).toEqual({ notInResults: 0, withoutResponse: 3, notPredicted: 2, notInTrace: 0 });
  });

  it('adds the network to what is predicted', () => {
    // 10 tokens of 32 bits at 0.32 Mbit/s take a millisecond, 5 half of one.
    const [one] = pair([measured(0)], [predicted(0)], { network: { rttUs: 40, bandwidthMbps: 0.32 } }).pairs;
    expect([one!.ttftUs, one!.e2eUs]).toEqual([100 + 40 + 1000, 500 + 40 + 1000 + 500]);
    const [far] = pair([measured(0)], [predicted(0)], { network: { rttUs: 40, bandwidthMbps: 0 } }).pairs;
    expect([far!.ttftUs, far!.e2eUs]).toEqual([140, 540]);
  });

  it('counts token mismatches by the count of the trace, and those that only the count causes', () => {
    const { prefixMismatches, tokenMismatches } = pair(
      [
        measured(0),
        measured(1, { countedInputTokens: 4 }),
        measured(2, { countedInputTokens: 13 }),
        measured(3, { outputTokens: 6 }),
        measured(4),
      ],
      [0, 1, 2, 3, 4].map((id) => predicted(id)),
    );
    expect([tokenMismatches, prefixMismatches]).toEqual([3, 2]);
  });

  it('refuses results of other ids', () => {
    const real = [0, 1, 2, 3].map((id) => measured(id));
    expect(() => pair(real, [predicted(7), predicted(-1)])).toThrow(
      'results.json: none of its 2 requests (request_7, turn of a session) is among the 4 of the trace (request_0, request_1, request_2, ...); replay this very trace with --results-path',
    );
  });

  it('refuses results of other lengths, and takes those where half differ', () => {
    const real = [0, 1, 2, 3].map((id) => measured(id));
    const sim = (differ: number) =>
      [0, 1, 2, 3].map((id) => predicted(id, id < differ ? { inputTokens: 99, outputTokens: 9 } : {}));
    expect(() => pair(real, sim(3))).toThrow(
      'results.json: 3 of 4 requests have other lengths than in the trace: request_0 99 + 9, not 10 + 5 tokens; request_1 99 + 9, not 10 + 5 tokens; request_2 99 + 9, not 10 + 5 tokens',
    );
    expect(pair(real, sim(2)).tokenMismatches).toBe(2);
  });

  it('refuses to judge by nothing', () => {
    expect(() => pair([measured(0)], [predicted(0)], { warmUp: 1 })).toThrow(
      '--warmup-requests: all 1 requests of the trace are warm-up',
    );
    expect(() => pair([measured(0, { ttftUs: Number.NaN })], [predicted(0)])).toThrow(
      'results.json: of 1 requests on both sides 1 had no response and 0 no prediction',
    );
  });
});
