import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import { readProblem } from '../../files/file-problem.js';
import type { ListenConfig } from '../config/gateway-config.js';
import { unusableTls } from '../errors.js';

export interface TlsFiles {
  cert: Buffer;
  key: Buffer;
}

/** Reads and checks a certificate and its key; throws an InputError when they are unusable. */
export function readTls({ cert, key }: NonNullable<ListenConfig['tls']>): TlsFiles {
  const files = { cert: readPart(cert), key: readPart(key) };
  try {
    createSecureContext(files);
  } catch (error) {
    throw unusableTls(`${cert}, ${key}`, `no certificate and its key (${(error as Error).message})`);
  }
  return files;
}

function readPart(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw unusableTls(path, `cannot be read (${readProblem(error)})`);
  }
}
