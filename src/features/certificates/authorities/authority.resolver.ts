import { X509Certificate } from 'node:crypto';
import { Ctx, FieldResolver, ID, Resolver, Root } from 'type-graphql';
import type { Context } from '../../../kernel/context.js';
import { type BatchLoad, batched, batchedOrNull, batchOfOwned } from '../../../kernel/database/batched.js';
import { emOf } from '../../../kernel/database/database.js';
import { creation, oneNamed } from '../../../kernel/graphql/creation.js';
import { mutation, nested, query } from '../../../kernel/graphql/operations.js';
import { onceLoaded } from '../../../kernel/once.js';
import { type CountedConnectionOf, pageOf } from '../../../kernel/paging.js';
import { type ProjectRelations, ProjectType } from '../../projects/public.js';
import { CertificateAuthority, CertificateAuthorityHistory } from './authority.entity.js';
import { type AuthorityRow, cursorKeyOf } from './authority.queries.js';
import {
  ActivateAuthority,
  CreateAuthority,
  ListAuthorities,
  OneAuthority,
  RenewAuthority,
  RevokeAuthority,
  SucceedAuthority,
  UpdateAuthority,
} from './authority.rules.js';
import { type AuthorityService, readableAuthorities } from './authority.service.js';
import { AuthorityConnection, AuthorityType, FormerCertificateType, NameConstraintsType } from './authority.type.js';

/** What is in the certificate of an authority, which may have been renewed since. */
const UNCOMPARED = { subject: null, ttl: null, validDays: null, notAfter: null, nameConstraints: null };

@Resolver(() => AuthorityType)
export class AuthorityResolver {
  constructor(private readonly service: AuthorityService) {}

  @query(AuthorityConnection, ListAuthorities, 'Certificate authorities of a project, by name.')
  certificateAuthorities(ctx: Context, args: object): Promise<CountedConnectionOf<AuthorityType>> {
    return this.service.list(ctx, args);
  }

  @query(AuthorityType, OneAuthority, 'A certificate authority, by ID.')
  certificateAuthority(ctx: Context, args: object): Promise<AuthorityType> {
    return this.service.get(ctx, args);
  }

  @creation(
    CreateAuthority,
    { certificateAuthority: [AuthorityType, 'The created certificate authority.'] },
    'Creates a certificate authority with a new key in a project of type `cert-manager`.',
    {
      find: (authorities: AuthorityResolver, ctx, { projectId, name }) =>
        oneNamed(ctx, CertificateAuthority, { projectId, name }, (id) => authorities.certificateAuthority(ctx, { id })),
      taken: 'CERTIFICATE_AUTHORITY_NAME_TAKEN',
      compare: UNCOMPARED,
    },
  )
  async createCertificateAuthority(ctx: Context, input: object): Promise<{ certificateAuthority: AuthorityType }> {
    return { certificateAuthority: await this.service.create(ctx, input) };
  }

  @mutation(
    ActivateAuthority,
    { certificateAuthority: [AuthorityType, 'The certificate authority with its certificate.'] },
    'Imports the certificate that an external authority issued for the certificate request of an authority: the first one or a renewal.',
  )
  async activateCertificateAuthority(ctx: Context, input: object): Promise<{ certificateAuthority: AuthorityType }> {
    return { certificateAuthority: await this.service.activate(ctx, input) };
  }

  @mutation(
    UpdateAuthority,
    { certificateAuthority: [AuthorityType, 'The updated certificate authority.'] },
    'Renames, disables or enables a certificate authority.',
  )
  async updateCertificateAuthority(ctx: Context, input: object): Promise<{ certificateAuthority: AuthorityType }> {
    return { certificateAuthority: await this.service.update(ctx, input) };
  }

  @mutation(
    RenewAuthority,
    {
      certificateAuthority: [
        AuthorityType,
        'The certificate authority with its new certificate or certificate request.',
      ],
    },
    'Renews the certificate of an authority with the same key. If the issuer is external, creates a certificate request instead.',
  )
  async renewCertificateAuthority(ctx: Context, input: object): Promise<{ certificateAuthority: AuthorityType }> {
    return { certificateAuthority: await this.service.renew(ctx, input) };
  }

  @creation(
    SucceedAuthority,
    { certificateAuthority: [AuthorityType, 'The created certificate authority.'] },
    'Creates a certificate authority with a new key that succeeds another one.',
    {
      find: async (authorities: AuthorityResolver, ctx, { predecessorId, name }) => {
        const { projectId } = await authorities.certificateAuthority(ctx, { id: predecessorId });
        return oneNamed(ctx, CertificateAuthority, { projectId, name }, (id) =>
          authorities.certificateAuthority(ctx, { id }),
        );
      },
      taken: 'CERTIFICATE_AUTHORITY_NAME_TAKEN',
      compare: { ...UNCOMPARED, disablePredecessor: null },
    },
  )
  async createCertificateAuthoritySuccessor(
    ctx: Context,
    input: object,
  ): Promise<{ certificateAuthority: AuthorityType }> {
    return { certificateAuthority: await this.service.createSuccessor(ctx, input) };
  }

  @mutation(
    RevokeAuthority,
    { certificateAuthority: [AuthorityType, 'The revoked certificate authority, now disabled.'] },
    'Permanently revokes the certificate of an authority that another authority of the project issued. The authority can no longer issue certificates.',
  )
  async revokeCertificateAuthority(ctx: Context, input: object): Promise<{ certificateAuthority: AuthorityType }> {
    return { certificateAuthority: await this.service.revoke(ctx, input) };
  }

  @mutation(
    OneAuthority,
    { certificateAuthority: [AuthorityType, 'The deleted certificate authority.'] },
    'Deletes a certificate authority and its key. It must have no subordinate authorities and no certificates.',
  )
  async deleteCertificateAuthority(ctx: Context, input: object): Promise<{ certificateAuthority: AuthorityType }> {
    return { certificateAuthority: await this.service.delete(ctx, input) };
  }
}

const loadNameConstraints = onceLoaded(() => import('../x509/name-constraints.js'));

/** Fields that only the certificate itself contains. */
@Resolver(() => AuthorityType)
export class AuthorityContentResolver {
  @FieldResolver(() => NameConstraintsType, {
    nullable: true,
    description: 'Name constraints: the names that certificates issued below the authority may have. Null: any.',
  })
  async nameConstraints(@Root() { certificate }: AuthorityType): Promise<NameConstraintsType | null> {
    if (certificate === null) return null;
    const { nameConstraintsOf } = await loadNameConstraints();
    return nameConstraintsOf(new X509Certificate(certificate));
  }
}

const successors: BatchLoad<string> = async (ctx, ids) => {
  const found = await emOf(ctx).find(
    CertificateAuthority,
    { predecessorId: { $in: ids } },
    { fields: ['predecessorId'] },
  );
  return new Map(found.map(({ id, predecessorId }) => [predecessorId ?? '', id]));
};

const formerCertificates = batchOfOwned(
  (ctx, authorityIds) =>
    emOf(ctx).find(
      CertificateAuthorityHistory,
      { authorityId: { $in: authorityIds } },
      { orderBy: { replacedAt: 'desc', id: 'asc' } },
    ),
  ({ authorityId }) => authorityId,
);

/** Resources related to authorities. */
@Resolver(() => AuthorityType)
export class AuthorityParentResolver {
  readonly #authorities: BatchLoad<AuthorityRow>;

  constructor(relations: ProjectRelations) {
    this.#authorities = (ctx, ids) => readableAuthorities(ctx, relations, ids);
  }

  @nested(AuthorityType, 'The authority of the project that signed the certificate. Null if there is none.')
  parent({ parentId }: AuthorityType, ctx: Context): Promise<AuthorityType | null> {
    return batchedOrNull(ctx, this.#authorities, parentId);
  }

  @FieldResolver(() => ID, {
    nullable: true,
    description: 'ID of the authority that succeeds this one. Null if there is none.',
  })
  async successorId(@Root() { id }: AuthorityType, @Ctx() ctx: Context): Promise<string | null> {
    return (await batched(ctx, successors, id)) ?? null;
  }

  @FieldResolver(() => [FormerCertificateType], {
    description: 'Former certificates of the authority, from before renewals, newest first.',
  })
  async formerCertificates(
    @Root() { id }: AuthorityType,
    @Ctx() ctx: Context,
  ): Promise<readonly FormerCertificateType[]> {
    return (await batched(ctx, formerCertificates, id)) ?? [];
  }
}

@Resolver(() => ProjectType)
export class ProjectAuthoritiesResolver {
  constructor(private readonly service: AuthorityService) {}

  @nested(
    AuthorityConnection,
    'Certificate authorities of the project, by name. Null, with PERMISSION_DENIED, if you cannot read them.',
  )
  async certificateAuthorities(
    project: ProjectType,
    ctx: Context,
    page: object,
  ): Promise<CountedConnectionOf<AuthorityType>> {
    const authorities = await this.service.listInProject(ctx, project.access);
    return pageOf(authorities, page, 1, cursorKeyOf);
  }
}
