/** A response as a client that counts bytes reads it. */
export interface HttpResponse {
  status: number;
  head: string;
  body: string;
}

/** The complete responses at the beginning of the bytes received on a connection, and the rest. */
export function responsesIn(text: string): { responses: HttpResponse[]; rest: string } {
  const responses: HttpResponse[] = [];
  let rest = text;
  for (;;) {
    const end = rest.indexOf('\r\n\r\n');
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(rest)?.[1]);
    if (end < 0 || Number.isNaN(status)) return { responses, rest };
    const head = rest.slice(0, end + 2);
    const body = status < 200 ? '' : bodyAt(rest, end + 4, head, status);
    if (body === null) return { responses, rest };
    const taken = typeof body === 'string' ? body : body.raw;
    responses.push({ status, head, body: typeof body === 'string' ? body : body.text });
    rest = rest.slice(end + 4 + taken.length);
  }
}

/** Null when it is incomplete. */
function bodyAt(
  text: string,
  from: number,
  head: string,
  status: number,
): string | { raw: string; text: string } | null {
  if (status === 204 || status === 304) return '';
  const length = /\r\ncontent-length: (\d+)\r\n/i.exec(head)?.[1];
  if (length !== undefined) return text.length < from + Number(length) ? null : text.slice(from, from + Number(length));
  if (!/\r\ntransfer-encoding: chunked\r\n/i.test(head)) return null;
  let at = from;
  let body = '';
  for (;;) {
    const line = text.indexOf('\r\n', at);
    const size = Number.parseInt(text.slice(at, line), 16);
    if (line < 0) return null;
    if (Number.isNaN(size)) throw new Error(`no chunk: ${JSON.stringify(text.slice(at, at + 100))}`);
    if (text.length < line + 2 + size + 2) return null;
    body += text.slice(line + 2, line + 2 + size);
    at = line + 2 + size + 2;
    if (size === 0) return { raw: text.slice(from, at), text: body };
  }
}
