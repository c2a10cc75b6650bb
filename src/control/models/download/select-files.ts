import type { ModelFile } from '../contract.js';
import { badPattern, nothingSelected } from '../errors.js';
import { matchesWildcard } from './wildcard.js';

/** Which files of a model are wanted. `*` stands for anything, folders included, and `?` for one character. */
export interface FileSelection {
  /** Only what matches one of these, in whatever format. Without it: everything, weights in one format. */
  readonly allow?: readonly string[];
  /** Nothing that matches one of these. */
  readonly ignore?: readonly string[];
}

/** Formats of weights; the first that a model has is taken, and the others are not. */
const WEIGHTS_BY_PREFERENCE: readonly RegExp[] = [/\.safetensors$/, /\.gguf$/, /\.bin$/, /\.(?:pth|pt|ckpt)$/];
/** Weights for programs that are no inference engines of ours. */
const OTHER_WEIGHTS = /\.(?:h5|msgpack|onnx|onnx_data|tflite|ot|mlmodel|mlpackage|pb)$/;
/** All weights once more, as one file besides the usual ones. */
const SECOND_COPY = /(?:^|\/)consolidated[^/]*\.safetensors$/;

/** Throws when nothing is left: an empty folder is not a model. */
export function selectFiles(
  files: readonly ModelFile[],
  { allow, ignore = [] }: FileSelection,
  place: string,
): ModelFile[] {
  for (const pattern of [...(allow ?? []), ...ignore]) if (pattern.trim() === '') throw badPattern(place, pattern);
  const offered = allow === undefined ? inOneFormat(files) : files.filter(({ path }) => matchesAny(allow, path));
  const selected = offered.filter(({ path }) => !matchesAny(ignore, path));
  if (selected.length > 0) return selected;
  throw nothingSelected(place, files.length === 0 ? 'has no files' : `none of its ${files.length} files is selected`);
}

function matchesAny(patterns: readonly string[], path: string): boolean {
  return patterns.some((pattern) => matchesWildcard(pattern, path));
}

function inOneFormat(files: readonly ModelFile[]): ModelFile[] {
  const taken = WEIGHTS_BY_PREFERENCE.find((format) => files.some(({ path }) => format.test(path)));
  const others = WEIGHTS_BY_PREFERENCE.filter((format) => format !== taken);
  const kept = files.filter(({ path }) => !OTHER_WEIGHTS.test(path) && !others.some((format) => format.test(path)));
  const hasUsual = kept.some(({ path }) => taken?.test(path) && !SECOND_COPY.test(path));
  return hasUsual ? kept.filter(({ path }) => !SECOND_COPY.test(path)) : kept;
}
