import { Resolver } from 'type-graphql';
import type { Context } from '../../../kernel/context.js';
import { objectType } from '../../../kernel/graphql/object-types.js';
import { mutation, query } from '../../../kernel/graphql/operations.js';
import { bodyOf, withoutNull } from '../../../rest/route.js';
import { certificates } from '../certificates/certificate.routes.js';
import { CertificateType } from '../certificates/certificate.type.js';
import { ExportPkcs12, ImportPkcs12 } from './format.rules.js';
import type { FormatService } from './format.service.js';

const Pkcs12Type = objectType('CertificatePkcs12', 'A certificate with its chain and private key, as a file.', {
  certificate: [CertificateType, 'The certificate.'],
  pkcs12: [String, 'PKCS#12 file (`.p12`) in base64, encrypted with AES-256.'],
});
type Pkcs12Type = InstanceType<typeof Pkcs12Type>;

@Resolver(() => CertificateType)
export class FormatResolver {
  constructor(private readonly service: FormatService) {}

  @query(
    Pkcs12Type,
    ExportPkcs12,
    'A certificate with its chain and private key, as a PKCS#12 file. Requires `read-private-key` on `certificates`. The audit trail records the disclosure.',
  )
  async certificatePkcs12(ctx: Context, args: object): Promise<Pkcs12Type> {
    const { certificate, pkcs12 } = await this.service.exportPkcs12(ctx, args);
    return { certificate, pkcs12: pkcs12.toString('base64') };
  }

  @mutation(
    ImportPkcs12,
    { certificate: [CertificateType, 'The imported certificate.'] },
    'Imports a certificate from a PKCS#12 file into the inventory of a project of type `cert-manager`.',
  )
  async importCertificatePkcs12(ctx: Context, input: object): Promise<{ certificate: CertificateType }> {
    return { certificate: await this.service.importPkcs12(ctx, input) };
  }
}

const KEY_ERRORS = ['CERTIFICATE_NOT_FOUND', 'CERTIFICATE_KEY_NOT_FOUND'] as const;

/** Certificates as files, beyond the specification. */
export const formatRoutes = [
  certificates.post('/import-pkcs12', 'Import a certificate from a PKCS#12 file', {
    field: 'importCertificatePkcs12',
    body: withoutNull(ImportPkcs12),
    errors: [
      'PROJECT_NOT_FOUND',
      'CERTIFICATE_EXISTS',
      'CERTIFICATE_AUTHORITY_NOT_FOUND',
      'CERTIFICATE_NOT_FOUND',
      'CERTIFICATE_RENEWED',
    ],
    example: {
      projectId: '6f1c2a60-5a3e-4c52-9f43-6f4b8f0f2f11',
      pkcs12: 'MIIKAgIBAzCC',
      password: 'correct horse battery',
    },
  }),
  certificates.post(
    '/{certificateId}/pkcs12',
    'Download a certificate, its chain and its private key as a PKCS#12 file',
    {
      operationId: 'downloadCertificatePkcs12',
      field: 'certificatePkcs12',
      reads: true,
      body: bodyOf(ExportPkcs12, 'id'),
      select: 'certificate { id serialNumber } pkcs12',
      as: null,
      show: ({ certificate: { id, serialNumber }, pkcs12 }) => ({ certificateId: id, serialNumber, pkcs12 }),
      sensitive: true,
      errors: KEY_ERRORS,
      example: { password: 'correct horse battery' },
    },
  ),
  certificates.get('/{certificateId}/bundle', 'Download a certificate, its chain and its private key', {
    operationId: 'downloadCertificateBundle',
    field: 'certificatePrivateKey',
    select: 'certificate { serialNumber pem chain } privateKey',
    reply: ({ certificatePrivateKey: { certificate, privateKey } }) => ({
      serialNumber: certificate.serialNumber,
      certificate: certificate.pem,
      certificateChain: certificate.chain,
      privateKey,
    }),
    sensitive: true,
    errors: KEY_ERRORS,
  }),
];
