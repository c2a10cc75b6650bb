import { describe, expect, it } from 'vitest';
import { burstgpt } from './burstgpt.js';
import { told } from './format.contract.js';
import { samplePath, temporaryFiles } from './samples.fixture.js';

const written = temporaryFiles();

describe('burstgpt', () => {
  it('keeps failed requests that have a prompt, leaves out those without tokens, and reports it', async () => {
    const trace = await burstgpt.read(samplePath('burstgpt.csv'));
    expect(told(trace)).toMatchObject({
      ids: [0, 1, 2, 4],
      clients: ['ChatGPT', 'ChatGPT', 'GPT-4', 'GPT-4'],
      sessions: ['', '', '', ''],
      notes: ['failed requests without a token were left out: 1'],
      thinkTimeUs: null,
    });
    expect(trace.place(3, 'input_tokens')).toBe(`${samplePath('burstgpt.csv')}:6:11 (Request tokens)`);
  });

  it('reads sessions by name of the column, with pauses from the end of one response to the next question', async () => {
    expect(told(await burstgpt.read(samplePath('burstgpt-sessions.csv')))).toMatchObject({
      sessions: ['aa-1', '', 'bb-2', 'aa-1'],
      rounds: [0, 0, 0, 1],
      thinkTimeUs: [0, 0, 0, 26_000_000],
      notes: [],
    });
  });

  it('does without elapsed times', async () => {
    const path = written(
      't.csv',
      'Timestamp,Session ID,Elapsed time,Model,Request tokens,Response tokens\n5,a,,m,1,1\n1,a,,m,1,1\n',
    );
    expect(told(await burstgpt.read(path))).toMatchObject({
      rounds: [1, 0],
      thinkTimeUs: [4_000_000, 0],
      unsorted: true,
    });
  });
});
