import { describe, expect, it } from 'vitest';
import { RequestTrouble } from './request-trouble.js';

describe('RequestTrouble', () => {
  it('reports a refused credential until a request succeeds', () => {
    const trouble = new RequestTrouble();
    expect([trouble.answered(401), trouble.answered(403)]).toEqual([true, false]);
    expect(trouble.at(0)).toBe('refuses the credential: requests get 403');
    for (const status of [408, 429, 500]) trouble.answered(status);
    trouble.recovered();
    expect(trouble.at(1e9)).toBe('refuses the credential: requests get 403');
    trouble.answered(400);
    expect(trouble.at(0)).toBe('');
  });

  it('reports failed requests for a minute, until one succeeds or the API has recovered', () => {
    const trouble = new RequestTrouble();
    trouble.answered(502);
    expect(trouble.at(0)).toBe('');
    trouble.failing(0);
    expect([trouble.at(59_999), trouble.at(60_000)]).toEqual(['fails requests: status 502', '']);
    trouble.broke('ECONNRESET');
    trouble.failing(60_000);
    expect(trouble.at(60_001)).toBe('fails requests: ECONNRESET');
    trouble.recovered();
    expect(trouble.at(60_001)).toBe('');
    trouble.failing(60_000);
    trouble.answered(200);
    expect(trouble.at(60_001)).toBe('');
  });
});
