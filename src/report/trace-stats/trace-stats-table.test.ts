import { describe, expect, it } from 'vitest';
import { STATS } from '../trace-stats.fixture.js';
import { traceStatsTable } from './trace-stats-table.js';

describe('traceStatsTable', () => {
  it('shows all statistics', () => {
    expect(traceStatsTable('day.csv', STATS, { colour: false })).toBe(`day.csv: trace-v2, 1,200 requests over 10.0 min

Arrivals  mean/s  most in 1 s  most in 1 min  CV of gaps
requests    2.00            9            150        1.25

Lengths                  total     mean    p50      p90      p99      max
input tokens         1,200,000  1,000.0  800.0  2,000.0  4,000.5  9,000.0
output tokens          120,000    100.0   80.0    200.0    400.0    900.0
turns of 3 sessions          9      3.0    2.0      5.2      5.9      6.0

Reusable prefixes, blocks of 512 tokens   tokens  of all input
endless cache                            300,000        25.0 %
cache of 64 blocks (LRU)                 120,000        10.0 %

Recorded blocks  in prompts  different  seen before
of 512 tokens         2,400      1,800       25.0 %

Hot prefix, first seen in  tokens  uses  tokens reused  of all input
request_3                     512   500        255,488        21.3 %

SLO class  requests   share
critical        900  75.0 %
batch           300  25.0 %

Tenant    requests   share
t0             100   8.3 %
t1             100   8.3 %
t2             100   8.3 %
t3             100   8.3 %
t4             100   8.3 %
t5             100   8.3 %
t6             100   8.3 %
t7             100   8.3 %
t8             100   8.3 %
3 others       300  25.0 %
`);
  });

  it('leaves out absent statistics', () => {
    const { chats, recorded_blocks, slo_classes, tenants, ...rest } = STATS;
    const plain = {
      ...rest,
      duration_s: 0,
      rate: { ...STATS.rate, mean_per_s: null, gap_cv: null },
      prefix_reuse: { known_by: [], block_size: 16, infinite_cache: { reused_tokens: 0, share: 0 }, hot_prefixes: [] },
    };
    const text = traceStatsTable('one\u001b[31m.csv', plain, { colour: false });
    expect(text).toContain('one?[31m.csv: trace-v2, 1,200 requests over 0.00 s');
    expect(text).toContain('requests       -            9            150           -');
    expect(text).toContain('Reusable prefixes\nnot known: the trace does not record which prompts share a beginning\n');
    for (const word of ['chats', 'LRU', 'endless', 'Recorded', 'Hot', 'SLO', 'Tenant'])
      expect(text).not.toContain(word);
  });

  it('marks headings on a terminal', () => {
    expect(traceStatsTable('day.csv', STATS, { colour: true })).toContain(
      '\u001b[1mSLO class  requests   share\u001b[22m',
    );
  });
});
