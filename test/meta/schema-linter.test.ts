import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  buildSchema,
  type GraphQLObjectType,
  type GraphQLOutputType,
  getNamedType,
  isCompositeType,
  isEnumType,
  isInputObjectType,
  isObjectType,
  isScalarType,
} from 'graphql';
import linter from 'graphql-schema-linter';
import { ROOT } from './sources.js';

const DEFINITION = readFileSync(join(ROOT, 'schema/schema.graphql'), 'utf8');

/** What does not hold everywhere, by rule: `Type`, or `Type.field`. Each with the reason beside it. */
const EXCEPTIONS: Readonly<Record<string, readonly string[]>> = {
  // They tell what `extensions` of errors may say, which no field has.
  'defined-types-are-used': ['ErrorCode', 'ErrorDetailCode'],
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
  'GroupMember.memberId',
  'OrganizationMember.memberId',
  'ProjectMembership.memberId',
  // Whoever sends it needs no token, and may read nothing.
  'RevokeHeldAccessTokenPayload.accessTokenId',
];

function lint(definition: string) {
  const schema = { definition, sourceMap: { getOriginalPathForLine: () => 'schema.graphql' } };
  // No rule is named, and so each one holds.
  const given = new linter.configuration.Configuration(schema, { ignore: EXCEPTIONS });
  const rules = given.getRules();
  expect(rules).toEqual(given.getAllRules());
  return { violations: linter.validator.validateSchemaDefinition(schema, rules, given), rules: rules.length };
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
    const { violations, rules } = lint(DEFINITION);
    expect(violations.map(({ ruleName, message }) => `${ruleName}: ${message}`)).toEqual([]);
    expect(rules).toBeGreaterThan(18);
  });

  test('would not pass with a field in snake case and without a description', () => {
    const { violations } = lint(DEFINITION.replace('type TrustedIp {', 'type TrustedIp {\n  a_field: String\n'));
    expect(violations.map(({ ruleName }) => ruleName)).toEqual(
      expect.arrayContaining(['fields-are-camel-cased', 'fields-have-descriptions']),
    );
  });

  test('has no field of free JSON: every shape is known', () => {
    expect(types.filter((type) => isScalarType(type) && /JSON|Object|Any/.test(type.name))).toEqual([]);
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

  test('finds everything that has an id by it', () => {
    const odd = objects.filter((type) => 'id' in type.getFields() && type.getInterfaces().length === 0);
    expect(odd.map(({ name }) => name).toSorted()).toEqual([]);
  });

  test('has connections at the root, and lists with connections beside them inside of types', () => {
    const odd = objects.flatMap((type) =>
      Object.values(type.getFields())

        .filter((field) => type.name !== 'Mutation' && /\wConnection!?$/.test(String(field.type)))
        .filter(({ name }) => (type.name === 'Query') === name.endsWith('Connection'))
        .map(({ name }) => `${type.name}.${name}`),
    );
    expect(odd).toEqual([]);
  });

  test('lets each mutation fail alone: no payload is required', () => {
    const fields = Object.values(buildSchema(DEFINITION).getMutationType()?.getFields() ?? {});
    expect(fields.length).toBeGreaterThan(50);
    expect(fields.filter(({ name, type }) => String(type) !== payloadOf(name))).toEqual([]);
  });

  test('names enums by words, and types by what they are', () => {
    const odd = types.filter((type) => isObjectType(type) && /Type$|Entity$|View$|Record$/.test(type.name));
    expect(odd.map(({ name }) => name)).toEqual([]);
    expect(types.filter(isEnumType).filter(({ name }) => /Enum$/.test(name))).toEqual([]);
  });
});

const fieldOf = (type: GraphQLObjectType, name: string): GraphQLOutputType | undefined => type.getFields()[name]?.type;

/** The payload type of a mutation, without `!`. Both ways to make an access token answer the same. */
const payloadOf = (field: string): string =>
  field === 'createPersonalAccessToken'
    ? 'CreateAccessTokenPayload'
    : `${field[0]?.toUpperCase()}${field.slice(1)}Payload`;
