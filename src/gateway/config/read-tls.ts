import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import { readProblem } from '../../files/file-problem.js';
import { unusableTls } from '../errors.js';
import type { GatewayConfig, ListenConfig } from './gateway-config.js';

export interface TlsFiles {
  cert: Buffer;
  key: Buffer;
  /** The certificates that those of clients must be signed by; absent where clients need none. */
  ca?: Buffer;
}

/** Reads and checks a certificate, its key and the CA of clients; throws an InputError when they are unusable. */
export function readTls({ cert, clientCa, key }: NonNullable<ListenConfig['tls']>): TlsFiles {
  const ca = clientCa === undefined ? {} : { ca: readCa(clientCa) };
  return { ...readPair(cert, key), ...ca };
}

/** The same for the connections to replicas. */
export function readReplicaTls(files: GatewayConfig['replicaTls']): Partial<TlsFiles> {
  if (files === null) return {};
  const { ca, cert, key } = files;
  return { ...(ca === null ? {} : { ca: readCa(ca) }), ...(cert === null ? {} : readPair(cert, key!)) };
}

function readPair(cert: string, key: string): { cert: Buffer; key: Buffer } {
  const files = { cert: readPart(cert), key: readPart(key) };
  try {
    createSecureContext(files);
  } catch (error) {
    throw unusableTls(`${cert}, ${key}`, `no certificate and its key (${(error as Error).message})`);
  }
  return files;
}

function readCa(path: string): Buffer {
  const ca = readPart(path);
  try {
    new X509Certificate(ca);
  } catch (error) {
    throw unusableTls(path, `no certificate (${(error as Error).message})`);
  }
  return ca;
}

function readPart(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw unusableTls(path, `cannot be read (${readProblem(error)})`);
  }
}
