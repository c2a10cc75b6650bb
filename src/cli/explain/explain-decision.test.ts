import { describe, expect, it } from 'vitest';
import type { RecordedReplica } from '../../gateway/decisions/decision-ring.js';
import type { RefusalRecord } from '../../gateway/decisions/refusal-ring.js';
import type { ShadowDecision } from '../../gateway/decisions/shadow-decision.js';
import { explainDecision, explainRequest } from './explain-decision.js';

function replica(id: string, change: Partial<RecordedReplica> = {}): RecordedReplica {
  return {
    id,
    removed: null,
    queued: 1,
    running: 2,
    kvUsed: 0.25,
    inFlight: 3,
    pendingPrefillTokens: 0,
    ongoingDecodeTokens: 0,
    routedBlocks: 0,
    ageUs: 120_000,
    score: 0.5,
    missing: [],
    terms: {},
    ...change,
  };
}

type Explained = Parameters<typeof explainDecision>[0];

const NO_FLIP = { change: null, bounds: { queued: [0, 256] }, replicas: 2, eligible: 2, exhaustive: true } as const;

function record(replicas: RecordedReplica[], change: Partial<Explained> = {}): Explained {
  return {
    id: 'q1',
    endpoint: 'default',
    policy: 'weighted',
    policyHash: 'abc123',
    atUs: 1_500_000,
    inputTokens: 40,
    session: '',
    blockSize: 16,
    blockCount: 2,
    replica: replicas[0]!.id,
    attempt: 0,
    rule: 'highest weighted score',
    tied: 1,
    replicas,
    shadows: [],
    flip: NO_FLIP,
    ...change,
  };
}

const lastLine = (given: Explained) => explainDecision(given).trimEnd().split('\n').at(-1);

describe('explainDecision', () => {
  it('continues a table that is too wide below, without losing a column', () => {
    const terms = { 'prefix-affinity': 0.6, 'queue-depth': 0.2, 'kv-utilization': 0.1 };
    const replicas = [replica('gpu-1', { terms }), replica('gpu-2', { terms, removed: 'circuit breaker open' })];
    const lines = explainDecision(record(replicas), { colour: false, width: 80 }).split('\n').slice(2);
    expect(lines.filter(({ length }) => length > 80)).toEqual([]);
    expect(lines.filter((line) => line.startsWith('> gpu-1'))).toHaveLength(2);
    for (const name of [...Object.keys(terms), 'circuit breaker open']) expect(lines.join('\n')).toContain(name);
  });

  it('shows a decision as a table', () => {
    const text = explainDecision(
      record(
        [
          replica('gpu-1', { score: 0.9, routedBlocks: 2, terms: { prefix: 0.6, queue: 0.3 } }),
          replica('gpu-2', { score: 0.4, terms: { prefix: 0, queue: 0.4 }, missing: ['kvUsed'] }),
          replica('gpu-3', {
            score: null,
            removed: 'circuit breaker open',
            ageUs: null,
            terms: { prefix: null, queue: null },
            missing: ['queued', 'running', 'kvUsed'],
          }),
        ],
        {
          session: 's1',
          attempt: 1,
          flip: {
            change: { replica: 'gpu-1', signal: 'kvUsed', from: 0.25, to: 0.757, chosen: 'gpu-2' },
            bounds: { kvUsed: [0, 1] },
            replicas: 2,
            eligible: 2,
            exhaustive: true,
          },
        },
      ),
    );
    expect(text).toBe(`request q1: 40 tokens, 2 blocks of 16, session s1
endpoint default, policy weighted (abc123), try 2, 1.500 s after the start

replica  queued  running     kv  in flight  prefix     age  prefix  queue  score
> gpu-1       1        2   25 %          3     2/2  120 ms   0.600  0.300  0.900
  gpu-2       1        2  25 %?          3     0/2  120 ms       0  0.400  0.400
  gpu-3      1?       2?  25 %?          3     0/2   never       -      -      -  circuit breaker open
? not reported by the replica, or stale: assumed from the other replicas

gpu-1: highest weighted score
gpu-2 came second, 0.500 behind
what would have flipped it: KV cache in use of gpu-1 75.7 % instead of 25 %: gpu-2
`);
  });

  it('marks stale reports', () => {
    const stale = replica('a', { ageUs: 7_000_000, missing: ['queued', 'running', 'kvUsed'] });
    expect(explainDecision(record([stale]))).toContain('7000 ms, stale');
  });

  it('explains a draw', () => {
    const text = explainDecision(record([replica('a'), replica('b')], { tied: 2 }));
    expect(text).toContain('a: highest weighted score; 2 were equally good, and one was drawn\n');
    expect(text).not.toContain('came second');
  });

  it('lists what shadow policies would have chosen, by both readings', () => {
    const shadow = (name: string, change: Partial<ShadowDecision>): ShadowDecision => ({
      ...{
        shadow: name,
        policy: name,
        replica: 'a',
        outcome: 'same',
        ownReplica: 'a',
        ttftDifferenceMs: null,
        ...change,
      },
    });
    const shadows = [
      shadow('p', {}),
      shadow('q', {
        ...{ policy: 'x', replica: 'b', outcome: 'different', ownReplica: 'a', ttftDifferenceMs: -12.34 },
      }),
      shadow('r', { replica: 'b', outcome: 'tied', ownReplica: 'b' }),
      shadow('s', { outcome: 'forced', ownReplica: 'b' }),
      shadow('t', { replica: null, outcome: 'different', ownReplica: null }),
    ];
    const text = explainDecision(record([replica('a'), replica('b')], { shadows }));
    expect(text.slice(text.indexOf('\nshadow policy'))).toBe(`
shadow policy  real placements          own placements
p              a, same                  a, same
q (x)          b, other, TTFT -12.3 ms  a, same
r              b, tied                  b, other
s              a, only candidate        b, only candidate
t              refused                  refused
real placements: where weighted placed all requests before; own placements: where the shadow had placed them itself. tied: it scores both replicas the same, and a draw decided. A shadow that is missing had no time for this request.
`);
  });

  it('explains a decision without a replica', () => {
    const gone = replica('b', { score: null, removed: 'tried before' });
    expect(lastLine(record([gone], { replica: null }))).toBe('no replica could take it');
    expect(explainDecision(record([replica('a')], { replicas: [], replica: null }))).toContain(
      'no replica could take it',
    );
  });

  it('explains a request that the policy refused although replicas could take it', () => {
    const change = { replica: 'a', signal: 'predictedTtftUs', from: 900_000, to: 200_000, chosen: 'a' };
    const refused = { replica: null, rule: 'no replica keeps the target', flip: { ...NO_FLIP, change } };
    const text = explainDecision(record([replica('a'), replica('b')], refused));
    expect(text).toContain('refused: no replica keeps the target');
    expect(text).toContain('what would have flipped it: predicted TTFT of a 200 ms instead of 900 ms: a');
  });

  it('names the change that would have flipped it for policies without scores too', () => {
    const unscored = [replica('a', { score: null }), replica('b', { score: null })];
    const change = { replica: 'b', signal: 'inFlight', from: 3, to: 1, chosen: 'b' };
    expect(lastLine(record(unscored, { flip: { ...NO_FLIP, change } }))).toBe(
      'what would have flipped it: in flight of b 1 instead of 3: b',
    );
  });
});

describe('explainRequest', () => {
  const refusal: RefusalRecord = {
    ...{ id: 'q1', endpoint: 'default', key: 'key000000001', arrivedUs: 0, atUs: 1_500_000 },
    ...{ at: '2026-05-20T12:00:01.500Z', status: 429, code: 'rate_limit_exceeded', by: 'over a limit' },
    limit: { name: 'tokens_per_minute', scope: '*', most: 100, left: 40, needed: 60 },
    ...{ shortfall: null, retryAfterS: 61, retryAt: '2026-05-20T12:01:02.500Z' },
  };

  it('explains what a request lacked to be admitted', () => {
    const shortfall = { name: 'tokens in the bucket', value: 12.345, needed: 'at least', bound: 800 } as const;
    const text = explainRequest({
      id: 'q1',
      refused: { ...refusal, by: 'insufficient tokens', limit: null, shortfall },
    });
    expect(text).toContain('\ninsufficient tokens\ntokens in the bucket: 12.35, and at least 800 lets it in\n');
  });

  it('explains when a request was refused, by what, and when to retry', () => {
    expect(explainRequest({ id: 'q1', refused: refusal })).toBe(`request q1: refused with 429 (rate_limit_exceeded)
endpoint default, key key000000001, 1.500 s after the start, 2026-05-20T12:00:01.500Z

over a limit
tokens_per_minute of all models: 40 of 100 left, and the request counts for 60
retry after 61 s: at 2026-05-20T12:01:02.500Z
`);
  });

  it('explains when a retry does not help, and when that is unknown', () => {
    const never = { ...refusal, retryAfterS: null, retryAt: null, limit: { ...refusal.limit!, scope: 'm' } };
    const text = explainRequest({ id: 'q1', refused: never });
    expect(text).toContain('tokens_per_minute of m: ');
    expect(text.trimEnd().split('\n').at(-1)).toBe('a retry does not help');
    const away = { ...never, status: 503, code: 'unavailable', endpoint: null, key: null, limit: null };
    expect(explainRequest({ id: 'q1', refused: away })).toBe(`request q1: refused with 503 (unavailable)
1.500 s after the start, 2026-05-20T12:00:01.500Z

over a limit
it is not known when a retry succeeds
`);
  });

  it('explains a decision, and both where a decision found no replica', () => {
    const decision = record([replica('a', { score: null, removed: 'down' })], { replica: null });
    expect(explainRequest(decision)).toBe(explainDecision(decision));
    const both = explainRequest({ ...decision, refused: refusal });
    expect(both.startsWith(`${explainDecision(decision)}\nrequest q1: refused`)).toBe(true);
  });
});
