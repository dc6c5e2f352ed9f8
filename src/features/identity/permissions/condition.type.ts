import 'reflect-metadata';
import { Field, InputType, ObjectType } from 'type-graphql';
import type { ConditionOperators, Conditions } from '../../../kernel/authz/conditions.js';

const IS = 'Equal to this string. Cannot be combined with another operator.';
const EQ = { nullable: true, deprecationReason: 'Use `is`. REST writes this operator as `$eq`.' } as const;

/** A condition on a string field. In output the operators that are not set are null. */
@ObjectType('PermissionTextCondition', {
  description: 'Condition on a string. The string must match all given operators.',
  simpleResolvers: true,
})
@InputType('PermissionTextConditionInput', {
  description: 'Condition on a string. The string must match all given operators.',
})
class TextConditionType {
  @Field(() => String, { nullable: true, description: IS })
  is?: string | null;

  @Field(() => String, { ...EQ, description: 'Equal to this string.' })
  eq?: string | null;

  @Field(() => String, { nullable: true, description: 'Different from this string.' })
  ne?: string | null;

  @Field(() => [String], { nullable: true, description: 'One of these strings, 1 to 100.' })
  in?: readonly string[] | null;

  @Field(() => String, {
    nullable: true,
    description:
      'Matches this glob pattern, for example `/payments/**`, `DB_*` or `{staging,prod}`: `*` does not match slashes, `**` does.',
  })
  glob?: string | null;
}

/** As `TextConditionType`, without patterns. */
@ObjectType('PermissionWordCondition', {
  description: 'Condition on a keyword. The keyword must match all given operators.',
  simpleResolvers: true,
})
@InputType('PermissionWordConditionInput', {
  description: 'Condition on a keyword. The keyword must match all given operators.',
})
class WordConditionType {
  @Field(() => String, { nullable: true, description: IS })
  is?: string | null;

  @Field(() => String, { ...EQ, description: 'Equal to this keyword.' })
  eq?: string | null;

  @Field(() => String, { nullable: true, description: 'Different from this keyword.' })
  ne?: string | null;

  @Field(() => [String], { nullable: true, description: 'One of these keywords, 1 to 100.' })
  in?: readonly string[] | null;
}

/** A condition on a list field. */
@ObjectType('PermissionListCondition', {
  description: 'Condition on a list of keywords.',
  simpleResolvers: true,
})
@InputType('PermissionListConditionInput', { description: 'Condition on a list of keywords.' })
class ListConditionType {
  @Field(() => [String], { nullable: true, description: 'The list contains at least one of these keywords, 1 to 100.' })
  in?: readonly string[] | null;
}

const CONDITIONS = 'Resources that a rule applies to: those that match all given fields.';

/** Conditions of a rule, by field; null for fields without a condition. */
@ObjectType('PermissionConditions', { description: CONDITIONS, simpleResolvers: true })
@InputType('PermissionConditionsInput', {
  description: `${CONDITIONS} Few subjects support conditions, each on some of these fields. A string can name attributes of the caller: \`{{identity.id}}\`, \`{{identity.metadata.KEY}}\`.`,
})
export class ConditionsType {
  @Field(() => TextConditionType, { nullable: true, description: 'Slug of the environment, for example `staging`.' })
  environment?: TextConditionType | null;

  @Field(() => TextConditionType, { nullable: true, description: 'Path of the folder, for example `/payments/eu`.' })
  secretPath?: TextConditionType | null;

  @Field(() => TextConditionType, { nullable: true, description: 'Key of the secret, for example `DB_PASSWORD`.' })
  secretName?: TextConditionType | null;

  @Field(() => ListConditionType, { nullable: true, description: 'Slugs of the tags of the secret.' })
  secretTags?: ListConditionType | null;

  @Field(() => WordConditionType, { nullable: true, description: 'Kind of the event, for events about secrets.' })
  eventType?: WordConditionType | null;

  @Field(() => TextConditionType, { nullable: true, description: 'Username of the person.' })
  username?: TextConditionType | null;

  @Field(() => TextConditionType, { nullable: true, description: 'ID of the machine identity.' })
  identityId?: TextConditionType | null;

  @Field(() => TextConditionType, { nullable: true, description: 'Slug of the group.' })
  groupSlug?: TextConditionType | null;

  @Field(() => TextConditionType, { nullable: true, description: 'Slug of the role that is assigned or revoked.' })
  role?: TextConditionType | null;

  @Field(() => WordConditionType, {
    nullable: true,
    description:
      'For a privilege that is assigned or revoked: the subject of each of its rules, for example `secrets`.',
  })
  subject?: WordConditionType | null;

  @Field(() => WordConditionType, {
    nullable: true,
    description:
      'For a privilege that is assigned or revoked: the actions of each of its rules, for example `readValue`.',
  })
  action?: WordConditionType | null;

  @Field(() => WordConditionType, { nullable: true, description: 'ID of the app connection.' })
  connectionId?: WordConditionType | null;

  @Field(() => TextConditionType, { nullable: true, description: 'Common name of the certificate.' })
  commonName?: TextConditionType | null;

  @Field(() => TextConditionType, { nullable: true, description: 'Slug of the certificate profile.' })
  slug?: TextConditionType | null;
}

/**
 * Conditions in the form of GraphQL. A plain string of a rule becomes `is`, so that the two forms can be converted into
 * each other.
 */
export const toConditionsType = (conditions: Conditions | null | undefined): ConditionsType | null =>
  conditions == null
    ? null
    : Object.fromEntries(
        Object.entries(conditions).map(([field, condition]) => [
          field,
          typeof condition === 'string' ? { is: condition } : withoutSigns(condition),
        ]),
      );

const withoutSigns = ({ $eq: eq, $ne: ne, $in: values, $glob: glob }: ConditionOperators): TextConditionType => ({
  ...(eq === undefined ? {} : { eq }),
  ...(ne === undefined ? {} : { ne }),
  ...(values === undefined ? {} : { in: values }),
  ...(glob === undefined ? {} : { glob }),
});

/**
 * Conditions in the form of rules and REST: a plain string, or `$eq`, `$ne`, `$in` and `$glob` by field. Not validated
 * here: an `is` with other operators is kept, and no rule accepts it.
 */
export const fromConditionsType = (
  conditions: ConditionsType | null | undefined,
): Record<string, string | Record<string, unknown>> | null =>
  conditions == null
    ? null
    : Object.fromEntries(
        Object.entries(conditions).flatMap(([field, condition]: [string, TextConditionType | null | undefined]) =>
          condition == null ? [] : [[field, withSigns(condition)]],
        ),
      );

function withSigns(condition: TextConditionType): string | Record<string, unknown> {
  const given = Object.entries(condition).filter(([, operand]) => operand != null);
  if (given.length === 1 && typeof condition.is === 'string') return condition.is;
  return Object.fromEntries(given.map(([name, operand]) => [name === 'is' ? name : `$${name}`, operand]));
}
