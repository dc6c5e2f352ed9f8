import { GraphQLEnumType, GraphQLSchema } from 'graphql';
import { detailCodes } from '../../detail-codes.js';
import { errorCodes, errorRow } from '../../errors.js';

const DESCRIPTION = `The GraphQL API of Strongroom, a secrets manager.

Each item of \`errors\` has a \`message\` for people and, in \`extensions\`: \`code\`, one of \`ErrorCode\`, to branch on;
\`statusCode\`, the HTTP status of the same error in REST; \`reqId\`, which your operator can look up; and often \`details\`,
a list of violations. Each of them has a \`path\` in the request that starts with an argument (\`input.slug\`), a \`code\`
(one of \`ErrorDetailCode\` or \`ErrorCode\`) and a \`message\`. All violations are reported at once: first those of the
types of variables, then those of the rules. Errors never repeat your input.`;

/** What errors are made of, for the explorer; no field has these types. */
const errorCodeType = (): GraphQLEnumType =>
  new GraphQLEnumType({
    name: 'ErrorCode',
    description: 'Values of `extensions.code` of an error, each with its HTTP status and default message.',
    values: Object.fromEntries(
      errorCodes().map((code) => {
        const { status, message } = errorRow(code);
        return [code, { description: `${status}. ${message}` }];
      }),
    ),
  });

const detailCodeType = (): GraphQLEnumType =>
  new GraphQLEnumType({
    name: 'ErrorDetailCode',
    description:
      'Values of `code` in `details`, besides those of `ErrorCode`. In `PERMISSION_DENIED`, `code` is the missing action, as in ' +
      '`PermissionAction`, and `path` its subject, as in `PermissionSubject`. Organizations have more actions, for example `CREATE_TOKEN`.',
    values: Object.fromEntries(detailCodes().map(([code, description]) => [code, { description }])),
  });

/** The same schema, which also says what its errors are. */
export function withErrorReference(schema: GraphQLSchema): GraphQLSchema {
  const config = schema.toConfig();
  return new GraphQLSchema({
    ...config,
    description: DESCRIPTION,
    types: [...config.types, errorCodeType(), detailCodeType()],
  });
}
