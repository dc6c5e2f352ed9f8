import 'reflect-metadata';
import { Field, InputType, ObjectType } from 'type-graphql';
import type { ConditionOperators, Conditions } from '../../kernel/authz/conditions.js';

const IS = 'Equal to this string. Cannot be combined with another operator.';
const EQ = { nullable: true, deprecationReason: 'Means the same as `is`: it is how REST says `$eq`.' } as const;

/** What a rule looks for in a field of one text. As output one operator or several are given, the others are null. */
@ObjectType('PermissionTextCondition', {
  description: 'What a rule looks for in a string. All that is given must hold.',
  simpleResolvers: true,
})
@InputType('PermissionTextConditionInput', {
  description: 'What a rule looks for in a string. All that is given must hold.',
})
export class TextConditionType {
  @Field(() => String, { nullable: true, description: IS })
  is?: string | null;

  @Field(() => String, { ...EQ, description: 'Equal to this string.' })
  eq?: string | null;

  @Field(() => String, { nullable: true, description: 'Any other string than this one.' })
  ne?: string | null;

  @Field(() => [String], { nullable: true, description: 'One of these strings, 1 to 100.' })
  in?: readonly string[] | null;

  @Field(() => String, {
    nullable: true,
    description:
      'Fits this pattern, as `/payments/**`, `DB_*` or `{staging,prod}`: `*` stays within a name, `**` does not.',
  })
  glob?: string | null;
}

/** As `TextConditionType`, without patterns. */
@ObjectType('PermissionWordCondition', {
  description: 'What a rule looks for in a word. All that is given must hold.',
  simpleResolvers: true,
})
@InputType('PermissionWordConditionInput', {
  description: 'What a rule looks for in a word. All that is given must hold.',
})
export class WordConditionType {
  @Field(() => String, { nullable: true, description: IS })
  is?: string | null;

  @Field(() => String, { ...EQ, description: 'Equal to this word.' })
  eq?: string | null;

  @Field(() => String, { nullable: true, description: 'Any other word than this one.' })
  ne?: string | null;

  @Field(() => [String], { nullable: true, description: 'One of these words, 1 to 100.' })
  in?: readonly string[] | null;
}

/** What a rule looks for in a field of several words. */
@ObjectType('PermissionListCondition', {
  description: 'What a rule looks for in a list of words.',
  simpleResolvers: true,
})
@InputType('PermissionListConditionInput', { description: 'What a rule looks for in a list of words.' })
export class ListConditionType {
  @Field(() => [String], { nullable: true, description: 'At least one of these words, 1 to 100.' })
  in?: readonly string[] | null;
}

const CONDITIONS = 'Which resources a rule holds for: those that match all the given fields.';

/** Conditions of a rule, by field; null for those that it does not look at. */
@ObjectType('PermissionConditions', { description: CONDITIONS, simpleResolvers: true })
@InputType('PermissionConditionsInput', {
  description: `${CONDITIONS} Each subject has some of these fields, most have none. A string may name attributes of the caller: \`{{identity.id}}\`, \`{{identity.metadata.KEY}}\`.`,
})
export class ConditionsType {
  @Field(() => TextConditionType, { nullable: true, description: 'Slug of the environment, as `staging`.' })
  environment?: TextConditionType | null;

  @Field(() => TextConditionType, { nullable: true, description: 'Path of the folder, as `/payments/eu`.' })
  secretPath?: TextConditionType | null;

  @Field(() => TextConditionType, { nullable: true, description: 'Key of the secret, as `DB_PASSWORD`.' })
  secretName?: TextConditionType | null;

  @Field(() => ListConditionType, { nullable: true, description: 'Slugs of the tags of the secret.' })
  secretTags?: ListConditionType | null;

  @Field(() => WordConditionType, { nullable: true, description: 'Of events about secrets: which event.' })
  eventType?: WordConditionType | null;

  @Field(() => TextConditionType, { nullable: true, description: 'Of a person: the username.' })
  username?: TextConditionType | null;

  @Field(() => TextConditionType, { nullable: true, description: 'ID of the machine identity.' })
  identityId?: TextConditionType | null;

  @Field(() => TextConditionType, { nullable: true, description: 'Slug of the group.' })
  groupSlug?: TextConditionType | null;

  @Field(() => TextConditionType, { nullable: true, description: 'Of a role that is given or taken away: its slug.' })
  role?: TextConditionType | null;

  @Field(() => WordConditionType, {
    nullable: true,
    description: 'Of a privilege that is given or taken away: the subject of each of its rules, as `secrets`.',
  })
  subject?: WordConditionType | null;

  @Field(() => WordConditionType, {
    nullable: true,
    description: 'Of a privilege that is given or taken away: the actions of each of its rules, as `readValue`.',
  })
  action?: WordConditionType | null;

  @Field(() => WordConditionType, { nullable: true, description: 'ID of the connection to an outside system.' })
  connectionId?: WordConditionType | null;

  @Field(() => TextConditionType, { nullable: true, description: 'Common name of the certificate.' })
  commonName?: TextConditionType | null;

  @Field(() => TextConditionType, { nullable: true, description: 'Slug of the certificate profile.' })
  slug?: TextConditionType | null;
}

/** Conditions as GraphQL has them. The plain text of a rule is `is`, so that either form can be had from the other. */
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
 * Conditions as rules and the REST interface have them: a plain text, or `$eq`, `$ne`, `$in` and `$glob` by field. Nothing is
 * judged here: an `is` beside other operators is left as it is, and no rule knows it.
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
