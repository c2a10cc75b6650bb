import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';

export interface FakeHubRequest {
  server: 'hub' | 'cdn';
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
}

/** Does something else for a request; false leaves it to the hub. */
export type Fault = (received: FakeHubRequest, response: ServerResponse) => boolean;

interface FakeRepository {
  versions: Map<string, string>;
  commits: Map<string, Record<string, Buffer>>;
  gated: boolean;
}

const API_PATH = /^\/api\/models\/([^/]+\/[^/]+)\/revision\/([^/]+)$/;
const FILE_PATH = /^\/(?:api\/resolve-cache\/models\/)?([^/]+\/[^/]+)\/(?:resolve\/)?([^/]+)\/(.+)$/;
const LARGE = /\.(?:safetensors|bin|gguf)$/;

/**
 * Behaves like the Hugging Face hub, on loopback: redirects large files to another host with the checksum in a header and small ones
 * to another path, and sends reasons in `x-error-code`.
 */
export class FakeHub {
  readonly requests: FakeHubRequest[] = [];
  /** When set, other tokens are refused. */
  token: string | undefined;
  faults: Fault[] = [];
  /** Whether listings have sizes and checksums; those of some mirrors do not. */
  listsBlobs = true;
  readonly #repositories = new Map<string, FakeRepository>();
  readonly #hub: Server;
  readonly #cdn: Server;

  private constructor() {
    this.#hub = createServer((request, response) => this.#serve('hub', request, response));
    this.#cdn = createServer((request, response) => this.#serve('cdn', request, response));
  }

  static async start(): Promise<FakeHub> {
    const hub = new FakeHub();
    for (const server of [hub.#hub, hub.#cdn]) {
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
    }
    return hub;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#hub.address() as AddressInfo).port}`;
  }

  get cdnUrl(): string {
    return `http://127.0.0.1:${(this.#cdn.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    for (const server of [this.#hub, this.#cdn]) {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    }
  }

  /** A commit, at which the version now is. */
  put(name: string, version: string, files: Record<string, Buffer>, { gated = false } = {}): string {
    const repository = this.#repositories.get(name) ?? { versions: new Map(), commits: new Map(), gated };
    const all = createHash('sha1');
    for (const [path, bytes] of Object.entries(files)) all.update(`${path} ${gitBlob(bytes)}\n`);
    const commit = all.digest('hex');
    repository.versions.set(version, commit).set(commit, commit);
    repository.commits.set(commit, files);
    this.#repositories.set(name, repository);
    return commit;
  }

  /** Other bytes at the same commit, which no honest hub has. */
  tamper(name: string, commit: string, path: string, bytes: Buffer): void {
    this.#repositories.get(name)!.commits.get(commit)![path] = bytes;
  }

  /** Does something else for the next requests whose path has this in it. */
  once(part: string, fault: (response: ServerResponse, received: FakeHubRequest) => void, times = 1): void {
    let left = times;
    this.faults.push((received, response) => {
      if (left === 0 || !received.path.includes(part)) return false;
      left--;
      fault(response, received);
      return true;
    });
  }

  #serve(server: 'hub' | 'cdn', request: IncomingMessage, response: ServerResponse): void {
    const { headers, method = '', url: path = '' } = request;
    const received = { server, method, path, headers };
    this.requests.push(received);
    if (this.faults.some((fault) => fault(received, response))) return;
    const { authorization } = headers;
    if (server === 'cdn') {
      this.#serveLarge(received, response);
    } else if (authorization !== undefined && authorization !== `Bearer ${this.token}`) {
      refuse(response, 401, undefined, 'Invalid credentials in Authorization header');
    } else if (path.startsWith('/api/models?')) {
      this.#list(new URL(path, this.url), response);
    } else {
      this.#serveModel(received, response);
    }
  }

  #serveModel(received: FakeHubRequest, response: ServerResponse): void {
    const url = new URL(received.path, this.url);
    const match = API_PATH.exec(url.pathname) ?? FILE_PATH.exec(url.pathname) ?? [];
    const [, name = '', version = '', file] = match.map((part) => decodeURIComponent(part ?? ''));
    const isKnown = received.headers.authorization !== undefined;
    const repository = this.#repositories.get(name);
    const commit = repository?.versions.get(version) ?? '';
    const files = repository?.commits.get(commit);
    if (repository === undefined) {
      refuse(response, isKnown ? 404 : 401, 'RepoNotFound', 'Repository not found');
    } else if (files === undefined) {
      refuse(response, 404, 'RevisionNotFound', `Invalid rev id: ${version}`);
    } else if (file === undefined) {
      json(response, this.#described(name, commit, files, url));
    } else if (repository.gated) {
      refuse(response, isKnown ? 403 : 401, 'GatedRepo', `Access to ${name} is restricted`);
    } else if (files[file] === undefined) {
      refuse(response, 404, 'EntryNotFound', 'Entry not found');
    } else {
      this.#resolve({ received, name, commit, file, bytes: files[file] }, response);
    }
  }

  #resolve(
    {
      received,
      bytes,
      commit,
      file,
      name,
    }: { received: FakeHubRequest; name: string; commit: string; file: string; bytes: Buffer },
    response: ServerResponse,
  ): void {
    const isLarge = LARGE.test(file);
    const etag = `"${isLarge ? sha256(bytes) : gitBlob(bytes)}"`;
    const facts = { 'x-repo-commit': commit, 'accept-ranges': 'bytes' };
    if (isLarge) {
      const location = `${this.cdnUrl}/blobs/${sha256(bytes)}?Expires=1&Signature=s3cr3t`;
      response.writeHead(302, { ...facts, location, 'x-linked-etag': etag, 'x-linked-size': bytes.length });
      response.end(`Found. Redirecting to ${location}`);
    } else if (received.path.startsWith('/api/resolve-cache/')) {
      sendBytes(bytes, received, { ...facts, etag }, response);
    } else {
      const location = `/api/resolve-cache/models/${name}/${commit}/${file.split('/').map(encodeURIComponent).join('/')}`;
      response.writeHead(307, { ...facts, location, etag }).end('Temporary Redirect');
    }
  }

  #serveLarge(received: FakeHubRequest, response: ServerResponse): void {
    const wanted = /^\/blobs\/([0-9a-f]+)\?/.exec(received.path)?.[1];
    const commits = [...this.#repositories.values()].flatMap((repository) => [...repository.commits.values()]);
    const found = commits.flatMap((files) => Object.values(files)).find((bytes) => sha256(bytes) === wanted);
    if (found === undefined) refuse(response, 404, undefined, 'no such blob');
    else sendBytes(found, received, { etag: '"0123-multi-part"' }, response);
  }

  #list({ searchParams }: URL, response: ServerResponse): void {
    const search = (searchParams.get('search') ?? '').toLowerCase();
    const names = [...this.#repositories.keys()].filter((name) => name.toLowerCase().includes(search));
    const found = names.slice(0, Number(searchParams.get('limit') ?? 1000));
    json(
      response,
      found.map((id) => ({ id, modelId: id, downloads: 3, likes: 1, pipeline_tag: 'text-generation' })),
    );
  }

  #described(name: string, commit: string, files: Record<string, Buffer>, { searchParams }: URL): unknown {
    const withBlobs = this.listsBlobs && searchParams.get('blobs') === 'true';
    const siblings = Object.entries(files).map(([rfilename, bytes]) => {
      if (!withBlobs) return { rfilename };
      const lfs = LARGE.test(rfilename) ? { sha256: sha256(bytes), size: bytes.length, pointerSize: 134 } : undefined;
      return { rfilename, size: bytes.length, blobId: gitBlob(bytes), lfs };
    });
    return { id: name, sha: commit, private: false, gated: false, siblings };
  }
}

/** All of it, or from where a range begins. */
function sendBytes(bytes: Buffer, { headers, method }: FakeHubRequest, more: object, response: ServerResponse): void {
  const from = Number(/^bytes=(\d+)-$/.exec(headers.range ?? '')?.[1] ?? 0);
  if (from > 0 && from >= bytes.length) {
    refuse(response, 416, undefined, 'Range Not Satisfiable');
    return;
  }
  const range = { 'content-range': `bytes ${from}-${bytes.length - 1}/${bytes.length}` };
  response.writeHead(from > 0 ? 206 : 200, {
    ...more,
    ...(from > 0 ? range : {}),
    'content-length': bytes.length - from,
  });
  response.end(method === 'HEAD' ? undefined : bytes.subarray(from));
}

function json(response: ServerResponse, value: unknown): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}

export function refuse(response: ServerResponse, status: number, code: string | undefined, message: string): void {
  const reason = code === undefined ? {} : { 'x-error-code': code, 'x-error-message': message };
  response.writeHead(status, { ...reason, 'content-type': 'application/json' }).end(JSON.stringify({ error: message }));
}

export function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

export function gitBlob(bytes: Buffer): string {
  return createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex');
}
