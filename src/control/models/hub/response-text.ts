/** Longer explanations are cut. */
const MOST_CHARACTERS = 200;

/** A server's explanation, to follow its status. The token is removed: a server may repeat what it was sent. */
export function shownReason(header: string | undefined, body: string | undefined, token: string | undefined): string {
  const line = (header ?? errorField(body) ?? '').replaceAll(/[\p{Cc}\s]+/gu, ' ').trim();
  const clean = token === undefined ? line : line.replaceAll(token, '***');
  return clean === '' ? '' : `: ${clean.slice(0, MOST_CHARACTERS)}`;
}

function errorField(body: string | undefined): string | undefined {
  try {
    const { error } = JSON.parse(body ?? '') as { error?: unknown };
    return typeof error === 'string' ? error : undefined;
  } catch {
    return undefined;
  }
}
