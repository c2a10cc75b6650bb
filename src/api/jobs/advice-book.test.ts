import { describe, expect, it } from 'vitest';
import type { AdviceDocument } from '../../twin/advise/advice-document.js';
import { AdviceBook, MOST_ADVISED } from './advice-book.js';

const document = (policy: string | null) =>
  ({
    ...{ verdict: 'Do so.', metric: 'ttft_p90_ms', present: { policy: 'round-robin', options: {} } },
    best: policy === null ? null : { policy, change: -0.2, changeLow: -0.3, changeHigh: -0.1 },
  }) as unknown as AdviceDocument;

describe('AdviceBook', () => {
  it('has the latest advice about each endpoint', () => {
    const book = new AdviceBook();
    const chat = { workspace: 'default', name: 'chat' };
    book.add(chat, 'a', document('lmetric'), 0);
    book.add({ ...chat, workspace: 'other' }, 'b', document(null), 0);
    book.add(chat, 'c', document('unified'), 1000);
    expect(book.of(chat)).toEqual({
      ...{ job: 'c', at: '1970-01-01T00:00:01.000Z', verdict: 'Do so.', metric: 'ttft_p90_ms', present: 'round-robin' },
      ...{ policy: 'unified', change: -0.2, change_low: -0.3, change_high: -0.1 },
    });
    expect(book.of({ ...chat, workspace: 'other' })).toMatchObject({ policy: null, change: null });
    expect(book.of({ ...chat, name: 'none' })).toBeUndefined();
  });

  it('keeps a bounded number, the latest', () => {
    const book = new AdviceBook();
    const named = (i: number) => ({ workspace: 'default', name: `e${i}` });
    for (let i = 0; i < MOST_ADVISED; i++) book.add(named(i), 'a', document(null), 0);
    book.add(named(0), 'b', document(null), 0);
    book.add(named(MOST_ADVISED), 'c', document(null), 0);
    expect([0, 1, MOST_ADVISED].map((i) => book.of(named(i))?.job)).toEqual(['b', undefined, 'c']);
  });
});
