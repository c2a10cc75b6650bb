import { InputError } from '../../kernel/errors.js';
import { knownNames } from '../../kernel/nearest-name.js';
import type { Engine } from './engine.js';
import { llamacpp } from './llamacpp.js';
import { sglang } from './sglang.js';
import { tgi } from './tgi.js';
import { vllm } from './vllm.js';

/** Every engine whose signals are understood: a new one is a file and a line here. */
export const ENGINES: readonly Engine[] = [vllm, sglang, llamacpp, tgi];

export function engineNamed(name: string, place: string): Engine {
  const engine = ENGINES.find((candidate) => candidate.name === name);
  if (engine !== undefined) return engine;
  const known = ENGINES.map((candidate) => candidate.name);
  throw new InputError('ENGINE_UNKNOWN', place, `unknown engine '${name}'`, knownNames(name, known));
}
