import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { readAnyTrace } from '../../workload/formats/read-any-trace.js';
import { madeTrace, rowsOf } from '../../workload/tools/made-trace.fixture.js';
import { writeTrace } from '../../workload/trace-v2/write.js';
import { inTestFolder, silent } from '../test-folder.fixture.js';
import { examplesIn, captured as twinyard } from '../test-io.fixture.js';
import { TRACE_COMMANDS } from './trace.js';

const seconds = (s: number) => s * 1e6;
const TRACE = madeTrace(
  [
    { at: seconds(1), session: 'kim', round: 0, input: 600, output: 20, tenant: 'acme', client: 'web' },
    { at: seconds(2), group: 'handbook', prefix: 512, input: 700, tenant: 'acme', client: 'web' },
    { at: seconds(3), session: 'kim', round: 1, input: 30, output: 9, tenant: 'acme', client: 'web' },
    { at: seconds(5), group: 'handbook', prefix: 512, input: 900, tenant: 'zoo', client: 'web' },
    { at: seconds(61), session: 'kim', round: 2, input: 10, tenant: 'acme', client: 'web' },
  ],
  { sessionContextGrowth: 'accumulate' },
);
const MOONCAKE = `{"timestamp": 0, "input_length": 700, "output_length": 3, "hash_ids": [0, 1]}
{"timestamp": 2000, "input_length": 600, "output_length": 4, "hash_ids": [0, 2]}
`;

inTestFolder(() => {
  const { data, header } = writeTrace(TRACE);
  writeFileSync('day.csv', [...data].join(''));
  writeFileSync('day.yaml', header);
  writeFileSync('moon.jsonl', MOONCAKE);
});

const written = async (path: string) => rowsOf(await readAnyTrace(path));

describe('trace', () => {
  it.each(['trace --help', 'trace -h', 'help trace'])('lists its commands for %s', async (args) => {
    const text = await silent(args);
    for (const { name } of TRACE_COMMANDS) expect(text).toMatch(new RegExp(`^ {2}${name} `, 'm'));
  });

  it('gives examples that work', async () => {
    for (const { name } of TRACE_COMMANDS) {
      const text = await silent(`trace ${name} --help`);
      expect(text).toMatch(new RegExp(`^Usage: twinyard trace ${name} FILE \\[flags\\]`));
      const examples = examplesIn(text);
      expect(examples.length).toBeGreaterThan(1);
      for (const example of examples) expect((await twinyard(example)).code).toBe(0);
    }
  });
});

describe('trace stats', () => {
  it('prints one JSON document, the same every time', async () => {
    const text = await silent('trace stats day.csv --cache-blocks 3 --block-size 512');
    expect(JSON.parse(text)).toMatchObject({
      format: 'trace-v2',
      requests: 5,
      duration_s: 60,
      chats: { count: 1, requests: 3 },
      input_tokens: { total: 600 + 700 + 649 + 900 + 667 },
      prefix_reuse: {
        block_size: 512,
        infinite_cache: { reused_tokens: 3 * 512 },
        lru_cache: { blocks: 3, reused_tokens: 3 * 512 },
      },
      tenants: { acme: 4, zoo: 1 },
    });
    expect(await silent('trace stats day.csv --cache-blocks 3 --block-size 512')).toBe(text);
  });

  it('finds a TraceV2 by the common name of its files', async () => {
    expect(await silent('trace stats day')).toBe(await silent('trace stats day.csv'));
    rmSync('day.yaml');
    expect(JSON.parse(await silent('trace stats day')).input_tokens.total).toBe(2240);
  });

  it('prints a table on request', async () => {
    const text = await silent('trace stats moon.jsonl --format table');
    expect(text).toMatch(/^moon\.jsonl: mooncake, 2 requests over 2\.00 s\n\nArrivals /);
    expect(text).not.toContain('\u001b');
    const coloured = await twinyard('trace stats moon.jsonl --format table', { isTTY: true });
    expect(coloured.stdout).toContain('\u001b[1m');
  });

  it('draws a picture or a page', async () => {
    await silent('trace stats moon.jsonl --report out.svg');
    expect(readFileSync('out.svg', 'utf8')).toMatch(/^<svg xmlns/);
    await silent('trace stats moon.jsonl --report out.html');
    expect(readFileSync('out.html', 'utf8')).toMatch(/^<!doctype html>/);
  });

  it('reports what a reader left out', async () => {
    writeFileSync(
      'burst.csv',
      'Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n1,ChatGPT,5,6,11,Conversation log\n2,ChatGPT,0,0,0,Conversation log\n',
    );
    const ended = await twinyard('trace stats burst.csv');
    expect(ended.code).toBe(0);
    expect(ended.stderr).toMatch(/^twinyard: warning: burst\.csv: failed requests /);
  });
});

describe('trace cap, slice, scale, anonymise', () => {
  it('cap keeps the first turns of every session', async () => {
    await silent('trace cap --max-turns 2 day -o capped');
    expect((await written('capped.csv')).map(({ id }) => id)).toEqual([0, 1, 2, 3]);
    expect(readFileSync('capped.yaml', 'utf8')).toContain('session_context_growth: accumulate');
    await silent('trace cap day.csv -o whole.csv');
    expect(await written('whole.csv')).toEqual(await written('day.csv'));
  });

  it('slice keeps a span of time, and the context before it', async () => {
    await silent('trace slice --from 1500ms --to 10s day.csv -o part.csv');
    expect((await written('part.csv')).map(({ id, at, round, input }) => [id, at, round, input])).toEqual([
      [2, 500_000, 0, 600 + 19 + 30],
      [3, 2_500_000, 0, 900],
    ]);
    await silent('trace slice --first 2 day.csv -o first.csv');
    expect((await written('first.csv')).map(({ id }) => id)).toEqual([0, 1]);
    await silent('trace slice --sessions 1 day.csv -o chat.csv');
    expect((await written('chat.csv')).map(({ id }) => id)).toEqual([0, 2, 4]);
  });

  it('scale moves starts together and leaves sessions unchanged', async () => {
    await silent('trace scale --rate 2x day.csv -o fast.csv');
    expect((await written('fast.csv')).map(({ id, at }) => [id, at / 1e6])).toEqual([
      [0, 1],
      [1, 1.5],
      [2, 3],
      [3, 3],
      [4, 61],
    ]);
  });

  it('anonymise removes every name', async () => {
    await silent('trace anonymise day.csv -o plain.csv');
    const text = readFileSync('plain.csv', 'utf8');
    for (const name of ['kim', 'acme', 'web', 'handbook', 'zoo']) expect(text).not.toContain(name);
    expect((await written('plain.csv'))[1]).toMatchObject({ client: 'c0', tenant: 't0', group: 'g0', input: 700 });
  });

  it('writes the format that the output name sets, else that of the input', async () => {
    await silent('trace slice --first 1 moon.jsonl -o one.jsonl');
    expect(readFileSync('one.jsonl', 'utf8')).toBe(MOONCAKE.split('\n')[0]!.concat('\n'));
    await silent('trace slice --first 1 moon.jsonl -o one');
    expect(readFileSync('one', 'utf8')).toBe(readFileSync('one.jsonl', 'utf8'));
    expect(await silent('trace slice --first 2 moon.jsonl -o -')).toBe(MOONCAKE);
    expect(await silent('trace slice --first 2 moon.jsonl')).toBe(MOONCAKE);
    await silent('trace slice --first 1 moon.jsonl -o one.csv');
    expect((await written('one.csv'))[0]).toMatchObject({ input: 700, blocks: [0, 1] });
    await silent('trace slice --first 1 day.csv -o other.yaml');
    expect(existsSync('other.csv') && existsSync('other.yaml')).toBe(true);
  });

  it('keeps the sessions of a file that records them', async () => {
    expect((await twinyard('convert synth agentic-coder -o agents.jsonl')).code).toBe(0);
    await silent('trace cap --max-turns 3 agents.jsonl -o capped.jsonl');
    const trace = await readAnyTrace('capped.jsonl');
    expect(trace.format).toBe('bailian');
    expect(Math.max(...trace.table.round)).toBe(2);
  });

  it('compresses a file whose name ends in .gz', async () => {
    await silent('trace slice --first 2 moon.jsonl -o two.jsonl.gz');
    expect(gunzipSync(readFileSync('two.jsonl.gz')).toString()).toBe(MOONCAKE);
    await silent('trace cap day.csv -o packed.csv.gz');
    expect(readdirSync('.').filter((name) => name.startsWith('packed'))).toEqual(['packed.csv.gz', 'packed.yaml']);
    expect(await written('packed.csv.gz')).toEqual(await written('day.csv'));
  });

  it('reports once what Mooncake cannot express', async () => {
    const ended = await twinyard('trace cap day.csv -o day.jsonl');
    expect(ended).toEqual({
      code: 0,
      stdout: '',
      stderr:
        'twinyard: warning: Mooncake has no place for clients, tenants, which requests belong to a session: left out\n',
    });
  });
});

describe('bad input is one line, code 2, and nothing is written', () => {
  it.each([
    ['trace', "command 'trace': needs a subcommand; known: trace stats, trace cap,"],
    ['trace statz day.csv', "command 'trace statz': does not exist; did you mean 'trace stats'?"],
    ['trace stats', "FILE: is required; write 'twinyard trace stats FILE'"],
    ['trace stats day.csv moon.jsonl', "'moon.jsonl': unexpected argument; 'trace stats' takes FILE only"],
    ['trace stats none.csv', 'none.csv: no such file'],
    ['trace stats .', '.: is not a trace of a known format'],
    ['trace stats day.yaml', 'day.yaml: is not a trace of a known format'],
    ['trace stats day.csv --formt table', '--formt: no such flag; did you mean --format?'],
    ['trace stats day.csv --format xml', "--format: 'xml' is not known"],
    ['trace stats day.csv --block-size 0', "--block-size: '0' is too small"],
    ['trace stats day.csv --cache-blocks 1.5', "--cache-blocks: '1.5' is not a whole number"],
    ['trace stats day.csv --report out.png', "--report: 'out.png' ends in neither .svg nor .html"],
    ['trace stats day.csv --report no/such/out.svg', "--report: cannot write 'no/such/out.svg'"],
    ['trace cap day.csv', '--output: must name a file: a TraceV2 is two of them'],
    ['trace cap day.csv -o', '-o: needs a value; give a path'],
    ['trace cap day.csv -o -', '--output: must name a file'],
    ['trace cap day.csv -o out.csv --max-turns 0', "--max-turns: '0' is too small"],
    ['trace cap day.csv -o day.csv', "--output: would overwrite 'day.yaml', which FILE reads"],
    ['trace cap day.csv -o ./day.csv.gz', "--output: would overwrite './day.yaml', which FILE reads"],
    ['trace cap moon.jsonl -o moon.jsonl', "--output: would overwrite 'moon.jsonl', which FILE reads"],
    ['trace slice day.csv -o out.csv', '--from: or another selection is required'],
    ['trace slice day.csv --from 10 -o out.csv', "--from: '10' has no unit"],
    ['trace slice day.csv --from 3s --to 3s -o out.csv', '--to: is not after --from'],
    ['trace slice day.csv --from 2m -o out.csv', '--from: no request arrives in that time'],
    ['trace slice moon.jsonl --sessions 1 -o out.csv', '--sessions: the trace has no sessions'],
    ['trace slice day.csv --first 0 -o out.csv', "--first: '0' is too small"],
    ['trace scale day.csv -o out.csv', "--rate: is required; give a factor, as in '2x' or '0.5x'"],
    ['trace scale day.csv --rate 2 -o out.csv', "--rate: '2' is not a factor"],
    ['trace scale day.csv --rate 0x -o out.csv', "--rate: '0' is too small"],
    ['trace scale day.csv --rate fastx -o out.csv', "--rate: 'fast' is not a number"],
    ['trace scale day.csv --rate 1e-15x -o out.csv', "--rate: '1e-15x' makes the trace too long"],
    ['trace anonymise day.csv -o no/such/out.csv', "--output: cannot write 'no/such/out.yaml'"],
  ])('%s', async (args, message) => {
    const before = readdirSync('.');
    const ended = await twinyard(args);
    expect(ended).toMatchObject({ code: 2, stdout: '' });
    expect(ended.stderr).toContain(`twinyard: ${message}`);
    expect(ended.stderr.trim().split('\n')).toHaveLength(1);
    expect(readdirSync('.')).toEqual(before);
  });

  it('names the place in a trace that is wrong', async () => {
    writeFileSync('day.yaml', 'session_context_growth: accumulate\n');
    writeFileSync('day.csv', readFileSync('day.csv', 'utf8').replace('kim,1,', 'kim,7,'));
    const ended = await twinyard('trace stats day.csv');
    expect(ended).toMatchObject({ code: 2, stdout: '' });
    expect(ended.stderr).toMatch(
      /^twinyard: day\.csv:4:\d+ \(round_index\): session 'kim' has a round 7 but no round 1/,
    );
  });
});
