import { GraphQLEnumType, GraphQLSchema } from 'graphql';
import { detailCodes } from '../../detail-codes.js';
import { errorCodes, errorRow } from '../../errors.js';

const DESCRIPTION = `Strongroom keeps secrets and what belongs to them.

Each entry of \`errors\` has a \`message\` for a person and, in \`extensions\`, \`code\` (one of \`ErrorCode\`: branch on
it), \`statusCode\` (the HTTP status that REST answers), \`reqId\` (quote it to your operator) and, where there are several
faults or the place matters, \`details\`: a list of \`path\` (a place in the request, beginning with an argument:
\`input.slug\`), \`code\` (one of \`ErrorDetailCode\`, or an \`ErrorCode\`) and \`message\`. All faults of the variables are
told at once; then, when they fit their types, all that break a rule. Nothing that was sent is repeated.`;

/** What errors are made of, for the explorer; no field has these types. */
const errorCodeType = (): GraphQLEnumType =>
  new GraphQLEnumType({
    name: 'ErrorCode',
    description: 'What `extensions.code` of an error may be: the HTTP status that goes with it, and what it says.',
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
      'What `code` of an entry of `details` may be, beside codes of errors. In `PERMISSION_DENIED` it is the missing action, as ' +
      '`PermissionAction` names it, and `path` its subject, as in `PermissionSubject`. Organizations have further ones, as `CREATE_TOKEN`.',
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
