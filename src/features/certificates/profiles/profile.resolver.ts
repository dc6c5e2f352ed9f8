import { Resolver } from 'type-graphql';
import * as z from 'zod';
import type { Context } from '../../../kernel/context.js';
import { type BatchLoad, batchedOrNull } from '../../../kernel/database/batched.js';
import { creation, oneNamed } from '../../../kernel/graphql/creation.js';
import { type NodeKind, nodeKind } from '../../../kernel/graphql/node.js';
import { mutation, nested, query } from '../../../kernel/graphql/operations.js';
import type { CountedConnectionOf } from '../../../kernel/paging.js';
import { bodyOf, paging, routesAt } from '../../../rest/route.js';
import { type ProjectRelations, ProjectType, REACH_OF_MEMBER } from '../../projects/public.js';
import type { AuthorityRow } from '../authorities/authority.queries.js';
import { readableAuthorities } from '../authorities/authority.service.js';
import { AuthorityType } from '../authorities/authority.type.js';
import { CertificateProfile } from './profile.entity.js';
import type { ProfileView } from './profile.queries.js';
import { CreateProfile, ListProfiles, OneProfile, UpdateProfile } from './profile.rules.js';
import type { ProfileService } from './profile.service.js';
import { auditOfRead, readableProfiles } from './profile.service.js';
import { ProfileConnection, ProfileType } from './profile.type.js';

type Changed = Promise<{ certificateProfile: ProfileType }>;
type Profiles = Promise<CountedConnectionOf<ProfileType>>;

@Resolver(() => ProfileType)
export class ProfileResolver {
  constructor(private readonly service: ProfileService) {}

  @query(ProfileConnection, ListProfiles, 'Certificate profiles of a project, by slug.')
  certificateProfiles(ctx: Context, args: object): Profiles {
    return this.service.list(ctx, args);
  }

  @query(ProfileType, OneProfile, 'A certificate profile, by ID.')
  certificateProfile(ctx: Context, args: object): Promise<ProfileType> {
    return this.service.get(ctx, args);
  }

  @creation(
    CreateProfile,
    { certificateProfile: [ProfileType, 'The created certificate profile.'] },
    'Creates a certificate profile in a project of type `cert-manager`.',
    {
      find: (profiles: ProfileResolver, ctx, { projectId, slug }) =>
        oneNamed(ctx, CertificateProfile, { projectId, slug }, (id) => profiles.certificateProfile(ctx, { id })),
      taken: 'CERTIFICATE_PROFILE_SLUG_TAKEN',
      compare: {},
    },
  )
  async createCertificateProfile(ctx: Context, input: object): Changed {
    return { certificateProfile: await this.service.create(ctx, input) };
  }

  @mutation(
    UpdateProfile,
    { certificateProfile: [ProfileType, 'The updated certificate profile.'] },
    'Updates a certificate profile. Issued certificates do not change; renewals follow the updated profile.',
  )
  async updateCertificateProfile(ctx: Context, input: object): Changed {
    return { certificateProfile: await this.service.update(ctx, input) };
  }

  @mutation(
    OneProfile,
    { certificateProfile: [ProfileType, 'The deleted certificate profile.'] },
    'Deletes a certificate profile that has no valid certificates. Expired and revoked certificates keep its slug.',
  )
  async deleteCertificateProfile(ctx: Context, input: object): Changed {
    return { certificateProfile: await this.service.delete(ctx, input) };
  }
}

/** Resources related to profiles. */
@Resolver(() => ProfileType)
export class ProfileAuthorityResolver {
  readonly #authorities: BatchLoad<AuthorityRow>;

  constructor(relations: ProjectRelations) {
    this.#authorities = (ctx, ids) => readableAuthorities(ctx, relations, ids);
  }

  @nested(
    AuthorityType,
    'The authority that issues certificates of the profile. Null, with PERMISSION_DENIED, if you cannot read it.',
  )
  authority({ authorityId }: ProfileType, ctx: Context): Promise<AuthorityType | null> {
    return batchedOrNull(ctx, this.#authorities, authorityId);
  }
}

@Resolver(() => ProjectType)
export class ProjectProfilesResolver {
  constructor(private readonly service: ProfileService) {}

  @nested(
    ProfileConnection,
    'Certificate profiles of the project, by slug. Null, with PERMISSION_DENIED, if you cannot read them.',
  )
  certificateProfiles({ access }: ProjectType, ctx: Context, page: object): Profiles {
    return this.service.pageInProject(ctx, access, page);
  }
}

/** Profiles as nodes. */
export const profileNode = (relations: ProjectRelations): NodeKind =>
  nodeKind<ProfileView>({
    type: 'CertificateProfile',
    table: 'certificate_profile',
    reach: REACH_OF_MEMBER,
    load: (ctx, ids) => readableProfiles(ctx, relations, ids),
    record: auditOfRead,
  });

const profiles = routesAt('/api/v1/cert-manager/certificate-profiles');

const NOT_FOUND = ['CERTIFICATE_PROFILE_NOT_FOUND'] as const;
const ListQuery = z.strictObject({ projectId: z.string().meta({ description: 'ID of the project.' }), ...paging });

/** Certificate profiles, beyond the specification. */
export const profileRoutes = [
  profiles.post('', 'Create a certificate profile', {
    field: 'createCertificateProfile',
    body: CreateProfile,
    errors: ['PROJECT_NOT_FOUND', 'CERTIFICATE_AUTHORITY_NOT_FOUND', 'CERTIFICATE_PROFILE_SLUG_TAKEN'],
    example: {
      projectId: '6f1c2a60-5a3e-4c52-9f43-6f4b8f0f2f11',
      slug: 'web-server',
      authorityId: '0f9a3c1e-7a52-4a35-8d0f-2b8a1d1c9e44',
      sans: [{ kind: 'dns', allowed: ['*.example.com'] }],
      extendedKeyUsages: { allowed: ['serverAuth'], required: ['serverAuth'] },
      maxDays: 90,
      renewBeforeDays: 30,
    },
  }),
  profiles.get('', 'List the certificate profiles of a project, by slug', {
    field: 'certificateProfiles',
    query: ListQuery,
    errors: ['PROJECT_NOT_FOUND'],
  }),
  profiles.get('/{profileId}', 'Get a certificate profile', { field: 'certificateProfile', errors: NOT_FOUND }),
  profiles.patch('/{profileId}', 'Update a certificate profile', {
    field: 'updateCertificateProfile',
    body: bodyOf(UpdateProfile, 'id', 'expectedVersion'),
    ifMatch: ({ certificateProfile }) => ({ expectedVersion: certificateProfile.version }),
    errors: [...NOT_FOUND, 'CERTIFICATE_AUTHORITY_NOT_FOUND', 'CONCURRENT_CHANGE'],
    example: { maxDays: 30, renewBeforeDays: 10 },
  }),
  profiles.delete('/{profileId}', 'Delete a certificate profile', {
    field: 'deleteCertificateProfile',
    errors: [...NOT_FOUND, 'CERTIFICATE_PROFILE_IN_USE'],
  }),
];
