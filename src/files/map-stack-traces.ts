import { readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { dirname, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { packagePath } from './package-path.js';

/**
 * From now on stack traces name the TypeScript source and its line: `src/cli/version.ts:21:5`. Maps are read when a stack is, so
 * that they cost nothing at start-up; Node's own option reads them with every module.
 */
export function mapStackTraces(): void {
  const maps = new Map<string, SourceMap | null>();
  Error.prepareStackTrace = (error, frames) => {
    const lines = frames.map((frame) => `\n    at ${mapped(String(frame), maps)}`);
    return `${error}${lines.join('')}`;
  };
}

function mapped(frame: string, maps: Map<string, SourceMap | null>): string {
  return frame.replace(/(file:\/\/[^\s)]+?):(\d+):(\d+)/, (place, url: string, line: string, column: string) => {
    if (!maps.has(url)) maps.set(url, readMap(url));
    const entry = maps.get(url)?.findEntry(Number(line) - 1, Number(column) - 1);
    if (entry === undefined || !('originalSource' in entry)) return place;
    const source = resolve(dirname(fileURLToPath(url)), entry.originalSource);
    return `${relative(packagePath(), source)}:${entry.originalLine + 1}:${entry.originalColumn + 1}`;
  });
}

function readMap(url: string): SourceMap | null {
  try {
    return new SourceMap(JSON.parse(readFileSync(`${fileURLToPath(url)}.map`, 'utf8')));
  } catch {
    return null;
  }
}
