import { describe, expect, it } from 'vitest';
import { readTraceParent, readTraceState, traceParentText } from './trace-context.js';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SPAN = 'b7ad6b7169203331';

describe('readTraceParent', () => {
  it.each([
    [`00-${TRACE}-${SPAN}-01`, 1],
    [`00-${TRACE}-${SPAN}-00`, 0],
    [`cc-${TRACE}-${SPAN}-03`, 3],
    [`cc-${TRACE}-${SPAN}-01-what-comes-later`, 1],
  ])('reads %s', (header, flags) => {
    expect(readTraceParent(header)).toEqual({ traceId: TRACE, spanId: SPAN, flags });
  });

  it.each([
    '',
    'x',
    `00-${TRACE}-${SPAN}`,
    `00-${TRACE}-${SPAN}-1`,
    `00-${TRACE}-${SPAN}-01-more`,
    `cc-${TRACE}-${SPAN}-01more`,
    `ff-${TRACE}-${SPAN}-01`,
    `00-${TRACE.toUpperCase()}-${SPAN}-01`,
    `00-${'0'.repeat(32)}-${SPAN}-01`,
    `00-${TRACE}-${'0'.repeat(16)}-01`,
    `00-${TRACE}-${SPAN}-01, 00-${TRACE}-${SPAN}-01`,
    ` 00-${TRACE}-${SPAN}-01`,
    `00-${TRACE}-${SPAN}-0g`,
  ])('ignores %j', (header) => {
    expect(readTraceParent(header)).toBeNull();
  });
});

it('writes a traceparent that is sampled, with the flags it knows', () => {
  expect(traceParentText(TRACE, SPAN, 0)).toBe(`00-${TRACE}-${SPAN}-01`);
  expect(traceParentText(TRACE, SPAN, 0xff)).toBe(`00-${TRACE}-${SPAN}-03`);
});

describe('readTraceState', () => {
  it.each(['a=1', 'rojo=00f067aa0ba902b7,congo=t61rcWkgMzE', 'tenant@vendor=x , b=2', 'a=1,,b=2'])(
    'takes %s',
    (state) => {
      expect(readTraceState(state)).toBe(state);
    },
  );

  it.each([
    'a',
    'A=1',
    'a=é',
    'a=1=2',
    'a=1\nb',
    `a=${'x'.repeat(300)}`,
    Array.from({ length: 33 }, (_, i) => `k${i}=v`).join(','),
    Array.from({ length: 20 }, (_, i) => `k${i}=${'v'.repeat(30)}`).join(','),
  ])('refuses %j', (state) => {
    expect(readTraceState(state)).toBe('');
  });
});
