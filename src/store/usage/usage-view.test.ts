import { describe, expect, it } from 'vitest';
import { usageCsv, usageView } from './usage-view.js';

const COUNTS = {
  requests: 2,
  inputTokens: 100,
  cachedTokens: 40,
  outputTokens: 10,
  reasoningTokens: 4,
  estimatedRequests: 1,
  costNanos: 15,
  characters: 0,
  audioSeconds: 6,
};

describe('the view of usage', () => {
  it('has the dimensions of the query, then the counts, then money in dollars', () => {
    const view = usageView({ ...COUNTS, model: 'm', day: '2026-01-01' }, ['day', 'model']);
    expect(JSON.stringify(view)).toBe(
      '{"day":"2026-01-01","model":"m","requests":2,"input_tokens":100,"cached_tokens":40,"output_tokens":10,"reasoning_tokens":4,"characters":0,"audio_seconds":6,"estimated_requests":1,"dollars":1.5e-8}',
    );
  });

  it('is a CSV for spreadsheets, in which no name is a formula', () => {
    const names = ['plain', 'a,b', 'say "hi"', '=1+1', '-x', 'two\nlines'];
    const views = names.map((model) => usageView({ ...COUNTS, model }, ['model']));
    const counts = '2,100,40,10,4,0,6,1,0.000000015';
    expect(usageCsv(views, ['model']).split('\r\n')).toEqual([
      'model,requests,input_tokens,cached_tokens,output_tokens,reasoning_tokens,characters,audio_seconds,estimated_requests,dollars',
      `plain,${counts}`,
      `"a,b",${counts}`,
      `"say ""hi""",${counts}`,
      `'=1+1,${counts}`,
      `'-x,${counts}`,
      `"two\nlines",${counts}`,
      '',
    ]);
  });

  it.each([
    [0, '0'],
    [1, '0.000000001'],
    [1_500_000_000, '1.5'],
    [12_000_000_000, '12'],
    [9_007_199_254_740_991, '9007199.254740991'],
  ])('%d nano-dollars are %s in a file', (costNanos, dollars) => {
    const view = usageView({ ...COUNTS, costNanos }, []);
    expect(usageCsv([view], []).trimEnd().split(',').at(-1)).toBe(dollars);
  });
});
