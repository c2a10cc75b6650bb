import type { Change } from '../api/queries';
import { quoted } from './commands';

/** A change by the API as a command: the same method, headers and body. */
export function changeCommand({ body, headers = {}, method, path, text }: Change): string {
  const content = text?.content ?? (body === undefined ? undefined : JSON.stringify(body));
  const sent = { ...(text === undefined ? {} : { 'content-type': text.type }), ...headers };
  return [
    `curl -X ${method} ${quoted(`${location.origin}/api/v1/${path}`)}`,
    '-H "authorization: Bearer $TWINYARD_TOKEN"',
    ...Object.entries(sent).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    ...(content === undefined ? [] : [`-d ${quoted(content)}`]),
  ].join(' ');
}
