/** Statistics of samples, and the distributions that tests compare them with. */
export interface Sample {
  mean: number;
  /** Standard deviation over mean. */
  cv: number;
  sorted: Float64Array;
}

export function sampleOf(count: number, draw: () => number): Sample {
  const values = Float64Array.from({ length: count }, draw);
  let sum = 0;
  for (const value of values) sum += value;
  const mean = sum / count;
  let squares = 0;
  for (const value of values) squares += (value - mean) ** 2;
  return { mean, cv: Math.sqrt(squares / count) / mean, sorted: values.sort() };
}

/**
 * The Kolmogorov-Smirnov distance between a sample and a distribution, times the root of the sample's size. One sample
 * in a thousand of that distribution is above 1.95.
 */
export function kolmogorovSmirnov({ sorted }: Sample, cdf: (x: number) => number): number {
  let distance = 0;
  for (let i = 0; i < sorted.length; i++) {
    const expected = cdf(sorted[i]!);
    distance = Math.max(distance, expected - i / sorted.length, (i + 1) / sorted.length - expected);
  }
  return distance * Math.sqrt(sorted.length);
}

export const RARE_DISTANCE = 1.95;

export function exponentialCdf(mean: number): (x: number) => number {
  return (x) => 1 - Math.exp(-x / mean);
}

export function weibullCdf(shape: number, scale: number): (x: number) => number {
  return (x) => 1 - Math.exp(-((x / scale) ** shape));
}

export function normalCdf(mean: number, deviation: number): (x: number) => number {
  return (x) => (1 + erf((x - mean) / (deviation * Math.SQRT2))) / 2;
}

export function lognormalCdf(mu: number, sigma: number): (x: number) => number {
  const normal = normalCdf(mu, sigma);
  return (x) => normal(Math.log(x));
}

export function paretoCdf(least: number, alpha: number): (x: number) => number {
  return (x) => (x < least ? 0 : 1 - (least / x) ** alpha);
}

/** By the power series of the lower incomplete gamma function; beyond the reach of the series it is 1 anyway. */
export function gammaCdf(shape: number, scale: number): (x: number) => number {
  const logGamma = logGammaOf(shape);
  return (x) => {
    const t = x / scale;
    if (t <= 0) return 0;
    if (t > shape + 40 * Math.sqrt(shape + 1)) return 1;
    let term = 1 / shape;
    let sum = term;
    for (let n = 1; term > sum * 1e-15; n++) {
      term *= t / (shape + n);
      sum += term;
    }
    return sum * Math.exp(shape * Math.log(t) - t - logGamma);
  };
}

/** Stirling's series, shifted to where it is exact enough. */
export function logGammaOf(x: number): number {
  let shift = 0;
  let z = x;
  while (z < 20) shift += Math.log(z++);
  return (z - 0.5) * Math.log(z) - z + Math.log(2 * Math.PI) / 2 + 1 / (12 * z) - 1 / (360 * z ** 3) - shift;
}

/** The power series near 0, a continued fraction's limit of 1 far from it. */
function erf(x: number): number {
  if (Math.abs(x) > 5) return Math.sign(x);
  let term = x;
  let sum = x;
  for (let n = 1; Math.abs(term) > 1e-17; n++) {
    term *= (-x * x) / n;
    sum += term / (2 * n + 1);
  }
  return (2 / Math.sqrt(Math.PI)) * sum;
}
