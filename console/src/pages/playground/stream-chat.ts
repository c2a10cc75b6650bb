import { send } from '../../api/client';

export interface Message {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string;
}

/** The parameters of a request, as OpenAI's API names them; absent ones are the engine's. */
export interface ChatParameters {
  readonly max_tokens: number;
  readonly temperature?: number;
  readonly top_p?: number;
  readonly presence_penalty?: number;
  readonly frequency_penalty?: number;
  readonly seed?: number;
  readonly stop?: readonly string[];
}

export interface ChatSettings {
  readonly system: string;
  readonly parameters: ChatParameters;
  /** Empty for the visitor's own. */
  readonly key: string;
}

export interface Progress {
  readonly content: string;
  readonly ttftMs: number;
  /** Tokens of the response, as the engine reports them at its end. */
  readonly tokens?: number;
  /** Tokens per second after the first one; absent where all of them came at once. */
  readonly rate?: number;
}

export const withSystem = (system: string, said: readonly Message[]): Message[] => [
  ...(system === '' ? [] : [{ role: 'system' as const, content: system }]),
  ...said.map(({ content, role }) => ({ role, content })),
];

/** Streams a response and reports it as it grows, with times measured here and tokens as the engine counts them. */
export async function streamChat(
  model: string,
  messages: readonly Message[],
  { key, parameters, system }: ChatSettings,
  signal: AbortSignal,
  report: (progress: Progress) => void,
): Promise<void> {
  const body = { model, messages: withSystem(system, messages), ...parameters, ...(key === '' ? {} : { key }) };
  const startMs = performance.now();
  const response = await send('POST', 'playground/chat', { body, signal });
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let [buffer, content] = ['', ''];
  let [firstMs, lastMs] = [Number.NaN, Number.NaN];
  for (;;) {
    const { done, value } = await reader.read().catch((error: Error) => {
      if (error.name === 'AbortError') throw error;
      throw new Error('the connection was lost before the response ended: send it again');
    });
    if (done) return;
    buffer += value;
    const events = buffer.split('\n\n');
    buffer = events.pop()!;
    for (const event of events) {
      const { piece, tokens } = readEvent(event);
      if (piece !== '') {
        lastMs = performance.now();
        if (Number.isNaN(firstMs)) firstMs = lastMs;
        content += piece;
      }
      if (piece === '' && tokens === undefined) continue;
      report({ content, ttftMs: firstMs - startMs, ...(tokens === undefined ? {} : rateOf(tokens, lastMs - firstMs)) });
    }
  }
}

/** Pieces of text are not tokens: only the count of the engine makes a rate. */
function rateOf(tokens: number, decodeMs: number): Pick<Progress, 'tokens' | 'rate'> {
  return tokens > 1 && decodeMs > 0 ? { tokens, rate: (1000 * (tokens - 1)) / decodeMs } : { tokens };
}

function readEvent(event: string): { piece: string; tokens: number | undefined } {
  const data = /^data: (.*)$/m.exec(event)?.[1];
  if (data === undefined || data === '[DONE]') return { piece: '', tokens: undefined };
  const parsed = JSON.parse(data) as {
    error?: { message: string };
    choices?: readonly { delta?: { content?: string | null } }[];
    usage?: { completion_tokens?: number } | null;
  };
  if (parsed.error !== undefined) throw new Error(parsed.error.message);
  return { piece: parsed.choices?.[0]?.delta?.content ?? '', tokens: parsed.usage?.completion_tokens };
}
