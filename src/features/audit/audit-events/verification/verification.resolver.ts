import { Resolver } from 'type-graphql';
import type { Context } from '../../../../kernel/context.js';
import { mutation, query } from '../../../../kernel/graphql/operations.js';
import type { ConnectionOf } from '../../../../kernel/paging.js';
import { ListVerifications, OneVerification, VerifyTrail } from './verification.rules.js';
import type { VerificationService } from './verification.service.js';
import { toVerification, VerificationConnection, VerificationType } from './verification.type.js';

@Resolver(() => VerificationType)
export class VerificationResolver {
  constructor(private readonly service: VerificationService) {}

  @query(
    VerificationType,
    OneVerification,
    'Returns a verification of the audit trail: how far it is, and what it found. Only the admin of the installation can read it.',
  )
  async auditTrailVerification(ctx: Context, args: object): Promise<VerificationType> {
    return toVerification(await this.service.get(ctx, args));
  }

  @query(
    VerificationConnection,
    ListVerifications,
    'Lists the verifications of the audit trail, newest first. Only the admin of the installation can read them.',
  )
  async auditTrailVerifications(ctx: Context, args: object): Promise<ConnectionOf<VerificationType>> {
    return (await this.service.list(ctx, args)).show(toVerification);
  }

  @mutation(
    VerifyTrail,
    { auditTrailVerification: [VerificationType, 'The verification, which a job carries out.'] },
    'Starts a verification of the audit trail of all organizations, as `npm run verify-audit` does it. If one is waiting or running, that one is returned. Only the admin of the installation can do this.',
  )
  async verifyAuditTrail(ctx: Context, input: object): Promise<{ auditTrailVerification: VerificationType }> {
    return { auditTrailVerification: toVerification(await this.service.start(ctx, input)) };
  }
}
