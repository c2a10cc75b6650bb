import { NAME_BYTES } from './field-bytes.js';

/** Whether a field has this name, given in lower case. Allocates only when the first letter matches and the spelling differs. */
export function isNamed(name: string, lower: string): boolean {
  if (name === lower) return true;
  return (name.charCodeAt(0) | 0x20) === lower.charCodeAt(0) && name.toLowerCase() === lower;
}

export function isFieldName(name: string): boolean {
  for (let i = 0; i < name.length; i++) {
    if (NAME_BYTES[name.charCodeAt(i)] !== 1) return false;
  }
  return name.length > 0;
}
