import { InputError, RunError } from '../../kernel/errors.js';
import { knownNames } from '../../kernel/text/nearest-name.js';

/** What can go wrong between the command line and a server. Codes are stable and start with SERVER_. */

export const noServer = (path: string) =>
  new RunError(
    'SERVER_UNNAMED',
    `no gateway runs here (no ${path}): start 'twinyard serve', or give --data-dir, --context, or --server and --token`,
  );

export const noToken = (url: string) =>
  new InputError('SERVER_TOKEN', '--token', `is required for ${url}`, 'give it, or set TWINYARD_TOKEN');

export const badAdminFile = (path: string) =>
  new InputError(
    'SERVER_FILE',
    path,
    'does not name a gateway and its token',
    "start 'twinyard serve' again, or give --server and --token",
  );

export const tokenRefused = (url: string, problem: string) =>
  new InputError('SERVER_TOKEN', '--token', `is not accepted by ${url}: ${problem.replace(/\.$/, '')}`, 'give another');

export const forbidden = (problem: string) =>
  new InputError('SERVER_FORBIDDEN', '--token', problem, 'use a key with that role');

/** @param file the admin.json that has the address */
export const notRunning = (url: string, file: string) =>
  new RunError(
    'SERVER_NOT_RUNNING',
    `${url}: connection refused; the gateway recorded in ${file} is not running: start 'twinyard serve', or give --server and --token`,
  );

export const unreachable = (url: string, why: string) =>
  new RunError('SERVER_UNREACHABLE', `${url}: ${why}; is 'twinyard serve' running there?`);

export const noTls = (url: string) =>
  new InputError('SERVER_SCHEME', '--server', `${url} does not speak TLS`, `give ${url.replace(/^https/, 'http')}`);

export const serverLeft = (url: string) =>
  new RunError('SERVER_LEFT', `${url}: the stream ended; is 'twinyard serve' still running there?`);

export const notTheApi = (url: string, status: number) =>
  new RunError(
    'SERVER_OTHER',
    `${url}: status ${status} and no response of the API; is this the admin port of a gateway?`,
  );

export const failedThere = (code: string, url: string, problem: string) => new RunError(code, `${url}: ${problem}`);

export const conflict = (code: string, problem: string, hint: string) =>
  new RunError(code, hint === '' ? problem : `${problem}; ${hint}`);

export const badContextFile = (path: string, problem: string) =>
  new InputError('CONTEXT_FILE', path, problem, "correct it, or delete it and use 'twinyard context set'");

export const unwritableContexts = (path: string, problem: string) =>
  new RunError('CONTEXT_FILE', `${path}: cannot be written (${problem}): the contexts are unchanged`);

export const noContextFile = () =>
  new InputError('CONTEXT_FILE', 'HOME', 'is not set', 'set it, or name the file of contexts with TWINYARD_CONTEXTS');

export const unknownContext = (place: string, given: string, known: readonly string[]) =>
  new InputError(
    'CONTEXT_UNKNOWN',
    place,
    `there is no context '${given}'`,
    known.length === 0 ? "create it with 'twinyard context set'" : knownNames(given, known),
  );
