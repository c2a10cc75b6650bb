import { describe, expect, it } from 'vitest';
import { comparePage } from '../../report/compare/compare-page.js';
import { compareTable } from '../../report/compare/compare-table.js';
import { fakeSaturation } from '../../simulator/results/saturation/fake-saturation.fixture.js';
import type { Experiment } from '../experiment.js';
import { fakeExperiment, fakeRun, fakeSummary, fakeVariant } from '../fake-experiment.fixture.js';
import type { RunSummary } from '../runs/run-summary.js';
import { compareRuns } from './comparison.js';

const targets = (byInstance: number[] | null) => ({ targets: { least: 0, most: 0, byInstance } });

describe('compareRuns', () => {
  it('notes variants that lost requests, but not those that refused some', () => {
    const experiment = fakeExperiment([fakeVariant('a'), fakeVariant('b'), fakeVariant('c')], { seeds: [1] });
    const runs = [
      fakeSummary({ completed_share: 0.75 }),
      fakeSummary({ completed_share: 0.75, rejected_share: 0.25 }),
      fakeSummary(),
    ];
    expect(compareRuns(experiment, runs).document.comparison.notes).toEqual([
      'a: 25.0 % of all requests were dropped, timed out or not done; latencies are those of the others',
    ]);
  });
});

describe('compareTable', () => {
  it('prints metrics and verdicts in a table, then a sentence per difference', () => {
    const variants = [
      fakeVariant('first'),
      fakeVariant('second', { against: 'first', isolates: 'what a second one is for' }),
      fakeVariant('third', { against: 'first' }),
      fakeVariant('fourth', { against: 'first' }),
    ];
    const runs = [1, 2].flatMap((seed) => [
      fakeSummary({ ttft_p50_ms: 9, ttft_mean_ms: 9, ttft_p99_ms: 10 * seed, tokens_per_sec: 100 }, targets([5, 5])),
      fakeSummary(
        { ttft_p50_ms: 9, ttft_mean_ms: 9, ttft_p99_ms: 30 * seed, tokens_per_sec: seed === 1 ? 101 : 99 },
        targets([9, 1]),
      ),
      fakeSummary({ ttft_p50_ms: 9, ttft_mean_ms: 9, ttft_p99_ms: null, tokens_per_sec: 100 }, targets([5, 5])),
      fakeSummary(
        { ttft_p50_ms: 9, ttft_mean_ms: 9, ttft_p99_ms: 10 * seed - 2, tokens_per_sec: 300 },
        targets([5, 5]),
      ),
    ]);
    const experiment = fakeExperiment(variants, { seeds: [3, 9], notes: ['A note.'] });
    const text = compareTable(compareRuns(experiment, runs).document, { colour: false });
    expect(text).toBe(`tiny
No variant is better than first in TTFT p99 beyond noise; second is worse.
4 variants, 2 seeds from 3 to 9, 8 runs
A note.

Variant  TTFT p50, ms        TTFT mean, ms        TTFT p99, ms         throughput, tokens/s         requests per instance
first            9.00                 9.00               15.00                        100.0         5 5
second           9.00  same           9.00  same         45.00  x 3.0                 100.0  noise  9 1
third            9.00  same           9.00  same             -                        100.0   same  5 5
fourth           9.00  same           9.00  same         13.00  noise                 300.0  x 3.0  5 5

What differs
second against first, what a second one is for:
  second: TTFT p99 is 3.0 times that with first (45.00 ms against 15.00 ms; interval +200.0 % to +200.0 %).
  second: the difference in throughput to first is inside the noise (100.0 tokens/s against 100.0 tokens/s; interval -12.7 % to +12.7 %; higher with 1 of 2 seeds).
third: third has no TTFT p99 with some seed.
fourth: the difference in TTFT p99 to first is inside the noise (13.00 ms against 15.00 ms; interval -59.8 % to +79.3 %; higher with 0 of 2 seeds).
fourth: throughput is 3.0 times that with first (300.0 tokens/s against 100.0 tokens/s; interval +200.0 % to +200.0 %).

Step times: made up.
95 % confidence intervals by Student's t over pairs of runs with the same seed: of the mean ratio of latencies, and of the mean difference of other measures.
`);
  });

  it.each([
    [Array(9).fill(3), '3 to 3'],
    [null, ''],
  ])('prints the range of a large fleet, and nothing for a larger one', (byInstance, text) => {
    const experiment = fakeExperiment([fakeVariant('a')], { seeds: [4] });
    const { document } = compareRuns(experiment, [fakeSummary({}, targets(byInstance))]);
    const table = compareTable(document, { colour: true });
    expect(table).toContain('1 variant, seed 4, 1 run');
    expect(
      table
        .split('\n')
        .find((line) => line.startsWith('a '))!
        .trimEnd(),
    ).toMatch(new RegExp(`0\\.00 *${text}$`));
  });
});

const page = (experiment: Experiment, runs: readonly RunSummary[]) => comparePage(compareRuns(experiment, runs));
const titles = (html: string) => [...html.matchAll(/aria-label="([^"]*)"/g)].map((match) => match[1]);

const two = [fakeVariant('a & b'), fakeVariant('c', { against: 'a & b', isolates: 'why' })];
const measured = { ttft_p99_ms: 5, tokens_per_sec: 7, prompt_cache_hit_rate: 0.5, rejected_share: 0.1, goodput_rps: 3 };

describe('comparePage', () => {
  it('has a chart for every question', () => {
    const html = page(fakeExperiment(two, { seeds: [1] }), [fakeSummary(measured), fakeSummary(measured)]);
    expect(titles(html)).toEqual([
      ...['TTFT p99', 'throughput', 'Time to first token', 'Whole request'],
      ...['cached share of prompts', 'rejected share', 'goodput'],
      ...['a &amp; b', 'c', 'a &amp; b', 'c'],
    ]);
    expect(html).toContain('<h3>c against a &amp; b: why</h3>\n<ul><li>The same as a &amp; b in every run.</li></ul>');
    expect(html).toContain(
      'Requests that have arrived for an instance and not left it: a line for each instance, with seed 1.',
    );
  });

  it('reports that there is nothing to show', () => {
    const nothing = fakeSummary(
      { ttft_p99_ms: null },
      { ttftMs: [], e2eMs: [], targets: { least: 0, most: 0, byInstance: null } },
    );
    const html = page(fakeExperiment(two, { seeds: [1], headline: ['ttft_p99_ms'] }), [nothing, nothing]);
    expect(html).toContain('No prompt token was found in a cache');
    expect(html).toContain('No request was rejected, and no SLO was given');
    expect(titles(html)).toEqual(['a &amp; b', 'c']);
  });

  it('puts responses beside rejections without an SLO, and reports when nothing was rejected', () => {
    const refusing = fakeSummary({ ...measured, goodput_rps: null });
    expect(titles(page(fakeExperiment(two, { seeds: [1] }), [refusing, refusing]))).toContain('responses');
    const admitting = fakeSummary({ ...measured, rejected_share: 0 });
    expect(page(fakeExperiment(two, { seeds: [1] }), [admitting, admitting])).toContain(
      '<p>No request was rejected.</p>',
    );
  });

  it('draws along an axis, latencies for each step and the fleet at the last', () => {
    const variants = [1, 2].flatMap((x) => ['a', 'b'].map((series) => fakeVariant(`${series}, ${x}`, { series, x })));
    const axis = { title: 'load', unit: 'requests/s' };
    const html = page(
      fakeExperiment(variants, { seeds: [1], axis }),
      variants.map((_, i) => fakeSummary({ ...measured, ttft_p99_ms: 10 ** i })),
    );
    expect(titles(html)).toEqual([
      ...['TTFT p99 against load', 'throughput against load'],
      ...['Time to first token, 1 requests/s', 'Time to first token, 2 requests/s', 'Whole request, 2 requests/s'],
      ...['cached share of prompts against load', 'rejected share against load', 'goodput against load'],
      ...['a, 2', 'b, 2', 'a, 2', 'b, 2'],
    ]);
    expect(html).toContain('At 2 requests/s.');
    // Times that are far apart: every power of ten is marked.
    expect(html.slice(0, html.indexOf('throughput against load'))).toMatch(/>1<.*>10<.*>100<.*>1k</s);
  });

  it('shows the verdict and its picture first, with the SLO and saturated runs marked, and explanations last', () => {
    const goodputTargets = { '*': { ttftUs: 50_000 } };
    const variants = [1, 2].flatMap((x) =>
      ['a', 'b'].map((series) =>
        fakeVariant(`${series}, ${x}`, {
          ...fakeRun({ goodputTargets }),
          series,
          x,
          against: series === 'a' ? null : `a, ${x}`,
        }),
      ),
    );
    const axis = { title: 'load', unit: 'requests/s' };
    const saturation = fakeSaturation({ state: 'saturated' });
    const html = page(fakeExperiment(variants, { seeds: [1], axis }), [
      ...[10, 20, 30].map((ttft_p99_ms) => fakeSummary({ ...measured, ttft_p99_ms })),
      fakeSummary({ ...measured, ttft_p99_ms: 900 }, { saturation }),
    ]);
    const body = html.slice(html.indexOf('<body>'));
    const order = [
      ...[
        '<h1 class="verdict">TTFT p99 within 50.00 ms is kept: a at all tried, to 2 requests/s; b up to 1 requests/s.</h1>',
      ],
      ...[
        '<div class="picture">',
        'SLO 50.00 ms',
        '<h2>Measures',
        '<h2>What differs',
        '<h2>Plots',
        '<h2>How to read this',
      ],
    ].map((text) => body.indexOf(text));
    expect(order).toEqual([...order].sort((x, y) => x - y));
    expect(order).not.toContain(-1);
    expect(body.match(/class="hollow c1"/g)).toHaveLength(1);
    expect(html).toContain('@media print');
    expect(html).toContain('td + td { white-space: nowrap; }');
    expect(html).not.toMatch(/(src|href)=|@import|url\(/);
  });

  it('names in a legend only what the plots show', () => {
    const nothing = { ttftMs: [], e2eMs: [] };
    const html = page(fakeExperiment([...two, fakeVariant('d')], { seeds: [1] }), [
      ...[measured, measured].map((metrics) => fakeSummary(metrics)),
      fakeSummary({ ttft_p99_ms: null }, nothing),
    ]);
    const legends = [...html.matchAll(/<ul class="legend">(.*?)<\/ul>/g)].map((match) =>
      match[1]!.replace(/<[^>]*>/g, ' '),
    );
    expect(legends).toEqual([expect.not.stringContaining('d')]);
  });

  it('leaves out of a line what was not measured', () => {
    const variants = [1, 2].map((x) => fakeVariant(`a, ${x}`, { series: 'a', x }));
    const axis = { title: 'load', unit: 'x' };
    const html = page(fakeExperiment(variants, { seeds: [1], axis, headline: ['ttft_p99_ms'] }), [
      fakeSummary({ ttft_p99_ms: 5 }),
      fakeSummary({ ttft_p99_ms: null }),
    ]);
    expect(html.match(/<circle/g)).toHaveLength(1);
  });

  it('shows the range of a large fleet', () => {
    const load = {
      stepUs: 1e6,
      kind: 'range' as const,
      rows: [
        [0, 0],
        [1, 1],
        [2, 2],
      ],
    };
    const html = page(fakeExperiment([fakeVariant('a')], { seeds: [1] }), [fakeSummary({}, { load })]);
    expect(html).toContain('the idlest instance, the mean and the busiest');
    expect(html).toContain('<title>busiest instance</title>');
  });
});
