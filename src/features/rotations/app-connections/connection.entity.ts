import { defineEntity, type Opt, p } from '@mikro-orm/core';
import { organizationColumns } from '../../../kernel/database/columns.js';
import type { CheckState } from './connection.rules.js';
import type { App } from './kinds.js';

export const AppConnectionSchema = defineEntity({
  name: 'AppConnection',
  tableName: 'app_connection',
  properties: {
    ...organizationColumns,
    projectId: p.uuid().nullable(),
    app: p.text().$type<App>(),
    method: p.text(),
    name: p.text(),
    description: p.text().nullable(),
    version: p.integer().default(1),
    publicPart: p.json<object>(),
    /** The external system: one name for all connections that call it. */
    target: p.text().$type<Opt<string>>().generated('(connection_target(app, public_part, id)) stored'),
    credentialsSealed: p.blob(),
    credentialsVersion: p.integer().default(1),
    credentialsHash: p.text(),
    /** Keyed digest of the account that it logs in to, as `digestOfAccount` makes it. Null: not known. */
    accountDigest: p.blob().nullable(),
    checkState: p.text().$type<CheckState>().defaultRaw(`'unchecked'::text`),
    checkCode: p.text().nullable(),
    checkedAt: p.datetime(3).nullable(),
    failingSince: p.datetime(3).nullable(),
    checkFailures: p.integer().default(0),
    nextCheckAt: p.datetime(3).defaultRaw('now()'),
  },
});

/**
 * Credentials for an external system, of an organization or a project. Secret fields are sealed for this row and `credentialsVersion`,
 * with the key of the project or else of the organization.
 */
export class AppConnection extends AppConnectionSchema.class {}
AppConnectionSchema.setClass(AppConnection);
