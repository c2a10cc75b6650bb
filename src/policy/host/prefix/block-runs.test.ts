import { describe, expect, it } from 'vitest';
import { randomStream } from '../../../kernel/random-stream.js';
import { NONE } from '../../../kernel/recency-lists.js';
import { BlockRuns } from './block-runs.js';

describe('BlockRuns', () => {
  it('finds the blocks of each run, over many more than it has at a time', () => {
    const random = randomStream(5, 'block-runs');
    const runs = new BlockRuns();
    const kept: { run: number; blocks: Int32Array }[] = [];
    let next = 0;
    for (let step = 0; step < 1000; step++) {
      const length = 1 + random.below(30);
      const blocks = Int32Array.from({ length }, () => next++);
      kept.push({ run: runs.add(blocks, 0, length), blocks });
      const chosen = kept[random.below(kept.length)]!;
      const at = random.below(chosen.blocks.length);
      if (at > 0) {
        const front = { run: runs.split(chosen.run, at), blocks: chosen.blocks.slice(0, at) };
        chosen.blocks = chosen.blocks.slice(at);
        kept.push(front);
      }
      while (kept.length > 40) {
        const [gone] = kept.splice(random.below(kept.length), 1);
        runs.delete(gone!.run);
        expect(runs.find(gone!.blocks[0]!)).toBe(NONE);
      }
      if (step % 50 > 0) continue;
      for (const { run, blocks } of kept) {
        expect([runs.find(blocks[0]!), runs.length[run]]).toEqual([run, blocks.length]);
        expect(runs.common(run, blocks, 0, blocks.length)).toBe(blocks.length);
      }
    }
  });

  it('counts the blocks in common, at most those of the prompt and of the run', () => {
    const runs = new BlockRuns();
    const run = runs.add(Int32Array.of(9, 1, 2, 3, 9), 1, 4);
    expect(runs.common(run, Int32Array.of(1, 2, 3, 4), 0, 4)).toBe(3);
    expect(runs.common(run, Int32Array.of(0, 1, 2, 7), 1, 4)).toBe(2);
    expect(runs.common(run, Int32Array.of(1, 2, 3, 4), 0, 1)).toBe(1);
  });

  it('finds the newer of two runs that begin with the same block, whichever is deleted', () => {
    const runs = new BlockRuns();
    const older = runs.add(Int32Array.of(1, 2), 0, 2);
    const newer = runs.add(Int32Array.of(1, 2, 3), 0, 3);
    runs.delete(older);
    expect(runs.find(1)).toBe(newer);
    runs.delete(newer);
    expect(runs.find(1)).toBe(NONE);
  });
});
