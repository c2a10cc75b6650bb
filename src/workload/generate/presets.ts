import { unknownWorkload } from '../errors.js';
import type { WorkloadSpec } from '../spec/workload-spec.js';
import { distributionSpec, type LengthBounds } from './distribution-spec.js';
import { agenticCoder } from './presets/agentic-coder.js';
import { mixedSlo } from './presets/mixed-slo.js';
import { rag } from './presets/rag.js';

export interface LengthPreset {
  prompt: LengthBounds;
  output: LengthBounds;
}

const lengths = (mean: number, stdev: number, min: number, max: number): LengthBounds => ({ mean, stdev, min, max });

/** One client each, at a constant rate, with gaussian lengths: those of the flags, and presets. */
export const LENGTH_PRESETS: Readonly<Record<string, LengthPreset>> = {
  distribution: { prompt: lengths(512, 256, 2, 7000), output: lengths(512, 256, 2, 7000) },
  chatbot: { prompt: lengths(256, 100, 2, 800), output: lengths(256, 100, 1, 1024) },
  contentgen: { prompt: lengths(1024, 150, 10, 2048), output: lengths(1024, 200, 10, 2048) },
  summarization: { prompt: lengths(4096, 500, 100, 8192), output: lengths(512, 150, 10, 2048) },
  multidoc: { prompt: lengths(10240, 1200, 500, 20480), output: lengths(1536, 300, 50, 4096) },
};

/** Whole specifications: several clients, prefixes, sessions. */
const SPEC_PRESETS: Readonly<Record<string, WorkloadSpec>> = {
  rag,
  'agentic-coder': agenticCoder,
  'mixed-slo': mixedSlo,
};

/** The values of `--workload`. */
export const WORKLOADS: readonly string[] = [...Object.keys(LENGTH_PRESETS), ...Object.keys(SPEC_PRESETS)];

/** Whether the name is a preset of lengths only, so that flags set how requests arrive. */
export function isLengthPreset(name: string): boolean {
  return Object.hasOwn(LENGTH_PRESETS, name);
}

/** A preset as its specification. */
export function presetSpec(name: string): WorkloadSpec {
  if (!WORKLOADS.includes(name)) throw unknownWorkload(name, WORKLOADS);
  if (!isLengthPreset(name)) return structuredClone(SPEC_PRESETS[name]!);
  const flags = { numRequests: 100, rate: 1, concurrency: null, thinkTimeMs: 0, prefixTokens: 0, timeout: 300 };
  return distributionSpec({ client: name, ...LENGTH_PRESETS[name]!, ...flags });
}
