import { Field, ID, ObjectType } from 'type-graphql';
import { AuditEventType } from './event.type.js';

@ObjectType('ChangesOfKind', { description: 'Changes of one kind.', simpleResolvers: true })
export class ChangesOfKindType {
  @Field(() => [AuditEventType], { description: 'The changes, newest first.' })
  events!: readonly AuditEventType[];

  @Field(() => Boolean, { description: 'Whether there may be more. To list all, use `auditEvents`.' })
  hasMore!: boolean;
}

/** What the API shows of what changed in a project. */
@ObjectType('ProjectChanges', { description: 'What changed in a project, by kind.', simpleResolvers: true })
export class ProjectChangesType {
  @Field(() => ID, { description: 'ID of the project.' })
  projectId!: string;

  @Field(() => ChangesOfKindType, {
    description: 'Changes of secrets, folders, imports, rotations, environments and tags.',
  })
  secrets!: ChangesOfKindType;

  @Field(() => ChangesOfKindType, { description: 'Changes of roles of the project.' })
  roles!: ChangesOfKindType;

  @Field(() => ChangesOfKindType, { description: 'Changes of memberships, additional privileges and rescues.' })
  members!: ChangesOfKindType;

  @Field(() => ChangesOfKindType, {
    nullable: true,
    description:
      'Changes of access tokens, client secrets and authentication methods of current members. Null if you cannot read members and identities of the project.',
  })
  tokens!: ChangesOfKindType | null;

  @Field(() => ChangesOfKindType, { description: 'All other changes of the project.' })
  others!: ChangesOfKindType;
}
