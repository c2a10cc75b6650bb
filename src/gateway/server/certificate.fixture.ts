import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

export interface CertificateFiles {
  cert: string;
  key: string;
}

/** The names that it is valid for. */
const LOOPBACK = ['-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'];

/** Creates a certificate for one test; null without openssl. */
export function makeCertificate(folder: string, name: string, file = name): CertificateFiles | null {
  const [key, cert] = [join(folder, `${file}.key`), join(folder, `${file}.pem`)];
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1'];
  try {
    execFileSync(
      'openssl',
      [
        'req',
        '-x509',
        ...curve,
        '-nodes',
        '-days',
        '2',
        '-subj',
        `/CN=${name}`,
        ...LOOPBACK,
        '-keyout',
        key,
        '-out',
        cert,
      ],
      { stdio: 'ignore' },
    );
    return { cert, key };
  } catch {
    return null;
  }
}
