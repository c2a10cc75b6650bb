// What `tune` gains on requests that it was not tuned on, against the best policy without tuning, over the seven workload presets
// at 70 % of the fleet's capacity and two public traces (a folder of them: TRACES=...). One row each, with its time.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { TuneDocument } from '../../src/experiment/tune/tune-document.js';
import { BenchTable, seconds } from '../bench-table.js';

const CLI = fileURLToPath(new URL('../../../dist/bundle/main.js', import.meta.url));
const TRACES = process.env.TRACES ?? join('..', 'shared', 'traces');
const FLEET = ['--model', 'qwen/qwen3-14b', '--snapshot-refresh-interval', '1000000'];
const PRESETS = ['chatbot', 'contentgen', 'summarization', 'multidoc', 'rag', 'agentic-coder', 'mixed-slo'];
const LOAD = 0.7;
const REQUESTS = process.argv[2] ?? '1000';
const OBJECTIVE = process.argv[3] ?? 'ttft_p90';

function twinyard(...args: string[]): string {
  return execFileSync(process.execPath, [CLI, ...args], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
    maxBuffer: 2 ** 28,
  });
}

/** Requests per second that four replicas complete when all arrive at once. */
function capacity(preset: string): number {
  const flags = [
    '--workload',
    preset,
    '--num-requests',
    REQUESTS,
    '--rate',
    '10000',
    '--routing-policy',
    'least-loaded',
  ];
  return JSON.parse(twinyard('run', ...FLEET, '--num-instances', '4', ...flags)).cluster.responses_per_sec;
}

interface Case {
  name: string;
  flags: string[];
}

function cases(): Case[] {
  const generated = PRESETS.map((preset) => {
    const rate = (LOAD * capacity(preset)).toPrecision(3);
    const flags = ['--num-instances', '4', '--workload', preset, '--rate', rate, '--num-requests', REQUESTS];
    return { name: `${preset}, ${rate}/s`, flags };
  });
  const traces = [
    { name: 'mooncake conversation', file: 'mooncake/conversation_trace.jsonl', instances: '8' },
    { name: 'azure conv', file: 'azure2023/AzureLLMInferenceTrace_conv.csv', instances: '4' },
  ].filter(({ file }) => existsSync(join(TRACES, file)));
  return [
    ...generated,
    ...traces.map(({ name, file, instances }) => ({
      name,
      flags: ['--num-instances', instances, '--trace', join(TRACES, file)],
    })),
  ];
}

const percent = (share: number | null) => (share === null ? '-' : `${(share * 100).toFixed(1)} %`);
const table = new BenchTable();
for (const { name, flags } of cases()) {
  const started = performance.now();
  const text = twinyard('tune', ...FLEET, ...flags, '--objective', OBJECTIVE, '--no-cache', '--format', 'json');
  const ms = performance.now() - started;
  const { chosen, gains, runs } = JSON.parse(text) as TuneDocument;
  table.report(name, chosen.name, '', null);
  for (const { against, gain, role } of gains) {
    const what = `  against ${against}${role === 'given' ? '' : ', the best without tuning'}`;
    const change = `${percent(gain.change)} (${percent(gain.low)} to ${percent(gain.high)})`;
    table.report(what, change, 'not worse beyond noise', gain.verdict !== 'worse');
  }
  table.report(`  ${runs} runs`, seconds(ms), '<= 60.000 s', name.includes(',') ? ms <= 60_000 : null);
}
table.print();
