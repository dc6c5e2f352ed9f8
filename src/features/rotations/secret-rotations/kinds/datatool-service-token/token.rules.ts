import * as z from 'zod';
import { integer, storedText } from '../../../../../kernel/value-rules.js';
import { secretKeyOf } from '../../kind/rotation-kind.js';

/** Permission sets of service tokens. */
export const PERMISSION_SETS = [
  'account_admin',
  'account_viewer',
  'admin',
  'analyst',
  'analyst_read',
  'billing_admin',
  'cost_insights_admin',
  'cost_insights_viewer',
  'cost_management_admin',
  'cost_management_viewer',
  'database_admin',
  'developer',
  'fusion_admin',
  'git_admin',
  'job_admin',
  'job_creator',
  'job_runner',
  'job_viewer',
  'manage_marketplace_apps',
  'member',
  'metadata_only',
  'notification_manager',
  'owner',
  'project_creator',
  'readonly',
  'scim_only',
  'security_admin',
  'semantic_layer_only',
  'stakeholder',
  'team_admin',
  'webhooks_only',
] as const;

export const permissionSet = z.enum(PERMISSION_SETS);

const MAX_GRANTS = 100;
const MAX_PROJECT_ID = 2_147_483_647;

export const Grant = z
  .strictObject({
    permissionSet: permissionSet.meta({
      description: 'Permission set of the external system, for example `job_viewer`.',
    }),
    projectId: integer(1, MAX_PROJECT_ID)
      .nullish()
      .meta({ description: 'ID of the external project that the permissions apply to. Absent: all projects.' }),
  })
  .meta({ description: 'A permission grant of a service token.' });

/** Reserved for the suffix that makes the name of each token unique. */
const MAX_TOKEN_NAME = 225;

/** Parameters of the tokens. */
export const TokenParameters = z
  .strictObject({
    tokenName: storedText(MAX_TOKEN_NAME)
      .trim()
      .min(1)
      .meta({
        description: `Name of the tokens, 1 to ${MAX_TOKEN_NAME} characters. The number of the attempt is appended.`,
      }),
    permissionGrants: z
      .array(Grant)
      .min(1)
      .max(MAX_GRANTS)
      .meta({
        description: `Permissions of the tokens: 1 to ${MAX_GRANTS} grants. A change takes effect at the next rotation.`,
      }),
  })
  .meta({ description: 'Name and permissions of the tokens.' });
export type TokenParameters = z.output<typeof TokenParameters>;

const TokenMapping = z
  .strictObject({ serviceToken: secretKeyOf('the token') })
  .meta({ description: 'Key of the secret that holds the token.' });

/** Content of a new rotation of tokens. */
export const TokenContent = z
  .strictObject({ parameters: TokenParameters, secretsMapping: TokenMapping })
  .meta({ description: 'Rotation of service tokens of a datatool account.' });

export const TokenChange = z
  .strictObject({ parameters: TokenParameters.optional(), secretsMapping: TokenMapping.optional() })
  .meta({
    description: 'Changes of the parameters and the mapping of a token rotation. Absent fields keep their value.',
  });
