/** What kind of prompt a server is sent. */
export type ApiFormat = 'completions' | 'chat';

export const API_PATHS: Readonly<Record<ApiFormat, string>> = {
  completions: '/v1/completions',
  chat: '/v1/chat/completions',
};

/** A turn of a conversation: what the user says and what the model answered; the last turn has no answer yet. */
export interface PromptTurn {
  user: string;
  answer: string | null;
}

/** The member of a request's body that holds the prompt. */
export function promptMember(format: ApiFormat, turns: readonly PromptTurn[]): string {
  if (format === 'completions') {
    return `"prompt":${JSON.stringify(turns.map(({ user, answer }) => user + (answer ?? '')).join(''))}`;
  }
  const messages = turns.flatMap(({ user, answer }) => [
    { role: 'user', content: user },
    ...(answer === null ? [] : [{ role: 'assistant', content: answer }]),
  ]);
  return `"messages":${JSON.stringify(messages)}`;
}
