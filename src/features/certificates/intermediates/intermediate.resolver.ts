import { Resolver } from 'type-graphql';
import type { Context } from '../../../kernel/context.js';
import { mutation } from '../../../kernel/graphql/operations.js';
import { CertificateType } from '../certificates/certificate.type.js';
import { SignIntermediate } from './intermediate.rules.js';
import type { IntermediateService } from './intermediate.service.js';

@Resolver(() => CertificateType)
export class IntermediateResolver {
  constructor(private readonly service: IntermediateService) {}

  @mutation(
    SignIntermediate,
    { certificate: [CertificateType, 'The issued CA certificate.'] },
    'Signs the certificate request of an external authority, and adds the certificate to the inventory.',
  )
  async signIntermediateCertificate(ctx: Context, input: object): Promise<{ certificate: CertificateType }> {
    return { certificate: await this.service.sign(ctx, input) };
  }
}
