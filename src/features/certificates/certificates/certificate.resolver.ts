import { X509Certificate } from 'node:crypto';
import { Ctx, FieldResolver, Resolver, Root } from 'type-graphql';
import type { Context } from '../../../kernel/context.js';
import { type BatchLoad, batchById, batched, batchedOrNull } from '../../../kernel/database/batched.js';
import { argsType } from '../../../kernel/graphql/inputs.js';
import { type NodeKind, nodeKind } from '../../../kernel/graphql/node.js';
import { mutation, nested, query } from '../../../kernel/graphql/operations.js';
import { onceLoaded } from '../../../kernel/once.js';
import type { CountedConnectionOf } from '../../../kernel/paging.js';
import { type ProjectRelations, ProjectType, REACH_OF_MEMBER } from '../../projects/public.js';
import type { AuthorityRow } from '../authorities/authority.queries.js';
import { readableAuthorities } from '../authorities/authority.service.js';
import { AuthorityType } from '../authorities/authority.type.js';
import type { CertificateRow } from './certificate.queries.js';
import { findPems } from './certificate.queries.js';
import {
  CertificatePage,
  ImportCertificate,
  ListCertificates,
  OneCertificate,
  RevokeCertificate,
  UpdateCertificate,
} from './certificate.rules.js';
import type { CertificateService } from './certificate.service.js';
import { auditOfRead, readableCertificates } from './certificate.service.js';
import { CertificateConnection, CertificateDetailsType, CertificateType, PrivateKeyType } from './certificate.type.js';

type Changed = Promise<{ certificate: CertificateType }>;

@Resolver(() => CertificateType)
export class CertificateResolver {
  constructor(private readonly service: CertificateService) {}

  @query(CertificateConnection, ListCertificates, 'Certificates of a project, soonest expiration first.')
  certificates(ctx: Context, args: object): Promise<CountedConnectionOf<CertificateType>> {
    return this.service.list(ctx, args);
  }

  @query(CertificateType, OneCertificate, 'A certificate, by ID.')
  certificate(ctx: Context, args: object): Promise<CertificateType> {
    return this.service.get(ctx, args);
  }

  @query(
    PrivateKeyType,
    OneCertificate,
    'The private key of a certificate. Requires `read-private-key` on `certificates`. The audit trail records the disclosure.',
  )
  async certificatePrivateKey(ctx: Context, args: object): Promise<PrivateKeyType> {
    const { certificate, privateKey } = await this.service.getPrivateKey(ctx, args);
    return { certificate, privateKey: privateKey.reveal() };
  }

  @mutation(
    ImportCertificate,
    { certificate: [CertificateType, 'The imported certificate.'] },
    'Imports a certificate that was issued elsewhere into the inventory of a project of type `cert-manager`.',
  )
  async importCertificate(ctx: Context, input: object): Changed {
    return { certificate: await this.service.import(ctx, input) };
  }

  @mutation(
    UpdateCertificate,
    { certificate: [CertificateType, 'The updated certificate.'] },
    'Updates the metadata of a certificate, or when the service renews it.',
  )
  async updateCertificate(ctx: Context, input: object): Changed {
    return { certificate: await this.service.update(ctx, input) };
  }

  @mutation(
    RevokeCertificate,
    { certificate: [CertificateType, 'The revoked certificate.'] },
    'Permanently marks a certificate as revoked. Requires `edit` on `certificates`.',
  )
  async revokeCertificate(ctx: Context, input: object): Changed {
    return { certificate: await this.service.revoke(ctx, input) };
  }

  @mutation(
    OneCertificate,
    { certificate: [CertificateType, 'The deleted certificate.'] },
    'Deletes a certificate and its private key.',
  )
  async deleteCertificate(ctx: Context, input: object): Changed {
    return { certificate: await this.service.delete(ctx, input) };
  }
}

const pems = batchById(findPems);

const loadFacts = onceLoaded(() => import('../x509/facts.js'));

/** Fields that only the certificate itself contains; read on request, for all certificates of a response at once. */
@Resolver(() => CertificateType)
export class CertificateContentResolver {
  readonly #authorities: BatchLoad<AuthorityRow>;

  constructor(relations: ProjectRelations) {
    this.#authorities = (ctx, ids) => readableAuthorities(ctx, relations, ids);
  }

  @FieldResolver(() => String, {
    nullable: true,
    description: 'The certificate, in PEM. Null if it was deleted in the meantime.',
  })
  async pem(@Root() { id }: CertificateType, @Ctx() ctx: Context): Promise<string | null> {
    return (await batched(ctx, pems, id))?.certificate ?? null;
  }

  @FieldResolver(() => String, {
    nullable: true,
    description:
      'Certificates of its issuers, in PEM, from the direct issuer upwards. May be empty. Null if the certificate was deleted in the meantime.',
  })
  async chain(@Root() { id }: CertificateType, @Ctx() ctx: Context): Promise<string | null> {
    return (await batched(ctx, pems, id))?.chain ?? null;
  }

  @FieldResolver(() => CertificateDetailsType, {
    nullable: true,
    description: 'Further properties of the certificate. Null if it was deleted in the meantime.',
  })
  async details(@Root() { id }: CertificateType, @Ctx() ctx: Context): Promise<CertificateDetailsType | null> {
    const row = await batched(ctx, pems, id);
    if (row === undefined) return null;
    const { factsOf } = await loadFacts();
    return factsOf(new X509Certificate(row.certificate));
  }

  @nested(
    AuthorityType,
    'The authority of the project that issued the certificate. Null if there is none, and, with PERMISSION_DENIED, if you cannot read it.',
  )
  authority({ authorityId }: CertificateType, ctx: Context): Promise<AuthorityType | null> {
    return batchedOrNull(ctx, this.#authorities, authorityId);
  }
}

const PageArgs = argsType(CertificatePage);

@Resolver(() => ProjectType)
export class ProjectCertificatesResolver {
  constructor(private readonly service: CertificateService) {}

  @nested(
    CertificateConnection,
    'Certificates of the project, soonest expiration first. Null, with PERMISSION_DENIED, if you cannot read them.',
    PageArgs,
  )
  certificates({ access }: ProjectType, ctx: Context, page: object): Promise<CountedConnectionOf<CertificateType>> {
    return this.service.pageInProject(ctx, access, page);
  }
}

/** Certificates as nodes. */
export const certificateNode = (relations: ProjectRelations): NodeKind =>
  nodeKind<CertificateRow>({
    type: 'Certificate',
    table: 'certificate',
    reach: REACH_OF_MEMBER,
    naturalKey: { field: 'serialNumber', column: 'serial_number' },
    load: (ctx, ids) => readableCertificates(ctx, relations, ids),
    record: auditOfRead,
  });
