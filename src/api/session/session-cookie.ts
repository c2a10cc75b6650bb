type Header = (name: string) => string | undefined;

/** Browsers share cookies between the ports of a host: gateways on one machine have cookies of their own. */
function nameFor(header: Header): string {
  const port = /:(\d+)$/.exec(header('host') ?? '')?.[1] ?? '';
  return `twinyard_session${port === '' ? '' : `_${port}`}`;
}

/** The id of the session that a browser sends; null without one. */
export function sessionIdIn(header: Header): string | null {
  const name = nameFor(header);
  for (const pair of (header('cookie') ?? '').split(';')) {
    const [key, value] = pair.trim().split('=', 2);
    if (key === name && value !== undefined && /^[\w-]{43}$/.test(value)) return value;
  }
  return null;
}

/** Headers that set the cookie. Scripts cannot read it, and other sites cannot send it. @param id null deletes it */
export function cookieHeaders(header: Header, id: string | null, isTls: boolean): string[] {
  const isSecure = isTls || header('x-forwarded-proto') === 'https';
  const parts = [`${nameFor(header)}=${id ?? ''}`, 'Path=/', 'HttpOnly', 'SameSite=Strict'];
  if (isSecure) parts.push('Secure');
  // Without an age a browser forgets it when it is closed.
  if (id === null) parts.push('Max-Age=0');
  return ['set-cookie', parts.join('; ')];
}

/** Whether a browser says that a page of this very origin sends the request, or no page at all. */
export function isSameOrigin(header: Header): boolean {
  const site = header('sec-fetch-site');
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return false;
  const origin = header('origin');
  if (origin === undefined) return true;
  const own = `${origin.split(':', 1)[0]}://${header('host') ?? ''}`;
  return URL.canParse(origin) && URL.canParse(own) && new URL(origin).origin === new URL(own).origin;
}
