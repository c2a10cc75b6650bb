import type { ErrorShape } from './errors.js';

/** The kind of a request. */
export type ApiKind =
  | 'chat'
  | 'completion'
  | 'embedding'
  | 'rerank'
  | 'score'
  | 'responses'
  | 'messages'
  | 'count-tokens'
  | 'tokenize'
  | 'detokenize'
  | 'pooling'
  | 'classify'
  | 'speech'
  | 'transcription'
  | 'translation'
  | 'image'
  | 'moderation'
  | 'stored-response'
  | 'other';

/** What is the same for all requests of a kind. */
interface ApiFacts {
  /** Its paths. */
  readonly paths: readonly string[];
  /** The operation in the conventions for generative AI; where they have none, Twinyard's own. */
  readonly operation: string;
  /** What is counted besides the request itself. */
  readonly counts: 'input and output' | 'input' | 'nothing';
  /** Methods other than POST alone. */
  readonly methods?: readonly string[];
  /** The body is multipart/form-data, not JSON. */
  readonly isForm?: true;
  /** The response need not be JSON: it may be sound, or plain text. */
  readonly hasAnyResponse?: true;
  /** A request may name no model: the only model that it could mean is used. */
  readonly modelIsOptional?: true;
}

/** Every kind of request that is routed to a replica. */
export const API_KINDS: Readonly<Record<ApiKind, ApiFacts>> = {
  chat: { paths: ['/v1/chat/completions'], operation: 'chat', counts: 'input and output' },
  completion: { paths: ['/v1/completions'], operation: 'text_completion', counts: 'input and output' },
  responses: { paths: ['/v1/responses'], operation: 'chat', counts: 'input and output' },
  messages: { paths: ['/v1/messages'], operation: 'chat', counts: 'input and output' },
  'count-tokens': { paths: ['/v1/messages/count_tokens'], operation: 'count_tokens', counts: 'nothing' },
  embedding: { paths: ['/v1/embeddings'], operation: 'embeddings', counts: 'input' },
  rerank: { paths: ['/v1/rerank', '/rerank', '/v2/rerank'], operation: 'rerank', counts: 'input' },
  score: { paths: ['/v1/score', '/score'], operation: 'score', counts: 'input' },
  pooling: { paths: ['/pooling'], operation: 'pooling', counts: 'input' },
  classify: { paths: ['/classify'], operation: 'classify', counts: 'input' },
  moderation: { paths: ['/v1/moderations'], operation: 'moderation', counts: 'input', modelIsOptional: true },
  image: { paths: ['/v1/images/generations'], operation: 'image_generation', counts: 'input', modelIsOptional: true },
  speech: { paths: ['/v1/audio/speech'], operation: 'speech', counts: 'input', hasAnyResponse: true },
  transcription: {
    paths: ['/v1/audio/transcriptions'],
    operation: 'transcription',
    counts: 'input',
    isForm: true,
    hasAnyResponse: true,
  },
  translation: {
    paths: ['/v1/audio/translations'],
    operation: 'translation',
    counts: 'input',
    isForm: true,
    hasAnyResponse: true,
  },
  tokenize: { paths: ['/tokenize'], operation: 'tokenize', counts: 'nothing', modelIsOptional: true },
  'stored-response': {
    paths: [],
    operation: 'stored_response',
    counts: 'nothing',
    methods: ['GET', 'POST', 'DELETE'],
    hasAnyResponse: true,
  },
  other: {
    paths: [],
    operation: 'other',
    counts: 'input',
    methods: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
    hasAnyResponse: true,
    modelIsOptional: true,
  },
  detokenize: { paths: ['/detokenize'], operation: 'detokenize', counts: 'nothing', modelIsOptional: true },
};

/** The paths of requests that are routed, and their kinds. */
export const API_PATHS: ReadonlyMap<string, ApiKind> = new Map(
  Object.entries(API_KINDS).flatMap(([kind, { paths }]) => paths.map((path) => [path, kind as ApiKind])),
);

const PATTERNS: Readonly<Partial<Record<ApiKind, string>>> = {
  'stored-response': '/v1/responses/{id}',
  other: '/v1/*',
};

/** The path of requests of a kind in logs and traces: never as the client wrote it, which may have added anything. */
export function pathOf(kind: ApiKind): string {
  return API_KINDS[kind].paths[0] ?? PATTERNS[kind]!;
}

/** The shape in which clients of this kind expect errors. */
export function errorShape(kind: ApiKind): ErrorShape {
  return kind === 'messages' || kind === 'count-tokens' ? 'anthropic' : 'openai';
}
