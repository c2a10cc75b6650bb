import { describe, expect, it } from 'vitest';
import type { TraceHeader, TraceServer } from '../../workload/trace.js';
import type { CommandLine } from '../flags/command-line.js';
import { type InstanceFlags, instanceFlags } from '../flags/instance-flags.js';
import { parseFlags } from '../flags/parse-flags.js';
import { withServerSettings } from './server-settings.js';

const LINE: CommandLine = {
  name: 'x',
  summary: '',
  about: '',
  groups: [{ title: 'X', flags: instanceFlags }],
  examples: [],
};
const SERVER: TraceServer = {
  ...{ type: 'vllm', model: 'Acme/Tiny', hardware: 'H100', tensorParallel: 2, maxNumSeqs: 64 },
  ...{ blockSize: 32, totalKvBlocks: 900, gpuMemoryUtilization: 0.8, maxModelLen: 4096 },
};

async function taken(args: string, server: TraceServer | undefined, mode: TraceHeader['mode'] = 'real') {
  const flags = await parseFlags<InstanceFlags>(LINE, args === '' ? [] : args.split(' '));
  const said: string[] = [];
  const diagnostics = { warn: () => {}, debug: () => {}, info: (line: string) => said.push(line) };
  const header: TraceHeader = { mode, sessionContextGrowth: '', goodputTargets: {}, place: (key) => key };
  const { values } = withServerSettings(flags, { ...header, ...(server === undefined ? {} : { server }) }, diagnostics);
  return { values, said };
}

describe('withServerSettings', () => {
  it('uses observed settings where no flag is given', async () => {
    const { said, values } = await taken('--max-num-seqs 8', SERVER);
    expect(values).toMatchObject({
      ...{ model: 'Acme/Tiny', hardware: 'H100', tp: 2, 'max-num-seqs': 8, 'max-num-batched-tokens': 2048 },
      ...{ 'block-size-in-tokens': 32, 'total-kv-blocks': 900, 'gpu-memory-utilization': 0.8, 'max-model-len': 4096 },
    });
    expect(said).toEqual([expect.stringMatching(/^as observed: --model Acme\/Tiny --hardware H100 --tp 2 /)]);
  });

  it('uses no observed setting for another model', async () => {
    expect((await taken('--model other/one', SERVER)).values).toMatchObject({
      hardware: null,
      'total-kv-blocks': null,
    });
    expect((await taken('--model acme/tiny', SERVER)).values).toMatchObject({ model: 'acme/tiny', tp: 2 });
  });

  it.each(['--hardware L40S', '--tp 4', '--block-size-in-tokens 16', '--gpu-memory-utilization 0.9'])(
    'does not use the observed number of blocks when %s changes it',
    async (args) => {
      expect((await taken(args, SERVER)).values['total-kv-blocks']).toBeNull();
    },
  );

  it('uses the observed number of blocks when flags repeat the observed settings', async () => {
    expect((await taken('--tp 2 --hardware H100', SERVER)).values['total-kv-blocks']).toBe(900);
  });

  it('uses nothing from a trace that was not observed, or that has no settings', async () => {
    expect((await taken('', SERVER, 'generated')).values.model).toBeNull();
    expect(await taken('', undefined)).toMatchObject({ values: { model: null }, said: [] });
    expect((await taken('--model m --hardware h', { maxModelLen: 0 })).values).toMatchObject({ 'max-model-len': null });
    expect((await taken('', { maxModelLen: 0 })).said).toEqual([]);
  });
});
