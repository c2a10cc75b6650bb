import { readFileSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { CalibrationDocument } from '../../observe/calibrate/calibration.js';
import { csv, type Row } from '../../workload/trace-v2/data/csv-text.fixture.js';
import { silent } from '../test-folder.fixture.js';
import { captured as twinyard } from '../test-io.fixture.js';
import { COMPARE, entries, HEADER, inCalibrationFolder, seen, write } from './calibration-folder.fixture.js';

inCalibrationFolder();

const documentOf = async (args: string) => JSON.parse(await silent(args)) as CalibrationDocument;

describe('calibrate', () => {
  it('compares a trace with results', async () => {
    const { metrics, trace_info, ttft_tolerance } = await documentOf(COMPARE);
    expect(trace_info).toEqual({ num_requests: 5, warm_up_excluded: 0, matched_pairs: 5, token_mismatches: 0 });
    expect(metrics.ttft).toMatchObject({
      count: 5,
      workload_level: { real_mean: 1200, sim_mean: expect.closeTo(1320, 9), real_p90: 1360 },
      request_level: { mape: expect.closeTo(0.1, 9), pearson_r: expect.closeTo(1, 9), bias_direction: 'over-predict' },
    });
    expect(metrics.e2e!.request_level).toMatchObject({ mape: 0, quality: 'excellent' });
    // 10 tokens have 9 gaps.
    expect(metrics.itl!.workload_level.real_mean).toBeCloseTo(4000 / 9, 9);
    expect(ttft_tolerance).toMatchObject({ threshold: 0.15, within: true });
  });

  it.each([
    ['--trace seen.csv'],
    ['--trace-data seen.csv'],
    ['--trace-header seen.yaml --trace-data seen.csv'],
    ['--trace-data packed.gz --trace-header seen.yaml'],
  ])('takes the trace as %s', async (flags) => {
    writeFileSync('packed.gz', gzipSync(readFileSync('seen.csv')));
    expect(await documentOf(`calibrate ${flags} --sim-results results.json`)).toEqual(await documentOf(COMPARE));
  });

  it('takes a result with its requests, ids as numbers, and packed files', async () => {
    const expected = await documentOf(COMPARE);
    write('whole.json', { cluster: {}, requests: entries() });
    write(
      'numbers.json',
      entries((entry, i) => ({ ...entry, request_id: i })),
    );
    writeFileSync('packed.json', gzipSync(readFileSync('results.json')));
    for (const file of ['whole.json', 'numbers.json', 'packed.json']) {
      expect(await documentOf(`calibrate --trace seen --sim-results ${file}`)).toEqual(expected);
    }
  });

  it('takes warm-up and round trip from the header, and flags before it', async () => {
    writeFileSync('seen.yaml', `${HEADER}warm_up_requests: 2\nnetwork: { measured_rtt_ms: 0.5 }\n`);
    const { metrics, trace_info } = await documentOf(COMPARE);
    expect(trace_info).toMatchObject({ num_requests: 5, warm_up_excluded: 2, matched_pairs: 3 });
    expect(metrics.e2e!.workload_level.mean_error).toBeCloseTo(500, 6);
    const flags = '--warmup-requests 0 --network-rtt-us 0 --network-bandwidth-mbps 3.2';
    const given = await documentOf(`${COMPARE} ${flags}`);
    expect(given.trace_info.matched_pairs).toBe(5);
    // 100 and 10 tokens of 32 bits at 3.2 bits a microsecond.
    expect(given.metrics.e2e!.workload_level.mean_error).toBeCloseTo(1100, 6);
    expect(given.metrics.ttft!.workload_level.mean_error).toBeCloseTo(1120, 6);
  });

  it('reads the times of single pieces', async () => {
    const rows = ['3,1,900', '3,0,400', '3,2,1200', '1,0,7', '1,1,3', '9,0,1'];
    writeFileSync('itl.csv', `request_id,chunk_index,timestamp_us\n${rows.join('\n')}\n\n`);
    const { metrics, notes, trace_info } = await documentOf(`${COMPARE} --itl-data itl.csv`);
    expect(trace_info.itl_dropped).toBe(1);
    expect(metrics.itl).toMatchObject({ count: 1, workload_level: { real_mean: 400 } });
    expect(notes).toEqual(['without a valid gap, because the clock went back: 1 request']);
  });

  it('compares cache hits where both sides have them', async () => {
    const trailing = [...seen().split('\n')[0]!.split(','), 'server_cached_tokens'];
    writeFileSync('seen.csv', seen([{ server_cached_tokens: '50' }, {}, {}, {}, {}], trailing));
    write('metrics.json', { cluster: { cache_hit_rate: 0.9, prompt_cache_hit_rate: 0.12 } });
    const METRICS = `${COMPARE} --sim-metrics metrics.json`;
    const { hit_rate } = await documentOf(METRICS);
    expect(hit_rate).toMatchObject({ real_hit_rate: 0.1, sim_hit_rate: 0.12, tolerance_pp: 5, within: true });
    const { code, stderr } = await twinyard(`${METRICS} --hit-rate-tolerance-pp 1`);
    expect([code, stderr]).toEqual([1, 'twinyard: missed: --hit-rate-tolerance-pp: 2.0 points (limit 1 points)\n']);
    write('metrics.json', { cache_hit_rate: 0.1 });
    expect((await documentOf(METRICS)).hit_rate).toMatchObject({ sim_hit_rate: 0.1 });
    // Counters of the server over the whole observation take precedence over usage of single requests.
    const rateOf = async (said: string) => {
      writeFileSync('seen.yaml', `${HEADER}observed_kv_metrics: ${said}\n`);
      const { real_hit_rate, source } = (await documentOf(METRICS)).hit_rate!;
      return [real_hit_rate, source];
    };
    expect(await rateOf('{ prefix_cache_queries: 200, prefix_cache_hits: 50 }')).toEqual([
      0.25,
      'counters of the server',
    ]);
    expect(await rateOf('{ hit_rate: 0.2, source: tiered }')).toEqual([0.2, 'tiered']);
    expect(await rateOf('{ hit_rate: 0.3 }')).toEqual([0.3, 'counters of the server']);
    expect(await rateOf('{ prefix_cache_queries: 0, prefix_cache_hits: 0 }')).toEqual([
      0.1,
      'usage of single requests',
    ]);
    expect(await rateOf('')).toEqual([0.1, 'usage of single requests']);
  });

  it('warns of a hit rate that has nothing to be compared with', async () => {
    write('metrics.json', { cache_hit_rate: 0.1 });
    const { code, stderr, stdout } = await twinyard(`${COMPARE} --sim-metrics metrics.json`);
    expect(code).toBe(0);
    expect(stderr).toBe(
      'twinyard: warning: --sim-metrics: seen.csv does not record cached prompt tokens; no hit rates are compared\n',
    );
    expect(stdout).not.toContain('hit_rate"');
    const judged = await twinyard(`${COMPARE} --sim-metrics metrics.json --hit-rate-tolerance-pp 3`);
    expect(judged.code).toBe(1);
    expect(judged.stderr).toContain('twinyard: missed: --hit-rate-tolerance-pp: nothing to judge (limit 3 points)\n');
  });

  it('takes targets from the header, and flags before it', async () => {
    writeFileSync('seen.csv', seen([{}, {}, { slo_class: 'batch' }]));
    writeFileSync('seen.yaml', `${HEADER}goodput_slo_targets: { batch: { ttft_ms: 9, e2e_ms: 9 } }\n`);
    const { goodput } = await documentOf(`${COMPARE} --slo-e2e batch=1ms,default=5200us`);
    expect(goodput!.targets).toEqual({ batch: { ttft_ms: 9, e2e_ms: 1 }, default: { e2e_ms: 5.2 } });
    expect(goodput!.per_class).toMatchObject({
      batch: { count: 1, real_slo_attainment: 0, real_attainment_by_dim: { ttft: 1, e2e: 0 } },
      default: { count: 4, real_slo_attainment: 0.5 },
    });
  });

  it('fails when a given tolerance is missed, and names it', async () => {
    const { code, stderr, stdout } = await twinyard(
      `${COMPARE} --ttft-mape-threshold 0.05 --e2e-mean-threshold 0 --itl-mape-threshold 1`,
    );
    expect([code, stderr]).toEqual([1, 'twinyard: missed: --ttft-mape-threshold: 10.0 % (limit 5.0 %)\n']);
    expect((JSON.parse(stdout) as CalibrationDocument).tolerances).toMatchObject({
      ttft_mape: { within: false },
      e2e_mean: { within: true },
      itl_mape: { within: true },
    });
    writeFileSync('seen.csv', seen(Array.from({ length: 5 }, () => ({ output_tokens: '1' }))));
    write(
      'results.json',
      entries((entry) => ({ ...entry, output_tokens: 1 })),
    );
    const nothing = await twinyard(`${COMPARE} --itl-mean-threshold 1`);
    expect([nothing.code, nothing.stderr]).toEqual([
      1,
      'twinyard: missed: --itl-mean-threshold: nothing to judge (limit 100.0 %)\n',
    ]);
  });

  it('prints a table', async () => {
    writeFileSync(
      'seen.yaml',
      `${HEADER}goodput_slo_targets: { default: { e2e_ms: 5.2 } }\npartial: stopped after 5\n`,
    );
    expect(await silent(`${COMPARE} --format table --e2e-mean-threshold 0.01`)).toBe(`seen.csv against results.json
5 of 5 requests compared, 0 token mismatches

Error of           mean   median      p90  one request  grade
first token     +10.0 %  +10.0 %  +10.0 %       10.0 %  fair
  a repeat        1.4 %    1.0 %    2.1 %        8.8 %
whole request     0.0 %    0.0 %    0.0 %        0.0 %  excellent
  a repeat        1.7 %    1.6 %    2.0 %        1.9 %
between tokens   -3.0 %   -3.0 %   -2.6 %        3.0 %  good
  a repeat        1.7 %    1.4 %    3.5 %        1.9 %

Request by request  requests    MAPE      r  bias
first token                5  10.0 %  1.000  over-predict
whole request              5   0.0 %  1.000  neutral
between tokens             5   3.0 %  0.000  under-predict

Latency, ms                   mean      p50      p90      p95      p99
first token     measured      1.20     1.20     1.36     1.38     1.40
                predicted     1.32     1.32     1.50     1.52     1.54
                error      +10.0 %  +10.0 %  +10.0 %  +10.0 %  +10.0 %
whole request   measured      5.20     5.20     5.36     5.38     5.40
                predicted     5.20     5.20     5.36     5.38     5.40
                error        0.0 %    0.0 %    0.0 %    0.0 %    0.0 %
between tokens  measured      0.44     0.44     0.44     0.44     0.44
                predicted     0.43     0.43     0.43     0.43     0.43
                error       -3.0 %   -3.0 %   -2.6 %   -2.6 %   -2.5 %

Goodput  requests  measured good  predicted good  measured /s  predicted /s
default         5         60.0 %          60.0 %       319.15        319.15

Tolerance                          error   limit  verdict
first token, MAPE                 10.0 %  15.0 %  within
whole request, error of the mean   0.0 %   1.0 %  within

Notes
the trace is partial: stopped after 5
gaps between tokens follow from the first and the last token: --itl-data gives
  those of single pieces
`);
  });

  it('grades by what two measurements of the same requests differ', async () => {
    const row = (i: number, by: number): Row => {
      const sentUs = 1_700_000_000_000_000 + 1000 * i;
      return {
        ...{ arrival_time_us: `${1000 * i}`, send_time_us: `${sentUs}` },
        ...{ first_chunk_time_us: `${sentUs + 1000 * by}`, last_chunk_time_us: `${sentUs + 5000 * by}` },
      };
    };
    const trace = (by: number) => csv(Array.from({ length: 30 }, (_, i) => row(i, by)));
    writeFileSync('seen.csv', trace(1));
    writeFileSync('again.csv', trace(1.04));
    writeFileSync('again.yaml', HEADER);
    write(
      'results.json',
      Array.from({ length: 30 }, (_, id) => ({
        ...{ request_id: id, ttft_us: 1050, e2e_us: 5250, input_tokens: 100, output_tokens: 10 },
      })),
    );
    const usual = await documentOf(COMPARE);
    expect([usual.repeatability, usual.metrics.e2e!.against_repeat.grade]).toEqual([
      ...['two runs of the same requests on one H200', 'good'],
    ]);
    const own = await documentOf(`${COMPARE} --repeat-trace again`);
    expect(own.repeatability).toBe('again.csv');
    expect(own.metrics.e2e!.against_repeat).toMatchObject({
      repeat: { mean: expect.closeTo(0.04, 9), request: expect.closeTo(0.04, 9) },
      ...{ times: expect.closeTo(1.25, 9), grade: 'excellent' },
    });
    writeFileSync('again.csv', csv([row(0, 1)]));
    const { code, stderr } = await twinyard(`${COMPARE} --repeat-trace again`);
    expect([code, stderr]).toEqual([
      2,
      'twinyard: again.csv: 1 of 30 requests have a complete response of the same length in both measurements, 20 are needed; give a second observation of the same requests\n',
    ]);
  });

  it('says where the client of the trace had a cap on requests in flight and the simulated one had not', async () => {
    writeFileSync('seen.yaml', `${HEADER}max_in_flight: 4\n`);
    const note =
      'the client of the trace had at most 4 requests in flight, that of the prediction any number: replay it with --max-in-flight 4';
    expect((await documentOf(COMPARE)).notes).toContain(note);
    write(
      'results.json',
      entries((entry) => ({ ...entry, client_wait_us: 0 })),
    );
    expect((await documentOf(COMPARE)).notes).not.toContain(note);
  });

  it('reports a sample that is too small', async () => {
    writeFileSync('seen.csv', `${seen().split('\n').slice(0, 3).join('\n')}\n`);
    write('results.json', entries().slice(0, 1));
    const table = await silent(`${COMPARE} --format table`);
    expect(table).toMatch(/^1 of 2 requests compared, 0 token mismatches$/m);
    expect(table).toMatch(/^first token +\+10\.0 % +\+10\.0 % +\+10\.0 % +10\.0 % +too few$/m);
    expect(table).toMatch(/^first token +1 +10\.0 % +0\.000 +over-predict$/m);
    expect(table).toContain(`
Notes
1 request on both sides: too few to judge by, 3 are needed at least
left out, not in the results: 1 request
`);
  });

  it("judges a gateway's recorded traffic, and a part of it", async () => {
    const line = (i: number, more: object) => ({
      ...{ t_us: 1000 * i, model: 'm', input_tokens: 100, output_tokens: 10, block_size: 16, blocks: [] },
      ...{ status: 200, first_token_us: 1000 * i + 1000 + 100 * i, end_us: 1000 * i + 5000 + 100 * i },
      ...more,
    });
    const lines = [line(1, {}), line(0, { cached_tokens: 4 }), line(2, { status: 500, outcome: 'error' })];
    writeFileSync('traffic.jsonl', lines.map((one) => `${JSON.stringify(one)}\n`).join(''));
    // Requests are numbered by their lines.
    write(
      'results.json',
      [entries()[1], entries()[0], entries()[2]].map((entry, i) => ({ ...entry, request_id: i })),
    );
    write('metrics.json', { cache_hit_rate: 0 });
    const traffic = 'calibrate --trace traffic.jsonl --sim-results results.json --sim-metrics metrics.json';
    const { code, stderr, stdout } = await twinyard(traffic);
    expect([code, stderr]).toEqual([
      0,
      'twinyard: warning: failed requests: 33.3 % (1 of 3) measured, 0.0 % (0 of 3) predicted; latencies are those of requests with a response on both sides\n',
    ]);
    const whole = JSON.parse(stdout) as CalibrationDocument;
    expect(whole.failures).toMatchObject({ real: { failed: 1, other: 1 }, sim: { failed: 0 } });
    expect(whole.metrics.e2e).toMatchObject({ count: 3, request_level: { mape: 0 } });
    expect(whole.hit_rate).toMatchObject({ real_hit_rate: 0.04 });
    expect(whole.notes).toContain(
      'partial responses, compared by when they were cut off: 1 request; --trace-answered leaves them out',
    );
    expect((await documentOf(`${traffic} --trace-answered`)).metrics.e2e!.count).toBe(2);
  });
});

describe('a run written as a trace', () => {
  it('is predicted exactly by its own replay, but for what happens after the last token', async () => {
    const MODEL = '--model qwen/qwen3-14b --latency-model trained-physics';
    await silent(`run ${MODEL} --rate 20 --num-requests 40 --prefix-tokens 64 --trace-output run`);
    await silent(`replay ${MODEL} --trace run --results-path results.json`);
    const { metrics, trace_info } = await documentOf('calibrate --trace run --sim-results results.json');
    expect(metrics.ttft!.request_level).toMatchObject({ mape: 0, quality: 'excellent' });
    expect(metrics.e2e!.workload_level.mean_error).toBeCloseTo(777, 6);
    // The trace's own count leaves out the shared prefix.
    expect(trace_info).toMatchObject({ matched_pairs: 40, token_mismatches: 40 });
  });
});
