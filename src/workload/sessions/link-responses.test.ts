import { describe, expect, it } from 'vitest';
import type { RequestTable } from '../request-table.js';
import { linkResponses } from './link-responses.js';
import { type Recorded, record, tokens } from './recorded-chats.fixture.js';

const continuations = ({ table }: { table: RequestTable }) =>
  Array.from({ length: table.count }, (_, row) => table.blocks!.continuation(row));

/** Two turns: 40 tokens are answered with 50, and both come back before 30 new ones. */
function chat(session: string | undefined, cached?: number): Recorded[] {
  const prompt = tokens(40);
  const response = tokens(50);
  return [
    { at: 0, prompt, response, session },
    { at: 1e6, prompt: [...prompt, ...response, ...tokens(30)], response: tokens(10), session, cached },
  ] as Recorded[];
}

function linked(requests: readonly Recorded[], { observed = true, blockTokens = 16 } = {}) {
  const trace = record(requests, blockTokens);
  linkResponses(observed ? trace : { table: trace.table });
  return trace;
}

describe('linkResponses', () => {
  it('finds the turn that repeats a prompt and its response', () => {
    expect(continuations(linked(chat('s')))).toEqual([1, -1]);
    expect(continuations(linked(chat('s'), { observed: false }))).toEqual([1, -1]);
  });

  it('takes the longest prompt that is repeated, turn after turn', () => {
    const [first, second] = chat('s') as [Recorded, Recorded];
    const third = {
      at: 2e6,
      prompt: [...second.prompt, ...second.response, ...tokens(20)],
      response: [],
      session: 's',
    };
    expect(continuations(linked([first, second, third]))).toEqual([1, 2, -1]);
  });

  it.each([
    ['shares the beginning only', (one: Recorded) => ({ ...one, prompt: [...one.prompt.slice(0, 30), ...tokens(99)] })],
    ['is too short for the response', (one: Recorded) => ({ ...one, prompt: one.prompt.slice(0, 89) })],
    ['is of another session', (one: Recorded) => ({ ...one, session: 'other' })],
    ['comes before the end of the response', (one: Recorded) => ({ ...one, at: 999 })],
  ])('does not link a prompt that %s', (_, change) => {
    const [first, second] = chat('s') as [Recorded, Recorded];
    expect(continuations(linked([{ ...first, e2e: 1000 }, change(second)]))).toEqual([-1, -1]);
  });

  it('believes the recorded cached tokens: more than the prompt, or exactly its blocks', () => {
    expect(continuations(linked(chat('s', 80)))).toEqual([1, -1]);
    expect(continuations(linked(chat('s', 32)))).toEqual([-1, -1]);
    expect(continuations(linked(chat('s', 0)))).toEqual([1, -1]);
  });

  it('learns nothing from the cached tokens of a replica that did not compute the response', () => {
    const trace = record(chat('s', 32));
    const served = { replicas: ['a', 'b'], by: Int32Array.from([0, 1]), endpoints: [] };
    linkResponses({ ...trace, observed: { ...trace.observed, served } });
    expect(continuations(trace)).toEqual([1, -1]);
  });

  it('lets the other turns of a recording decide where its own cached tokens say nothing', () => {
    const missed = [...chat('a', 32), ...chat('b', 32), ...chat('c', 0)];
    expect(continuations(linked(missed))).toEqual([-1, -1, -1, -1, -1, -1]);
    const found = [...chat('a', 80), ...chat('b', 32), ...chat('c', 80), ...chat('d')];
    expect(continuations(linked(found))).toEqual([1, -1, -1, -1, 5, -1, 7, -1]);
  });

  it('links requests outside sessions only where the recording shows that responses were found', () => {
    expect(continuations(linked([...chat(undefined), ...chat('s')]))).toEqual([-1, -1, 3, -1]);
    expect(continuations(linked([...chat(undefined), ...chat(undefined, 80)]))).toEqual([1, -1, 3, -1]);
  });
});
