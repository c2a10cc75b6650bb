import { retrying } from '../back-off.js';
import type {
  Clock,
  Connection,
  ListQuery,
  ModelFile,
  ModelListing,
  ModelRegistry,
  OpenedFile,
  RegistryKind,
  RegistrySettings,
  ResolvedModel,
} from '../contract.js';
import { badToken, badUrl, fileChanged, isModelProblem } from '../errors.js';
import { HubClient } from '../hub/hub-client.js';
import { changeSince, completedFile, type ListedFile, readListing, readRevision } from '../hub/hub-responses.js';
import type { HubRequest } from '../hub/status-problem.js';
import { inParallel } from '../in-parallel.js';
import { checkModelName, checkVersion } from '../model-name.js';

const DEFAULT_URL = 'https://huggingface.co';
const DEFAULT_VERSION = 'main';
const DEFAULT_LIMIT = 100;
/** Concurrent requests about single files. */
const MOST_REQUESTS = 8;

/** The hub, or a server with the same API: mirrors and caching proxies. */
export const huggingFaceRegistry: RegistryKind = {
  name: 'hugging-face',
  summary: 'The Hugging Face hub, or a mirror of it',
  defaultUrl: DEFAULT_URL,
  takesToken: true,
  open: (settings, clock) => new HuggingFaceRegistry(settings, clock),
};

class HuggingFaceRegistry implements ModelRegistry {
  readonly address: string;
  readonly #client: HubClient;
  readonly #clock: Clock;

  constructor({ isGuarded = false, place = 'registry', token, url = DEFAULT_URL }: RegistrySettings, clock: Clock) {
    this.address = baseOf(url, `${place} (url)`);
    this.#client = new HubClient({ base: this.address, token: tokenOf(token, `${place} (token)`), clock, isGuarded });
    this.#clock = clock;
  }

  async connect(signal?: AbortSignal): Promise<Connection> {
    try {
      readListing(await this.#client.json('/api/models?limit=1', this.#models(), signal), this.address);
      return { connected: true };
    } catch (problem) {
      if (isModelProblem(problem)) return { connected: false, problem };
      throw problem;
    }
  }

  async list({ limit = DEFAULT_LIMIT, search = '' }: ListQuery, signal?: AbortSignal): Promise<ModelListing[]> {
    const path = `/api/models?search=${encodeURIComponent(search)}&limit=${limit}`;
    const response = await retrying(() => this.#client.json(path, this.#models(), signal), this.#clock, signal);
    return readListing(response, this.address).slice(0, limit);
  }

  async resolve(name: string, version = DEFAULT_VERSION, signal?: AbortSignal): Promise<ResolvedModel> {
    checkModelName(name);
    checkVersion(name, version);
    const place = `${this.address}/${name}`;
    const target: HubRequest = { what: 'model', place, version };
    const path = `/api/models/${name}/revision/${encodeURIComponent(version)}?blobs=true`;
    const response = await retrying(() => this.#client.json(path, target, signal), this.#clock, signal);
    const { commit, files } = readRevision(response, place);
    const complete: ModelFile[] = [];
    await inParallel(files, MOST_REQUESTS, async (file, i) => {
      complete[i] = await this.#completed(name, commit, file, signal);
    });
    return { name, version, revision: commit, files: complete, folder: null };
  }

  async open(model: ResolvedModel, file: ModelFile, offset: number, signal?: AbortSignal): Promise<OpenedFile> {
    // Servers refuse a range that begins at the end.
    if (offset === file.size) return { begins: offset, bytes: nothing() };
    const target = this.#file(model.name, file.path);
    const headers: Record<string, string> = offset === 0 ? {} : { range: `bytes=${offset}-` };
    const path = resolvePath(model.name, model.revision, file.path);
    const response = await this.#client.request(path, target, { headers, signal });
    const change = changeSince(file, offset, response);
    if (change === undefined) return { begins: response.status === 206 ? offset : 0, bytes: response.body };
    response.discard();
    throw fileChanged(target.place, change);
  }

  close(): Promise<void> {
    return this.#client.close();
  }

  /** The redirect of a large file has its size and checksum in its headers. */
  async #completed(name: string, commit: string, file: ListedFile, signal?: AbortSignal): Promise<ModelFile> {
    const { checksum, path, size } = file;
    if (size !== null && checksum !== null) return { path, size, checksum, tag: null };
    const target = this.#file(name, path);
    const request = { method: 'HEAD', endsWith: 'x-linked-size', signal } as const;
    const head = () => this.#client.request(resolvePath(name, commit, path), target, request);
    const response = await retrying(head, this.#clock, signal);
    response.discard();
    return completedFile(file, response, target.place);
  }

  #models(): HubRequest {
    return { what: 'models', place: this.address };
  }

  #file(name: string, path: string): HubRequest {
    return { what: 'file', place: `${this.address}/${name} (file ${JSON.stringify(path)})` };
  }
}

async function* nothing(): AsyncGenerator<Uint8Array> {}

function resolvePath(name: string, revision: string, path: string): string {
  const file = path.split('/').map(encodeURIComponent).join('/');
  return `/${name}/resolve/${revision}/${file}`;
}

/** Without a slash at the end. Mirrors may be below a path. */
function baseOf(given: string, place: string): string {
  const accepted = `a URL as in '${DEFAULT_URL}'`;
  if (!URL.canParse(given)) throw badUrl(place, 'is not a URL', accepted);
  const url = new URL(given);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') throw badUrl(place, 'is not http or https', accepted);
  if (url.username !== '' || url.password !== '') {
    throw badUrl(place, 'contains a password', `${accepted}, and the secret as the token`);
  }
  if (url.search !== '' || url.hash !== '') throw badUrl(place, 'has a query', accepted);
  return url.origin + url.pathname.replace(/\/+$/, '');
}

/** Token files often end with a line break; any other character that a header cannot hold is an error. */
function tokenOf(given: string | undefined, place: string): string | undefined {
  const token = given?.trim();
  if (token === undefined || /^[\x21-\x7e]+$/.test(token)) return token;
  throw badToken(
    place,
    token === '' ? 'is empty' : 'contains characters that are not allowed in a token',
    'give the token alone, or none',
  );
}
