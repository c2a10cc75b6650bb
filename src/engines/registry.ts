import { InputError } from '../kernel/errors.js';
import { knownNames } from '../kernel/text/nearest-name.js';
import { emulator } from './emulator/emulator.js';
import type { InferenceEngine } from './engine.js';
import { infinity } from './infinity/infinity.js';
import { llamaCpp } from './llama-cpp/llama-cpp.js';
import { sglang } from './sglang/sglang.js';
import { tei } from './tei/tei.js';
import { tgi } from './tgi/tgi.js';
import { vllm } from './vllm/vllm.js';

/** Every known engine: a new one is a folder beside this file and a line here. */
export const ENGINES: readonly InferenceEngine[] = [vllm, sglang, llamaCpp, tei, infinity, tgi, emulator];

/** An engine whose replicas the gateway can measure. */
export type MeasuredEngine = InferenceEngine & Required<Pick<InferenceEngine, 'signals'>>;

/** An engine that the control plane can start. */
export type LaunchableEngine = InferenceEngine & Required<Pick<InferenceEngine, 'launch'>>;

export const MEASURED_ENGINES = ENGINES.filter((engine): engine is MeasuredEngine => engine.signals !== undefined);

export const LAUNCHABLE_ENGINES = ENGINES.filter((engine): engine is LaunchableEngine => engine.launch !== undefined);

/** @param place where the name was given, for the error */
export function measuredEngine(name: string, place: string): MeasuredEngine {
  const engine = MEASURED_ENGINES.find((candidate) => candidate.name === name);
  if (engine !== undefined) return engine;
  const known = MEASURED_ENGINES.map((candidate) => candidate.name);
  throw new InputError('ENGINE_UNKNOWN', place, `unknown engine '${name}'`, knownNames(name, known));
}
