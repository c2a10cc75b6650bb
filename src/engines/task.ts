/** What a served model does. */
export const ENGINE_TASKS = ['text-generation', 'text-embedding', 'text-rerank'] as const;

export type EngineTask = (typeof ENGINE_TASKS)[number];
