import { API_KINDS, type ApiKind } from '../../protocol/endpoints.js';

const OBJECT = 0x7b;
const ARRAY = 0x5b;

/**
 * Whether the body of a 200 must be JSON: for a request of a kind that is answered with JSON, unless its content type is
 * neither JSON nor text (as for embeddings in binary form).
 */
export function expectsJson(kind: ApiKind, contentType: string | undefined): boolean {
  if (API_KINDS[kind].hasAnyResponse === true) return false;
  return contentType === undefined || /^\s*(text\/|application\/([\w.-]+\+)?json)/i.test(contentType);
}

export function isHtml(contentType: string | undefined): boolean {
  return contentType !== undefined && /^\s*text\/html/i.test(contentType);
}

/** The first byte that is not JSON white space; -1 when there is none. */
export function firstByte(piece: Buffer): number {
  for (let i = 0; i < piece.length; i++) {
    const byte = piece[i]!;
    if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return byte;
  }
  return -1;
}

/** Whether a response of the API, which is an object or a list, can begin with this byte. */
export function beginsJson(byte: number): boolean {
  return byte === OBJECT || byte === ARRAY;
}
