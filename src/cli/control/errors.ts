import { InputError, RunError } from '../../kernel/errors.js';
import { shownText } from '../../kernel/text/shown-text.js';

/** What can go wrong with commands on resources. Codes are stable. */

export const waitedInVain = (what: string, wanted: string, how: string) =>
  new RunError('WAIT_TIMEOUT', `${what}: not ${wanted} in time; ${how}`);

export const hasFailed = (what: string, why: string) =>
  new RunError('WAIT_FAILED', `${what}: has failed${why === '' ? '' : `: ${why}`}`);

/** @param list the command that lists existing ones */
export const notThere = (what: string, list: string) =>
  new InputError('RESOURCE_UNKNOWN', what, 'does not exist', `see '${list}'`);

export const goneMeanwhile = (what: string) => new RunError('WAIT_GONE', `${what}: was deleted meanwhile`);

export const noFiles = (path: string) =>
  new InputError('FOLDER_EMPTY', path, 'holds no .yaml, .yml or .json file', 'give another folder, or a file');

export const oneOrTheOther = (command: string) =>
  new InputError(
    'MISSING_ARGUMENT',
    'KIND/NAME',
    'or --file is required, and not both',
    `see 'twinyard ${command} --help'`,
  );

export const notOfFiles = (flag: string) =>
  new InputError('CONFLICTING_FLAGS', flag, 'is given together with --file', 'name a kind instead, or leave it out');

export const noneSelected = () => new RunError('NONE_SELECTED', 'no resources were selected');

export const onlyEndpoints = (given: string) =>
  new InputError('BAD_VALUE', 'KIND', `${shownText(given)} has no replicas`, "give 'endpoint'");

export const noRegistry = () =>
  new InputError('MISSING_FLAG', '--registry', 'is required for models', "see 'twinyard get registries'");

export const onlyModels = (isSearch: boolean) =>
  new InputError(
    'CONFLICTING_FLAGS',
    isSearch ? '--search' : '--registry',
    'is for models',
    "write 'twinyard get models --registry NAME'",
  );

export const notOfAll = (isWatch: boolean) =>
  new InputError(
    'CONFLICTING_FLAGS',
    isWatch ? '--watch' : 'NAME',
    "is given together with 'all'",
    'name a kind, or leave it out',
  );

export const mixedOperands = (given: string) =>
  new InputError(
    'BAD_VALUE',
    shownText(given),
    'does not name a resource',
    "write KIND NAME..., or KIND/NAME for each, as in 'ep/chat'",
  );

export const badPath = (place: string, given: string, problem: string) =>
  new InputError('BAD_VALUE', place, `the path ${shownText(given)} ${problem}`, "write one as in '{.metadata.name}'");

export const badColumns = (place: string, given: string) =>
  new InputError(
    'BAD_VALUE',
    place,
    `${shownText(given)} is not a column`,
    "write TITLE:PATH, as in 'custom-columns=NAME:.metadata.name,PHASE:.status.phase'",
  );

export const notForModels = () =>
  new InputError('BAD_VALUE', '--output', 'custom-columns is for resources', 'use table, yaml, json, name or jsonpath');

export const watchesOne = () =>
  new InputError('CONFLICTING_FLAGS', '--watch', 'is given together with several kinds', 'give one kind');

export const editorFailed = (editor: string, problem: string, path: string) =>
  new RunError('EDITOR_FAILED', `editor ${shownText(editor)}: ${problem}; the text is kept in ${path}`);

export const editStopped = (what: string, problem: string, path: string) =>
  new RunError('EDIT_STOPPED', `${what}: ${problem}; nothing was changed, the edited text is kept in ${path}`);
