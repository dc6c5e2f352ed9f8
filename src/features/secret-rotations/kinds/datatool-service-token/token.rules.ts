import { z } from 'zod';
import { integer } from '../../../../kernel/int.js';
import { storedText } from '../../../../kernel/text-rules.js';
import { secretKeyOf } from '../../kind/mapping.rules.js';

/** Sets of rights that service tokens may have. Source: rotation-targets B2. */
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
    permissionSet: permissionSet.meta({ description: 'A set of rights of the outside system.' }),
    projectId: integer(1, MAX_PROJECT_ID)
      .nullish()
      .meta({ description: 'The project of the outside system that they are for; absent: all of its projects.' }),
  })
  .meta({ description: 'Rights of a service token.' });

/** Room for what makes the name of each token one that is never used again. */
const MAX_TOKEN_NAME = 225;

/** Source: behaviour 9.9. */
export const TokenParameters = z
  .strictObject({
    tokenName: storedText(MAX_TOKEN_NAME)
      .trim()
      .min(1)
      .meta({
        description: `What the tokens are called, 1 to ${MAX_TOKEN_NAME} characters; the number of the attempt is appended.`,
      }),
    permissionGrants: z
      .array(Grant)
      .min(1)
      .max(MAX_GRANTS)
      .meta({
        description: `What the tokens may do: 1 to ${MAX_GRANTS} grants. A change takes effect with the next rotation.`,
      }),
  })
  .meta({ description: 'What tokens are made.' });
export type TokenParameters = z.output<typeof TokenParameters>;

const TokenMapping = z
  .strictObject({ serviceToken: secretKeyOf('the token') })
  .meta({ description: 'The secret that holds the token.' });

const MAX_TOKEN = 255;

/** A token that there is, to be taken over as it is. */
const TokenTemporary = z
  .strictObject({
    tokenId: z
      .string()
      .regex(/^[1-9]\d{0,14}$/, 'must be the number of a token')
      .meta({ description: 'Its id in the outside system.' }),
    serviceToken: storedText(MAX_TOKEN)
      .min(1)
      .meta({ description: `The token itself, up to ${MAX_TOKEN} characters.` }),
  })
  .meta({ description: 'A token that there is, which is taken over as it is: with `adopt` only.' });

/** What a new rotation of tokens is about. */
export const TokenContent = z
  .strictObject({
    parameters: TokenParameters,
    secretsMapping: TokenMapping,
    temporaryParameters: TokenTemporary.nullish(),
  })
  .meta({ description: 'Tokens of a datatool account.' });

export const TokenChange = z
  .strictObject({ parameters: TokenParameters.optional(), secretsMapping: TokenMapping.optional() })
  .meta({ description: 'Changes of what tokens are made, and of the secret that holds them.' });
