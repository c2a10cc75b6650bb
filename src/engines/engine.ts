import type { EngineLaunch } from './launch.js';
import type { EngineSignals } from './signals.js';
import type { EngineTask } from './task.js';

/** The engine of a replica whose configuration names none. */
export const DEFAULT_ENGINE = 'vllm';

/**
 * Everything Twinyard knows about one inference engine: a folder, and a line in `registry.ts`. The gateway uses
 * `signals`, the control plane `launch`; an engine that only one of them supports leaves the other part out.
 */
export interface InferenceEngine {
  /** Used by `--engine`, configuration files and Engine resources. */
  readonly name: string;
  readonly summary: string;
  readonly capabilities: EngineCapabilities;
  readonly signals?: EngineSignals;
  readonly launch?: EngineLaunch;
  /** The page that has the version of a running engine. */
  readonly version: { readonly path: string; read(document: object): string | undefined };
}

/** Reads a text field of a JSON document. */
export function textField(name: string): (document: object) => string | undefined {
  return (document) => {
    const value = (document as Readonly<Record<string, unknown>>)[name];
    return typeof value === 'string' ? value : undefined;
  };
}

export interface EngineCapabilities {
  readonly tasks: readonly EngineTask[];
  /** It reports its load in a response header when the request has the header `endpoint-load-metrics`. */
  readonly loadHeader: boolean;
}
