import { InputError, RunError } from '../../kernel/errors.js';
import { shownText } from '../../kernel/shown-text.js';

/** What can go wrong between the command line and a control plane. Codes are stable and start with SERVER_ or WAIT_. */

export const noServer = (path: string) =>
  new RunError(
    'SERVER_UNNAMED',
    `no gateway runs here: there is no ${path}; start 'twinyard serve', or give --data-dir, or --server and --token`,
  );

export const noToken = (url: string) =>
  new InputError('SERVER_TOKEN', '--token', `is required for ${url}`, 'give it, or set TWINYARD_TOKEN');

export const badAdminFile = (path: string) =>
  new InputError(
    'SERVER_FILE',
    path,
    'does not say where a gateway is',
    "start 'twinyard serve' again, or give --server and --token",
  );

export const tokenRefused = (url: string, problem: string) =>
  new InputError('SERVER_TOKEN', '--token', `is not accepted by ${url}: ${problem}`, 'give another');

export const mayNot = (problem: string) =>
  new InputError('SERVER_FORBIDDEN', '--token', problem, 'use a key that has it');

export const unreachable = (url: string, why: string) =>
  new RunError('SERVER_UNREACHABLE', `${url}: ${why}; is 'twinyard serve' running there?`);

export const noTls = (url: string) =>
  new InputError('SERVER_SCHEME', '--server', `${url} does not speak TLS`, `give ${url.replace(/^https/, 'http')}`);

export const serverLeft = (url: string) =>
  new RunError('SERVER_LEFT', `${url}: ended what it was telling; is 'twinyard serve' still running there?`);

/** What it answered makes no sense: most likely it is somebody else. */
export const notControlPlane = (url: string, status: number) =>
  new RunError(
    'SERVER_OTHER',
    `${url}: status ${status}, and no word of a control plane; is this the admin port of a gateway with a store?`,
  );

export const failedThere = (code: string, url: string, problem: string) => new RunError(code, `${url}: ${problem}`);

export const conflict = (code: string, problem: string) =>
  new RunError(code, `${problem}; get it again, and make your change to that`);

export const waitedInVain = (what: string, wanted: string, how: string) =>
  new RunError('WAIT_TIMEOUT', `${what}: not ${wanted} in time; ${how}`);

export const hasFailed = (what: string, why: string) =>
  new RunError('WAIT_FAILED', `${what}: has failed${why === '' ? '' : `: ${why}`}`);

/** @param list the command that lists those that do */
export const notThere = (what: string, list: string) =>
  new InputError('RESOURCE_UNKNOWN', what, 'does not exist', `see '${list}'`);

export const goneMeanwhile = (what: string) => new RunError('WAIT_GONE', `${what}: was deleted meanwhile`);

export const noFiles = (path: string) =>
  new InputError('FOLDER_EMPTY', path, 'holds no .yaml, .yml or .json file', 'give another folder, or a file');

export const badSyntax = (place: string, problem: string) =>
  new InputError('RESOURCE_DOCUMENT', place, problem, 'write plain YAML or JSON');

export const oneOrTheOther = (command: string) =>
  new InputError(
    'MISSING_ARGUMENT',
    'KIND NAME',
    'or --file is required, and not both',
    `see 'twinyard ${command} --help'`,
  );

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
