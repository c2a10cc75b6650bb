import { describe, expect, it } from 'vitest';
import { shortenPauses } from './engines/fit-recorded.js';
import { enginesOf, readRecordedFleet } from './recorded-fleet.js';
import { REPLICA, recordingOf, served } from './recorded-run.fixture.js';
import { recordingFiles } from './recording-files.fixture.js';
import { whatIf } from './whatif.js';
import type { WhatIfQuestion } from './whatif-question.js';

const file = recordingFiles();
const run = served({ requests: 300 }, { routing: { policy: 'round-robin', options: {} } });
const LINES = recordingOf(run);
const records = LINES.trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Record<string, number>);
const linesOf = (change: (record: Record<string, number>, i: number) => object) =>
  `${records.map((record, i) => JSON.stringify(change(record, i))).join('\n')}\n`;
const question = (recording: string, changes: Partial<WhatIfQuestion> = {}): WhatIfQuestion => ({
  recording,
  replica: REPLICA,
  gateway: { signalsUs: 1_000_000, blockSize: 16 },
  alternatives: [{ routing: { policy: 'lmetric', options: {} } }],
  runs: 5,
  ...changes,
});
const FAILED = { status: 502, outcome: 'error', first_token_us: null, output_tokens: null };

describe('a recording that nothing can be asked of names file, problem and hint in one line', () => {
  it.each([
    ['empty', '', 'has no requests; send requests to the gateway'],
    [
      'of which every request failed',
      recordingOf(run, FAILED),
      'has 300 requests, and no complete response of a replica',
    ],
    [
      'of responses that were not streamed',
      linesOf((record) => ({ ...record, first_token_us: record.end_us! - 300 })),
      'has 300 complete responses, and none was streamed: only a stream shows when its first token came',
    ],
    [
      'of which every client left',
      recordingOf(run, { status: 499, outcome: 'client_left', output_tokens: 3 }),
      'has 300 requests, and no complete response of a replica',
    ],
    ['of one request', LINES.slice(0, 1 + LINES.indexOf('\n')), 'has 1 complete response of a replica'],
    [
      'of a gateway that did not record replicas',
      recordingOf(run, { replica: undefined, dispatch_us: undefined }),
      'of none which replica served it and when it was sent there; record again with this version of the gateway',
    ],
    [
      'of two endpoints',
      linesOf((record, i) => ({ ...record, endpoint: i % 2 === 0 ? 'chat' : 'code' })),
      'has requests of 2 endpoints, each with replicas of its own: chat, code; choose one with --endpoint',
    ],
    [
      'cut off after 100 responses',
      LINES.slice(0, 10 + LINES.indexOf('"id":"r100"')),
      'has 100 complete responses of replicas, and at least 200 are needed',
    ],
    [
      'whose first token came before the request',
      linesOf((record) => ({ ...record, first_token_us: record.t_us! - 5 })),
      'is before the arrival at',
    ],
  ])('%s', async (name, lines, problem) => {
    const path = file(`${name.replaceAll(' ', '-')}.jsonl`, lines);
    const error: Error = await whatIf(question(path)).then(
      () => new Error('answered'),
      (thrown) => thrown,
    );
    expect(error.name).toBe('InputError');
    expect(error.message).toContain(problem);
    expect([error.message.startsWith(path), error.message.includes('\n')]).toEqual([true, false]);
  });

  it('of two endpoints can be asked about one of them', async () => {
    const path = file(
      'both.jsonl',
      linesOf((record, i) => ({ ...record, endpoint: i < 250 ? 'chat' : 'code' })),
    );
    expect((await readRecordedFleet(question(path, { endpoint: 'chat' }))).trace.table.count).toBe(250);
  });

  it('is asked about all of it where the last part is longer', async () => {
    const path = file('all.jsonl', LINES);
    expect((await readRecordedFleet(question(path, { lastUs: 1e12 }))).trace.table.count).toBe(300);
  });
});

describe('a recording', () => {
  it('that ends in the middle of a line has a note', async () => {
    const path = file('cut.jsonl', LINES.slice(0, 10 + LINES.indexOf('"id":"r250"')));
    const { trace } = await readRecordedFleet(question(path));
    expect([trace.table.count, trace.notes]).toEqual([250, ['lines that end in the middle were left out: 1']]);
  });

  it('with responses that were not streamed measures the others', async () => {
    const mixed = linesOf((record, i) => (i % 4 === 0 ? { ...record, first_token_us: record.end_us! - 300 } : record));
    const { baseline, notes, recording } = await whatIf(question(file('mixed-streams.jsonl', mixed)));
    expect([recording.requests, recording.responses]).toEqual([300, 225]);
    expect(notes).toEqual([
      'responses that were not streamed: 75; they count as load, and nothing is measured of them',
    ]);
    for (const { error } of baseline.metrics) expect(Math.abs(error)).toBeLessThan(0.01);
  });

  it.each([
    ['joined', 'replica-4 joined after 2 s', (seconds: number) => seconds > 2.7, 5],
    ['left', 'replica-4 left after 2 s', (seconds: number) => seconds < 3, 4],
  ])(
    'of a fleet that a replica %s in the middle is of the longest part without a change',
    async (name, change, has, replicas) => {
      const begin = records[0]!.t_us!;
      const lines = linesOf((record, i) =>
        i % 5 < 2 && has((record.t_us! - begin) / 1e6) ? { ...record, replica: 'replica-4' } : record,
      );
      const { trace } = await readRecordedFleet(question(file(`${name}.jsonl`, lines)));
      expect(trace.observed.served.replicas).toHaveLength(replicas);
      expect([trace.table.count > 200, trace.table.count < 260]).toEqual([true, true]);
      const note = `replicas joined or left: ${change}; only the ${trace.table.count} requests of the`;
      expect(trace.notes!.join()).toContain(note);
    },
  );

  it('of one replica is predicted for it, and for more', async () => {
    const slow = served({ requests: 300, rate: 8 }, { routing: { policy: 'round-robin', options: {} }, instances: 1 });
    const path = file('one.jsonl', recordingOf(slow));
    const routing = { policy: 'lmetric', options: {} };
    const { alternatives } = await whatIf(question(path, { alternatives: [{ routing }, { routing, replicas: 2 }] }));
    expect(alternatives.map(({ refused, replicas }) => [refused, replicas])).toEqual([
      [null, 1],
      [null, 2],
    ]);
    expect(alternatives[0]!.metrics.map(({ claim }) => claim)).not.toContain('better');
  });

  it('whose clock was set back by an hour is fitted without the pause that this leaves', async () => {
    const hour = 3_600_000_000;
    const back = linesOf((record, i) => {
      const times = Object.entries(record).filter(([key]) => key.endsWith('_us'));
      return i < 150 ? record : { ...record, ...Object.fromEntries(times.map(([key, us]) => [key, us - hour])) };
    });
    const [engine] = enginesOf(await readRecordedFleet(question(file('set-back.jsonl', back))), REPLICA);
    const { arrivalUs, count } = engine!.table;
    expect(arrivalUs[count - 1]! - arrivalUs[0]!).toBeGreaterThan(0.9 * hour);
    const order = Array.from(arrivalUs.subarray(0, count));
    shortenPauses(engine!);
    const spanUs = arrivalUs[count - 1]! - arrivalUs[0]!;
    expect([spanUs > 10_000_000, spanUs < 40_000_000]).toEqual([true, true]);
    // Nothing else moved.
    const moved = order.filter((us, i) => i > 0 && us - order[i - 1]! !== arrivalUs[i]! - arrivalUs[i - 1]!);
    expect(moved).toHaveLength(1);
  });
});
