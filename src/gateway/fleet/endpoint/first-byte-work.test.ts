import { expect, it } from 'vitest';
import { type FactsChange, fakeFacts } from '../../request/fake-facts.fixture.js';
import { FirstByteWork } from './first-byte-work.js';

it('tells apart what takes its own time: streams, streams with tools, whole responses with and without a limit, other kinds, models', () => {
  const work = new FirstByteWork();
  const kindOf = (change: FactsChange) => work.measure(fakeFacts(change), 10, 0).kind;
  const all: FactsChange[] = [
    { streams: true },
    { streams: true, body: { tools: [] } },
    { mostOutput: 16 },
    { mostOutput: null },
    { kind: 'embedding', mostOutput: 0 },
    { kind: 'image', mostOutput: 0 },
    { streams: true, model: 'other' },
  ];
  const kinds = all.map(kindOf);
  expect(new Set(kinds).size).toBe(all.length);
  expect(all.map(kindOf)).toEqual(kinds);
});

it('judges only plain streams before they are learned, and counts output where it has a limit', () => {
  const work = new FirstByteWork();
  const measured = (change: FactsChange) => {
    const { attempt, isStreamed, size } = work.measure(fakeFacts(change), 10, 1);
    return { attempt, isStreamed, size };
  };
  expect(measured({ streams: true, mostOutput: 16 })).toEqual({ attempt: 1, isStreamed: true, size: 10 });
  expect(measured({ streams: true, body: { tools: [] } })).toMatchObject({ isStreamed: false, size: 10 });
  expect(measured({ mostOutput: 16 })).toMatchObject({ isStreamed: false, size: 1610 });
  expect(measured({ mostOutput: null })).toMatchObject({ isStreamed: false, size: 10 });
});

it('learns only so many models separately', () => {
  const work = new FirstByteWork();
  const kindOf = (model: string) => work.measure(fakeFacts({ model }), 1, 0).kind;
  const kinds = Array.from({ length: 300 }, (_, i) => kindOf(`m${i}`));
  expect([new Set(kinds).size, kinds[299]]).toEqual([257, kinds[256]]);
});
