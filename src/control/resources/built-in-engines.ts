import { checkedResource } from './check-resource.js';
import { emulator } from './engines/emulator.js';
import { llamaCpp } from './engines/llama-cpp.js';
import { sglang } from './engines/sglang.js';
import { vllm } from './engines/vllm.js';
import { API_VERSION, type Resource } from './resource.js';

/** An Engine as a user would write it. */
export interface BuiltInEngine {
  readonly name: string;
  readonly spec: Readonly<Record<string, unknown>>;
}

/** Engines that are there without being applied: a new one is a file and a line here. */
const BUILT_IN: readonly BuiltInEngine[] = [vllm, sglang, llamaCpp, emulator];

export const isBuiltInEngine = (name: string) => BUILT_IN.some((one) => one.name === name);

export const BUILT_IN_LABEL = 'twinyard/built-in';

/** As resources, complete. A control plane applies those that nobody has changed. */
export function builtInEngines(): Resource[] {
  return BUILT_IN.map(({ name, spec }) =>
    checkedResource(
      { apiVersion: API_VERSION, kind: 'Engine', metadata: { name, labels: { [BUILT_IN_LABEL]: 'true' } }, spec },
      (path) => `built-in engine ${name} (${path})`,
    ),
  );
}
