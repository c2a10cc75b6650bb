/** How a response can be metered: as events, as JSON, or not at all, because it is encoded or no text. */
export type ResponseForm = 'events' | 'json' | 'opaque';

const EVENT_STREAM = 'text/event-stream';
const BINARY = /^(?:audio|image|video)\//i;

/** The form announced by flat headers. Any other type is treated as JSON: if it is not JSON, nothing is found in it. */
export function responseForm(headers: readonly string[]): ResponseForm {
  let form: ResponseForm = 'json';
  for (let i = 0; i + 1 < headers.length; i += 2) {
    const name = headers[i]!;
    if (name.length === 12) {
      if (name.toLowerCase() !== 'content-type') continue;
      if (isEventStream(headers[i + 1]!)) form = 'events';
      else if (BINARY.test(headers[i + 1]!)) return 'opaque';
    } else if (name.length === 16 && name.toLowerCase() === 'content-encoding') {
      if (headers[i + 1]!.toLowerCase() !== 'identity') return 'opaque';
    }
  }
  return form;
}

function isEventStream(type: string): boolean {
  return type.slice(0, EVENT_STREAM.length).toLowerCase() === EVENT_STREAM;
}
