import { readInputFile } from '../../workload/input-file.js';
import type { MeasuredRequest } from './measured-request.js';

/** A share of prompt tokens that was found in a cache, and its source. */
export interface MeasuredHitRate {
  rate: number;
  source: string;
}

/** From the server's usage of single requests; null when it reported none. */
export function hitRateOfRequests(requests: readonly MeasuredRequest[]): MeasuredHitRate | null {
  let found = 0;
  let all = 0;
  for (const { cachedTokens, countedInputTokens, inputTokens } of requests) {
    if (cachedTokens < 0) continue;
    found += cachedTokens;
    all += Math.max(countedInputTokens, inputTokens);
  }
  return all === 0 ? null : { rate: found / all, source: 'usage of single requests' };
}

/**
 * From the server's counters over the whole observation, in the header of its trace; null when they were not scraped.
 */
export async function hitRateOfHeader(path: string): Promise<MeasuredHitRate | null> {
  const text = (await readInputFile(path)).toString('utf8');
  // Most headers have none, and a YAML reader takes its time to load.
  if (!text.includes('observed_kv_metrics')) return null;
  const { parse } = await import('yaml');
  const { observed_kv_metrics: said } = parse(text) as {
    observed_kv_metrics?: Readonly<Record<string, unknown>> | null;
  };
  const { hit_rate: rate, prefix_cache_hits: hits, prefix_cache_queries: queries, source } = said ?? {};
  if (typeof rate === 'number') return { rate, source: typeof source === 'string' ? source : 'counters of the server' };
  if (typeof hits !== 'number' || typeof queries !== 'number' || queries <= 0) return null;
  return { rate: hits / queries, source: 'counters of the server' };
}
