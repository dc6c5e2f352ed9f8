import { Field, InputType, ObjectType, registerEnumType } from 'type-graphql';
import { enumName } from '../../kernel/enum-name.js';
import type { PROJECT_ACTIONS } from './actions.js';
import { ConditionsType } from './condition.type.js';

export type PermissionSubject = keyof typeof PROJECT_ACTIONS;
export type PermissionAction = (typeof PROJECT_ACTIONS)[PermissionSubject][number];

const SUBJECTS: Readonly<Record<PermissionSubject, string>> = {
  workspace: 'The project itself.',
  settings: 'Settings of the project.',
  environments: 'Environments.',
  tags: 'Tags.',
  member: 'Memberships of people.',
  identity: 'Memberships of machine identities.',
  role: 'Roles of the project.',
  'secret-folders': 'Folders.',
  'secret-imports': 'Imports of folders.',
  secrets: 'Secrets.',
};

const ACTIONS: Readonly<Record<PermissionAction, string>> = {
  read: 'To read. Of secrets: to know of them and to read their values.',
  create: 'To make.',
  edit: 'To change.',
  delete: 'To delete.',
  'grant-privileges': 'To give others more than one has.',
  describeSecret: 'To know of a secret, not of its value.',
  readValue: 'To read the value of a secret.',
};

function registered(
  name: string,
  description: string,
  words: Readonly<Record<string, string>>,
): Record<string, string> {
  const values = Object.fromEntries(Object.keys(words).map((word) => [enumName(word), word]));
  registerEnumType(values, {
    name,
    description,
    valuesConfig: Object.fromEntries(
      Object.entries(words).map(([word, text]) => [enumName(word), { description: text }]),
    ),
  });
  return values;
}

/** GraphQL's names of what a rule can be about. */
export const PermissionSubjectEnum = registered('PermissionSubject', 'What a rule of a role is about.', SUBJECTS);

/** GraphQL's names of what a rule can allow or forbid. */
export const PermissionActionEnum = registered(
  'PermissionAction',
  'What a rule of a role allows or forbids. Each subject has some of these.',
  ACTIONS,
);

const CONDITIONS = 'Which things it holds for; null: all of them.';

/** One permission: one action on one subject. Source: specification, Permission. */
@ObjectType('Permission', { description: 'Allows, or forbids, one action on one subject.', simpleResolvers: true })
export class PermissionType {
  @Field(() => PermissionSubjectEnum, { description: 'What it is about.' })
  subject!: string;

  @Field(() => PermissionActionEnum, { description: 'What may be done.' })
  action!: string;

  @Field(() => Boolean, { description: 'True: it forbids instead. Later permissions win over earlier ones.' })
  inverted!: boolean;

  @Field(() => ConditionsType, { nullable: true, description: CONDITIONS })
  conditions!: ConditionsType | null;
}

/** A permission with all its actions. */
@ObjectType('PermissionRule', {
  description: 'Allows, or forbids, some actions on one subject.',
  simpleResolvers: true,
})
export class PermissionRuleType {
  @Field(() => PermissionSubjectEnum, { description: 'What it is about.' })
  subject!: string;

  @Field(() => [PermissionActionEnum], { description: 'What may be done.' })
  action!: string[];

  @Field(() => Boolean, { description: 'True: it forbids instead. Later rules win over earlier ones.' })
  inverted!: boolean;

  @Field(() => ConditionsType, { nullable: true, description: CONDITIONS })
  conditions!: ConditionsType | null;
}

@InputType({ description: 'A rule of a role. Later rules win over earlier ones.' })
export class PermissionInput {
  @Field(() => PermissionSubjectEnum, { description: 'What it is about.' })
  subject!: string;

  @Field(() => [PermissionActionEnum], { description: 'What may be done: one action or several of the subject.' })
  action!: string[];

  @Field(() => Boolean, { nullable: true, description: 'True: it forbids instead.' })
  inverted?: boolean | null;

  @Field(() => ConditionsType, { nullable: true, description: 'Which things it holds for. All of them when absent.' })
  conditions?: ConditionsType | null;
}
