import type { Checksum, ModelFile, ModelListing } from '../contract.js';
import { oddResponse } from '../errors.js';
import { checkPaths } from '../safe-path.js';
import type { HubResponse } from './hub-client.js';

type Fields = { readonly [key: string]: unknown };

const COMMIT = /^[0-9a-f]{40,64}$/;
const SHA256 = /^[0-9a-f]{64}$/;
const SHA1 = /^[0-9a-f]{40}$/;
const CONTENT_RANGE = /^bytes (\d+)-\d+\/(\d+|\*)$/;

/** A file of a hub; what its listing leaves out is requested separately. */
export interface ListedFile {
  readonly path: string;
  readonly size: number | null;
  readonly checksum: Checksum | null;
}

/** Reads `/api/models`. */
export function readListing(response: unknown, place: string): ModelListing[] {
  if (!Array.isArray(response)) throw oddResponse(place, 'the response is not a list of models');
  return response.flatMap((entry: unknown) => {
    const id = isObject(entry) ? (entry.id ?? entry.modelId) : undefined;
    return typeof id === 'string' ? [{ name: id, versions: [] }] : [];
  });
}

/** Reads `/api/models/{name}/revision/{version}`: the commit, and its files ordered by path. */
export function readRevision(response: unknown, place: string): { commit: string; files: ListedFile[] } {
  const { sha: commit, siblings } = isObject(response) ? response : {};
  if (typeof commit !== 'string' || !COMMIT.test(commit)) throw oddResponse(place, 'the response has no commit');
  if (!Array.isArray(siblings)) throw oddResponse(place, 'the response has no file list');
  const files = siblings.map((sibling: unknown) => readSibling(sibling, place));
  checkPaths(
    place,
    files.map(({ path }) => path),
  );
  return { commit, files: files.sort((a, b) => (a.path < b.path ? -1 : 1)) };
}

function readSibling(sibling: unknown, place: string): ListedFile {
  if (!isObject(sibling) || typeof sibling.rfilename !== 'string')
    throw oddResponse(place, 'the response has no file list');
  const lfs = isObject(sibling.lfs) ? sibling.lfs : {};
  const checksum = sha256Of(lfs.sha256 ?? lfs.oid) ?? (isObject(sibling.lfs) ? null : blobOf(sibling.blobId));
  return { path: sibling.rfilename, size: countOf(lfs.size) ?? countOf(sibling.size), checksum };
}

/** A listed file, completed from the headers of a response about it. */
export function completedFile(file: ListedFile, { headers, ownHeaders }: HubResponse, place: string): ModelFile {
  const size = file.size ?? ownHeaders.count('x-linked-size') ?? headers.count('content-length');
  if (size === undefined) throw oddResponse(place, 'the response has no length');
  const { tag } = ownHeaders;
  const checksum = file.checksum ?? sha256Of(tag);
  return { path: file.path, size, checksum, tag: checksum === null ? tag : null };
}

/** Why a response is not the file that was resolved; undefined if it may be, which the checksum decides. */
export function changeSince(
  file: ModelFile,
  offset: number,
  { headers, ownHeaders, status }: HubResponse,
): string | undefined {
  const { tag } = ownHeaders;
  const is = sha256Of(tag);
  if (file.checksum?.algorithm === 'sha256' && is !== null && is.hex !== file.checksum.hex)
    return 'has a different checksum now';
  if (file.tag !== null && tag !== file.tag) return 'has changed';
  if (status !== 206) {
    const length = headers.count('content-length') ?? file.size;
    return length === file.size ? undefined : `has ${length} bytes now, not ${file.size}`;
  }
  const range = CONTENT_RANGE.exec(headers.text('content-range') ?? '');
  if (range === null || Number(range[1]) !== offset) return 'another range was returned';
  return range[2] === '*' || Number(range[2]) === file.size ? undefined : `has ${range[2]} bytes now, not ${file.size}`;
}

function sha256Of(value: unknown): Checksum | null {
  const hex = typeof value === 'string' ? value.replace(/^sha256:/, '') : '';
  return SHA256.test(hex) ? { algorithm: 'sha256', hex } : null;
}

function blobOf(value: unknown): Checksum | null {
  return typeof value === 'string' && SHA1.test(value) ? { algorithm: 'git-sha1', hex: value } : null;
}

function countOf(value: unknown): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null;
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
