import { badName, badVersion } from './errors.js';

/** `tiny`, `acme/tiny`: each part begins with a letter or digit, so that none is `..` or a flag. */
const NAME = /^[A-Za-z0-9][\w.-]{0,95}(?:\/[A-Za-z0-9][\w.-]{0,95})?$/;
const VERSION = /^[A-Za-z0-9](?:[\w.-]|\/(?=[A-Za-z0-9])){0,199}$/;

/** Names and versions become parts of URLs and paths: invalid ones are refused before any request. */
export function checkModelName(name: string): void {
  if (!NAME.test(name) || name.includes('..')) throw badName(name, "one as 'name' or 'organisation/name'");
}

export function checkVersion(name: string, version: string): void {
  if (!VERSION.test(version) || version.includes('..')) throw badVersion(name, version);
}
