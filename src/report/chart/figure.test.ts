import { describe, expect, it } from 'vitest';
import type { Chart } from './chart.js';
import { drawFigure } from './figure.js';
import { linearScale } from './scale.js';

const axis = (title: string) => ({ title, scale: linearScale(0, 10) });
const chart = (series: Chart['series'], title = 'A chart'): Chart => ({
  title,
  x: axis('time'),
  y: axis('count'),
  series,
});
const drawn = (...charts: Chart[]) => drawFigure({ heading: 'a <trace> & "more"\u0007', note: 'a note', charts });
const attribute = (svg: string, name: string) => [...svg.matchAll(new RegExp(`(?<= ${name}=")[^"]*`, 'g'))].map(String);

describe('drawFigure', () => {
  it('is one SVG document that needs nothing from elsewhere', () => {
    const svg = drawn(
      chart([
        {
          name: 'a',
          shape: 'line',
          points: [
            [0, 0],
            [10, 10],
          ],
        },
      ]),
    );
    expect(svg).toMatch(/^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" viewBox="0 0 968 360"[\s\S]*<\/svg>\n$/);
    expect(svg.replace('http://www.w3.org/2000/svg', '')).not.toMatch(/href|url\(|https?:|<script/);
    expect(svg).toContain('prefers-color-scheme: dark');
    expect(svg).toContain('>a &lt;trace&gt; &amp; &quot;more&quot;?</text>');
  });

  it('puts charts in two columns', () => {
    const charts = ['one', 'two', 'three'].map((title) => chart([], title));
    expect(drawn(...charts)).toContain('viewBox="0 0 968 656"');
    const places = [...drawn(...charts).matchAll(/<text class="ink title" x="(\d+)" y="(\d+)">(\w+)/g)];
    expect(places.map(([, x, y, title]) => [title, x, y])).toEqual([
      ['one', '24', '84'],
      ['two', '500', '84'],
      ['three', '24', '380'],
    ]);
  });

  it('draws a line from corner to corner of its plot', () => {
    const svg = drawn(
      chart([
        {
          name: 'a',
          shape: 'line',
          points: [
            [0, 0],
            [5, 5],
            [10, 10],
          ],
        },
      ]),
    );
    expect(attribute(svg, 'd').at(-1)).toBe('M68 302L265 209L462 116');
    expect(svg).toContain('class="line c0"');
  });

  it('draws steps that hold until the next value', () => {
    const svg = drawn(
      chart([
        {
          name: 'a',
          shape: 'steps',
          points: [
            [0, 0],
            [5, 5],
            [10, 10],
          ],
        },
      ]),
    );
    expect(attribute(svg, 'd').at(-1)).toBe('M68 302L265 302L265 209L462 209L462 116');
  });

  it('draws bars from the axis up, none for 0', () => {
    const svg = drawn(
      chart([
        {
          name: 'a',
          shape: 'bars',
          points: [
            [0, 5],
            [5, 0],
            [7.5, 10],
            [10, 0],
          ],
        },
      ]),
    );
    const bars = [...svg.matchAll(/<rect x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)"\/>/g)];
    expect(bars.map((bar) => bar.slice(1).map(Number))).toEqual([
      [68, 209, 196.5, 93],
      [363.5, 116, 98, 186],
    ]);
  });

  it('names several series, in their colours, and one not at all', () => {
    const line = (name: string) => ({ name, shape: 'line' as const, points: [[0, 0] as const] });
    expect(drawn(chart([line('alone')]))).not.toContain('>alone<');
    const svg = drawn(chart(['a', 'b', 'c', 'd', 'e'].map(line)));
    for (const name of ['a', 'b', 'c', 'd', 'e']) expect(svg).toContain(`>${name}</text>`);
    expect([...svg.matchAll(/class="line (c\d)"/g)].map((match) => match[1])).toEqual(['c0', 'c1', 'c2', 'c3', 'c0']);
  });
});
