import { Resolver } from 'type-graphql';
import type { Context } from '../../../kernel/context.js';
import { objectType } from '../../../kernel/graphql/object-types.js';
import { mutation, query } from '../../../kernel/graphql/operations.js';
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
