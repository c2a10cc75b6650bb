/** What kind of prompt a server is sent. */
export type ApiFormat = 'completions' | 'chat';

export const FORMAT_PATHS: Readonly<Record<ApiFormat, string>> = {
  completions: '/v1/completions',
  chat: '/v1/chat/completions',
};

/** A turn of a conversation: the user's message and the model's response; the last turn has no response yet. */
export interface PromptTurn {
  user: string;
  response: string | null;
}

/** The member of a request's body that holds the prompt. */
export function promptMember(format: ApiFormat, turns: readonly PromptTurn[]): string {
  if (format === 'completions') {
    return `"prompt":${JSON.stringify(turns.map(({ user, response }) => user + (response ?? '')).join(''))}`;
  }
  const messages = turns.flatMap(({ user, response }) => [
    { role: 'user', content: user },
    ...(response === null ? [] : [{ role: 'assistant', content: response }]),
  ]);
  return `"messages":${JSON.stringify(messages)}`;
}
