import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  buildSchema,
  type GraphQLObjectType,
  type GraphQLOutputType,
  getNamedType,
  isInterfaceType,
  isLeafType,
  isObjectType,
  isRequiredArgument,
} from 'graphql';
import { access } from './graphql/access.js';
import { accessReview } from './graphql/access-review.js';
import { across } from './graphql/across.js';
import { alerts } from './graphql/alerts.js';
import { appConnections } from './graphql/app-connections.js';
import { auditEvents } from './graphql/audit-events.js';
import { certificates } from './graphql/certificates.js';
import { folders } from './graphql/folders.js';
import { groups } from './graphql/groups.js';
import { history } from './graphql/history.js';
import { identityAlerts } from './graphql/identity-alerts.js';
import { imports } from './graphql/imports.js';
import { jobs } from './graphql/jobs.js';
import { notificationChannels } from './graphql/notification-channels.js';
import { organizationKeys } from './graphql/organization-keys.js';
import { organizationRoles } from './graphql/organization-roles.js';
import { organizations } from './graphql/organizations.js';
import { outgoingEvents } from './graphql/outgoing-events.js';
import { passwordRules } from './graphql/password-rules.js';
import { privileges } from './graphql/privileges.js';
import { projectCopies } from './graphql/project-copies.js';
import { projectReencryptions } from './graphql/project-reencryptions.js';
import { projectRescues } from './graphql/project-rescues.js';
import { projectTemplates } from './graphql/project-templates.js';
import { projects } from './graphql/projects.js';
import { roles } from './graphql/roles.js';
import { secretRotations } from './graphql/secret-rotations.js';
import { secrets } from './graphql/secrets.js';
import { tags } from './graphql/tags.js';
import { fill, type GraphQLOperation, type Operation, thingsIn } from './operation.js';

/** A request for every root field of the schema, but for those of the installation admin, which have tests of their own. */
export const GRAPHQL: readonly GraphQLOperation[] = [
  ...organizations,
  ...organizationRoles,
  ...organizationKeys,
  ...projectReencryptions,
  ...groups,
  ...access,
  ...accessReview,
  ...projects,
  ...projectRescues,
  ...projectTemplates,
  ...projectCopies,
  ...roles,
  ...privileges,
  ...certificates,
  ...alerts,
  ...appConnections,
  ...secretRotations,
  ...passwordRules,
  ...notificationChannels,
  ...outgoingEvents,
  ...identityAlerts,
  ...tags,
  ...folders,
  ...imports,
  ...secrets,
  ...history,
  ...across,
  ...jobs,
  ...auditEvents,
];

const SCHEMA = buildSchema(readFileSync(join(import.meta.dirname, '../../../schema/schema.graphql'), 'utf8'));

/** The types of the root fields, for what is to be checked of all of them. */
export const rootTypes = (): { Query: GraphQLObjectType; Mutation: GraphQLObjectType } => ({
  Query: SCHEMA.getQueryType() as GraphQLObjectType,
  Mutation: SCHEMA.getMutationType() as GraphQLObjectType,
});

/** These can have audit rows of their own below another root field: they disclose sealed values, or list projects, alerts, certificates, messages or who read a secret. */
const AUDITED_INSIDE =
  /^(Certificate\.alerts|CertificateAlert\.(message|certificate)(s|Connection)|(Environment|Folder)\.secret(s|Connection)|(Move|Copy)SecretsPayload\.secrets|Project\.(certificate(s|Connection|Alerts|AlertConnection)|notification(Message|Channel)(s|Connection))|NotificationChannel\.message(s|Connection)|Identity\.alerts|Secret\.read(s|Connection)|[A-Za-z]+\.secret|Organization\.project(s|Connection)|[A-Za-z]+\.project)$/;

/**
 * The document of a root field, with its arguments as variables. It selects everything three levels deep that needs no argument; of a
 * type inside of itself, and of an interface, only its own values.
 */
export function graphqlDocument(operation: GraphQLOperation): {
  readonly document: string;
  readonly args: Readonly<Record<string, unknown>>;
} {
  const { Query, Mutation } = rootTypes();
  const changes = operation.field in Mutation.getFields();
  const field = (changes ? Mutation : Query).getFields()[operation.field];
  if (field === undefined) throw new Error(`the schema has no root field ${operation.field}`);
  const args = changes ? { input: operation.args ?? {} } : (operation.args ?? {});
  const used = field.args.filter(({ name }) => name in args);
  const declared = used.map(({ name, type }) => `$${name}: ${String(type)}`).join(', ');
  const given = used.map(({ name }) => `${name}: $${name}`).join(', ');
  const document =
    `${changes ? 'mutation' : 'query'}${declared && ` (${declared})`} ` +
    `{ ${field.name}${given && `(${given})`} ${selection(field.type, 3)} }`;
  return { document, args };
}

/** The fields, as requests to be sent. */
export const graphqlOperations = (): Operation[] =>
  GRAPHQL.map((operation) => {
    const { document, args } = graphqlDocument(operation);
    const changes = document.startsWith('mutation');
    return {
      ...operation,
      name: `${changes ? 'mutation' : 'query'} ${operation.field}`,
      changes,
      things: thingsIn(args),
      send: (caller, ids, headers) => caller.graphql(document, fill(args, ids), headers),
    };
  });

function selection(type: GraphQLOutputType, depth: number, above: readonly string[] = []): string {
  const named = getNamedType(type);
  if (isInterfaceType(named)) {
    const leaves = Object.values(named.getFields()).filter((field) => isLeafType(getNamedType(field.type)));
    return `{ __typename ${leaves.map(({ name }) => name).join(' ')} }`;
  }
  if (!isObjectType(named)) return '';
  const fields = Object.values(named.getFields())
    .filter((field) => !field.args.some(isRequiredArgument) && !AUDITED_INSIDE.test(`${named.name}.${field.name}`))
    .filter((field) => isLeafType(getNamedType(field.type)) || (depth > 0 && !above.includes(named.name)))
    .map((field) => `${field.name} ${selection(field.type, depth - 1, [...above, named.name])}`);
  return `{ __typename ${fields.join(' ')} }`;
}
