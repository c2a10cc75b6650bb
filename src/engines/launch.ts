import type { PodTemplate } from './pod/default-pod.js';
import type { EngineTask } from './task.js';

/** How the control plane starts an engine, by version. Keys are those of an Engine resource, which it becomes. */
export interface EngineLaunch {
  readonly default_version: string;
  readonly versions: Readonly<Record<string, LaunchTemplate>>;
}

export interface LaunchTemplate extends CommandTemplate {
  /** Added to the environment of the process. */
  readonly env?: Readonly<Record<string, string>>;
  /** Names that operators may set in the environment of replicas: `NAME`, or `PREFIX_*`. Others need an admin. */
  readonly allowed_env?: readonly string[];
  /** Responds with 2xx once the model is loaded and requests can be served. Defaults to `/health`. */
  readonly health_path?: string;
  /** Container image by accelerator, for runners that start containers. */
  readonly images?: Readonly<Record<string, string>>;
  /** Merged into the default pod, for runners that start pods. */
  readonly pod?: PodTemplate;
  /** JSON Schema of the flags that an endpoint may set. */
  readonly parameters: Readonly<Record<string, unknown>>;
}

/** The template of a command line: see `start-command.ts`. */
export interface CommandTemplate {
  /** Program first. A nested list is left out when one of its placeholders has no value. */
  readonly command: readonly (string | readonly string[])[];
  /** What `{task...}` expands to. */
  readonly task_arguments?: Readonly<Partial<Record<EngineTask, readonly string[]>>>;
  /** A variable that is false: no flag, `--no-name`, or `--name=false`. */
  readonly false_flags?: 'omit' | 'no-prefix' | 'value';
  /** A variable with a value: `--name=value`, or `--name value` for programs that do not split at '='. */
  readonly flag_values?: 'equals' | 'separate';
}
