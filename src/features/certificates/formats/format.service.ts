import { X509Certificate } from 'node:crypto';
import type { Context } from '../../../kernel/context.js';
import { loadRow } from '../../../kernel/database/rows.js';
import { parse, validationFailed } from '../../../kernel/validation.js';
import { type CertificateRow, findPems } from '../certificates/certificate.queries.js';
import type { CertificateService } from '../certificates/certificate.service.js';
import { openPrivateKey } from '../x509/keys.js';
import { type PemBlock, readPem } from '../x509/pem.js';
import { ExportPkcs12, ImportPkcs12 } from './format.rules.js';
import { type Pkcs12Contents, type Pkcs12Error, readPkcs12 } from './pkcs12-reading.js';

const FAULTS = {
  file: {
    path: 'pkcs12',
    code: 'INVALID_FORMAT',
    message: 'must be a PKCS#12 file encrypted with a password in a common way',
  },
  iterations: {
    path: 'pkcs12',
    code: 'TOO_BIG',
    message: 'must be encrypted with at most 1,000,000 iterations',
  },
  password: { path: 'password', code: 'WRONG_PASSWORD', message: 'must be the password of the file' },
} as const satisfies Record<Pkcs12Error, object>;

/**
 * Certificates in PKCS#12 files.
 *
 * Every method that takes `raw`, its unvalidated input, throws VALIDATION_FAILED, PERMISSION_DENIED and AUDIT_UNAVAILABLE.
 */
export class FormatService {
  constructor(private readonly certificates: CertificateService) {}

  /**
   * Imports a certificate from a file into the inventory, with its chain and key if the file has them.
   *
   * @throws PROJECT_NOT_FOUND, CERTIFICATE_EXISTS, CERTIFICATE_NOT_FOUND, CERTIFICATE_RENEWED, OVERLOADED; VALIDATION_FAILED
   *   (WRONG_PASSWORD), and as `readBundle`
   */
  async importPkcs12(ctx: Context, raw: unknown): Promise<CertificateRow> {
    const { projectId, pkcs12, password, replacesId, metadata } = parse(ImportPkcs12, raw);
    await this.certificates.authorizeImport(ctx, projectId);
    const contents = await readPkcs12(ctx.actor.id, { file: Buffer.from(pkcs12, 'base64'), password });
    if (typeof contents === 'string') throw validationFailed([FAULTS[contents]]);
    const { bundleOf } = await import('../x509/bundle.js');
    const bundle = bundleOf('pkcs12', blocksOf(contents));
    return this.certificates.importBundle(ctx, { projectId, bundle, replacesId, metadata });
  }

  /**
   * Exports a certificate with its chain and key as a file. The audit trail records the disclosure of the key.
   *
   * @throws CERTIFICATE_NOT_FOUND, CERTIFICATE_KEY_NOT_FOUND, SEALED_VALUE_INVALID, OVERLOADED
   */
  async exportPkcs12(
    ctx: Context,
    raw: unknown,
  ): Promise<{ readonly certificate: CertificateRow; readonly pkcs12: Buffer }> {
    const { id, password } = parse(ExportPkcs12, raw);
    // Before the key is disclosed: nobody has it when this fails.
    const { writePkcs12 } = await import('./pkcs12-writing.js');
    const { certificate, privateKey } = await this.certificates.discloseKey(ctx, id, 'certificate:export-pkcs12');
    const pem = await loadRow(ctx, findPems, { ids: [certificate.id] }, 'CERTIFICATE_NOT_FOUND');
    const pkcs12 = await writePkcs12(ctx.actor.id, {
      leaf: new X509Certificate(pem.certificate),
      chain:
        pem.chain === '' ? [] : readPem({ path: '', text: pem.chain }, []).map(({ der }) => new X509Certificate(der)),
      privateKey: openPrivateKey(privateKey.reveal()),
      name: certificate.commonName,
      password,
    });
    return { certificate, pkcs12 };
  }
}

function blocksOf({ certificates, keys }: Pkcs12Contents): PemBlock[] {
  const block = (label: string) => (der: Uint8Array) => ({ path: 'pkcs12', label, line: null, der: Buffer.from(der) });
  return [...certificates.map(block('CERTIFICATE')), ...keys.map(block('PRIVATE KEY'))];
}
