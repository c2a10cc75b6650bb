import type { ApiRoute } from '../../api/api-route.js';
import { API_ROUTES } from '../../api/routes.js';
import { DOCUMENT_LIMITS } from '../../control/resources/documents/document-limits.js';
import { KINDS } from '../../control/resources/kinds.js';
import type { Schema } from '../../schema/facts.js';
import { fieldRows } from '../../schema/field-rows.js';
import { code, madeFrom, markdownTable, plain } from './markdown.js';

/** Every operation of the API, from the table that routes requests and checks roles. */
export function apiPage(): string {
  const of = (isWanted: (route: ApiRoute) => boolean) => operations(API_ROUTES.filter(isWanted));
  const general = of(({ kind, path }) => kind === undefined && !path.includes('/endpoints/'));
  const live = of(({ kind, path }) => kind === undefined && path.includes('/endpoints/'));
  const kinds = KINDS.map(({ kind }) => `### ${kind}\n\n${of((route) => route.kind?.kind === kind)}`);
  return `${madeFrom('src/api/routes.ts')}
# The API

JSON over HTTP on the admin port, below \`/api/v1\`. \`GET /api/v1/openapi.json\` describes the same by OpenAPI 3.1.

Every call carries the admin token, or an API key with a role, as \`Authorization: Bearer ...\`. The role is needed where the
third column says: in the workspace that the path names, in every workspace, or in any workspace at all; _each_ means for each
resource that the call reads or changes. A viewer reads, an operator changes what runs, an admin does everything.

## Lists

A list returns \`{"kind", "items", "next"}\`. It has at most \`limit\` items (100 unless given, at most 1000); \`next\` is the
\`cursor\` of the next page and null on the last one. Lists of resources also return \`resource_version\`, from which a watch
misses nothing.

\`fields\` of resources, in lists and alone, returns only some fields: \`fields=metadata.name,status.phase\`. Fields below a list are
those of each entry (\`status.replicas.id\`), and below a map of names the rest is one name (\`metadata.labels.team\`). Fields that a
resource does not have are left out; those that its kind does not have are refused. A projected resource lacks what
OpenAPI requires of a whole one.

## Errors

\`{"error": {"code", "message", "hint"}}\` with the fitting status. Codes are stable. \`problems\` lists everything wrong with
what was sent, each with \`code\`, \`place\`, \`problem\` and \`hint\`; 409 has \`differences\` and \`current\` where a resource
has changed since the version that \`If-Match\` names.

${markdownTable(STATUSES)}
## The event stream

\`GET /api/v1/watch\` is a stream of server-sent events with everything that changes. \`topics\` chooses among them:

${markdownTable(TOPICS)}
The \`id\` of each event is a position: sent back as \`Last-Event-ID\` (or \`since\`), the stream of resources and events continues
after it. The last 2,000 changes of resources are kept, and none from before the control plane started; a position before that
gets one event \`reset\`, after which the list must be read again. A \`bookmark\` is a position without a change. Comments keep a
silent stream open.

## Operations

${general}
## Endpoints as they are served

Endpoints of the gateway's configuration file belong to the workspace \`default\`. Their replicas and policies are changed here;
those of Endpoint resources with the resource.

${live}
## Resources

A name that appears in the body must be that of the path. Bodies are JSON or YAML; \`POST /api/v1/apply\` also takes one JSON
document per line, as \`twinyard apply\` sends them. Documents over a limit get 413 before they are parsed:

${markdownTable(LIMITS)}
The names \`__proto__\`, \`prototype\` and \`constructor\` are refused as keys of any map.

${kinds.join('\n')}
## Query parameters

${queries()}`;
}

const { aliases, anchors, documents, levels, marks, nodes, yamlLength } = DOCUMENT_LIMITS;
const LIMITS = [
  ['limit', 'most'],
  ['bytes of a body', '1 MiB'],
  ['documents of a body', String(documents)],
  ['nested maps and lists', String(levels)],
  ['values of a document', String(nodes)],
  ['characters of a YAML document', String(yamlLength)],
  ['lines, keys and list entries of a YAML document', String(marks)],
  ['anchors of a YAML document', String(anchors)],
  ['aliases of a YAML document', String(aliases)],
];

const STATUSES = [
  ['status', 'meaning'],
  ['400', 'the request cannot be read: path, query, header or body'],
  ['401', 'the admin token or the key is missing or wrong'],
  ['403', 'the role does not suffice'],
  ['404', 'no such path, or no such thing'],
  ['405', 'the path does not support the method'],
  ['409', 'not possible as things are: it exists already, has changed, or is in use'],
  [
    '413',
    'the body is too large (1 MiB for resources, 64 KiB otherwise), nested too deeply, or over another limit of documents',
  ],
  ['422', 'the resources of the body are invalid'],
  ['429', 'too many wrong keys from this address'],
  ['502', 'a model registry refused'],
  ['503', 'the store or the control plane is not available: try again'],
];

const TOPICS = [
  ['topic', 'event', 'data'],
  ['`resources`', '`resource`', '`type` (created, changed, status, deleting, removed), `version` and the resource'],
  ['`events`', '`event`', 'an event of a resource, as `GET /api/v1/events` lists it'],
  ['`replicas`', '`replica`', '`type` (listed, changed, removed) and the replica; each once when the stream starts'],
  ['`gateway`', '`gateway`', '`type` (policy, config, draining), with the endpoint whose policy has changed'],
];

const WHERE = { workspace: 'its workspace', global: 'every workspace', anywhere: 'any workspace', each: 'each' };

function operations(routes: readonly ApiRoute[]): string {
  const rows = routes.map(({ method, path, role, scope, summary }) => [
    code(`${method} ${path}`),
    role,
    WHERE[scope],
    plain(summary),
  ]);
  return markdownTable([['operation', 'role', 'in', 'what it does'], ...rows]);
}

/** Once for each set of parameters. */
function queries(): string {
  const tables = new Map<string, string[]>();
  for (const { method, path, query } of API_ROUTES) {
    const rows = fieldRows(query as unknown as Schema);
    if (rows.length === 0) continue;
    const table = markdownTable([
      ['parameter', 'values', 'default', 'meaning'],
      ...rows.map((row) => [code(row.name), plain(row.values), row.default, plain(row.help)]),
    ]);
    tables.set(table, [...(tables.get(table) ?? []), code(`${method} ${path}`)]);
  }
  return [...tables].map(([table, paths]) => `${paths.join(', ')}:\n\n${table}`).join('\n');
}
