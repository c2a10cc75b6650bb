import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type EngineSample, engineContract } from './engine.contract.js';
import { ENGINES, LAUNCHABLE_ENGINES, MEASURED_ENGINES, measuredEngine } from './registry.js';

for (const engine of ENGINES) {
  const { sample } = (await import(`./${engine.name}/sample.fixture.ts`)) as { sample: EngineSample };
  engineContract(engine, sample);
}

describe('registry', () => {
  it('lists every folder once', () => {
    const folders = readdirSync(import.meta.dirname, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    // What all engines share of a pod is no engine.
    const names = folders.map(({ name }) => name).filter((name) => name !== 'pod');
    expect(ENGINES.map(({ name }) => name).sort()).toEqual(names.sort());
  });

  it('lists the engines that can be measured and those that can be launched', () => {
    expect(MEASURED_ENGINES.map(({ name }) => name)).toEqual([
      ...['vllm', 'sglang', 'llama-cpp', 'tei', 'infinity', 'tgi', 'emulator'],
    ]);
    expect(LAUNCHABLE_ENGINES.map(({ name }) => name)).toEqual([
      ...['vllm', 'sglang', 'llama-cpp', 'tei', 'infinity', 'emulator'],
    ]);
  });

  it('finds engines by name, and suggests one for a typing error', () => {
    for (const engine of MEASURED_ENGINES) expect(measuredEngine(engine.name, '--engine')).toBe(engine);
    expect(() => measuredEngine('vlm', '--engine')).toThrowError(
      expect.objectContaining({ code: 'ENGINE_UNKNOWN', place: '--engine', hint: expect.stringContaining("'vllm'") }),
    );
  });
});
