import { describe, expect, it } from 'vitest';
import { type FileSelection, matchesWildcard, selectFiles } from './select-files.js';

function selected(paths: readonly string[], selection: FileSelection = {}): string[] {
  const files = paths.map((path) => ({ path, size: 1, checksum: null, tag: null }));
  return selectFiles(files, selection, 'acme/tiny').map(({ path }) => path);
}

const REPOSITORY = [
  'README.md',
  'config.json',
  'flax_model.msgpack',
  'model-00001-of-00002.safetensors',
  'model-00002-of-00002.safetensors',
  'model.safetensors.index.json',
  'onnx/model.onnx',
  'original/consolidated.00.pth',
  'original/params.json',
  'pytorch_model.bin',
  'tf_model.h5',
  'tokenizer.json',
];

describe('selectFiles', () => {
  it('prefers safetensors, and excludes weights for other programs', () => {
    expect(selected(REPOSITORY)).toEqual([
      'README.md',
      'config.json',
      'model-00001-of-00002.safetensors',
      'model-00002-of-00002.safetensors',
      'model.safetensors.index.json',
      'original/params.json',
      'tokenizer.json',
    ]);
  });

  it.each([
    [
      ['a.bin', 'a.gguf', 'a.pth', 'x.json'],
      ['a.gguf', 'x.json'],
    ],
    [
      ['a.bin', 'a.pth', 'x.json'],
      ['a.bin', 'x.json'],
    ],
    [
      ['a.pth', 'b.pt', 'x.json'],
      ['a.pth', 'b.pt', 'x.json'],
    ],
    [['x.json'], ['x.json']],
  ])('of %j takes %j', (paths, expected) => {
    expect(selected(paths)).toEqual(expected);
  });

  it('selects no weights twice', () => {
    expect(selected(['consolidated.safetensors', 'model.safetensors'])).toEqual(['model.safetensors']);
    expect(selected(['consolidated.safetensors', 'x.json'])).toEqual(['consolidated.safetensors', 'x.json']);
  });

  it('selects allowed files in any format', () => {
    expect(selected(REPOSITORY, { allow: ['*.bin', 'config.json', 'original/*'] })).toEqual([
      'config.json',
      'original/consolidated.00.pth',
      'original/params.json',
      'pytorch_model.bin',
    ]);
  });

  it('excludes ignored files', () => {
    expect(selected(REPOSITORY, { ignore: ['original/*', '*.md', 'model*'] })).toEqual([
      'config.json',
      'tokenizer.json',
    ]);
    expect(selected(REPOSITORY, { allow: ['*.json'], ignore: ['*/*'] })).not.toContain('original/params.json');
  });

  it.each([
    [['x'], { allow: ['y'] }, 'none of its 1 files is selected'],
    [['x'], { ignore: ['*'] }, 'none of its 1 files is selected'],
    [[], {}, 'has no files'],
  ])('requires a file of %j with %j', (paths, selection, problem) => {
    expect(() => selected(paths, selection)).toThrow(
      expect.objectContaining({ code: 'MODEL_NOTHING_SELECTED', place: 'acme/tiny', problem }),
    );
  });

  it.each([{ allow: [''] }, { ignore: ['*.bin', ' '] }])('refuses %j', (selection) => {
    expect(() => selected(['x'], selection)).toThrow(expect.objectContaining({ code: 'MODEL_PATTERN' }));
  });
});

describe('matchesWildcard', () => {
  it.each([
    ['*', '', true],
    ['*', 'a/b', true],
    ['*.bin', 'x/y.bin', true],
    ['*.bin', 'x.bin.json', false],
    ['a?c', 'abc', true],
    ['a?c', 'ac', false],
    ['a*b*c', 'a1b2b3c', true],
    ['a*b*c', 'a1c2b', false],
    ['abc', 'abcd', false],
    ['abc*', 'abc', true],
    ['a.c', 'abc', false],
    ['', 'a', false],
  ])('%s on %s is %s', (pattern, text, expected) => {
    expect(matchesWildcard(pattern, text)).toBe(expected);
  });

  it('is fast for patterns that are made to be slow', () => {
    expect(matchesWildcard(`${'*a'.repeat(50)}b`, 'a'.repeat(5000))).toBe(false);
  });
});
