import { describe, expect, it } from 'vitest';
import { told } from '../format.contract.js';
import { samplePath, temporaryFiles } from '../samples.fixture.js';
import { otel } from './otel.js';

const written = temporaryFiles();
const IN = 'gen_ai.usage.input_tokens';
const OUT = 'gen_ai.usage.output_tokens';
const read = (...spans: object[]) => otel.read(written('t.json', JSON.stringify({ spans })));

describe('otel', () => {
  it('reads calls, with sessions, pauses and the model as the client', async () => {
    const path = samplePath('otel.json');
    const trace = await otel.read(path);
    expect(told(trace)).toMatchObject({
      clients: ['small-model', 'small-model', ''],
      sessions: ['c-1', 'c-1', ''],
      rounds: [0, 1, 0],
      thinkTimeUs: [0, 5_500_001, 0],
      unsorted: true,
      notes: [],
    });
    expect(trace.place(1, 'session_id')).toBe(`${path}:33:13 (session_id)`);
  });

  it('leaves out calls without token counts, and reports it', async () => {
    expect(told(await otel.read(samplePath('otel.jsonl'))).notes).toEqual([
      'calls without token counts were left out: 1',
    ]);
    const trace = await read(
      { start_time: '2025-01-01T00:00:00Z', attributes: { [IN]: 3, [OUT]: 1 } },
      { start_time: '2025-01-01T00:00:00Z', attributes: { [IN]: 3 } },
      { start_time: '2025-01-01T00:00:00Z', attributes: { [IN]: 0, [OUT]: 0 } },
      { attributes: { 'gen_ai.request.model': 'm' } },
    );
    expect(told(trace)).toMatchObject({ inputTokens: [3], notes: ['calls without token counts were left out: 3'] });
  });

  it('does not count embeddings, tools and sums of agents as calls', async () => {
    const attributes = { [IN]: 3, [OUT]: 1 };
    const others = ['embeddings', 'execute_tool', 'invoke_agent', 'create_agent', 'retrieval', 'invoke_workflow'];
    const trace = await read(
      { startTimeUnixNano: 5000, attributes: { ...attributes, 'gen_ai.operation.name': 'my_own' } },
      ...others.map((name) => ({ attributes: { ...attributes, 'gen_ai.operation.name': name } })),
    );
    expect(told(trace)).toMatchObject({ arrivalUs: [0], notes: [] });
  });

  it('rounds nanoseconds of any date, and ignores an end before the start', async () => {
    const call = (startTimeUnixNano: string | number, endTimeUnixNano?: string) => ({
      startTimeUnixNano,
      endTimeUnixNano,
      attributes: { [IN]: 3, [OUT]: 1, 'gen_ai.conversation.id': 'c' },
    });
    const trace = await read(
      call('0', '0'),
      call('499'),
      call(500),
      call('1499', '1000'),
      call('12500', '14000'),
      call('20000'),
    );
    expect(told(trace)).toMatchObject({ arrivalUs: [0, 0, 1, 1, 13, 20], thinkTimeUs: [0, 0, 1, 0, 12, 6] });
  });

  it('skips attributes without a value', async () => {
    const attributes = [
      null,
      { key: IN, value: { intValue: '7' } },
      { key: OUT, value: { intValue: 1 } },
      { key: 'x', value: null },
    ];
    expect(told(await read({ name: 'no attributes' }, { startTimeUnixNano: '1', attributes })).inputTokens).toEqual([
      7,
    ]);
  });
});
