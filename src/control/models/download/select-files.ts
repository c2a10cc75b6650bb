import type { ModelFile } from '../contract.js';
import { badPattern, nothingSelected } from '../errors.js';

/** The files of a model to download. `*` matches anything, folders included, and `?` one character. */
export interface FileSelection {
  /** Only files that match one of these, in any format. Absent: all files, weights in one format. */
  readonly allow?: readonly string[];
  /** Without files that match one of these. */
  readonly ignore?: readonly string[];
}

/** Formats of weights by preference; only the first one that a model has is downloaded. */
const WEIGHTS_BY_PREFERENCE: readonly RegExp[] = [/\.safetensors$/, /\.gguf$/, /\.bin$/, /\.(?:pth|pt|ckpt)$/];
/** Weights for other programs than inference engines. */
const OTHER_WEIGHTS = /\.(?:h5|msgpack|onnx|onnx_data|tflite|ot|mlmodel|mlpackage|pb)$/;
/** A second copy of all weights in one file. */
const SECOND_COPY = /(?:^|\/)consolidated[^/]*\.safetensors$/;

/** Throws when nothing is selected: an empty folder is not a model. */
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

/** Whether a text matches a pattern in which `*` matches anything, including `/`, and `?` one character. */
export function matchesWildcard(pattern: string, text: string): boolean {
  let p = 0;
  let t = 0;
  /** Where to go back to: the latest star, and how far it reaches. */
  let star = -1;
  let reached = 0;
  while (t < text.length) {
    if (pattern[p] === '*') {
      star = p++;
      reached = t;
    } else if (pattern[p] === '?' || pattern[p] === text[t]) {
      p++;
      t++;
    } else if (star >= 0) {
      p = star + 1;
      t = ++reached;
    } else {
      return false;
    }
  }
  while (pattern[p] === '*') p++;
  return p === pattern.length;
}
