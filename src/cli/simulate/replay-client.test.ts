import { writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { ComparisonDocument } from '../../experiment/comparison/comparison.js';
import type { RequestResult, ResultDocument } from '../../simulator/result-document.js';
import { csv, type Row } from '../../workload/trace-v2/data/csv-text.fixture.js';
import { BASE_COLUMNS } from '../../workload/trace-v2/data/layout.js';
import { inTestFolder, silent } from '../test-folder.fixture.js';
import { captured as twinyard } from '../test-io.fixture.js';

const EPOCH_US = 1_700_000_000_000_000;
const COUNT = 60;
const HEADER = 'trace_version: 3\ntime_unit: us\nmode: real\n';
/** Without a cap requests come faster than they are served, which is not the matter here. */
const MODEL = '--model qwen/qwen3-14b --max-num-seqs 8';

/** Planned a millisecond apart; with `cap` requests in flight each took a second, so that later ones were sent later. */
function observed(cap: number, more: Row = {}, columns: readonly string[] = BASE_COLUMNS): string {
  const rows = Array.from({ length: COUNT }, (_, i): Row => {
    const sentUs = EPOCH_US + 1000 * i + 1_000_000 * Math.floor(i / cap);
    return {
      ...{ arrival_time_us: `${1000 * i}`, send_time_us: `${sentUs}`, streaming: 'true', output_tokens: '50' },
      ...{ first_chunk_time_us: `${sentUs + 100_000}`, last_chunk_time_us: `${sentUs + 999_000}` },
      ...more,
    };
  });
  return csv(rows, columns);
}

inTestFolder(() => {
  writeFileSync('seen.yaml', HEADER);
  writeFileSync('seen.csv', observed(10));
});

const replayed = async (args: string) =>
  JSON.parse(
    await silent(`replay --trace seen ${MODEL} ${args} --metrics-path result.json --log error`),
  ) as ResultDocument;
const requestsOf = async (args: string) => {
  await replayed(args);
  const { readFileSync } = await import('node:fs');
  return (JSON.parse(readFileSync('result.json', 'utf8')) as { requests: RequestResult[] }).requests;
};

describe('the client of a replay', () => {
  it('has the cap on requests in flight that the header names, unless a flag says otherwise', async () => {
    writeFileSync('seen.yaml', `${HEADER}max_in_flight: 10\n`);
    const { client, config } = await replayed('');
    expect(client).toMatchObject({ max_in_flight: 10, held_requests: 50, latencies_from: 'sending' });
    expect(config).toMatchObject({ maxInFlight: 10, workload: { arrivalTimes: 'planned' } });
    expect((await replayed('--max-in-flight 30')).client).toMatchObject({ max_in_flight: 30, held_requests: 30 });
    const free = await replayed('--max-in-flight 0');
    expect([free.client, free.config.maxInFlight]).toEqual([undefined, undefined]);
    expect(free.cluster.ttft_mean_ms).toBeGreaterThan(3 * (await replayed('')).cluster.ttft_mean_ms);
  });

  it('counts latencies from the sending, and says how long a request was held back', async () => {
    const requests = await requestsOf('--max-in-flight 10');
    expect(requests.slice(0, 10).map((one) => one.client_wait_us)).toEqual(Array(10).fill(0));
    const held = requests.slice(10);
    expect(held.every((one) => one.client_wait_us! > 0)).toBe(true);
    for (const { arrival_us, client_wait_us, request_id } of held) {
      expect(arrival_us - client_wait_us!).toBe(1000 * Number(request_id.slice('request_'.length)));
    }
    expect((await requestsOf('--max-in-flight 0'))[0]).not.toHaveProperty('client_wait_us');
  });

  it('sends at planned times, or at the recorded send times', async () => {
    const arrivals = async (args: string) => (await requestsOf(args)).map((one) => one.arrival_us);
    expect((await arrivals('--max-in-flight 0'))[59]).toBe(59_000);
    expect((await arrivals('--max-in-flight 0 --arrival-times sent'))[59]).toBe(5_059_000);
    expect((await replayed('--arrival-times sent')).config.workload.arrivalTimes).toBe('sent');
    const { stderr } = await twinyard(`replay --trace seen ${MODEL} --max-in-flight 10 --log info`);
    expect(stderr).toContain('seen.csv: 60 requests, due at their planned times\n');
  });

  it('reads planned times from a column of their own', async () => {
    const columns = [...BASE_COLUMNS, 'intended_arrival_us'];
    writeFileSync('seen.csv', observed(10, { arrival_time_us: '0', intended_arrival_us: '70000' }, columns));
    expect((await requestsOf('--max-in-flight 0')).map((one) => one.arrival_us)).toEqual(Array(COUNT).fill(70_000));
  });

  it('is warned about where its cap is not known', async () => {
    const { code, stderr } = await twinyard(`replay --trace seen ${MODEL}`);
    expect([code, stderr.replace(/^twinyard: warning: saturated: .*\n/m, '')]).toEqual([
      0,
      'twinyard: warning: seen.csv: 50 of 60 requests were sent up to 5.0 s after their planned time, with at most 10 in flight: if the client had such a cap, give --max-in-flight 10, or use --arrival-times sent\n',
    ]);
  });

  it('gives up after the recorded time-out, another one, or never; it counts from the sending', async () => {
    writeFileSync('seen.csv', observed(10, { deadline_us: '900000' }));
    const lost = async (args: string) => (await replayed(`--max-in-flight 10 ${args}`)).cluster.timed_out_requests;
    // Eight of ten share a batch and take 0.6 s each.
    const [recorded, longer, none] = [await lost(''), await lost('--timeout 20'), await lost('--timeout -1')];
    expect([recorded > 0, longer, none]).toEqual([true, 0, 0]);
    expect(await lost('--timeout 0.7')).toBeGreaterThan(recorded);
    expect((await replayed('--max-in-flight 10 --timeout 20')).config.workload.timeoutUs).toBe(20_000_000);
  });

  it('is the same in a comparison', async () => {
    writeFileSync('seen.yaml', `${HEADER}max_in_flight: 10\n`);
    const compared = async (args: string) => {
      const flags = `--routing-policy round-robin,least-loaded --seeds 1 --no-cache --format json ${args}`;
      const { stdout } = await twinyard(`compare --trace seen ${MODEL} ${flags}`);
      return JSON.parse(stdout) as ComparisonDocument;
    };
    const ttft = ({ variants }: ComparisonDocument) => variants[0]!.metrics.ttft_mean_ms!.mean;
    const single = await replayed('');
    expect(ttft(await compared(''))).toBeCloseTo(single.cluster.ttft_mean_ms, 6);
    const free = await replayed('--max-in-flight 0');
    expect(ttft(await compared('--max-in-flight 0'))).toBeCloseTo(free.cluster.ttft_mean_ms, 6);
  });
});
