import { describe, expect, it } from 'vitest';
import type { InferencePerfSpec } from '../spec/workload-spec.js';
import { generateSpecWorkload } from './generate-spec-workload.js';
import { column, rowsFrom, rowsOf } from './test-spec.fixture.js';

const SHARED: InferencePerfSpec['shared_prefix'] = {
  num_unique_system_prompts: 3,
  num_users_per_system_prompt: 4,
  system_prompt_len: 1000,
  question_len: 50,
  output_len: 70,
};

function load(stages: InferencePerfSpec['stages'], more: Partial<InferencePerfSpec['shared_prefix']> = {}) {
  const inference_perf = { stages, shared_prefix: { ...SHARED, ...more } };
  return generateSpecWorkload({ version: '2', inference_perf }, { seed: 42 });
}

describe('inference-perf', () => {
  it('sends exactly rate times duration in one stage, spread evenly over users who share prompts', () => {
    const { table, sessions } = load([{ rate: 0.29, duration: 100 }]);
    expect(sessions).toBeUndefined();
    expect(table.count).toBe(29);
    expect(rowsOf(table).every((row) => table.arrivalUs[row]! < 100e6)).toBe(true);
    const counts = [0, 1, 2].flatMap((prompt) =>
      [0, 1, 2, 3].map((user) => rowsFrom(table, `prompt-${prompt}/${user}`).length),
    );
    expect(counts).toEqual([3, 3, 3, 3, 3, 2, 2, 2, 2, 2, 2, 2]);
    expect(table.prefixGroups.names()).toEqual(['', 'prompt-0', 'prompt-1', 'prompt-2']);
    expect(table.tenants.names()).toEqual(['', 'prompt-0', 'prompt-1', 'prompt-2']);
    expect(new Set(column(rowsOf(table), table.inputTokens))).toEqual(new Set([1050]));
    expect(new Set(column(rowsOf(table), table.outputTokens))).toEqual(new Set([70]));
    expect(table.sloClasses.names()).toEqual(['', 'standard']);
    expect(table.deadlineUs[0]).toBe(0);
  });

  it('sends at random in several stages, each at its rate', () => {
    const { table } = load([
      { rate: 10, duration: 100 },
      { rate: 100, duration: 50 },
      { rate: 1, duration: 100 },
    ]);
    const between = (from: number, to: number) =>
      column(rowsOf(table), table.arrivalUs).filter((at) => at >= from * 1e6 && at < to * 1e6).length;
    expect(between(0, 100) / 1000).toBeCloseTo(1, 1);
    expect(between(100, 150) / 5000).toBeCloseTo(1, 1);
    expect(between(150, 250) / 100).toBeCloseTo(1, 0);
    expect(between(250, 1e6)).toBe(0);
  });

  it('holds one session for every user, as fast as the rate allows', () => {
    const { table, sessions } = load([{ rate: 6, duration: 20 }], { enable_multi_turn_chat: true });
    expect(table.count).toBe(12);
    expect(Math.max(...column(rowsOf(table), table.arrivalUs))).toBeLessThan(2e6);
    const next = sessions!.left(table, 0, true, 5e6, Number.POSITIVE_INFINITY);
    expect(table.arrivalUs[next]).toBe(7e6);
    expect(table.inputTokens[next]).toBe(1050);
    let row = next;
    let turns = 2;
    for (;;) {
      row = sessions!.left(table, row, true, 9e6, Number.POSITIVE_INFINITY);
      if (row < 0) break;
      turns++;
    }
    expect(turns).toBe(10);
  });

  it('holds another session in each stage', () => {
    const stages = [
      { rate: 6, duration: 20 },
      { rate: 12, duration: 20 },
    ];
    const { table } = load(stages, { enable_multi_turn_chat: true });
    const later = column(rowsOf(table), table.arrivalUs).filter((at) => at >= 20e6);
    expect([table.count, later.length]).toEqual([24, 12]);
    expect(table.clients.names()).toContain('prompt-2/stage-1/3');
  });
});
