import { unknownWorkload } from '../errors.js';
import type { Lengths } from './lengths.js';

export interface LengthPreset {
  prompt: Lengths;
  output: Lengths;
}

const lengths = (mean: number, stdev: number, min: number, max: number): Lengths => ({ mean, stdev, min, max });

/** The values of `--workload`. All arrive at a constant rate with gaussian lengths. */
export const WORKLOADS: Readonly<Record<string, LengthPreset>> = {
  distribution: { prompt: lengths(512, 256, 2, 7000), output: lengths(512, 256, 2, 7000) },
  chatbot: { prompt: lengths(256, 100, 2, 800), output: lengths(256, 100, 1, 1024) },
  contentgen: { prompt: lengths(1024, 150, 10, 2048), output: lengths(1024, 200, 10, 2048) },
  summarization: { prompt: lengths(4096, 500, 100, 8192), output: lengths(512, 150, 10, 2048) },
  multidoc: { prompt: lengths(10240, 1200, 500, 20480), output: lengths(1536, 300, 50, 4096) },
};

export function workloadPreset(name: string): LengthPreset {
  if (!Object.hasOwn(WORKLOADS, name)) throw unknownWorkload(name, Object.keys(WORKLOADS));
  return WORKLOADS[name]!;
}
