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
    { certificate: [CertificateType, 'The certificate of the authority outside.'] },
    'Signs the certificate of an authority outside of the service by its request, and takes it into the inventory.',
  )
  async signIntermediateCertificate(ctx: Context, input: object): Promise<{ certificate: CertificateType }> {
    return { certificate: await this.service.sign(ctx, input) };
  }
}
