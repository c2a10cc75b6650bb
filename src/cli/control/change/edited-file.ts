import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { CliIo } from '../../io.js';
import { editorFailed } from '../errors.js';

/** A file that is open in an editor. Only its owner may read it, and it stays until `delete`. */
export class EditedFile {
  readonly path: string;

  constructor(
    name: string,
    private readonly env: CliIo['env'],
  ) {
    this.path = join(mkdtempSync(join(tmpdir(), 'twinyard-edit-')), `${name}.yaml`);
  }

  /** The content after the editor has ended. Lines of comments before the first field are not part of it. */
  async edited(content: string, comments: readonly string[]): Promise<string> {
    const head = comments.map((line) => `# ${line.replace(/\p{Cc}+/gu, ' ')}\n`).join('');
    writeFileSync(this.path, `${head}${content}`, { mode: 0o600 });
    const { EDITOR, TWINYARD_EDITOR, VISUAL } = this.env;
    const editor = TWINYARD_EDITOR || VISUAL || EDITOR || 'vi';
    // By a shell: an editor may have arguments, as in "code --wait".
    const child = spawn('/bin/sh', ['-c', `${editor} "$1"`, 'sh', this.path], { stdio: 'inherit' });
    const problem = await new Promise<string | null>((resolve) => {
      child.once('error', ({ message }) => resolve(message));
      child.once('exit', (code, signal) => resolve(code === 0 ? null : `ended with ${signal ?? `code ${code}`}`));
    });
    if (problem !== null) throw editorFailed(editor, problem, this.path);
    return readFileSync(this.path, 'utf8').replace(/^(?:#.*(?:\n|$))+/, '');
  }

  delete(): void {
    rmSync(dirname(this.path), { recursive: true, force: true });
  }
}
