import { describe, expect, it } from 'vitest';
import { EventText } from './event-text';
import { type Progress, readChat } from './read-chat';

const delta = (changes: object) => `data: ${JSON.stringify({ choices: [{ delta: changes }] })}`;
const FINISH = `data: ${JSON.stringify({ choices: [{ delta: {}, finish_reason: 'stop' }] })}`;
const usage = (tokens: number) => `data: ${JSON.stringify({ choices: [], usage: { completion_tokens: tokens } })}`;
const DONE = 'data: [DONE]';

/** What is reported of a stream of these pieces, one every 10 ms, and the reason where it breaks off. @param broken after them */
async function read(pieces: readonly string[], broken?: Error): Promise<{ reports: Progress[]; problem: string }> {
  const encoder = new TextEncoder();
  let ms = 0;
  let next = 0;
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        ms += 10;
        if (next < pieces.length) controller.enqueue(encoder.encode(pieces[next++]));
        else if (broken === undefined) controller.close();
        else controller.error(broken);
      },
    },
    { highWaterMark: 0 },
  );
  const reports: Progress[] = [];
  const problem = await readChat(
    body,
    0,
    (one) => reports.push(one),
    () => ms,
  ).then(
    () => '',
    (error: Error) => error.message,
  );
  return { reports, problem };
}

const lines = (end: string, ...events: string[]) => events.map((event) => `${event}${end}${end}`);

describe('a streamed response', () => {
  it.each([
    ['line feeds', '\n'],
    ['carriage returns', '\r'],
    ['both', '\r\n'],
  ])('is read with %s at the ends of lines, however it is cut', async (_, end) => {
    const text = lines(
      end,
      ': comment',
      delta({ content: 'a' }),
      delta({ content: 'né' }),
      FINISH,
      usage(3),
      DONE,
    ).join('');
    for (const length of [1, 2, 7, text.length]) {
      const pieces = text.match(new RegExp(`[^]{1,${length}}`, 'g'))!;
      const { problem, reports } = await read(pieces);
      expect([problem, reports.at(-1)]).toEqual(['', expect.objectContaining({ content: 'ané', tokens: 3 })]);
    }
  });

  it('has the time to the first token and the rate after it', async () => {
    const { reports } = await read(
      lines('\n', delta({ role: 'assistant' }), delta({ content: 'a' }), delta({ content: 'b' }), FINISH, usage(3)),
    );
    expect(reports).toEqual([
      { content: 'a', reasoning: '', ttftMs: 20 },
      { content: 'ab', reasoning: '', ttftMs: 20 },
      { content: 'ab', reasoning: '', ttftMs: 20, tokens: 3, rate: 200 },
    ]);
  });

  it('has its reasoning apart, which counts as tokens do', async () => {
    for (const key of ['reasoning_content', 'reasoning']) {
      const { reports } = await read(
        lines('\n', delta({ [key]: 'because' }), delta({ content: 'yes' }), FINISH, usage(2), DONE),
      );
      expect(reports.at(-1)).toEqual({ content: 'yes', reasoning: 'because', ttftMs: 10, tokens: 2, rate: 100 });
    }
  });

  it('that is empty has no time to the first token', async () => {
    const { problem, reports } = await read(lines('\n', FINISH, usage(0), DONE));
    expect([problem, reports]).toEqual(['', [{ content: '', reasoning: '', tokens: 0 }]]);
  });

  const begun = lines('\n', delta({ content: 'a' }), delta({ content: 'b' }));
  const error = 'data: {"error":{"message":"the replica broke off"}}';
  it.each([
    ['an event that says why', [...begun, `event: error\n${error}\n\n`], undefined, 'the replica broke off'],
    [
      'an event that says why, in the same piece',
      [`${begun.join('')}${error}\n\n`],
      undefined,
      'the replica broke off',
    ],
    [
      'a lost connection',
      begun,
      new Error('reset'),
      'the connection was lost before the response ended: send it again',
    ],
    ['an end in the middle', begun, undefined, 'the response ended before it was complete: send it again'],
    ['what is no JSON', [...begun, 'data: {"cho\n\n'], undefined, 'a part of the response is not JSON'],
  ])('that breaks off by %s keeps what was said and has the reason', async (_, pieces, broken, reason) => {
    const { problem, reports } = await read(pieces, broken);
    expect([reports.at(-1)?.content, problem]).toEqual(['ab', reason]);
  });
});

it('events are known when they are whole, not when the next one begins', () => {
  const text = new EventText();
  expect(text.add('data: a\n')).toEqual([]);
  expect(text.add('\ndata: b\r\n\r')).toEqual(['data: a']);
  expect(text.add('\n')).toEqual(['data: b']);
});
