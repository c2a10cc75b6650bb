/** The kind of a request. */
export type ApiKind = 'chat' | 'completion' | 'embedding' | 'rerank' | 'score' | 'responses' | 'messages';

/** The paths whose requests carry a prompt, and their kinds. */
export const API_PATHS: Readonly<Record<string, ApiKind>> = {
  '/v1/chat/completions': 'chat',
  '/v1/completions': 'completion',
  '/v1/embeddings': 'embedding',
  '/v1/rerank': 'rerank',
  '/v1/score': 'score',
  '/v1/responses': 'responses',
  '/v1/messages': 'messages',
};
