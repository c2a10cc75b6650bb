import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { packagePath } from '../../files/package-path.js';
import { type AdminCall, type AdminResponse, adminError } from '../../gateway/server/admin-api.js';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};

/** Scripts, styles and calls of this origin only; no page may frame it. */
const SECURITY = [
  'content-security-policy',
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  ...['x-frame-options', 'DENY', 'referrer-policy', 'no-referrer', 'cross-origin-opener-policy', 'same-origin'],
  ...['cross-origin-resource-policy', 'same-origin'],
];
const IMMUTABLE = ['cache-control', 'public, max-age=31536000, immutable'];
const FRESH = ['cache-control', 'no-cache'];

interface ConsoleFile {
  readonly type: string;
  readonly isHashed: boolean;
  /** By content encoding; '' for none. */
  readonly bytes: ReadonlyMap<string, Buffer>;
}

const COMPRESSED = [
  ['br', '.br'],
  ['gzip', '.gz'],
] as const;

/** The files of the built console by path, read once: no path of a request reaches the file system. */
function readFiles(folder: string): ReadonlyMap<string, ConsoleFile> {
  const files = new Map<string, ConsoleFile>();
  if (!existsSync(join(folder, 'index.html'))) return files;
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    const type = TYPES[extname(name)];
    if (type === undefined) continue;
    const path = join(folder, name);
    const bytes = new Map([['', readFileSync(path)]]);
    for (const [encoding, ending] of COMPRESSED) {
      if (existsSync(path + ending)) bytes.set(encoding, readFileSync(path + ending));
    }
    const at = `/${name.replaceAll('\\', '/')}`;
    files.set(at, { type, isHashed: at.startsWith('/assets/'), bytes });
  }
  return files;
}

const known = new Map<string, ReadonlyMap<string, ConsoleFile>>();

/** A file of the console; the page itself for every address that a browser opens, because the page has the router. */
export function consoleFile(
  { header, method, path }: Pick<AdminCall, 'header' | 'method' | 'path'>,
  folder = packagePath('dist', 'console'),
): AdminResponse {
  const files = known.get(folder) ?? readFiles(folder);
  // Until it is built, each request looks again.
  if (files.size > 0) known.set(folder, files);
  const unknown = () => adminError(404, 'API_PATH_UNKNOWN', `${path}: no such path`);
  if (method !== 'GET' && method !== 'HEAD') return unknown();
  const isPage = path === '/' || (header('accept') ?? '').includes('text/html');
  const file = files.get(path) ?? (isPage ? files.get('/index.html') : undefined);
  if (file === undefined) {
    return isPage
      ? adminError(404, 'API_NO_CONSOLE', 'the console is not built', "run 'npm run build' in the source folder")
      : unknown();
  }
  const accepted = (header('accept-encoding') ?? '').split(',').map((one) => one.trim().split(';')[0]);
  const encoding = COMPRESSED.map(([name]) => name).find((name) => accepted.includes(name) && file.bytes.has(name));
  return {
    status: 200,
    type: file.type,
    body: file.bytes.get(encoding ?? ''),
    headers: [
      ...SECURITY,
      ...(file.isHashed ? IMMUTABLE : FRESH),
      ...['vary', 'accept-encoding'],
      ...(encoding === undefined ? [] : ['content-encoding', encoding]),
    ],
  };
}
