import { describe, expect, it } from 'vitest';
import { ROW_GROWS_CONTEXT } from '../request-table.js';
import { generateSpecWorkload } from './generate-spec-workload.js';
import { isLengthPreset, presetSpec, WORKLOADS } from './presets.js';
import { rowsOf } from './test-spec.fixture.js';

const tableOf = (name: string, numRequests: number) =>
  generateSpecWorkload(presetSpec(name), { seed: 42, numRequests }).table;

describe('presets', () => {
  it('are those in the documentation', () => {
    expect(WORKLOADS).toEqual([
      ...['distribution', 'chatbot', 'contentgen', 'summarization', 'multidoc'],
      ...['rag', 'agentic-coder', 'mixed-slo'],
    ]);
    expect(WORKLOADS.filter((name) => !isLengthPreset(name))).toEqual(['rag', 'agentic-coder', 'mixed-slo']);
  });

  it.each(WORKLOADS)('%s generates requests, and returns a copy of itself', (name) => {
    expect(tableOf(name, 50).count).toBeGreaterThan(0);
    presetSpec(name).clients!.length = 0;
    expect(presetSpec(name).clients!.length).toBeGreaterThan(0);
  });

  it('are known by name', () => {
    expect(() => presetSpec('chatbt')).toThrow(
      expect.objectContaining({
        code: 'WORKLOAD_UNKNOWN',
        place: '--workload',
        hint: expect.stringContaining("'chatbot'"),
      }),
    );
    expect(() => presetSpec('toString')).toThrow(expect.objectContaining({ code: 'WORKLOAD_UNKNOWN' }));
  });

  it('rag: most of a prompt is a document that others have too', () => {
    const table = tableOf('rag', 2000);
    let shared = 0;
    let tokens = 0;
    for (const row of rowsOf(table)) {
      shared += table.prefixTokens[table.prefixGroup[row]!]!;
      tokens += table.inputTokens[row]!;
    }
    expect(shared / tokens).toBeGreaterThan(0.75);
  });

  it('agentic-coder: nearly all tokens are prompt, and no session outgrows a context of 262,144', () => {
    const table = tableOf('agentic-coder', 20_000);
    let input = 0;
    let output = 0;
    for (const row of rowsOf(table)) {
      input += table.inputTokens[row]!;
      output += table.outputTokens[row]!;
    }
    expect(input / (input + output)).toBeGreaterThan(0.95);
    expect(rowsOf(table).some((row) => (table.flags[row]! & ROW_GROWS_CONTEXT) !== 0)).toBe(true);
    expect(Math.max(...table.contextTokens)).toBeLessThan(262_144);
  });

  it('mixed-slo: three classes, three tenants, targets', () => {
    const { goodput_slo_targets } = presetSpec('mixed-slo');
    const table = tableOf('mixed-slo', 300);
    expect(table.sloClasses.names().slice(1).sort()).toEqual(Object.keys(goodput_slo_targets!).sort());
    expect(table.tenants.size).toBe(4);
    expect(rowsOf(table).every((row) => table.sloTargetUs[row]! > 0)).toBe(true);
  });
});
