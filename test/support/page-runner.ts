import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BackgroundServer } from './background-server.js';
import { CLI } from './cli.js';
import { captured, type Ended } from './test-io.js';

/** Programs that pages show and tests do not run: there is nothing to check, or they are what runs the tests. */
const SHOWN_ONLY = ['mkdir', 'node', 'npm', 'npx'];

/**
 * A reader who follows one page: a new folder with the examples and an empty `out`, in which the page's commands run one
 * after the other.
 */
export class PageRunner {
  readonly #folder: string;
  readonly #before = process.cwd();
  readonly #servers: BackgroundServer[] = [];

  constructor(root: string) {
    this.#folder = realpathSync(mkdtempSync(join(tmpdir(), 'twinyard-docs-')));
    cpSync(join(root, 'examples'), join(this.#folder, 'examples'), {
      recursive: true,
      // What an example has installed is not part of it.
      filter: (path) => !path.includes('node_modules'),
    });
    mkdirSync(join(this.#folder, 'out'));
    process.chdir(this.#folder);
  }

  async end(): Promise<void> {
    for (const server of this.#servers) await server.end();
    process.chdir(this.#before);
    rmSync(this.#folder, { recursive: true });
  }

  /** Runs a command that this reader understands; undefined for one that is only shown. */
  async run(words: readonly string[]): Promise<Ended | undefined> {
    const [program = '', ...args] = words;
    if (program === 'twinyard' && args[0] === 'serve' && args.at(-1) === '&') {
      this.#servers.push(await BackgroundServer.start(this.#folder, args.slice(0, -1)));
      return undefined;
    }
    if (program === 'twinyard') return captured(...redirected(args));
    if (program === 'npx' && args[0] === 'twinyard') return captured(args.slice(1));
    if (program === 'head' && args[0] === '-n') return printed(lines(args[2]!).slice(0, Number(args[1])));
    if (program === 'sed' && args[0] === '-n') return printed([lines(args[2]!)[Number.parseInt(args[1]!, 10) - 1]!]);
    if (program === 'cat') return printed(lines(args[0]!));
    if (program === 'sh') return this.#script(args);
    if (SHOWN_ONLY.includes(program)) return undefined;
    throw new Error(`a page shows '${words.join(' ')}', which its test does not understand`);
  }

  /** A script finds the compiled program under its own name. */
  #script(args: readonly string[]): Ended {
    const bin = join(this.#folder, 'bin');
    const program = join(bin, 'twinyard');
    mkdirSync(bin, { recursive: true });
    writeFileSync(program, `#!/bin/sh\nexec node "${CLI}" "$@"\n`);
    chmodSync(program, 0o755);
    const env = { ...process.env, PATH: `${bin}:${process.env.PATH}` };
    return { code: 0, stdout: execFileSync('sh', args, { env, encoding: 'utf8' }), stderr: '' };
  }
}

/** `command < file`: the arguments without the file, and what it holds. */
function redirected(args: readonly string[]): Parameters<typeof captured> {
  const at = args.indexOf('<');
  return at < 0 ? [args] : [args.slice(0, at), { stdin: readFileSync(args[at + 1]!, 'utf8') }];
}

function lines(path: string): string[] {
  return readFileSync(path, 'utf8').replace(/\n$/, '').split('\n');
}

function printed(shown: readonly string[]): Ended {
  return { code: 0, stdout: `${shown.join('\n')}\n`, stderr: '' };
}
