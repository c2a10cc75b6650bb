import { describe, expect, it } from 'vitest';
import { azure } from './azure.js';
import { told } from './format.contract.js';
import { temporaryFiles } from './samples.fixture.js';

const written = temporaryFiles();

describe('azure', () => {
  it('begins with the earliest request, wherever it is in the file, and keeps the order of the file', async () => {
    const rows = [
      '2024-05-10 00:00:05+00:00,1,1',
      '2024-05-10 00:00:02+00:00,2,2',
      '',
      '2024-05-10 00:00:09+00:00,3,3',
    ];
    const path = written('t.csv', `\nTIMESTAMP,ContextTokens,GeneratedTokens\n${rows.join('\n')}\n`);
    const trace = await azure.read(path);
    expect(told(trace)).toMatchObject({
      arrivalUs: [3_000_000, 0, 7_000_000],
      wantedUs: [3_000_000, 0, 7_000_000],
      unsorted: true,
    });
    expect(trace.place(2, 'arrival_time_us')).toBe(`${path}:6:1 (TIMESTAMP)`);
  });
});
