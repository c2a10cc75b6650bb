import { readFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { readProblem } from '../../files/file-problem.js';
import { type Context, isContextName, readContexts, writeContexts } from '../api/context-file.js';
import { originOf } from '../api/find-server.js';
import { contextSummaryOf } from '../context.js';
import { badValue, conflictingFlags, missingFlag } from '../errors.js';
import type { CommandLine } from '../flags/command-line.js';
import { file, stringFlag } from '../flags/kinds.js';
import { parseFlags } from '../flags/parse-flags.js';
import type { CliIo } from '../io.js';

const setFlags = {
  server: stringFlag({ default: null, placeholder: 'url', help: 'admin address of a gateway' }),
  token: stringFlag({
    default: null,
    placeholder: 'token',
    help: 'admin token, or an API key with a role; other users of this machine may see it while the command runs',
  }),
  'token-file': file({ help: 'a file that holds the token, or - for stdin' }),
  workspace: {
    ...stringFlag({ default: null, placeholder: 'name', help: 'default workspace' }),
    letter: 'n',
  },
};

export const CONTEXT_SET: CommandLine = {
  name: 'context set',
  summary: contextSummaryOf('set'),
  about:
    'Flags that are left out keep their values. Another server needs its own token: the stored one is deleted. A context without a ' +
    'server is a default workspace for the gateway of the data folder. The file has mode 0600, and no command prints a token.',
  operands: { usage: 'NAME', least: 1, most: 1 },
  groups: [{ title: 'Context', flags: setFlags }],
  examples: [
    'context set prod --server https://gateway.example:8081 --token-file token.txt',
    'context set prod -n search',
    'context set here -n search',
  ],
};

/** Creates or changes a context. */
export async function setContext(argv: readonly string[], io: CliIo): Promise<number> {
  const { operands, values } = await parseFlags<typeof setFlags>(CONTEXT_SET, argv);
  const name = operands[0]!;
  if (!isContextName(name)) {
    throw badValue('NAME', name, 'is not the name of a context', 'letters, digits, dots, - and _, at most 63');
  }
  if (values.token !== null && values['token-file'] !== null) {
    throw conflictingFlags('--token', 'is given together with --token-file', 'keep one of them');
  }
  const server = values.server === null ? undefined : originOf(values.server, '--server');
  const token = values.token ?? (values['token-file'] === null ? undefined : await tokenIn(values['token-file'], io));
  if (server === undefined && token === undefined && values.workspace === null) {
    throw missingFlag('--server', '--token or --workspace is required', 'give what the context is to hold');
  }
  const contexts = readContexts(io.env);
  const before = Object.hasOwn(contexts.contexts, name) ? contexts.contexts[name]! : null;
  const next = changed(before ?? {}, server, token, values.workspace);
  writeContexts(io.env, { ...contexts, contexts: { ...contexts.contexts, [name]: next } });
  io.stdout.write(`context ${name} ${before === null ? 'created' : 'changed'}\n`);
  if (contexts.current !== name) io.stderr.write(`twinyard: 'twinyard context use ${name}' makes it the current one\n`);
  return 0;
}

/** The token of one server is never sent to another. */
function changed(before: Context, server?: string, token?: string, workspace?: string | null): Context {
  const { token: known, ...rest } = before;
  const kept = server === undefined || server === before.server ? known : undefined;
  const next = token ?? kept;
  return {
    ...rest,
    ...(server === undefined ? {} : { server }),
    ...(next === undefined ? {} : { token: next }),
    ...(workspace === null ? {} : { workspace }),
  } as Context;
}

async function tokenIn(path: string, io: CliIo): Promise<string> {
  let given: string;
  try {
    given = path === '-' ? await text(Readable.from(io.stdin())) : readFileSync(path, 'utf8');
  } catch (error) {
    throw badValue('--token-file', path, readProblem(error), 'the path of a readable file');
  }
  const token = given.trim();
  if (!/^[\x21-\x7e]+$/.test(token)) throw badValue('--token-file', path, 'holds no token', 'a file with one token');
  return token;
}
