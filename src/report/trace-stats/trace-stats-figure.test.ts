import { describe, expect, it } from 'vitest';
import { SERIES, STATS } from '../trace-stats.fixture.js';
import { traceStatsPage, traceStatsSvg } from './trace-stats-figure.js';

const titles = (svg: string) => [...svg.matchAll(/class="ink title"[^>]*>([^<]*)/g)].map((match) => match[1]);

describe('traceStatsSvg', () => {
  it('draws arrivals, lengths, turns and reuse', () => {
    const svg = traceStatsSvg('day.csv', STATS, SERIES);
    expect(titles(svg)).toEqual(['Arrivals', 'Lengths', 'Turns of 3 sessions', 'Reusable prompt tokens']);
    expect(svg).toContain('endless cache: 25.0 %');
    expect(svg).toContain('64 blocks: 10.0 %');
    const bars = [...svg.matchAll(/<rect x="[\d.]+" y="[\d.]+" width="[\d.]+" height="[\d.]+"\/>/g)];
    expect(bars).toHaveLength(100);
  });

  it('leaves out sessions and caches that the trace does not have', () => {
    const { chats, ...rest } = STATS;
    const { lru_cache, ...prefix_reuse } = STATS.prefix_reuse;
    const series = { ...SERIES, cachedTokens: null, sortedTurns: new Float64Array(0) };
    const svg = traceStatsSvg('day.csv', { ...rest, prefix_reuse }, series);
    expect(titles(svg)).toEqual(['Arrivals', 'Lengths', 'Reusable prompt tokens: 25.0 %']);
    expect(svg).not.toContain('64 blocks');
    const unknown = { ...rest, prefix_reuse: { ...prefix_reuse, known_by: [] } };
    expect(titles(traceStatsSvg('day.csv', unknown, series))).toEqual(['Arrivals', 'Lengths']);
  });

  it('can draw a single request without tokens', () => {
    const none = Float64Array.of(0);
    const series = {
      ...SERIES,
      arrivalUs: none,
      inputTokens: none,
      reusedTokens: none,
      sortedInput: none,
      sortedOutput: none,
    };
    const svg = traceStatsSvg('one.csv', { ...STATS, requests: 1, duration_s: 0 }, { ...series, cachedTokens: none });
    expect(svg).not.toMatch(/NaN|Infinity|undefined/);
  });
});

describe('traceStatsPage', () => {
  it('is one page with the picture and all tables', () => {
    const page = traceStatsPage('<b>.csv', STATS, SERIES);
    expect(page).toMatch(/^<!doctype html>\n<html lang="en">/);
    expect(page).toContain('<title>Trace &lt;b&gt;.csv</title>');
    expect(page).toContain(traceStatsSvg('<b>.csv', STATS, SERIES));
    expect(page).toContain(
      '<tr><th>SLO class</th><th>requests</th><th>share</th></tr>\n<tr><td>critical</td><td>900</td>',
    );
    expect(page.replaceAll('http://www.w3.org/2000/svg', '')).not.toMatch(/href|src=|url\(|https?:|<script/);
  });
});
