import type { LatencyProfile } from '../../replica/latency/profile.js';
import { parseProfile, profileText } from '../../replica/latency/profile-file.js';

/** A profile as its file holds it. */
export function profileDocument(profile: LatencyProfile): object {
  return JSON.parse(profileText(profile)) as object;
}

/** Reads a profile as its file holds it; the first problem is an InputError. @param place what holds it */
export function readProfileDocument(document: object, place: string): LatencyProfile {
  return parseProfile(JSON.stringify(document, null, 2), place);
}
