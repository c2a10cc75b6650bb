import { InputError, RunError } from '../kernel/errors.js';
import { knownNames, nearestName } from '../kernel/text/nearest-name.js';
import { shownText as shown } from '../kernel/text/shown-text.js';

/** What kubectl's commands are called here. */
const BY_KUBECTL: Readonly<Record<string, string>> = {
  'api-resources': "kinds are listed by 'twinyard get --help'",
  annotate: "use 'twinyard patch'",
  config: "use 'twinyard context'",
  create: "use 'twinyard apply'",
  label: 'use \'twinyard patch\', as in -p \'{"metadata":{"labels":{"team":"search"}}}\'',
  replace: "use 'twinyard apply'",
  set: "use 'twinyard patch'",
  'context current': "use 'twinyard context show'",
  'context current-context': "use 'twinyard context show'",
  'context get-contexts': "use 'twinyard context list'",
  'context use-context': "use 'twinyard context use'",
};

export function unknownCommand(given: string, known: readonly string[]): InputError {
  const instead = Object.hasOwn(BY_KUBECTL, given) ? BY_KUBECTL[given] : undefined;
  if (instead !== undefined) {
    return new InputError('UNKNOWN_COMMAND', `command ${shown(given)}`, 'does not exist', instead);
  }
  return new InputError('UNKNOWN_COMMAND', `command ${shown(given)}`, 'does not exist', knownNames(given, known));
}

export function noSubcommand(command: string, known: readonly string[]): InputError {
  const hint = `known: ${known.join(', ')}; see 'twinyard ${command} --help'`;
  return new InputError('NO_COMMAND', `command ${shown(command)}`, 'needs a subcommand', hint);
}

export function unknownFlag(given: string, command: string, known: readonly string[]): InputError {
  const near = given.startsWith('--') ? nearestName(given.split('=')[0]!, known) : undefined;
  const help = command === '' ? 'twinyard --help' : `twinyard ${command} --help`;
  const hint = `${near === undefined ? '' : `did you mean ${near}? `}see '${help}'`;
  return new InputError('UNKNOWN_FLAG', shown(given.split('=')[0]!).slice(1, -1), 'no such flag', hint);
}

/** @param usage what the command takes besides flags, if it takes anything */
export function unexpectedArgument(given: string, command: string, usage?: string): InputError {
  const hint = `'${command}' takes ${usage ?? 'flags'} only; a flag's value follows its name`;
  return new InputError('UNEXPECTED_ARGUMENT', shown(given), 'unexpected argument', hint);
}

export function missingOperand(command: string, usage: string): InputError {
  const hint = `write 'twinyard ${command} ${usage}'; see 'twinyard ${command} --help'`;
  return new InputError('MISSING_ARGUMENT', usage, 'is required', hint);
}

export function unknownSource(given: string, known: readonly string[]): InputError {
  const hint = `${knownNames(given, known)}; or give a trace file alone`;
  return new InputError('UNKNOWN_SOURCE', `source ${shown(given)}`, 'is not known', hint);
}

export function noTrace(path: string, problem: string): InputError {
  const hint = "give a trace file, or the common name of a TraceV2 pair: 'p' for p.yaml and p.csv";
  return new InputError('FILE_UNREADABLE', path, problem, hint);
}

export function missingValue(flag: string, accepted: string): InputError {
  return new InputError('MISSING_VALUE', flag, 'needs a value', `give ${accepted}`);
}

export function unexpectedValue(flag: string, given: string): InputError {
  return new InputError(
    'UNEXPECTED_VALUE',
    flag,
    `is a switch and takes no value, not ${shown(given)}`,
    `give ${flag} alone, or leave it out`,
  );
}

export function repeatedFlag(flag: string, first: string, second: string): InputError {
  return new InputError(
    'REPEATED_FLAG',
    flag,
    `given twice, as ${shown(first)} and as ${shown(second)}`,
    'keep one of them',
  );
}

export function badValue(place: string, given: string, problem: string, accepted: string): InputError {
  return new InputError('BAD_VALUE', place, `${shown(given)} ${problem}`, `give ${accepted}`);
}

export function badChoice(place: string, given: string, known: readonly string[]): InputError {
  return new InputError('BAD_CHOICE', place, `${shown(given)} is not known`, knownNames(given, known));
}

export function missingFlag(flag: string, problem: string, hint: string): InputError {
  return new InputError('MISSING_FLAG', flag, problem, hint);
}

/** Flags that are fine alone but not as they were given together. */
export function conflictingFlags(flag: string, problem: string, hint: string): InputError {
  return new InputError('CONFLICTING_FLAGS', flag, problem, hint);
}

/** The result would have no requests. */
export function nothingLeft(flag: string, problem: string): InputError {
  return new InputError('NOTHING_LEFT', flag, problem, "no request would be left; see 'twinyard trace stats'");
}

export function unwritableOutput(flag: string, path: string, problem: string, hint: string): InputError {
  return new InputError('OUTPUT_NOT_WRITABLE', flag, `cannot write ${shown(path)}: ${problem}`, hint);
}

export function sharedOutput(flag: string, other: string, path: string): InputError {
  return new InputError(
    'OUTPUT_SHARED',
    flag,
    `names ${shown(path)}, which ${other} names too`,
    'give each its own file',
  );
}

export function overwrittenInput(flag: string, input: string, path: string): InputError {
  return new InputError(
    'OUTPUT_OVER_INPUT',
    flag,
    `would overwrite ${shown(path)}, which ${input} reads`,
    'give another path',
  );
}

/** Writing failed after the checks: not an input error. */
export function outputFailed(flag: string, path: string, problem: string): RunError {
  return new RunError('OUTPUT_FAILED', `${flag}: cannot write ${shown(path)}: ${problem}`);
}

/** Writing to stdout failed. */
export function resultNotWritten(problem: string): RunError {
  return new RunError('OUTPUT_FAILED', `cannot write the result: ${problem}`);
}

/** A line of an event stream that is not a valid event. */
export function badEvent(place: string, problem: string, hint: string): InputError {
  return new InputError('BAD_EVENT', place, problem, hint);
}

/** Fewer than two variants. */
export function nothingToCompare(): InputError {
  const hint =
    'give --preset, two or more --config, or several values to a flag, as in --routing-policy round-robin,least-loaded';
  return new InputError('NOTHING_TO_COMPARE', 'compare', 'fewer than two variants', hint);
}
