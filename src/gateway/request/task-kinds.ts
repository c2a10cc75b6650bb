import type { EngineTask } from '../../engines/task.js';
import { type ApiKind, pathOf } from '../../protocol/endpoints.js';
import type { ApiError } from '../../protocol/errors.js';
import { taskWrong } from '../errors.js';

const GENERATION: readonly ApiKind[] = ['chat', 'completion', 'responses', 'messages', 'count-tokens'];

/** Requests that no model of a task can serve, with the task that does. All others are left to the engine. */
const OTHER_TASKS: Readonly<Record<EngineTask, ReadonlyMap<ApiKind, EngineTask>>> = {
  'text-generation': new Map([
    ['embedding', 'text-embedding'],
    ['rerank', 'text-rerank'],
  ]),
  'text-embedding': new Map([
    ...GENERATION.map((kind) => [kind, 'text-generation'] as const),
    ['rerank', 'text-rerank'],
  ]),
  'text-rerank': new Map([
    ...GENERATION.map((kind) => [kind, 'text-generation'] as const),
    ['embedding', 'text-embedding'],
  ]),
};

/** Why an endpoint of a task does not serve a kind of request; null when it may. */
export function taskRefusal(task: EngineTask, kind: ApiKind, model: string): ApiError | null {
  const needed = OTHER_TASKS[task].get(kind);
  return needed === undefined ? null : taskWrong(model, task, pathOf(kind), needed);
}
