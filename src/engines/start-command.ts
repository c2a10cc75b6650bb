import type { CommandTemplate } from './launch.js';
import type { EngineTask } from './task.js';

/** Placeholders of a command template. Those that end with `...` expand to any number of arguments and stand alone. */
export const COMMAND_PLACEHOLDERS = [
  'model',
  'model_path',
  'model_name',
  'hub_model',
  'hub_revision',
  'hub_file',
  'served_model',
  'host',
  'port',
  'tensor_parallel',
  'gpu_memory_fraction',
  'task...',
  'variables...',
  'self...',
] as const;

/** A model that an engine finds on a hub. */
export interface HubModel {
  readonly name: string;
  readonly revision?: string;
  readonly file?: string;
}

/** The values of the placeholders for one replica. */
export interface CommandFacts {
  /** What the engine loads: a folder, a file, or a name where the engine downloads the model itself. */
  readonly model: string;
  readonly modelName: string;
  /** Set when the engine downloads the model itself; `{model_path}` has no value then. */
  readonly hub?: HubModel;
  /** The model name in requests. */
  readonly servedModel: string;
  readonly host: string;
  /** A number, or a placeholder that the runner replaces. */
  readonly port: string;
  /** Set when the model is split over several GPUs. */
  readonly tensorParallel?: number;
  /** Set when a GPU is shared. */
  readonly gpuMemoryFraction?: number;
  readonly task: EngineTask;
  readonly variables: Readonly<Record<string, unknown>>;
  /** The command of this program, for engines that are part of it. */
  readonly self: readonly string[];
}

const PLACEHOLDER = /\{([a-z_]+(?:\.\.\.)?)\}/g;

export function placeholdersIn(argument: string): string[] {
  return [...argument.matchAll(PLACEHOLDER)].map((match) => match[1]!);
}

/**
 * The command line of a replica, program first. No shell reads it, so a value cannot become anything but an argument. A nested
 * list of the template is left out when one of its placeholders has no value, and when a variable sets its flag.
 */
export function startCommand(template: CommandTemplate, facts: CommandFacts): string[] {
  const variables = flagsOf(facts.variables, template);
  const given = new Set(Object.keys(facts.variables).map(flagOf));
  const values: Record<string, string | undefined> = {
    model: facts.model,
    model_path: facts.hub === undefined ? facts.model : undefined,
    model_name: facts.modelName,
    hub_model: facts.hub?.name,
    hub_revision: facts.hub?.revision,
    hub_file: facts.hub?.file,
    served_model: facts.servedModel,
    host: facts.host,
    port: facts.port,
    tensor_parallel: facts.tensorParallel?.toString(),
    gpu_memory_fraction: facts.gpuMemoryFraction?.toString(),
  };
  const command: string[] = [];
  for (const part of template.command) {
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
      else if (argument === '{task...}') command.push(...(template.task_arguments?.[facts.task] ?? []));
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

const FALSE_FLAGS: Readonly<Record<NonNullable<CommandTemplate['false_flags']>, (flag: string) => string[]>> = {
  omit: () => [],
  'no-prefix': (flag) => [`--no-${flag.slice(2)}`],
  value: (flag) => [`${flag}=false`],
};

/** Variables as flags. A list becomes several values of one flag, an object JSON. */
function flagsOf(
  variables: CommandFacts['variables'],
  { false_flags: falseFlags, flag_values: flagValues }: CommandTemplate,
): string[] {
  return Object.entries(variables).flatMap(([name, value]) => {
    const flag = flagOf(name);
    if (value === true) return [flag];
    if (value === false) return FALSE_FLAGS[falseFlags ?? 'omit'](flag);
    if (value === null) return [];
    if (Array.isArray(value)) return value.length === 0 ? [] : [flag, ...value.map(argumentOf)];
    // Joined unless the program cannot split it: a parser may take a separate value that begins with '-' for a flag.
    return flagValues === 'separate' ? [flag, argumentOf(value)] : [`${flag}=${argumentOf(value)}`];
  });
}

const argumentOf = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));
