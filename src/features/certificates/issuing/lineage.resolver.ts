import { Resolver } from 'type-graphql';
import type { Context } from '../../../kernel/context.js';
import { type BatchLoad, batched, batchOfOwned, linked } from '../../../kernel/database/batched.js';
import { emOf } from '../../../kernel/database/database.js';
import { nested } from '../../../kernel/graphql/operations.js';
import type { ProjectRelations } from '../../projects/public.js';
import { Certificate } from '../certificates/certificate.entity.js';
import { readableCertificates } from '../certificates/certificate.nodes.js';
import type { CertificateRow } from '../certificates/certificate.queries.js';
import { findCurrent } from '../certificates/certificate.queries.js';
import { CertificateType, RenewalFailureType } from '../certificates/certificate.type.js';
import type { ProfileView } from '../profiles/profile.queries.js';
import { readableProfiles } from '../profiles/profile.relations.js';
import { ProfileType } from '../profiles/profile.type.js';
import { listRenewalFailures } from './request.queries.js';
import { RequestType } from './request.type.js';

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
    return linked(ctx, this.#profiles, profileId);
  }

  @nested(CertificateType, 'The certificate that this one renews. Null if there is none, or if you cannot see it.')
  renewedFrom({ renewedFromId }: CertificateType, ctx: Context): Promise<CertificateType | null> {
    return linked(ctx, this.#certificates, renewedFromId);
  }

  @nested(CertificateType, 'The renewal of this certificate. Null if there is none, or if you cannot see it.')
  async renewedBy({ id }: CertificateType, ctx: Context): Promise<CertificateType | null> {
    return linked(ctx, this.#certificates, (await batched(ctx, renewalIds, id)) ?? null);
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
    return linked(ctx, this.#certificates, (await batched(ctx, currentIds, lineageId)) ?? null);
  }
}

/** Certificates of requests. */
@Resolver(() => RequestType)
export class RequestCertificatesResolver {
  readonly #certificates: BatchLoad<CertificateRow>;

  constructor(relations: ProjectRelations) {
    this.#certificates = (ctx, ids) => readableCertificates(ctx, relations, ids);
  }

  @nested(CertificateType, 'The certificate to renew. Null for a new certificate.')
  certificate({ certificateId }: RequestType, ctx: Context): Promise<CertificateType | null> {
    return linked(ctx, this.#certificates, certificateId);
  }

  @nested(CertificateType, 'The issued certificate. Null if there is none, or if it was deleted.')
  issuedCertificate({ issuedCertificateId }: RequestType, ctx: Context): Promise<CertificateType | null> {
    return linked(ctx, this.#certificates, issuedCertificateId);
  }
}
