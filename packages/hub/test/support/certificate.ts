import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { makeTempDir } from './temp-dir.ts';

/** A certificate that signs itself. @param altName such as DNS:localhost or IP:127.0.0.1. */
export function makeCertificate(t: TestContext, altName: string, days: number) {
  const dir = makeTempDir(t);
  const files = { key: join(dir, 'key.pem'), cert: join(dir, 'cert.pem') };
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
  const name = ['-subj', '/CN=localhost', '-addext', `subjectAltName=${altName}`];
  const out = ['-keyout', files.key, '-out', files.cert, '-days', String(days)];
  execFileSync('openssl', ['req', '-x509', ...key, ...out, ...name], { stdio: 'ignore' });
  return { cert: readFileSync(files.cert, 'utf8'), key: readFileSync(files.key, 'utf8') };
}

/** Has this process trust a certificate until the test ends. */
export function trustCertificate(t: Pick<TestContext, 'after'>, cert: string): void {
  const trusted = getCACertificates('default');
  setDefaultCACertificates([...trusted, cert]);
  t.after(() => setDefaultCACertificates(trusted));
}
