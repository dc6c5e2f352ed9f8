import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import graphqlEslint from '@graphql-eslint/eslint-plugin';
import { Linter } from 'eslint';
import {
  buildSchema,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLType,
  getNamedType,
  getNullableType,
  isCompositeType,
  isEnumType,
  isInputObjectType,
  isListType,
  isObjectType,
  isScalarType,
} from 'graphql';
import { capitalized } from '../../src/kernel/names.js';
import { ROOT } from './sources.js';

const DEFINITION = readFileSync(join(ROOT, 'schema/schema.graphql'), 'utf8');

const DESCRIBED = [
  ...[
    'ObjectTypeDefinition',
    'InterfaceTypeDefinition',
    'UnionTypeDefinition',
    'EnumTypeDefinition',
    'ScalarTypeDefinition',
  ],
  ...[
    'InputObjectTypeDefinition',
    'FieldDefinition',
    'InputValueDefinition',
    'EnumValueDefinition',
    'DirectiveDefinition',
  ],
];

/** A name that says what it is, and not of which sort. */
const plain = (style: string, ...suffixes: string[]) => ({ style, forbiddenSuffixes: suffixes });
const rootField = (...words: string[]) => ({
  style: 'camelCase',
  forbiddenPrefixes: words,
  forbiddenSuffixes: words.map((word) => capitalized(word)),
});

/**
 * The rules of graphql-eslint that fit a schema that is printed in order from code. Not among them: `strict-id-in-types`, as most types
 * are values without an ID, and `alphabetize`, as the printer sorts otherwise.
 */
const RULES: Readonly<Record<string, object | null>> = {
  'description-style': null,
  'input-name': { checkInputType: true, caseSensitiveInputType: false },
  'lone-schema-definition': null,
  'naming-convention': {
    types: 'PascalCase',
    FieldDefinition: 'camelCase',
    InputValueDefinition: 'camelCase',
    DirectiveDefinition: 'camelCase',
    EnumValueDefinition: 'UPPER_CASE',
    EnumTypeDefinition: plain('PascalCase', 'Enum'),
    InterfaceTypeDefinition: plain('PascalCase', 'Interface'),
    UnionTypeDefinition: plain('PascalCase', 'Union'),
    ObjectTypeDefinition: plain('PascalCase', 'Type', 'Entity', 'View', 'Record'),
    'FieldDefinition[parent.name.value=Query]': rootField('query', 'get', 'list'),
    'FieldDefinition[parent.name.value=Mutation]': rootField('mutation'),
    'FieldDefinition[parent.name.value=Subscription]': rootField('subscription'),
  },
  'no-hashtag-description': null,
  'no-scalar-result-type-on-mutation': null,
  'no-typename-prefix': null,
  'no-unreachable-types': null,
  'relay-arguments': { includeBoth: false },
  'relay-connection-types': null,
  'relay-edge-types': { withEdgeSuffix: true, shouldImplementNode: false, listTypeCanWrapOnlyEdgeType: false },
  'relay-page-info': null,
  'require-deprecation-reason': null,
  'require-description': Object.fromEntries([...DESCRIBED, 'rootField'].map((kind) => [kind, true])),
  'require-nullable-fields-with-oneof': null,
  'require-nullable-result-in-root': null,
  'unique-enum-value-names': null,
};

/** What does not hold everywhere, by rule: what the message of the rule names. Each with the reason beside it. */
const EXCEPTIONS: Readonly<Record<string, RegExp>> = {
  // Apollo Federation has named them: `_entities`, `_service`, `_Any`, `_Service`.
  'naming-convention': /"_(entities|service|Any|Service)"|^Leading underscores/,
  // They tell what `extensions` of errors may say, which no field has.
  'no-unreachable-types': /`Error(Detail)?Code`/,
  // One input for both: the token itself.
  'input-name': /`HeldAccessTokenInput`/,
  // Folders are in folders, `username` is one word, and a version of a template is no version of a project. A key and a value are those of
  // a secret wherever they are, in the words of the specification and of its clients.
  'no-typename-prefix':
    /"(folders|username|projectTemplateVersion|secret(Comment|Key|Metadata|Path|Reminder\w+|Value(Hidden)?))"/,
};

/** Ids without the object beside them. */
const BARE_IDS: readonly string[] = [
  // Jobs are deleted earlier.
  'AuditTrailVerification.jobId',
  // It names what is outside.
  'DatatoolGrant.projectId',
  'DatatoolServiceTokenCredential.tokenId',
  // What it names may be gone.
  'ChangeEvent.actorId',
  'ChangeEvent.projectId',
  'ChangeEvent.subjectId',
  'CredentialDebt.connectionId',
  'CredentialDebt.debtId',
  'CredentialDebt.externalId',
  'CredentialDebt.projectId',
  'CredentialDebt.rotationId',
  'DatatoolServiceTokenRotation.lastAttemptId',
  'HostosLocalAccountRotation.lastAttemptId',
  // Its name is beside it, and nobody has to have the right to read more of it.
  'ApartRotation.rotationId',
  'RotatedPlace.environmentId',
  'RotatedPlace.folderId',
  'RotationConnector.connectionId',
  'SecretRotationAttempt.attemptId',
  // What it names is deleted.
  'CopySecretsPayload.replacedSecretIds',
  'DeletedSecret.secretId',
  'MoveSecretsPayload.replacedSecretIds',
  'RestoreSecretPayload.leftOutTagIds',
  'RestoreSecretsPayload.leftOutTagIds',
  // Whom mails go to is looked up when they are sent.
  'EmailAlertChannel.groupIds',
  'EmailAlertChannel.userIds',
  // A number at the external system.
  'DatatoolCredentials.accountId',
  // A certificate or an authority, which are beside it.
  'CertificateAlertMatch.subjectId',
  // Chains of authorities that follow each other would multiply the cost of documents; `node` finds them.
  'CertificateAuthority.predecessorId',
  'CertificateAuthority.successorId',
  // A user or an identity, by `actorType`: `user` and `identity`.
  'SecretActor.actorId',
  'CertificateRequest.actorId',
  // It has left the organization, or was deleted.
  'ProjectTemplateSkippedMember.memberId',
  // Conditions on an id, not ids.
  'PermissionConditions.connectionId',
  'PermissionConditions.identityId',
  // What it names may be gone, and its kind follows from the action; a user or identity is beside its id.
  ...[
    'AttentionItem.subjectId',
    'AuditEvent.actorId',
    'AuditEvent.eventId',
    'AuditEvent.requestId',
    'AuditEvent.subjectId',
    'AuditEvent.tokenId',
  ],
  // Of any kind, by the kind of the job.
  'Job.subjectId',
  // What a certificate and its renewals have in common.
  'Certificate.lineageId',
  // There are no groups and no rotations yet.
  'AppConnectionUse.rotationId',
  'Secret.rotationId',
  'SecretActor.groupId',
  // Keys of projects are no resources, and a client id is half of a login.
  'Project.kmsCertificateKeyId',
  'Project.kmsSecretManagerKeyId',
  'UniversalAuth.clientId',
  // A user or an identity, by `memberKind`: `user` and `identity`.
  'AccessHolder.memberId',
  'AllProjectsMembership.memberId',
  'GroupMember.memberId',
  'OrganizationMember.memberId',
  'ProjectMembership.memberId',
  // Whoever sends it needs no token, and may read nothing.
  'RevokeHeldAccessTokenPayload.accessTokenId',
];

/** Booleans that are not named `is…`, `has…`, `can…` or `viewer…`. */
const OTHERWISE_NAMED: readonly string[] = [
  // Lists of answers, one for each question.
  'AccessAnswers.allowed',
  // The value of a fact, beside those of other types.
  'AuditFact.booleanValue',
  // The word that rules of permissions have in all their forms.
  ...['OrganizationPermission.inverted', 'Permission.inverted', 'PermissionRule.inverted'],
  // Settings that existing clients know.
  ...['Project.autoCapitalization', 'Project.enforceEncryptedSecretManagerSecretMetadata'],
  ...['Project.secretSharing', 'Project.showSnapshotsLegacy'],
  ...['Secret.skipMultilineEncoding', 'SecretVersion.skipMultilineEncoding'],
];

/** Searches, which look at a limited number of candidates for each page. They do not say how many items they have. */
const UNCOUNTED: readonly string[] = [
  'AttentionItem',
  'AuditEvent',
  'DuplicateValue',
  'SecretComparison',
  'SecretSearch',
  'SecretUse',
  'SecretWithValue',
];

/** What the rules say of a schema. */
function lint(definition: string): string[] {
  const settings = Object.entries(RULES).map(([rule, options]) => [
    `@graphql-eslint/${rule}`,
    options === null ? 'error' : ['error', options],
  ]);
  const messages = new Linter().verify(
    definition,
    [
      {
        files: ['**/*.graphql'],
        plugins: { '@graphql-eslint': graphqlEslint as never },
        languageOptions: {
          parser: graphqlEslint.parser as never,
          parserOptions: { graphQLConfig: { schema: definition } },
        },
        rules: Object.fromEntries(settings),
      },
    ],
    { filename: 'schema.graphql' },
  );
  return messages
    .map(({ ruleId, message }) => [(ruleId ?? 'parser').replace('@graphql-eslint/', ''), message] as const)
    .filter(([rule, message]) => EXCEPTIONS[rule]?.test(message) !== true)
    .map(([rule, message]) => `${rule}: ${message}`);
}

/** What an update changes by its id. */
const RESOURCES = [
  ...['Certificate', 'CertificateAlert', 'CertificateAuthority', 'CertificateProfile'],
  ...['Environment', 'Folder', 'Group', 'Identity', 'IdentityAlert', 'Organization', 'Project', 'ProjectRole'],
  'NotificationChannel',
  ...['PasswordRule', 'ProjectTemplate'],
  ...['Secret', 'SecretImport', 'Tag', 'User'],
];

describe('the schema', () => {
  const types = Object.values(buildSchema(DEFINITION).getTypeMap()).filter(({ name }) => !name.startsWith('__'));
  const inputs = types.filter(isInputObjectType);
  const objects = types.filter(isObjectType);

  test('keeps all rules of the linter', () => {
    expect(lint(DEFINITION)).toEqual([]);
  });

  test('would not pass with a field in snake case, with the name of its type and without a description', () => {
    const rules = lint(
      '"""A dog."""\ntype Dog {\n  dog_name: String\n}\n"""Queries."""\ntype Query {\n  dog: Dog!\n}',
    ).map((message) => message.split(':')[0]);
    expect(rules).toEqual(
      expect.arrayContaining([
        ...['naming-convention', 'no-typename-prefix', 'require-description', 'require-nullable-result-in-root'],
      ]),
    );
  });

  test('has descriptions that begin like sentences', () => {
    const described = types.flatMap((type) => [
      type,
      ...('getFields' in type ? Object.values(type.getFields()) : []),
      ...(isEnumType(type) ? type.getValues() : []),
    ]);
    const odd = described.filter(({ description }) => /^[a-z]/.test(description ?? ''));
    expect(odd.map(({ name }) => name)).toEqual([]);
  });

  test('has no field of free JSON: every shape is known', () => {
    const free = types.filter((type) => isScalarType(type) && /JSON|Object|Any/.test(type.name));
    // Of Apollo Federation: what a gateway names resources with.
    expect(free.map(({ name }) => name)).toEqual(['_Any']);
  });

  test('names in inputs what changes by `id`, and others by ids that say of what', () => {
    const ofItself = inputs.filter((type) => 'id' in type.getFields()).map(({ name }) => name);
    expect(
      ofItself.filter(
        (name) =>
          !/^(Update|Delete|Rename|Renew|Revoke|Restore|Retry|Pause|Resume|Cancel|Activate|Disable|Enable|Test|Check|Move|Rotate|RotateMany|Reconcile|Preview)\w+Input$|ChangeInput$/.test(
            name,
          ),
      ),
    ).toEqual([]);
    expect(ofItself).toEqual(expect.arrayContaining(RESOURCES.map((noun) => `Update${noun}Input`)));
  });

  test('has the object beside each id that it shows', () => {
    const bare = objects.flatMap((type) =>
      Object.values(type.getFields())
        // A root field that is called after how it names things shows no id.
        .filter(({ name }) => !/^(Query|Mutation)$/.test(type.name) && /Ids?$/.test(name))
        .filter(({ name }) => !isCompositeType(getNamedType(fieldOf(type, name.replace(/Id(s?)$/, '$1')))))
        .map(({ name }) => `${type.name}.${name}`),
    );
    expect(bare.toSorted()).toEqual(BARE_IDS.toSorted());
  });

  test('says of booleans what is, and asks for settings by the names that they are shown by', () => {
    const isBoolean = ({ type }: { readonly type: GraphQLType }) => getNamedType(type).name === 'Boolean';
    const shown = objects.flatMap((type) =>
      Object.values(type.getFields())
        .filter(isBoolean)
        // What creations say of themselves.
        .filter(({ name }) => !(name === 'created' && type.name.endsWith('Payload')))
        .map(({ name }) => ({ type: type.name, name })),
    );
    const odd = shown.filter(({ name }) => !/^(is|has|can|viewer)[A-Z]/.test(name));
    expect(odd.map(({ type, name }) => `${type}.${name}`).toSorted()).toEqual(OTHERWISE_NAMED.toSorted());
    const names = new Set(shown.map(({ name }) => name));
    const given = [
      ...inputs.flatMap((type) => Object.values(type.getFields())),
      ...objects.flatMap((type) => Object.values(type.getFields()).flatMap(({ args }) => args)),
    ].filter(isBoolean);
    const otherwise = given.filter(({ name }) => ['is', 'has'].some((word) => names.has(word + capitalized(name))));
    // A command: payloads say whether it was one.
    expect(new Set(otherwise.map(({ name }) => name))).toEqual(new Set(['dryRun']));
  });

  test('finds everything that has an id by it', () => {
    const odd = objects.filter((type) => 'id' in type.getFields() && type.getInterfaces().length === 0);
    expect(odd.map(({ name }) => name).toSorted()).toEqual([]);
  });

  test('has one shape of each list: a connection, or a plain list where the number is small', () => {
    const named = objects.flatMap((type) =>
      Object.values(type.getFields())
        .filter((field) => type.name !== 'Mutation' && /\wConnection!?$/.test(String(field.type)))
        .filter(({ name }) => /Connection$/.test(name))
        .map(({ name }) => `${type.name}.${name}`),
    );
    expect(named).toEqual([]);
    const itemOf = (type: GraphQLOutputType): string | undefined => {
      const named = getNamedType(type);
      const nodes = isObjectType(named) && named.name.endsWith('Connection') ? named.getFields().nodes : undefined;
      if (nodes !== undefined) return getNamedType(nodes.type).name;
      return isListType(getNullableType(type)) && isObjectType(named) ? named.name : undefined;
    };
    // The connection of a root field is the list of an organization or of what its arguments name.
    const twice = objects
      .filter(({ name }) => !/^(Query|Mutation)$|Connection$|Payload$/.test(name))
      .flatMap((type) => {
        const items = Map.groupBy(Object.values(type.getFields()), (field) => itemOf(field.type));
        items.delete(undefined);
        return [...items.values()]
          .filter((fields) => fields.length > 1 && fields.some(({ type: of }) => !isListType(getNullableType(of))))
          .map((fields) => `${type.name}: ${fields.map(({ name }) => name).join(', ')}`);
      });
    expect(twice).toEqual([]);
  });

  test('tells of every list how many items it has, but of searches', () => {
    const lists = objects.filter((type) => 'pageInfo' in type.getFields());
    const uncounted = lists.filter((type) => !('totalCount' in type.getFields())).map(({ name }) => name);
    expect(uncounted.toSorted()).toEqual(UNCOUNTED.map((name) => `${name}Connection`).toSorted());
  });

  test('advises against rows that are skipped by number: those arguments are of the REST API', () => {
    const args = Object.values(buildSchema(DEFINITION).getQueryType()?.getFields() ?? {}).flatMap(
      (field) => field.args,
    );
    const skipping = args.filter(({ name }) => name === 'offset' || name === 'skip');
    expect(skipping).toHaveLength(5);
    for (const { deprecationReason } of skipping) expect(deprecationReason).toContain('`after`');
  });

  test('lets each mutation fail alone: no payload is required', () => {
    const fields = Object.values(buildSchema(DEFINITION).getMutationType()?.getFields() ?? {});
    expect(fields.length).toBeGreaterThan(50);
    expect(fields.filter(({ name, type }) => String(type) !== payloadOf(name))).toEqual([]);
  });
});

const fieldOf = (type: GraphQLObjectType, name: string): GraphQLOutputType | undefined => type.getFields()[name]?.type;

/** The payload type of a mutation, without `!`. Both ways to make an access token answer the same. */
const payloadOf = (field: string): string =>
  field === 'createPersonalAccessToken' ? 'CreateAccessTokenPayload' : `${capitalized(field)}Payload`;
