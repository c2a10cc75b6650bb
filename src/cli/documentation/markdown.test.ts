import { describe, expect, it } from 'vitest';
import { markdownTable, plain } from './markdown.js';

describe('markdownTable', () => {
  it('aligns its columns, has a line under the names and keeps bars inside their cells', () => {
    const table = markdownTable([
      ['name', 'meaning'],
      ['`a|b`', 'one or the other'],
    ]);
    expect(table).toBe(
      '| name   | meaning          |\n| ------ | ---------------- |\n| `a\\|b` | one or the other |\n',
    );
  });
});

describe('plain', () => {
  it('lets nothing be read as Markdown', () => {
    expect(plain('give <n> * 2 of queue_depth [0, 1]')).toBe('give \\<n\\> \\* 2 of queue\\_depth \\[0, 1\\]');
  });
});
