import { badRedirect } from '../errors.js';

/** Where a response sends us; what is no address on the web, or less safe than where we come from, is refused. */
export function redirected(from: URL, location: string | undefined, place: string): URL {
  const to = location !== undefined && URL.canParse(location, from.href) ? new URL(location, from) : undefined;
  if (to === undefined || (to.protocol !== 'https:' && to.protocol !== 'http:')) {
    throw badRedirect(place, 'sends us to what is not an address on the web');
  }
  if (from.protocol === 'https:' && to.protocol === 'http:') throw badRedirect(place, 'sends us from https to http');
  return to;
}
