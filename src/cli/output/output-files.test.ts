import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CliIo } from '../io.js';
import { checkOutputs, stdoutFailure, writeOutputs } from './output-files.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'twinyard-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const at = (name: string, flag = '--metrics-path') => ({ flag, path: join(folder, name) });

describe('checkOutputs', () => {
  it('accepts new files, existing files and devices, and writes nothing', () => {
    writeFileSync(join(folder, 'old'), 'old');
    checkOutputs([at('new'), at('old', '--results-path'), { flag: '--decisions-path', path: '/dev/null' }], []);
    expect(readdirSync(folder)).toEqual(['old']);
  });

  it('refuses a folder that does not exist', () => {
    expect(() => checkOutputs([at('no/out')], [])).toThrow(/--metrics-path: cannot write .* does not exist/);
  });

  it('refuses a folder as a file', () => {
    mkdirSync(join(folder, 'sub'));
    expect(() => checkOutputs([at('sub')], [])).toThrow('is a folder');
    expect(() => checkOutputs([at('other/')], [])).toThrow('is a folder');
  });

  it('refuses a path through a file', () => {
    writeFileSync(join(folder, 'file'), '');
    expect(() => checkOutputs([at('file/out')], [])).toThrow(/not a folder/);
  });

  it.runIf(existsSync('/proc/self'))(
    'refuses a file system that accepts no new files, without naming a temporary file',
    () => {
      expect(() => checkOutputs([{ flag: '--metrics-path', path: '/proc/x' }], [])).toThrow(
        expect.objectContaining({
          code: 'OUTPUT_NOT_WRITABLE',
          problem: expect.stringMatching(/^cannot write '\/proc\/x': (its folder does not exist|permission denied)$/),
        }),
      );
    },
  );

  it('refuses two outputs in one place, in any spelling', () => {
    mkdirSync(join(folder, 'a'));
    symlinkSync('a', join(folder, 'b'));
    expect(() => checkOutputs([at('a/x'), at('b/../b/x', '--results-path')], [])).toThrow(
      expect.objectContaining({ code: 'OUTPUT_SHARED', place: '--results-path' }),
    );
  });

  it('refuses to write over an input', () => {
    writeFileSync(join(folder, 'trace.csv'), '');
    expect(() => checkOutputs([at('trace.csv')], [at('trace.csv', '--trace-data')])).toThrow(
      expect.objectContaining({ code: 'OUTPUT_OVER_INPUT' }),
    );
  });
});

describe('writeOutputs', () => {
  const signals: (() => void)[] = [];
  const io = { beforeSignal: (cleanUp: () => void) => signals.push(cleanUp) } as unknown as CliIo;

  it('writes every file', async () => {
    await writeOutputs(
      [
        { ...at('a'), pieces: () => ['1', '2'] },
        { ...at('b'), pieces: () => [Buffer.from('3')] },
      ],
      io,
    );
    expect(readFileSync(join(folder, 'a'), 'utf8')).toBe('12');
    expect(readFileSync(join(folder, 'b'), 'utf8')).toBe('3');
  });

  it('writes none when one fails', async () => {
    const failing = writeOutputs(
      [
        { ...at('a'), pieces: () => ['1'] },
        { ...at('gone/b', '--results-path'), pieces: () => ['2'] },
      ],
      io,
    );
    await expect(failing).rejects.toMatchObject({ name: 'RunError', code: 'OUTPUT_FAILED' });
    expect(readdirSync(folder)).toEqual([]);
  });

  it('passes on an error of the generated content', async () => {
    const broken = function* () {
      yield 'half';
      throw new TypeError('broken');
    };
    await expect(writeOutputs([{ ...at('a'), pieces: broken }], io)).rejects.toThrow(TypeError);
    expect(readdirSync(folder)).toEqual([]);
  });

  it('removes partial files when a signal arrives', async () => {
    const interrupted = function* () {
      yield 'half';
      signals.at(-1)!();
      expect(readdirSync(folder)).toEqual([]);
      throw new Error('ended');
    };
    await expect(writeOutputs([{ ...at('a'), pieces: interrupted }], io)).rejects.toThrow('ended');
  });
});

describe('stdoutFailure', () => {
  const failed = (code: string) => {
    let said = '';
    const stderr = {
      write: (text: string) => {
        said += text;
      },
    };
    return [stdoutFailure(Object.assign(new Error(`${code}: write`), { code }), stderr), said];
  };

  it('prints the reason in one line', () => {
    expect(failed('ENOSPC')).toEqual([1, 'twinyard: cannot write the result: disk full\n']);
  });

  it('prints nothing when the reader has closed the pipe', () => {
    expect(failed('EPIPE')).toEqual([0, '']);
  });
});
