import { defineEntity, p } from '@mikro-orm/core';
import { organizationColumns } from '../database/columns.js';
import { newId } from '../ids.js';

export const InstallationSchema = defineEntity({
  name: 'Installation',
  tableName: 'installation',
  properties: {
    id: p.smallint().primary().autoincrement(false).default(1),
    keyCheckValue: p.blob().$type<Buffer>(),
    keptKeysSealed: p.blob().$type<Buffer>().nullable(),
    wrappedRootKey: p.text().nullable(),
    nextWrappedRootKey: p.text().nullable(),
    createdAt: p.datetime(3).defaultRaw('now()'),
  },
});

/** The one row that ties a database to its root key, by a value that only this key makes. */
export class Installation extends InstallationSchema.class {}
InstallationSchema.setClass(Installation);

export const OrganizationKeySchema = defineEntity({
  name: 'OrganizationKey',
  tableName: 'organization_key',
  uniques: [{ name: 'organization_key_name_unique', properties: ['organizationId', 'name'] }],
  properties: {
    ...organizationColumns,
    name: p.text(),
    description: p.text().nullable(),
    isDefault: p.boolean().default(false),
    version: p.integer().default(1),
    disabledAt: p.datetime(3).nullable(),
  },
});

/** A key of an organization that wraps the keys of its projects. Its versions are data keys. */
export class OrganizationKey extends OrganizationKeySchema.class {}
OrganizationKeySchema.setClass(OrganizationKey);

export const DataKeySchema = defineEntity({
  name: 'DataKey',
  tableName: 'data_key',
  properties: {
    id: p.uuid().primary().onCreate(newId),
    organizationId: p.uuid(),
    projectId: p.uuid().nullable(),
    parentKeyId: p.uuid().nullable(),
    organizationKeyId: p.uuid().nullable(),
    wrappedKeySealed: p.blob().$type<Buffer>(),
    sealsReserved: p.bigint('string').defaultRaw('0'),
    createdAt: p.datetime(3).defaultRaw('now()'),
    retiredAt: p.datetime(3).nullable(),
    destroyedAt: p.datetime(3).nullable(),
  },
});

/**
 * A version of the key of an organization or a project. It is sealed, by the root key or by the key of the organization.
 */
export class DataKey extends DataKeySchema.class {}
DataKeySchema.setClass(DataKey);
