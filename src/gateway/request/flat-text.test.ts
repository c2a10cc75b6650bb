import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { flatText } from './flat-text.js';

it('keeps the value, and not the text that it was a part of', () => {
  setFlagsFromString('--expose_gc');
  const collect = runInNewContext('gc') as () => void;
  const [heads, bytes] = [5000, 4000];
  const kept: string[] = [];
  collect();
  const before = process.memoryUsage().heapUsed;
  for (let i = 0; i < heads; i++) {
    const id = `a-session-of-some-length-${i}`;
    const head = Buffer.from(id.padEnd(bytes, 'x')).toString('latin1');
    kept.push(flatText(head.substring(0, id.length)));
  }
  collect();
  expect(process.memoryUsage().heapUsed - before).toBeLessThan((heads * bytes) / 4);
  expect([kept[7], flatText('short'), flatText('')]).toEqual(['a-session-of-some-length-7', 'short', '']);
});
