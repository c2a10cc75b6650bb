import { describe, expect, it } from 'vitest';
import { newRequestId } from './new-request-id.js';

describe('newRequestId', () => {
  const ids = Array.from({ length: 2000 }, newRequestId);

  it('is a random UUID of version 4', () => {
    for (const id of ids) expect(id).toMatch(/^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
  });

  it('is another one each time, in all its digits', () => {
    expect(new Set(ids).size).toBe(ids.length);
    for (let at = 0; at < 36; at++) {
      const seen = new Set(ids.map((id) => id[at])).size;
      expect(seen).toBe([8, 13, 14, 18, 23].includes(at) ? 1 : at === 19 ? 4 : 16);
    }
  });
});
