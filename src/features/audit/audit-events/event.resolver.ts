import { Args, Ctx, FieldResolver, Resolver, Root } from 'type-graphql';
import type { Context } from '../../../kernel/context.js';
import { linked } from '../../../kernel/database/batched.js';
import { argsType } from '../../../kernel/graphql/inputs.js';
import { nested, query } from '../../../kernel/graphql/operations.js';
import type { SoughtConnectionOf } from '../../../kernel/paging.js';
import { IdentityType, identitiesByIds } from '../../identity/identities/public.js';
import { UserType, usersByIds } from '../../identity/organizations/public.js';
import { type ProjectRelations, ProjectType, toProjectType } from '../../projects/public.js';
import { SecretType } from '../../secrets/public.js';
import type { ChangesService } from './changes.service.js';
import { ProjectChangesType } from './changes.type.js';
import { DisclosedPage, ListAuditEvents, SecretReadsPage, WhatChanged } from './event.rules.js';
import { type EventService, keyOf } from './event.service.js';
import { AuditEventConnection, AuditEventType, DisclosedSecretsType } from './event.type.js';
import { toAuditEvent, toProjectChanges } from './event.view.js';
import type { ReadsService } from './reads.service.js';

const DisclosedArgs = argsType(DisclosedPage);
const ReadsArgs = argsType(SecretReadsPage);

@Resolver(() => AuditEventType)
export class AuditEventResolver {
  constructor(
    private readonly service: EventService,
    private readonly relations: ProjectRelations,
  ) {}

  @query(
    AuditEventConnection,
    ListAuditEvents,
    'Lists the audit trail of the organization or of one project, newest first. With permission to read the audit trail of the organization, you also see projects that you are not a member of, and deleted ones. Reading the trail is audited. A page looks at a limited number of events: if few match your filters, it can be short or empty and still have a next page.',
  )
  async auditEvents(ctx: Context, args: object): Promise<SoughtConnectionOf<AuditEventType>> {
    return (await this.service.list(ctx, args)).map(toAuditEvent, keyOf);
  }

  @FieldResolver(() => DisclosedSecretsType, {
    nullable: true,
    description:
      'The secrets whose values the response contained, also through references and imports. Null if it contained none.',
  })
  disclosedSecrets(
    @Root() event: AuditEventType,
    @Ctx() ctx: Context,
    @Args(() => DisclosedArgs) args: object,
  ): Promise<DisclosedSecretsType | null> {
    return this.service.disclosedIn(ctx, event, args);
  }

  @nested(ProjectType, 'The project. Null if the event has none, if it was deleted, or if you are not a member of it.')
  async project({ projectId }: AuditEventType, ctx: Context): Promise<ProjectType | null> {
    const found = await linked(ctx, this.relations.projects, projectId);
    return found === null ? null : toProjectType(found);
  }

  @nested(UserType, 'The user that did it. Null for other actors, if it was deleted, or if you cannot read users.')
  user({ actorKind, actorId }: AuditEventType, ctx: Context): Promise<UserType | null> {
    return linked(ctx, usersByIds, actorKind === 'user' ? actorId : null);
  }

  @nested(
    IdentityType,
    'The machine identity that did it. Null for other actors, if it was deleted, or if you cannot read identities.',
  )
  identity({ actorKind, actorId }: AuditEventType, ctx: Context): Promise<IdentityType | null> {
    return linked(ctx, identitiesByIds, actorKind === 'identity' ? actorId : null);
  }
}

@Resolver(() => ProjectChangesType)
export class ChangesResolver {
  constructor(private readonly service: ChangesService) {}

  @query(
    ProjectChangesType,
    WhatChanged,
    'Returns what changed in a project since a time, by kind. Requires `read` on `audit-logs` in the project.',
  )
  async whatChanged(ctx: Context, args: object): Promise<ProjectChangesType> {
    return toProjectChanges(await this.service.list(ctx, args));
  }
}

@Resolver(() => SecretType)
export class SecretReadsResolver {
  constructor(private readonly service: ReadsService) {}

  @nested(
    [AuditEventType],
    'Who read the value of the secret, newest first: requests for it, lists with it, and values into which it was inserted by a reference or import. `action` says how. Null, with PERMISSION_DENIED, if you cannot read the audit trail of the project.',
    ReadsArgs,
  )
  async reads(secret: SecretType, ctx: Context, page: object): Promise<readonly AuditEventType[]> {
    return (await this.service.listOf(ctx, secret, page)).nodes.map(toAuditEvent);
  }

  @nested(AuditEventConnection, 'The same as `reads`, with pagination.', ReadsArgs)
  async readConnection(secret: SecretType, ctx: Context, page: object): Promise<SoughtConnectionOf<AuditEventType>> {
    return (await this.service.listOf(ctx, secret, page)).map(toAuditEvent, keyOf);
  }
}
