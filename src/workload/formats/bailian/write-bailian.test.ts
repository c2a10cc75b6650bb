import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { synthAgenticCoder } from '../../synth/agentic-coder.js';
import { agenticStatistics } from '../../synth/agentic-statistics.js';
import { bailian } from './bailian.js';
import { writeBailian } from './write-bailian.js';

const folder = mkdtempSync(join(tmpdir(), 'twinyard-bailian-'));
afterAll(() => rmSync(folder, { recursive: true }));

describe('writeBailian', () => {
  const trace = synthAgenticCoder();
  const text = [...writeBailian(trace)].join('');
  const records = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));

  it('writes the fields of the schema', () => {
    expect(Object.keys(records[0])).toEqual([
      'chat_id',
      'parent_chat_id',
      'timestamp',
      'input_length',
      'output_length',
      'type',
      'turn',
      'hash_ids',
      'session_id',
    ]);
    expect(records[0]).toMatchObject({ chat_id: 0, parent_chat_id: -1, timestamp: 0, type: 'coder', turn: 1 });
  });

  it('names the turn before as the parent', () => {
    const later = records.filter(({ turn }) => turn > 1);
    expect(later).toHaveLength(1214 - 274);
    for (const record of later) {
      const parent = records[record.parent_chat_id];
      expect([parent.session_id, parent.turn]).toEqual([record.session_id, record.turn - 1]);
    }
  });

  it('reads back as the same requests', async () => {
    const path = join(folder, 'agents.jsonl');
    writeFileSync(path, text);
    const { table } = await bailian.read(path);
    expect(table.count).toBe(trace.table.count);
    for (const column of ['arrivalUs', 'inputTokens', 'outputTokens', 'session', 'round', 'client'] as const) {
      expect([...table[column].subarray(0, table.count)]).toEqual([...trace.table[column].subarray(0, table.count)]);
    }
    expect(agenticStatistics({ ...trace, table })).toEqual(agenticStatistics(trace));
  });
});
