import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

export interface CertificateFiles {
  cert: string;
  key: string;
}

/** Makes a certificate that is thrown away after the test; null where there is no openssl. */
export function makeCertificate(folder: string, name: string, file = name): CertificateFiles | null {
  const [key, cert] = [join(folder, `${file}.key`), join(folder, `${file}.pem`)];
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1'];
  try {
    execFileSync(
      'openssl',
      ['req', '-x509', ...curve, '-nodes', '-days', '2', '-subj', `/CN=${name}`, '-keyout', key, '-out', cert],
      { stdio: 'ignore' },
    );
    return { cert, key };
  } catch {
    return null;
  }
}
