import { Resolver } from 'type-graphql';
import type { Context } from '../../../kernel/context.js';
import { type BatchLoad, batched, batchedOrNull, batchOfOwned } from '../../../kernel/database/batched.js';
import { emOf } from '../../../kernel/database/database.js';
import { enumType } from '../../../kernel/graphql/enums.js';
import { inputType } from '../../../kernel/graphql/inputs.js';
import { mutation, nested, query } from '../../../kernel/graphql/operations.js';
import type { ProjectRelations } from '../../projects/public.js';
import { Certificate } from '../certificates/certificate.entity.js';
import { type CertificateRow, findCurrent } from '../certificates/certificate.queries.js';
import { readableCertificates } from '../certificates/certificate.service.js';
import { CertificateType, RenewalFailureType } from '../certificates/certificate.type.js';
import type { ProfileView } from '../profiles/profile.queries.js';
import { readableProfiles } from '../profiles/profile.service.js';
import { ProfileType } from '../profiles/profile.type.js';
import {
  AlternativeName,
  IssueCertificate,
  IssuedSubject,
  OneLineage,
  type RENEWAL_KEYS,
  RenewCertificate,
  renewalKey,
  SignIntermediate,
} from './issue.rules.js';
import type { IntermediateService, IssueService } from './issue.service.js';
import type { RenewalService } from './renewal.service.js';
import { listRenewalFailures } from './request.queries.js';

enumType<(typeof RENEWAL_KEYS)[number]>(
  'CertificateRenewalKey',
  'Keys of a renewed certificate.',
  {
    new: 'A new key, generated and stored by the service.',
    same: 'The key of the current certificate.',
  },
  renewalKey,
);

inputType('IssuedCertificateSubjectInput', IssuedSubject);
inputType('CertificateAlternativeNameInput', AlternativeName);

type Made = Promise<{ certificate: CertificateType }>;

@Resolver(() => CertificateType)
export class IssueResolver {
  constructor(
    private readonly issuing: IssueService,
    private readonly renewals: RenewalService,
  ) {}

  @query(CertificateType, OneLineage, 'The current certificate of a lineage: the most recent one that is not revoked.')
  currentCertificate(ctx: Context, args: object): Promise<CertificateType> {
    return this.renewals.current(ctx, args);
  }

  @mutation(
    IssueCertificate,
    { certificate: [CertificateType, 'The issued certificate.'] },
    'Issues a certificate within the limits of a profile. Requires `create` on `certificates` for each name, and `issue-cert` on `certificate-profiles`.',
  )
  async issueCertificate(ctx: Context, input: object): Made {
    return { certificate: await this.issuing.issue(ctx, input) };
  }

  @mutation(
    RenewCertificate,
    { certificate: [CertificateType, 'The renewed certificate.'] },
    'Renews a certificate with the same names and metadata. A certificate can be renewed once. Requires `create` on `certificates` for each name, and `issue-cert` on `certificate-profiles`.',
  )
  async renewCertificate(ctx: Context, input: object): Made {
    return { certificate: await this.renewals.renew(ctx, input) };
  }
}

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

const renewalIds: BatchLoad<string> = async (ctx, ids) => {
  const renewals = await emOf(ctx).find(Certificate, { renewedFromId: { $in: ids } }, { fields: ['renewedFromId'] });
  return new Map(renewals.map(({ renewedFromId, id }) => [renewedFromId ?? '', id]));
};

const currentIds: BatchLoad<string> = async (ctx, lineageIds) =>
  new Map((await findCurrent(ctx, { lineageIds })).map(({ lineageId, id }) => [lineageId, id]));

const lineages = batchOfOwned(
  (ctx, lineageIds) =>
    emOf(ctx).find(
      Certificate,
      { lineageId: { $in: lineageIds } },
      { fields: ['lineageId'], orderBy: { createdAt: 'asc', id: 'asc' } },
    ),
  ({ lineageId }) => lineageId,
);

const renewalFailures: BatchLoad<RenewalFailureType> = async (ctx, certificateIds) =>
  new Map((await listRenewalFailures(ctx, { certificateIds })).map((failure) => [failure.certificateId, failure]));

/** Profile and lineage of certificates. All certificates of a response share their statements. */
@Resolver(() => CertificateType)
export class LineageResolver {
  readonly #certificates: BatchLoad<CertificateRow>;
  readonly #profiles: BatchLoad<ProfileView>;

  constructor(relations: ProjectRelations) {
    this.#certificates = (ctx, ids) => readableCertificates(ctx, relations, ids);
    this.#profiles = (ctx, ids) => readableProfiles(ctx, relations, ids);
  }

  @nested(
    ProfileType,
    'The profile that the certificate was issued by. Null if there is none, and, with PERMISSION_DENIED, if you cannot read it.',
  )
  profile({ profileId }: CertificateType, ctx: Context): Promise<ProfileType | null> {
    return batchedOrNull(ctx, this.#profiles, profileId);
  }

  @nested(CertificateType, 'The certificate that this one renews. Null if there is none, or if you cannot see it.')
  renewedFrom({ renewedFromId }: CertificateType, ctx: Context): Promise<CertificateType | null> {
    return batchedOrNull(ctx, this.#certificates, renewedFromId);
  }

  @nested(CertificateType, 'The renewal of this certificate. Null if there is none, or if you cannot see it.')
  async renewedBy({ id }: CertificateType, ctx: Context): Promise<CertificateType | null> {
    return batchedOrNull(ctx, this.#certificates, (await batched(ctx, renewalIds, id)) ?? null);
  }

  @nested(
    RenewalFailureType,
    'Why the last automatic renewal failed, as long as the certificate is not renewed. Null if none failed, or it is renewed.',
  )
  async renewalFailure({ id }: CertificateType, ctx: Context): Promise<RenewalFailureType | null> {
    return (await batched(ctx, renewalFailures, id)) ?? null;
  }

  @nested([CertificateType], 'All later renewals of the certificate, oldest first.')
  async renewals({ id, lineageId }: CertificateType, ctx: Context): Promise<readonly CertificateType[]> {
    const ids = ((await batched(ctx, lineages, lineageId)) ?? []).map((member) => member.id);
    const later = ids.slice(ids.indexOf(id) + 1);
    const found = await Promise.all(later.map((one) => batched(ctx, this.#certificates, one)));
    return found.filter((certificate) => certificate !== undefined);
  }

  @nested(
    CertificateType,
    'The current certificate of the lineage: the most recent one that is not revoked, possibly this one. Null if there is none.',
  )
  async currentCertificate({ lineageId }: CertificateType, ctx: Context): Promise<CertificateType | null> {
    return batchedOrNull(ctx, this.#certificates, (await batched(ctx, currentIds, lineageId)) ?? null);
  }
}
