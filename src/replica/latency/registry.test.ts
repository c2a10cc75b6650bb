import { describe, expect, it } from 'vitest';
import { latencyContract } from './latency.contract.js';
import { LATENCY_MODELS, latencyModel } from './registry.js';

for (const kind of LATENCY_MODELS) latencyContract(kind);

describe('latencyModel', () => {
  it('finds every model by its name', () => {
    for (const kind of LATENCY_MODELS) expect(latencyModel(kind.name)).toBe(kind);
    expect(LATENCY_MODELS.map((kind) => kind.name)).toEqual(['physics', 'trained-physics', 'roofline', 'profile']);
  });

  it('names the nearest model for an unknown one', () => {
    expect(() => latencyModel('rofline')).toThrow(
      expect.objectContaining({
        code: 'UNKNOWN_LATENCY_MODEL',
        place: '--latency-model',
        hint: "did you mean 'roofline'? known: physics, trained-physics, roofline, profile",
      }),
    );
  });
});
