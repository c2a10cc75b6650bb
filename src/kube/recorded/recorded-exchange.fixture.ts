import { readFileSync, writeFileSync } from 'node:fs';
import { gunzipSync, gzipSync } from 'node:zlib';
import type { KubeAccess } from '../access/kube-access.js';

// biome-ignore lint/suspicious/noExplicitAny: objects of the API as they are sent
type Any = any;

/** A call to an API server, without its headers: a recording has no credentials. */
export interface RecordedCall {
  /** The client: `runner`, or one that stands in for others. */
  readonly by: string;
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly contentType: string;
  readonly body: Any;
}

/** One line of a recording, in the order in which a proxy saw them. */
export type RecordedLine =
  | { readonly recordedAt: number; readonly namespace: string }
  | ({ readonly call: number } & RecordedCall)
  | { readonly response: number; readonly status: number; readonly body: Any }
  | { readonly event: number; readonly body: Any };

export const NAMESPACE_IN_RECORDINGS = 'twinyard-runner';

/** Clients other than the runner have their name in front of the path. */
export function clientOf(path: string): { by: string; path: string } {
  const [, by, rest] = /^\/as\/([^/]+)(\/.*)$/.exec(path) ?? [];
  return by === undefined ? { by: 'runner', path } : { by, path: rest! };
}

export const accessAs = (by: string, access: KubeAccess): KubeAccess => ({
  ...access,
  server: `${access.server}/as/${by}`,
});

export const isWatchCall = ({ query }: Pick<RecordedCall, 'query'>) =>
  new URLSearchParams(query).get('watch') === 'true';

/** What differs from run to run and is compared by its place only: times, addresses of pods, names of nodes. */
const VOLATILE =
  /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z|\b1[6-9]\d{11}\b|\b127\.\d+\.\d+\.\d+\b|no-node-[0-9a-f]{8}-[0-9a-f-]{27}/g;

const NAME_BEFORE = /([\w/]+)[\\"]*:[\\"]*$/;

/**
 * Replaces volatile values. A number of milliseconds also has the name of its property: two times of one recording may be the
 * same, and differ in the next.
 */
export function replaceVolatile(text: string, replace: (value: string, name: string) => string): string {
  return text.replace(VOLATILE, (value, at: number) => {
    if (!/^\d+$/.test(value)) return replace(value, '');
    const name = NAME_BEFORE.exec(text.slice(Math.max(0, at - 40), at))?.[1] ?? '';
    return replace(value, name === 'startedAt' ? START_NAME : name);
  });
}

/** The label, whose value is the start in the record of a replica. */
const START_NAME = 'twinyard/start';

/** The volatile values of a text with their names, in order. */
export function volatileValues(text: string): { readonly value: string; readonly name: string }[] {
  const found: { value: string; name: string }[] = [];
  replaceVolatile(text, (value, name) => {
    found.push({ value, name });
    return value;
  });
  return found;
}

/** Parameters of lists and watches that say where to begin and for how long. */
const CHANGING_PARAMETERS = ['resourceVersion', 'timeoutSeconds', 'continue'];

/**
 * A call as text, with its volatile values. Two calls whose texts agree but for these are the same. The labels and the pod of
 * a Deployment are left out: for the behaviour of a runner they are a load, and whether an API server accepts them is tried on
 * a real one.
 */
export function callText({ body, by, contentType, method, path, query }: RecordedCall): string {
  const parameters = new URLSearchParams(query);
  for (const name of CHANGING_PARAMETERS) parameters.delete(name);
  parameters.sort();
  return `${by}: ${method} ${path}?${parameters} ${contentType} ${JSON.stringify(sorted(withoutLoad(body)))}`;
}

export const callKey = (text: string): string => replaceVolatile(text, () => '*');

function withoutLoad(body: Any): Any {
  if (typeof body?.gracePeriodSeconds === 'number' && body.gracePeriodSeconds > 1) {
    // What is left of a grace time depends on the speed of the machine.
    return { ...body, gracePeriodSeconds: 'long' };
  }
  if (body?.spec?.template === undefined) return body;
  const { annotations = {}, name, uid } = body.metadata;
  const { replicas, selector } = body.spec;
  // How much of a log was read by the end of its pod is a matter of chance.
  const withoutLog = (key: string, value: unknown) => (key === 'lastLines' ? null : value);
  const progress = annotations['twinyard/progress'];
  return {
    ...{ kind: body.kind, name, uid, replicas, selector },
    progress: progress === undefined ? null : JSON.parse(progress, withoutLog),
  };
}

function sorted(value: Any): Any {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, sorted(value[key])]),
  );
}

/** What belongs to this machine or this version of a fixture, by the name that stands for it in recordings. */
export type LocalTexts = Readonly<Record<string, string>>;

const escaped = (text: string) => JSON.stringify(text).slice(1, -1);

/** Texts occur in JSON, and in JSON within JSON: a name has the number of escapings. */
function forms(texts: LocalTexts): [name: string, text: string][] {
  return Object.entries(texts).flatMap(([name, text]) => {
    const levels = [escaped(text), escaped(escaped(text)), escaped(escaped(escaped(text)))];
    return levels.map((level, i): [string, string] => [`{{${name} ${i + 1}}}`, level]).reverse();
  });
}

export function writeRecording(path: string, lines: readonly RecordedLine[], texts: LocalTexts): void {
  let text = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
  for (const [name, form] of forms(texts)) text = text.replaceAll(form, name);
  writeFileSync(path, gzipSync(text, { level: 9 }));
}

export function readRecording(path: string, texts: LocalTexts): RecordedLine[] {
  let text = gunzipSync(readFileSync(path)).toString('utf8');
  for (const [name, form] of forms(texts)) text = text.replaceAll(name, () => form);
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as RecordedLine);
}
