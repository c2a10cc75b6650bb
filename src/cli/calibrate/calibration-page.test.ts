import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { calibrate } from '../../observe/calibrate/calibrate.js';
import type { CalibrationDocument } from '../../observe/calibrate/calibration.js';
import { fakeInputs, fakeOptions, measured, predicted } from '../../observe/calibrate/fake-requests.fixture.js';
import { calibrationPage } from '../../report/calibrate/calibrate-page.js';
import { silent } from '../test-folder.fixture.js';
import { COMPARE, inCalibrationFolder } from './calibration-folder.fixture.js';

inCalibrationFolder();

/** Elements that have no end tag in HTML. */
const VOID = ['meta', 'br', 'hr'];

/** Reads a page as strictly as XML: every element ends where it should, every attribute is quoted, no text has a bare bracket. */
function elementsOf(html: string): { name: string; attributes: Record<string, string> }[] {
  const open: string[] = [];
  const elements: { name: string; attributes: Record<string, string> }[] = [];
  const body = html.replace('<!doctype html>', '').replace(/<style>[^<]*<\/style>/, '');
  let at = 0;
  for (const match of body.matchAll(/<(\/?)([a-z][a-z0-9]*)((?:\s+[\w-]+="[^"<>]*")*)\s*(\/?)>/g)) {
    expect(body.slice(at, match.index)).not.toMatch(/[<>]|&(?!amp;|lt;|gt;|quot;)/);
    at = match.index + match[0].length;
    const [, slash, name = '', attributes = '', selfClosing] = match;
    if (slash === '/') {
      expect(open.pop()).toBe(name);
      continue;
    }
    elements.push({
      name,
      attributes: Object.fromEntries(
        [...attributes.matchAll(/([\w-]+)="([^"]*)"/g)].map(([, key, text]) => [key, text]),
      ),
    });
    if (selfClosing === '' && !VOID.includes(name)) open.push(name);
  }
  expect([open, body.slice(at).trim()]).toEqual([[], '']);
  return elements;
}

const chartsOf = (html: string) =>
  elementsOf(html)
    .filter(({ name }) => name === 'svg')
    .map(({ attributes }) => attributes['aria-label']);
const dotsOf = (html: string) =>
  [...html.matchAll(/class="line dots c2" d="([^"]*)"/g)].map(([, d]) => d!.split('M').length - 1);

const requests = (count: number, changes: (i: number) => object = () => ({})) =>
  Array.from({ length: count }, (_, i) => measured(i, { ttftUs: 100 + (i % 7), ...changes(i) }));
const predictions = (count: number) =>
  Array.from({ length: count }, (_, i) => predicted(i, { ttftUs: 90 + (i % 7), e2eUs: 510 + i }));
const pageOf = (count: number, title = 'a against b', changes?: (i: number) => object) =>
  calibrationPage(
    calibrate(fakeInputs({ measured: requests(count, changes), predicted: predictions(count) }), fakeOptions()),
    title,
  );

const CHARTS = ['distribution', 'request by request', 'error by load', 'error over time'];

describe('the page of a calibration', () => {
  it('is one well-formed file with every chart and every series, and needs nothing else', async () => {
    await silent(`${COMPARE} --report page.html`);
    const html = readFileSync('page.html', 'utf8');
    expect(chartsOf(html)).toEqual(
      ['First token', 'Whole request', 'Between tokens'].flatMap((metric) =>
        CHARTS.map((chart) => `${metric}: ${chart}`),
      ),
    );
    for (const series of ['measured', 'predicted', 'no error'])
      expect(html.split(`<title>${series}</title>`)).toHaveLength(4);
    expect(html.split('<title>middle error</title>')).toHaveLength(7);
    expect(dotsOf(html)).toEqual(Array(9).fill(5));
    const elements = elementsOf(html);
    expect(elements.filter(({ name }) => ['script', 'link', 'img', 'iframe', 'object', 'use'].includes(name))).toEqual(
      [],
    );
    for (const { attributes } of elements) {
      for (const key of Object.keys(attributes)) expect(['src', 'href', 'xlink:href', 'style']).not.toContain(key);
    }
    expect(html).not.toMatch(/url\(|@import|https?:/);
    expect(html).toContain('@media (prefers-color-scheme: dark)');
    expect(elements.find(({ name }) => name === 'html')!.attributes.lang).toBe('en');
    for (const { attributes } of elements.filter(({ name }) => name === 'svg')) expect(attributes.role).toBe('img');
  });

  it('has the numbers in tables, too', async () => {
    await silent(`${COMPARE} --report page.html --e2e-mean-threshold 0.01`);
    const html = readFileSync('page.html', 'utf8');
    expect(html).toContain(
      '<td>first token</td><td>+10.0 %</td><td>+10.0 %</td><td>+10.0 %</td><td>10.0 %</td><td>fair</td>',
    );
    expect(html).toContain('<td>first token</td><td>5</td><td>10.0 %</td><td>1.000</td><td>over-predict</td>');
    expect(html).toContain('<td>first token</td><td>predicted</td><td>1.32</td>');
    expect(html).toContain('<td>whole request, error of the mean</td><td>0.0 %</td><td>1.0 %</td><td>within</td>');
    expect(html).toContain('<li>gaps between tokens follow from the first and the last token');
  });

  it('writes the document under any other name', async () => {
    const printed = await silent(`${COMPARE} --report report.json`);
    expect(readFileSync('report.json', 'utf8')).toBe(printed);
    expect((JSON.parse(printed) as CalibrationDocument).trace_info.matched_pairs).toBe(5);
  });

  it('escapes names', () => {
    const html = pageOf(5, '<b>"x" & y</b>\u0007 against z');
    expect(html).toContain('<h1>&lt;b&gt;&quot;x&quot; &amp; y&lt;/b&gt;? against z</h1>');
    expect(chartsOf(html)).toHaveLength(12);
  });

  it('draws a limited number of dots, and notes it', () => {
    const html = pageOf(4500);
    expect(dotsOf(html)).toEqual(Array(9).fill(1500));
    expect(html).toContain('Of 4500 requests every so many is drawn as a dot, up to 2000');
    expect(pageOf(2000)).not.toContain('every so many');
  });

  it('draws a single request, one of one token, and one that took no time', () => {
    expect(chartsOf(pageOf(1))).toHaveLength(12);
    const short = pageOf(3, 'a against b', () => ({ streamed: false }));
    expect(chartsOf(short)).toHaveLength(8);
    const nothing = pageOf(1, 'a against b', () => ({ ttftUs: 0, e2eUs: 0 }));
    expect(chartsOf(nothing)).toHaveLength(12);
    expect(nothing).not.toMatch(/NaN|Infinity/);
    expect(nothing).toContain('<td>first token</td><td>1</td><td>-</td>');
  });
});
