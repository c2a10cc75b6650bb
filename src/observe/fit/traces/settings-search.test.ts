import { describe, expect, it } from 'vitest';
import { RequestTable } from '../../../workload/request-table.js';
import { ENGINE } from '../planted.fixture.js';
import { combinations, withSettings } from './settings-search.js';

describe('settings to search for', () => {
  it('are tried in every combination; nothing to search for is one try', () => {
    expect(combinations({})).toEqual([{}]);
    expect(combinations({ maxNumSeqs: [], maxInFlight: [8, 16] })).toEqual([{ maxInFlight: 8 }, { maxInFlight: 16 }]);
    expect(combinations({ maxNumSeqs: [1, 2], engineRules: ['classic', 'vllm-v1'] })).toHaveLength(4);
  });

  it("are the engine's, but for the client's cap", () => {
    const table = new RequestTable(1);
    const none = new Float64Array(0);
    const trace = { name: 't', table, ttftUs: none, e2eUs: none, warmUp: 0, maxInFlight: 5, engine: ENGINE };
    expect(withSettings(trace, { maxNumSeqs: 7 })).toEqual({ ...trace, engine: { ...ENGINE, maxNumSeqs: 7 } });
    expect(withSettings(trace, { maxInFlight: 9 })).toEqual({ ...trace, maxInFlight: 9 });
  });
});
