import { InputError } from '../kernel/errors.js';
import { readJson } from '../schema/read-json.js';
import type { ApiRoute } from './api-route.js';
import type { ApiCall } from './respond.js';

/** Resources, of which one body may hold many. */
const MOST_DOCUMENT_BYTES = 1024 * 1024;
const MOST_JSON_BYTES = 64 * 1024;
const MOST_LEVELS = 100;
const CODES = { invalid: 'API_BODY', unknownKey: 'API_BODY' };

/** The body of a request as its route describes it: checked JSON, or the text of resources. */
export async function readRequestBody({ body }: ApiRoute, call: Pick<ApiCall, 'body'>): Promise<unknown> {
  if (body === undefined) return undefined;
  const text = await call.body(body.type === 'json' ? MOST_JSON_BYTES : MOST_DOCUMENT_BYTES);
  refuseDeep(text);
  if (body.type !== 'json') return text;
  const isEmpty = text.trim() === '' && body.optional === true;
  const start = `give JSON, as in ${JSON.stringify(body.example)}`;
  const { given, value } = readJson(isEmpty ? '{}' : text, body.schema, CODES, start);
  return body.asGiven === true ? given : value;
}

/** Before any parser sees it: parsers recurse, and YAML's is slow on deep nesting. Brackets inside text count as well. */
function refuseDeep(text: string): void {
  let level = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === 0x5b || code === 0x7b) level++;
    else if (code === 0x5d || code === 0x7d) level = Math.max(0, level - 1);
    if (level > MOST_LEVELS) throw tooDeep();
  }
}

const tooDeep = () =>
  new InputError('API_BODY_TOO_DEEP', 'body', `is nested deeper than ${MOST_LEVELS} levels`, 'send a flatter document');
