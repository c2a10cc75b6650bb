import { send } from '../../api/client';
import { type Progress, readChat } from './read-chat';

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
  await readChat(response.body!, startMs, report);
}
