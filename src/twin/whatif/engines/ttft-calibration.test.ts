import { describe, expect, it } from 'vitest';
import { TtftCalibration } from './ttft-calibration.js';

/** 1 to 1,000. */
const simulated = Array.from({ length: 1000 }, (_, i) => i + 1);

describe('calibrated TTFT', () => {
  it('is what was simulated where that was measured', () => {
    const exact = new TtftCalibration(simulated, simulated);
    for (const us of [1, 500, 1000, 5000]) expect(exact.measuredUs(us)).toBeCloseTo(us, 9);
  });

  it('is corrected at the length at which the simulation was off', () => {
    const half = new TtftCalibration(
      simulated,
      simulated.map((us) => (us > 500 ? 1.2 * us : us)),
    );
    expect(half.measuredUs(100)).toBeCloseTo(100, 6);
    expect(half.measuredUs(900)).toBeCloseTo(1080, 6);
  });

  it('does not follow single requests at the ends, and goes on beyond them', () => {
    const outlier = new TtftCalibration(simulated, [...simulated.slice(0, -1), 1e6]);
    expect(outlier.measuredUs(1000)).toBeCloseTo(1000, 6);
    expect(outlier.measuredUs(3000)).toBeCloseTo(3000, 6);
  });
});
