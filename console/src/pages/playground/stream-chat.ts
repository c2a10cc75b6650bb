import { send } from '../../api/client';

export interface Message {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string;
}

export interface ChatSettings {
  readonly system: string;
  readonly maxTokens: number;
  readonly temperature: number;
  /** Empty for the visitor's own. */
  readonly key: string;
}

export interface Progress {
  readonly content: string;
  readonly ttftMs: number;
  /** Tokens per second after the first; absent before there are two. */
  readonly rate: number | undefined;
}

/** Streams a response and reports it as it grows, with times measured here. */
export async function streamChat(
  model: string,
  messages: readonly Message[],
  { key, maxTokens, system, temperature }: ChatSettings,
  signal: AbortSignal,
  report: (progress: Progress) => void,
): Promise<void> {
  const said = messages.map(({ content, role }) => ({ role, content }));
  const body = {
    model,
    messages: system === '' ? said : [{ role: 'system', content: system }, ...said],
    max_tokens: maxTokens,
    temperature,
    ...(key === '' ? {} : { key }),
  };
  const startMs = performance.now();
  const response = await send('POST', 'playground/chat', { body, signal });
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let [buffer, content, firstMs, pieces] = ['', '', 0, 0];
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    buffer += value;
    const events = buffer.split('\n\n');
    buffer = events.pop()!;
    for (const event of events) {
      const piece = pieceIn(event);
      if (piece === '') continue;
      const nowMs = performance.now();
      if (pieces === 0) firstMs = nowMs;
      pieces++;
      content += piece;
      const rate = pieces < 2 ? undefined : (1000 * (pieces - 1)) / Math.max(1, nowMs - firstMs);
      report({ content, ttftMs: firstMs - startMs, rate });
    }
  }
}

function pieceIn(event: string): string {
  const data = /^data: (.*)$/m.exec(event)?.[1];
  if (data === undefined || data === '[DONE]') return '';
  const parsed = JSON.parse(data) as {
    error?: { message: string };
    choices?: readonly { delta?: { content?: string | null } }[];
  };
  if (parsed.error !== undefined) throw new Error(parsed.error.message);
  return parsed.choices?.[0]?.delta?.content ?? '';
}
