import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { readAnyTrace } from '../../workload/formats/read-any-trace.js';
import { presetSpec, WORKLOADS } from '../../workload/generate/presets.js';
import { readWorkloadSpec } from '../../workload/spec/read-workload-spec.js';
import { madeTrace, rowsOf } from '../../workload/tools/made-trace.fixture.js';
import { writeTrace } from '../../workload/trace-v2/write.js';
import { inTestFolder, silent } from '../test-folder.fixture.js';
import { examplesIn, captured as twinyard } from '../test-io.fixture.js';

const SAMPLES = fileURLToPath(new URL('../../workload/formats/samples/', import.meta.url));
const MOONCAKE = `{"timestamp": 0, "input_length": 700, "output_length": 3, "hash_ids": [0, 1]}
{"timestamp": 2000, "input_length": 1500, "output_length": 4, "hash_ids": [0, 2, 3]}
{"timestamp": 2500, "input_length": 600, "output_length": 4, "hash_ids": [0, 1]}
`;

inTestFolder(() => {
  writeFileSync('moon.jsonl', MOONCAKE);
});

describe('convert', () => {
  it('lists its sources, and gives examples that work', async () => {
    const text = await silent('convert --help');
    expect(text).toMatch(/^Usage: twinyard convert \[SOURCE\] FILE \[flags\]/);
    for (const source of ['FILE', 'preset NAME', 'inference-perf FILE', 'servegen FOLDER', 'synth NAME']) {
      expect(text).toMatch(new RegExp(`^ {2}${source} {2}`, 'm'));
    }
    const examples = examplesIn(text);
    expect(examples.length).toBeGreaterThan(3);
    for (const example of examples) {
      const { code, stderr } = await twinyard(example);
      expect({ example, code, stderr }).toMatchObject({ example, code: 0 });
    }
  });

  it('turns Mooncake into a TraceV2 and back without a loss', async () => {
    await silent('convert moon.jsonl --to trace-v2 -o moon.csv');
    expect(readFileSync('moon.yaml', 'utf8')).toContain('block_tokens: 512\n');
    const { table } = await readAnyTrace('moon.csv');
    expect([table.count, table.blocks!.count]).toEqual([3, 4]);
    await silent('convert moon --to mooncake -o again.jsonl');
    expect(readFileSync('again.jsonl', 'utf8')).toBe(MOONCAKE);
    const stats = (name: string) => silent(`trace stats ${name} --cache-blocks 3`);
    const { format, ...before } = JSON.parse(await stats('moon.jsonl'));
    expect(JSON.parse(await stats('moon.csv'))).toEqual({ format: 'trace-v2', ...before });
    expect(format).toBe('mooncake');
  });

  it('does not change the result of a replay', async () => {
    await silent('convert moon.jsonl -o moon.csv');
    const replay =
      'replay --model qwen/qwen3-14b --num-instances 2 --routing-policy weighted --block-size-in-tokens 64';
    const { config: from, ...before } = JSON.parse(await silent(`${replay} --trace-data moon.jsonl`));
    const { config: to, ...after } = JSON.parse(await silent(`${replay} --trace moon`));
    expect(after).toEqual(before);
    expect(before.cluster.prompt_cache_hit_rate).toBeGreaterThan(0);
    expect([from.workload.traceFormat, to.workload.traceFormat]).toEqual(['mooncake', 'trace-v2']);
  });

  it('takes the format from the name of the output', async () => {
    await silent('convert moon.jsonl -o one.csv.gz');
    await silent('convert one.csv.gz -o two.jsonl.gz');
    expect(gunzipSync(readFileSync('two.jsonl.gz')).toString()).toBe(MOONCAKE);
    await silent('convert moon.jsonl --to trace-v2 -o three');
    expect(readFileSync('three.csv', 'utf8')).toBe(gunzipSync(readFileSync('one.csv.gz')).toString());
    expect(await silent('convert two.jsonl.gz --to mooncake')).toBe(MOONCAKE);
  });

  it('writes a TraceV2 as itself', async () => {
    const trace = madeTrace(
      [
        { id: 4, at: 1000, wanted: 990, session: 's,1', round: 0, tenant: 't', think: 5, deadline: 2000, target: 7 },
        { id: 2, at: 3000, session: 's,1', round: 1, group: 'g', prefix: 20, image: 9, reasonRatio: 0.125 },
      ],
      { mode: 'real', sessionContextGrowth: 'accumulate', goodputTargets: { batch: { itlUs: 2500 } } },
    );
    const { data, header } = writeTrace(trace);
    writeFileSync('in.csv', [...data].join(''));
    writeFileSync('in.yaml', header);
    await silent('convert in.csv --to trace-v2 -o out.csv');
    expect(readFileSync('out.csv', 'utf8')).toBe(readFileSync('in.csv', 'utf8'));
    expect(readFileSync('out.yaml', 'utf8')).toBe(header);
    expect(rowsOf(await readAnyTrace('out.csv'))).toEqual(rowsOf(trace));
  });

  it.each(['azure-2023.csv', 'burstgpt.csv', 'b3.jsonl', 'bailian.jsonl', 'otel.json'])('reads %s', async (name) => {
    const { code } = await twinyard(['convert', join(SAMPLES, name), '-o', 'out.csv']);
    expect(code).toBe(0);
    const [before, after] = [rowsOf(await readAnyTrace(join(SAMPLES, name))), rowsOf(await readAnyTrace('out.csv'))];
    const shown = ({ at, input, output, session, round }: (typeof before)[0]) => [at, input, output, session, round];
    expect(after.map(shown)).toEqual([...before].sort((a, b) => a.at - b.at).map(shown));
  });

  it('fits a specification', async () => {
    const rows = Array.from({ length: 60 }, (_, i) => ({ at: (i + (i % 3)) * 1e5, input: 100 + (i % 7), output: 9 }));
    const { data, header } = writeTrace(madeTrace(rows));
    writeFileSync('in.csv', [...data].join(''));
    writeFileSync('in.yaml', header);
    await silent('convert in.csv --to spec -o like.yaml');
    const spec = readWorkloadSpec(readFileSync('like.yaml', 'utf8'), 'like.yaml');
    expect(spec.clients!.length).toBeGreaterThan(0);
    expect(await silent('convert in.csv --to spec')).toBe(readFileSync('like.yaml', 'utf8'));
  });

  it.each(WORKLOADS)('prints the specification of the preset %s', async (name) => {
    const text = await silent(`convert preset ${name}`);
    expect(text).toMatch(/^version: "2"\n/);
    expect(readWorkloadSpec(text, 'preset.yaml')).toEqual(presetSpec(name));
  });

  it('turns configurations of inference-perf into specifications', async () => {
    const text = await silent(`convert inference-perf ${join(SAMPLES, 'inference-perf.yaml')}`);
    expect(readWorkloadSpec(text, 'perf.yaml').inference_perf).toBeDefined();
    await silent(`convert inference-perf ${join(SAMPLES, 'inference-perf.yaml')} -o perf.yaml`);
    expect(readFileSync('perf.yaml', 'utf8')).toBe(text);
  });
});

describe('convert servegen', () => {
  it("turns a folder of ServeGen's data into a specification", async () => {
    const data = mkdtempSync(join(process.cwd(), 'servegen-'));
    writeFileSync(join(data, 'chunk-0-trace.csv'), '0,1,2,Gamma,0.25,4\n');
    const lengths = { 0: { input_tokens: '{100: 1.0}', output_tokens: '{10: 1.0}' } };
    writeFileSync(join(data, 'chunk-0-dataset.json'), JSON.stringify(lengths));
    const text = await silent(`convert servegen ${data}`);
    expect(readWorkloadSpec(text, 'servegen.yaml').cohorts).toHaveLength(1);
  });
});

describe('bad input is one line, code 2, and nothing is written', () => {
  it.each([
    ['convert', "[SOURCE] FILE: is required; write 'twinyard convert [SOURCE] FILE'"],
    ['convert none.csv --to mooncake', 'none.csv: no such file'],
    ['convert moon.jsonl', "--to: is required where the output's name does not end in a known format"],
    ['convert moon.jsonl -o moon', '--to: is required'],
    ['convert moon.jsonl --to parquet', "--to: 'parquet' is not known"],
    ['convert moon.jsonl --to trace-v2', '--output: must name a file: a TraceV2 is two of them'],
    ['convert moon.jsonl -o ./moon.jsonl', "--output: would overwrite './moon.jsonl', which FILE reads"],
    ['convert moon.jsonl -o no/such/x.csv', "--output: cannot write 'no/such/x.yaml'"],
    ['convert moon.jsonl other.jsonl -o x.csv', "source 'moon.jsonl': is not known; known: preset,"],
    ['convert presett rag', "source 'presett': is not known; did you mean 'preset'?"],
    ['convert preset', "NAME: is required; write 'twinyard convert preset NAME'"],
    ['convert preset chatbto', "preset: 'chatbto' is not known; did you mean 'chatbot'?"],
    ['convert preset rag --to mooncake', '--to: a specification has no requests to write as mooncake'],
    ['convert preset rag -o rag.csv', '--output: a specification has no requests to write as trace-v2'],
    ['convert preset rag --seed 5', '--seed: only generated traces have a size to choose'],
    ['convert inference-perf none.yaml', 'none.yaml: no such file'],
    ['convert inference-perf moon.jsonl -o moon.jsonl --to spec', 'which FILE reads'],
    ['convert servegen none', 'none'],
    ['convert a b c', "'c': unexpected argument; 'convert' takes [SOURCE] FILE only"],
  ])('%s', async (args, message) => {
    const before = readdirSync('.');
    const ended = await twinyard(args);
    expect(ended).toMatchObject({ code: 2, stdout: '' });
    expect(ended.stderr).toContain(message);
    expect(ended.stderr.trim().split('\n')).toHaveLength(1);
    expect(readdirSync('.')).toEqual(before);
  });
});
