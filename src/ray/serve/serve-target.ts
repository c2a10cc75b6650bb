import { badServeTarget } from '../errors.js';

/** A Ray Serve whose replicas are followed. Plain data: it stands in configuration files and flags. */
export interface RayServeTarget {
  /** Of the dashboard, without a slash at the end. */
  readonly url: string;
  /** Null: the application with the route prefix `/`. */
  readonly app: string | null;
  /** A file with Ray's token, read before each request. */
  readonly tokenFile: string | null;
  /** A file of certificates to trust instead of the system's. */
  readonly caFile: string | null;
}

const OPTIONS = ['app', 'token_file', 'ca_file'] as const;

/** Reads `http://10.0.0.1:8265,app=chat,token_file=/etc/twinyard/ray-token`. */
export function readServeTarget(text: string): RayServeTarget {
  const [address, ...pieces] = text.split(',');
  const parts = new Map<string, string>();
  for (const piece of pieces) {
    const name = /^([a-z_]+)=/.exec(piece)?.[1] ?? '';
    if (!(OPTIONS as readonly string[]).includes(name)) throw badServeTarget(text, `'${piece}' is not a part of it`);
    if (parts.has(name)) throw badServeTarget(text, `has ${name} twice`);
    parts.set(name, piece.slice(name.length + 1));
  }
  const target: RayServeTarget = {
    url: address!.trim().replace(/\/+$/, ''),
    app: parts.get('app') ?? null,
    tokenFile: parts.get('token_file') ?? null,
    caFile: parts.get('ca_file') ?? null,
  };
  const problem = serveTargetProblem(target);
  if (problem !== null) throw badServeTarget(text, problem);
  return target;
}

/** What is wrong with a target; null when nothing is. */
export function serveTargetProblem({ app, caFile, tokenFile, url }: RayServeTarget): string | null {
  const parsed = URL.canParse(url) ? new URL(url) : null;
  if (parsed === null || !['http:', 'https:'].includes(parsed.protocol))
    return `'${url}' is not the URL of a dashboard`;
  if (parsed.username !== '' || parsed.password !== '')
    return 'has a user or password: give the token of Ray with token_file';
  if (parsed.search !== '' || parsed.hash !== '') return `'${url}' has more than a path`;
  const empty = Object.entries({ app, token_file: tokenFile, ca_file: caFile }).find(([, value]) => value === '');
  return empty === undefined ? null : `${empty[0]} is empty`;
}
