import { describe, expect, it } from 'vitest';
import { OBSERVED_OUTCOMES } from '../../observed.js';
import { PromptKeys } from '../../prompt-keys.js';
import { closedLoopWorkload } from '../../sessions/trace-session-driver.js';
import { readTraceV2 } from '../../trace-v2/read-trace.js';
import { writeTrace } from '../../trace-v2/write.js';
import { told } from '../format.contract.js';
import { readAnyTrace, traceFormatOf } from '../read-any-trace.js';
import { samplePath, temporaryFiles } from '../samples.fixture.js';
import { traffic } from './traffic.js';
import { trafficFiles } from './traffic-files.js';

const written = temporaryFiles();
const T0 = 1_751_360_400_000_000;

interface Given {
  at?: number;
  [field: string]: unknown;
}

/** A recorded line: a completed request of 40 tokens, arriving at this time in microseconds. */
function line({ at = 0, ...fields }: Given = {}): string {
  const t = T0 + at;
  const plain = { t_us: t, id: 'i', endpoint: 'e', model: 'm', tenant: null, session: null, slo_class: null };
  const lengths = { input_tokens: 40, cached_tokens: 0, output_tokens: 8, block_size: 16, blocks: [] };
  const times = { replica: 'r', dispatch_us: t + 1, first_token_us: t + 20, end_us: t + 100 };
  return `${JSON.stringify({ ...plain, ...lengths, ...times, status: 200, ...fields })}\n`;
}

const REFUSED = { status: 429, cached_tokens: null, output_tokens: null, dispatch_us: null, first_token_us: null };
let made = 0;
const file = (...given: Given[]) => written(`t${made++}.jsonl`, given.map(line).join(''));
const read = async (...given: Given[]) => told(await traffic.read(file(...given)));

describe('traffic', () => {
  it('sorts records that are written in order of completion, and names the line of each', async () => {
    const path = samplePath('traffic.jsonl');
    const trace = await traffic.read(path);
    expect(told(trace)).toMatchObject({
      mode: 'real',
      unsorted: false,
      ids: [1, 0, 2, 3],
      clients: Array(4).fill('qwen/qwen3-14b'),
      sessions: ['eCzfg-3gFOb', '', 'eCzfg-3gFOb', ''],
      rounds: [0, 0, 1, 0],
      // From the end of the first response.
      thinkTimeUs: [0, 0, 180_000, 0],
    });
    const { table } = trace;
    expect(Array.from(table.tenant.subarray(0, 4), (i) => table.tenants.name(i))).toEqual([
      ...['office', 'office', 'office', 'shop'],
    ]);
    expect(Array.from(table.sloClass.subarray(0, 4), (i) => table.sloClasses.name(i))).toEqual([
      ...['standard', 'critical', 'standard', 'batch'],
    ]);
    expect([trace.place(0, 'arrival_time_us'), trace.place(1, 'session_id')]).toEqual([
      `${path}:2:2 (t_us)`,
      `${path}:1:109 (session)`,
    ]);
  });

  it('keeps the measurements of every response', async () => {
    const { observed } = await traffic.read(samplePath('traffic.jsonl'));
    const nan = Number.NaN;
    expect(observed).toEqual({
      dispatchUs: Float64Array.of(150, 150, 150, nan),
      ttftUs: Float64Array.of(35_000, 31_000, 28_000, nan),
      e2eUs: Float64Array.of(420_000, 180_000, 300_000, 80),
      cachedTokens: Int32Array.of(0, 0, 64, -1),
      outcome: Uint8Array.of(0, 0, 0, 2),
      served: { replicas: ['engine-1', 'engine-0'], by: Int32Array.of(1, 0, 1, -1), endpoints: ['default'] },
    });
    const times = { at: 5, first_token_us: null };
    const { observed: late } = await traffic.read(
      file({ status: 504, ...times }, { outcome: 'timeout' }, { outcome: 'upstream_error' }),
    );
    expect(late!.outcome).toEqual(Uint8Array.of(1, 2, 1));
  });

  it('writes it into a TraceV2, which reads back as the same requests', async () => {
    const trace = await traffic.read(samplePath('traffic.jsonl'));
    const { data, header } = writeTrace(trace);
    const text = [...data].join('');
    const rows = text.trimEnd().split('\n').slice(1);
    const columns = text.split('\n')[0]!.split(',');
    const seen = ['first_chunk_time_us', 'last_chunk_time_us', 'status'].map((name) => columns.indexOf(name));
    expect(rows.map((row) => seen.map((column) => row.split(',')[column]))).toEqual([
      ['35000', '420000', 'ok'],
      ['71000', '220000', 'ok'],
      ['628000', '900000', 'ok'],
      ['0', '0', 'incomplete'],
    ]);
    const again = await readTraceV2(written('again.yaml', header), written('again.csv', text));
    expect({ ...told(again), format: 'traffic', notes: told(trace).notes }).toEqual(told(trace));
  });

  it('reads the files that rotation has put aside before the last one', async () => {
    const path = written('rotated.jsonl', line({ at: 300 }));
    written('rotated.jsonl.1', `${line({ at: 200 })}\n${line({ at: 250, session: 'x' })}`);
    written('rotated.jsonl.2', line({ at: 100 }));
    written('rotated.jsonl.4', line());
    expect(trafficFiles(path)).toEqual([`${path}.2`, `${path}.1`, path]);
    expect(traffic.files!(path)).toEqual(trafficFiles(path));
    const trace = await traffic.read(path);
    expect(told(trace)).toMatchObject({ arrivalUs: [0, 100, 150, 200], ids: [0, 1, 2, 3] });
    expect(trace.place(2, 'session_id')).toMatch(`${path}.1:3:`);
    expect(trace.place(3, 'input_tokens')).toMatch(`${path}:1:`);
    expect(told(await traffic.read(`${path}.1`)).arrivalUs).toEqual([0, 50]);
    written('rotated.jsonl.2', 'nonsense\n');
    await expect(traffic.read(path)).rejects.toMatchObject({
      place: expect.stringContaining(`${path}.2:1:`),
      problem: 'the line is not JSON',
    });
  });

  it('reads the file of a gateway that was killed', async () => {
    const path = written('killed.jsonl', `${line()}${line().slice(0, 90)}\n${line({ at: 10 })}${line().slice(0, 50)}`);
    const trace = await traffic.read(path);
    expect(told(trace)).toMatchObject({ arrivalUs: [0, 10], notes: ['lines that end in the middle were left out: 2'] });
    expect(trace.place(1, 'input_tokens')).toMatch(`${path}:3:`);
  });

  it('is recognised by a first line of any length', async () => {
    const blocks = Array.from({ length: 10_000 }, (_, i) => `block-${i}`);
    const path = file({ blocks, input_tokens: 160_000 });
    expect((await traceFormatOf(path)).name).toBe('traffic');
    expect((await readAnyTrace(path)).table.blocks!.blocksOf(0)).toBe(10_000);
  });
});

describe('requests of recorded traffic without a complete response', () => {
  const answered = [
    { model: 'a', output_tokens: 10 },
    { model: 'a', output_tokens: 31 },
    { model: 'b', output_tokens: 100 },
  ];

  it('arrive with the mean length of the responses of their model', async () => {
    const given = [...answered, { ...REFUSED, model: 'a' }, { ...REFUSED, model: 'b', status: 503 }];
    const { notes, outputTokens } = await read(...given, { ...REFUSED, model: 'c', status: 499 });
    // No response of c: the average of all.
    expect(outputTokens.slice(3)).toEqual([21, 100, 47]);
    expect(notes[0]).toMatch(/^requests without a response: 3; /);
    expect((await read(REFUSED)).outputTokens).toEqual([1]);
  });

  it('keep the tokens received before they were cut off, and do not count as complete', async () => {
    const broken = { model: 'a', output_tokens: 3, cached_tokens: null, outcome: 'client_left' };
    const { notes, outputTokens } = await read(...answered, broken, { ...REFUSED, model: 'a' });
    expect([outputTokens.slice(3), notes[0]!.slice(0, 29)]).toEqual([[3, 21], 'requests without a response: ']);
  });

  it('are left out when they were wrong or empty', async () => {
    const wrong = [400, 404, 413, 422].map((status) => ({ ...REFUSED, status }));
    const { inputTokens, notes } = await read({}, ...wrong, { input_tokens: 0, output_tokens: 0 });
    expect([inputTokens, notes]).toEqual([
      [40],
      ['requests that were refused with a status of 4xx were left out: 4', 'requests without a token were left out: 1'],
    ]);
  });

  it('are left out when only complete responses are selected', async () => {
    const path = file(...answered, REFUSED, { outcome: 'client_left', cached_tokens: null }, { at: 7, outcome: 'ok' });
    expect(told(await traffic.readPart!(path, { answered: true }))).toMatchObject({
      outputTokens: [10, 31, 100, 8],
      notes: ['requests are for 3 models and are taken together: a (2), b (1), m (3); --trace-model keeps one'],
    });
    await expect(traffic.readPart!(file(REFUSED), { answered: true })).rejects.toMatchObject({
      code: 'TRACE_PART_EMPTY',
      problem: 'no request has a complete response',
    });
  });

  it('do not include one whose client closed the connection after the last byte', async () => {
    // The engine reports its usage at the end of a stream.
    const path = file(
      { outcome: 'client_left', output_tokens: 9 },
      { at: 5, outcome: 'client_left', cached_tokens: null },
    );
    expect(told(await traffic.readPart!(path, { answered: true }))).toMatchObject({ outputTokens: [9] });
    const { observed } = await traffic.read(path);
    expect([...observed!.outcome].map((i) => OBSERVED_OUTCOMES[i])).toEqual(['ok', 'incomplete']);
    const unstreamed = { outcome: 'client_left', first_token_us: null };
    const refused = { outcome: 'client_left', status: 499 };
    for (const one of [unstreamed, refused]) {
      await expect(traffic.readPart!(file(one), { answered: true })).rejects.toMatchObject({
        code: 'TRACE_PART_EMPTY',
      });
    }
  });

  it('have length 1 where no response is complete', async () => {
    // An embedding.
    expect(await read({ output_tokens: 0 })).toMatchObject({ outputTokens: [0], notes: [] });
  });
});

describe('models of recorded traffic', () => {
  it('are reported when there are several, and one can be selected', async () => {
    const path = file({ model: 'a' }, { model: 'b', at: 5 }, { model: 'a', at: 9 }, { model: null });
    expect((await traffic.read(path)).notes).toEqual([
      'requests are for 3 models and are taken together: a (2), b (1), none (1); --trace-model keeps one',
    ]);
    expect(told(await readAnyTrace(path, { model: 'a' }))).toMatchObject({ clients: ['a', 'a'], notes: [] });
    await expect(readAnyTrace(path, { model: 'aa' })).rejects.toMatchObject({
      code: 'TRACE_PART_EMPTY',
      place: path,
      problem: "no request is for the model 'aa'",
      hint: expect.stringContaining("did you mean 'a'?"),
    });
  });

  it('can only be selected where the format records them', async () => {
    const path = samplePath('mooncake.jsonl');
    await expect(readAnyTrace(path, { model: 'a' })).rejects.toMatchObject({ code: 'TRACE_PART_UNKNOWN', place: path });
  });

  it('are not limited in number, but classes are', async () => {
    const many = Array.from({ length: 65_536 }, (_, i) => line({ slo_class: `c${i}` })).join('');
    await expect(traffic.read(written('classes.jsonl', many))).rejects.toMatchObject({
      place: expect.stringMatching(/:65536:\d+ \(slo_class\)$/),
      problem: 'there are more than 65535 classes',
    });
  });
});

describe('sessions of recorded traffic', () => {
  it('can be replayed in a closed loop, with the recorded pauses', async () => {
    const session = 's';
    const path = file(
      { at: 500, session, end_us: T0 + 900 },
      { at: 0, session, end_us: T0 + 300 },
      { at: 50, end_us: null },
    );
    const { table, sessions } = closedLoopWorkload(await traffic.read(path), null);
    expect(table.count).toBe(2);
    const next = sessions!.left(table, 0, true, 1000, Number.POSITIVE_INFINITY);
    expect(table.arrivalUs[next]).toBe(1200);
  });
});

describe('blocks of recorded traffic', () => {
  const blocksOf = async (...given: Given[]) => {
    const trace = await traffic.read(file(...given));
    const { blocks } = told(trace);
    return { tokens: trace.table.blocks?.blockTokens, blocks, notes: trace.notes, trace };
  };
  /** Prompts of these lengths with these blocks of 16 tokens. */
  const prompt = (input_tokens: number, blocks: string[], more: Given = {}) => ({ input_tokens, blocks, ...more });

  it('are equal for prompts with the same beginning, at any block size of a replica', async () => {
    const { blocks, tokens, trace } = await blocksOf(prompt(70, [...'abcd']), prompt(64, [...'abxd']), prompt(8, []));
    expect([tokens, blocks]).toEqual([16, [[0, 1, 2, 3], [0, 1, 4, 5], []]]);
    const same = (size: number, of: number) => {
      const keys = new PromptKeys(trace.table, size);
      const [a, b] = [new Int32Array(of), new Int32Array(of)];
      keys.fill(0, of, a);
      keys.fill(1, of, b);
      return a.findIndex((key, i) => key !== b[i]) * size;
    };
    expect([same(8, 8), same(16, 4), same(32, 2)]).toEqual([32, 32, 32]);
  });

  it('are absent where none were recorded', async () => {
    expect(await blocksOf({}, { blocks: null, block_size: null })).toMatchObject({
      tokens: undefined,
      blocks: [[], []],
    });
  });

  it('have as many tokens as engines count', async () => {
    const { blocks, notes, tokens } = await blocksOf(
      prompt(120, [...'abcde'], { at: 1 }),
      prompt(60, [...'ab'], { at: 2 }),
      // Without a count of an engine these are the gateway's 40 tokens.
      prompt(40, [...'ab'], { ...REFUSED, at: 3 }),
    );
    // 180 tokens in 7 blocks and twice a half.
    expect(tokens).toBe(23);
    expect(blocks).toEqual([
      [0, 1, 2, 3, 4],
      [0, 1],
      [0, 1],
    ]);
    expect(notes!.at(-1)).toBe(
      'engines count tokens differently from the gateway: a block of 16 gateway tokens counts as 23',
    );
    const { inputTokens } = await read(prompt(120, [...'abcde']), prompt(40, [...'ab'], { ...REFUSED, at: 3 }));
    expect(inputTokens).toEqual([120, 55]);
  });

  it('have the recorded size where prompts are as long as their blocks, including the shortest', async () => {
    const { notes, tokens } = await blocksOf(prompt(16, ['a']), prompt(32, ['a']), prompt(17, ['b'], { at: 1 }));
    expect([tokens, notes]).toEqual([16, []]);
  });

  it('are at most as many as fit into the prompt', async () => {
    const long = Array.from({ length: 100 }, (_, i) => `b${i}`);
    const { blocks, tokens } = await blocksOf(prompt(1608, long), prompt(20, [...'abcd'], { at: 1 }));
    expect([tokens, blocks[1]!.length]).toEqual([16, 2]);
  });

  it('may have several sizes: then a large one is several small ones', async () => {
    const { blocks, tokens } = await blocksOf(
      prompt(70, [...'abcd']),
      prompt(70, [...'xy'], { block_size: 32, at: 1 }),
      prompt(70, [...'xz'], { block_size: 32, at: 2 }),
    );
    expect(tokens).toBe(16);
    expect(blocks.map((row) => row.length)).toEqual([4, 4, 4]);
    expect(blocks[1]!.slice(0, 2)).toEqual(blocks[2]!.slice(0, 2));
    expect(new Set(blocks.flat()).size).toBe(4 + 4 + 2);
  });
});
