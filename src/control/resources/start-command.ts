import type { EngineVersion, TASKS } from './kinds/engine.js';

/** What a command template may name. Those that end with `...` stand for any number of arguments, and alone. */
export const PLACEHOLDERS = [
  'model',
  'model_name',
  'served_model',
  'host',
  'port',
  'tensor_parallel',
  'gpu_memory_fraction',
  'task...',
  'variables...',
  'self...',
] as const;

/** What is known of a replica before it starts. What is absent has no value. */
export interface CommandFacts {
  /** What the engine loads: a folder, a file, or the name where the engine fetches it itself. */
  readonly model: string;
  readonly modelName: string;
  /** What requests call it. */
  readonly servedModel: string;
  readonly host: string;
  /** A number, or what the runner will put one in for. */
  readonly port: string;
  /** Given when a model is split over several GPUs. */
  readonly tensorParallel?: number;
  /** Given when a GPU is shared. */
  readonly gpuMemoryFraction?: number;
  /** What the model is for. */
  readonly task: (typeof TASKS)[number];
  readonly variables: Readonly<Record<string, unknown>>;
  /** How this very program is started, for engines that are part of it. */
  readonly self: readonly string[];
}

const PLACEHOLDER = /\{([a-z_]+(?:\.\.\.)?)\}/g;

export function placeholdersIn(argument: string): string[] {
  return [...argument.matchAll(PLACEHOLDER)].map((match) => match[1]!);
}

/**
 * The command of a replica: program first. No shell reads it, so that no value can be more than a value. A group of the
 * template is left out when it names something without a value, and when the endpoint's variables give its flag.
 */
export function startCommand(
  version: Pick<EngineVersion, 'command' | 'false_flags' | 'task_arguments'>,
  facts: CommandFacts,
): string[] {
  const variables = flagsOf(facts.variables, version.false_flags);
  const given = new Set(Object.keys(facts.variables).map(flagOf));
  const values: Record<string, string | undefined> = {
    model: facts.model,
    model_name: facts.modelName,
    served_model: facts.servedModel,
    host: facts.host,
    port: facts.port,
    tensor_parallel: facts.tensorParallel?.toString(),
    gpu_memory_fraction: facts.gpuMemoryFraction?.toString(),
  };
  const command: string[] = [];
  for (const part of version.command) {
    const group = typeof part === 'string' ? [part] : part;
    if (typeof part !== 'string') {
      const isEmpty = group.some((one) =>
        placeholdersIn(one).some((name) => name in values && values[name] === undefined),
      );
      if (isEmpty || given.has(group[0]!)) continue;
    }
    for (const argument of group) {
      if (argument === '{variables...}') command.push(...variables);
      else if (argument === '{self...}') command.push(...facts.self);
      else if (argument === '{task...}') command.push(...(version.task_arguments[facts.task] ?? []));
      else
        command.push(
          argument.replaceAll(PLACEHOLDER, (whole, name: string) => (name in values ? (values[name] ?? '') : whole)),
        );
    }
  }
  return command;
}

/** `max_model_len` is `--max-model-len` on a command line. */
const flagOf = (name: string) => `--${name.replaceAll('_', '-')}`;

/** Variables as flags. A list is several values of one flag, an object is JSON. */
function flagsOf(variables: CommandFacts['variables'], falseFlags: EngineVersion['false_flags']): string[] {
  return Object.entries(variables).flatMap(([name, value]) => {
    const flag = flagOf(name);
    if (value === true) return [flag];
    if (value === false) return falseFlags === 'omit' ? [] : [`--no-${flag.slice(2)}`];
    if (value === null) return [];
    if (Array.isArray(value)) return value.length === 0 ? [] : [flag, ...value.map(argumentOf)];
    // One word, so that a value that begins with '-' is not taken for a flag.
    return [`${flag}=${argumentOf(value)}`];
  });
}

const argumentOf = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));
